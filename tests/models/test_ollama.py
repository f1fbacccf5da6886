"""What the Ollama client sends and what it makes of the answers, against a real server on loopback."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from chat_server import PROMPT, REQUEST, SECRET, Server, serving_chat
from scripted_server import COUNTS, QWEN, ask_through, ollama_says, ollama_streams

from koderz_core.config import Settings, load_settings
from koderz_core.errors import OfflineError
from koderz_core.models.catalogue import resolve
from koderz_core.models.ollama import _headers
from koderz_core.models.pricing import price
from koderz_core.records import Request, Sampling, Usage


@pytest.fixture
def server() -> Iterator[Server]:
    with serving_chat() as known:
        yield known


def test_a_request_goes_out_whole_with_the_size_of_the_context(server: Server) -> None:
    completion = ask_through(server, ollama_says(), name=QWEN, num_ctx=4096)
    assert server.headers[0]["path"] == "/api/chat"
    assert server.bodies[0]["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": PROMPT},
    ]
    options = {"num_ctx": 4096, "seed": 7, "temperature": 0.8, "top_p": 0.95, "num_predict": 64}
    assert server.bodies[0]["options"] == options
    assert server.bodies[0].keys() == {"model", "messages", "options", "stream", "truncate", "shift"}
    assert completion.honoured == Sampling(0.8, 0.95, 64, seed=7)


@pytest.mark.parametrize("streamed", [False, True])
def test_neither_prompt_nor_answer_may_lose_its_beginning_without_a_word(server: Server, streamed: bool) -> None:
    ask_through(server, ollama_streams("hi") if streamed else ollama_says(), print if streamed else None, name=QWEN)
    assert (server.bodies[0]["truncate"], server.bodies[0]["shift"]) == (False, False)
    assert server.bodies[0]["stream"] is streamed


def test_sampling_that_was_not_given_is_not_sent(server: Server) -> None:
    ask_through(server, ollama_says(), name=QWEN, request=Request(REQUEST.messages, Sampling(), 1))
    assert server.bodies[0]["options"] == {"num_ctx": 8192, "seed": 1}


def test_a_whole_answer_has_text_usage_and_no_time_to_first_token(server: Server) -> None:
    completion = ask_through(server, ollama_says("hello world"), name=QWEN)
    assert (completion.text, completion.finish, completion.usage) == ("hello world", "stop", Usage(11, 5))
    assert completion.first_token_seconds is None
    assert server.bodies[0]["stream"] is False


def test_a_streamed_answer_comes_in_pieces_with_usage(server: Server) -> None:
    pieces: list[str] = []
    completion = ask_through(server, ollama_streams("hel", "lo"), pieces.append, name=QWEN)
    assert pieces == ["hel", "lo"]
    assert (completion.text, completion.finish, completion.usage) == ("hello", "stop", Usage(11, 5))
    assert completion.first_token_seconds is not None
    assert completion.first_token_seconds <= completion.seconds


def test_the_time_it_took_to_load_the_model_is_not_the_answers(server: Server) -> None:
    hour = 3600 * 10**9
    completion = ask_through(server, ollama_streams("hello", load_duration=hour), print, name=QWEN)
    assert (completion.seconds, completion.first_token_seconds) == (0.0, 0.0)


@pytest.mark.parametrize("counts", [{"prompt_eval_count": None}, {"prompt_eval_count": 0}])
def test_prompt_tokens_that_come_from_its_cache_are_unknown(server: Server, counts: dict[str, object]) -> None:
    assert ask_through(server, ollama_says(**counts), name=QWEN).usage == Usage(None, 5)


@pytest.mark.parametrize(
    ("text", "more", "finish"),
    [
        ("yes", {}, "stop"),
        ("half an ans", {"done_reason": "length"}, "length"),
        ("half an ans", {"prompt_eval_count": 8000, "eval_count": 192}, "length"),
        ("yes", {"prompt_eval_count": 8000, "eval_count": 191}, "stop"),
        (" \n", {}, "empty"),
        ("", {"done_reason": "load"}, "empty"),
        ("yes", {"done_reason": None}, "stop"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_how_an_answer_ended_is_told_and_a_full_context_is_a_cut(
    server: Server, text: str, more: dict[str, object], finish: str, streamed: bool
) -> None:
    answer = ollama_streams(text, **more) if streamed else ollama_says(text, **more)
    completion = ask_through(server, answer, (lambda _: None) if streamed else None, name=QWEN)
    assert (completion.text, completion.finish) == (text, finish)


def test_a_model_in_the_cloud_has_its_own_context(server: Server) -> None:
    answer = ollama_says("yes", prompt_eval_count=8000, eval_count=192)
    completion = ask_through(server, answer, name="ollama/gpt-oss:120b-cloud")
    assert (completion.finish, completion.honoured.max_tokens) == ("stop", 64 + 8192)


def test_a_thought_is_not_a_part_of_the_answer(server: Server) -> None:
    thinking = {"message": {"role": "assistant", "content": "yes", "thinking": "hm"}}
    assert ask_through(server, ollama_says(**thinking), name=QWEN).text == "yes"


def test_a_call_costs_the_energy_of_this_machine(settings: Settings) -> None:
    cost = price(resolve("gpt-oss:20b", settings), Usage(11, 5), 60.0, settings)
    assert cost.usd is not None
    assert cost.usd > 0


def test_offline_nothing_is_handed_on_to_ollamas_cloud(server: Server) -> None:
    with pytest.raises(OfflineError, match=r"ollama\.com was not contacted"):
        ask_through(server, ollama_says(), name="ollama/gpt-oss:120b-cloud", offline=True)
    assert not server.bodies


def test_a_key_goes_to_another_machine_only() -> None:
    away = load_settings(ollama_base_url="https://ollama.example", ollama_api_key=SECRET)
    here = load_settings(ollama_api_key=SECRET)
    assert SECRET in _headers(away)["Authorization"]
    assert SECRET not in _headers(here)["Authorization"]
    assert SECRET in here.secrets()


def test_counts_are_those_of_the_last_part(server: Server) -> None:
    assert (
        ask_through(server, ollama_streams("a", "b", "c"), print, name=QWEN).usage.output_tokens == COUNTS["eval_count"]
    )
