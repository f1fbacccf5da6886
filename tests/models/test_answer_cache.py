"""The file of answers that later benchmarks may use again, and what an answer depends on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from chat_server import sends, serving_chat

from koderz_core.config import Settings, load_settings
from koderz_core.errors import ModelError
from koderz_core.models.answer_cache import FILE, AnswerCache, Draw, Kept, Served
from koderz_core.records import Completion, Cost, Message, Request, Sampling, Usage

REQUEST = Request((Message("user", "Add."),), Sampling(0.8, None, 64), seed=7)
DRAW: Draw = ("dataset", "conf_1", "tiny/0", 0, 11, 1)
MODEL = "openai/gpt-4o-mini"


def kept(text: str = "answer") -> Kept:
    completion = Completion(text, "stop", Usage(3, 4), 1.5, Sampling(0.8, None, 64, 7), 0.2)
    return Kept(completion, Cost(0.25, "a test"), "exp_1", 5.0)


def key(request: Request = REQUEST, draw: Draw = DRAW, model: str = MODEL, **settings: object) -> str | None:
    return Served(load_settings(**settings)).key(model, request, draw)


def test_an_answer_is_found_again_with_everything_that_was_known_of_its_call(tmp_path: Path) -> None:
    AnswerCache(tmp_path / "deep" / FILE, 1e6).keep("k", kept())
    assert AnswerCache(tmp_path / "deep" / FILE, 1e6).find("k") == kept()
    assert AnswerCache(tmp_path / "deep" / FILE, 1e6).find("other") is None


def test_the_first_answer_under_a_key_stays(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / FILE, 1e6)
    cache.keep("k", kept("first"))
    cache.keep("k", kept("second"))
    assert cache.find("k") == kept("first")


def test_a_full_cache_drops_the_oldest_answers_and_stays_below_its_limit(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / FILE, 100_000)
    for number in range(60):
        cache.keep(
            str(number), kept("".join(chr(0x4E00 + (number * 7919 + at * 104729) % 20000) for at in range(2000)))
        )
    contents = cache.contents()
    assert cache.find("0") is None
    assert cache.find("59") is not None
    assert contents.answers < 60
    assert contents.size < 2 * 100_000


@pytest.mark.parametrize("content", [b"not a database, but long enough to be taken for one" * 40, b""])
def test_a_broken_file_costs_answers_but_breaks_nothing(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FILE).write_bytes(content)
    cache = AnswerCache(tmp_path / FILE, 1e6)
    assert cache.find("k") is None
    cache.keep("k", kept())
    assert (cache.find("k") is None) == bool(content)
    assert caplog.text.count("cannot be used") == bool(content)  # once


@pytest.mark.parametrize(
    "other",
    [
        {"request": replace(REQUEST, seed=8)},
        {"request": replace(REQUEST, sampling=Sampling(0.7, None, 64))},
        {"request": replace(REQUEST, messages=(Message("system", "Add."),))},
        {"draw": (*DRAW[:3], 1, *DRAW[4:])},
        {"draw": (*DRAW[:-1], 2)},
        {"draw": ("dataset", "conf_2", *DRAW[2:])},
        {"model": "openai/gpt-4o"},
        {"openai_base_url": "http://127.0.0.1:9/v1"},
        {"openai_service_tier": "flex"},
        {"timeout": 5.0},
    ],
)
def test_any_other_call_has_another_key(other: dict[str, object]) -> None:
    assert key() == key()
    assert key() != key(**other)  # type: ignore[arg-type] # as in the cases above


def test_another_version_of_a_model_has_other_answers() -> None:
    settings = load_settings()
    keys = [Served(settings, lambda *_, at=at: at).key(MODEL, REQUEST, DRAW) for at in ("digest a", "digest b")]
    assert keys[0] != keys[1]


def test_the_context_that_koderz_sets_is_part_of_a_request(settings: Settings) -> None:
    short = Served(settings.changed(num_ctx=4096), lambda *_: "").key("ollama/a:1b", REQUEST, DRAW)
    assert short != Served(settings, lambda *_: "").key("ollama/a:1b", REQUEST, DRAW)


def test_ollamas_digest_is_the_version_and_without_it_nothing_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    with serving_chat() as server:
        server.listing = sends(200, {"models": [{"model": "a:1b", "name": "a:1b", "digest": "sha-1"}]})
        settings = load_settings(ollama_base_url=server.url.removesuffix("/v1"))
        first = Served(settings).key("ollama/a:1b", REQUEST, DRAW)
        server.listing = sends(200, {"models": [{"model": "a:1b", "name": "a:1b", "digest": "sha-2"}]})
        assert first not in (None, Served(settings).key("ollama/a:1b", REQUEST, DRAW))
        server.listing = sends(500, "broken")
        assert Served(settings).key("ollama/a:1b", REQUEST, DRAW) is None
    assert "version is unknown" in caplog.text


def test_a_call_with_a_time_limit_is_never_kept() -> None:
    assert key(replace(REQUEST, turn_seconds=5.0)) is None


def test_a_model_whose_version_cannot_be_asked_is_asked_once(caplog: pytest.LogCaptureFixture) -> None:
    asked = []

    def broken(model: str, _: Settings) -> str:
        asked.append(model)
        raise ModelError("gone")

    served = Served(load_settings(), broken)
    assert [served.key(MODEL, REQUEST, DRAW) for _ in range(2)] == [None, None]
    assert (asked, caplog.text.count("gone")) == ([MODEL], 1)
