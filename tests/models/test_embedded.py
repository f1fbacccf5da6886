"""Embedded models: a child process with a server that speaks llama.cpp's protocol, and what else can go wrong there."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event

import msgspec
import pytest

from koderz_core.config import Settings, load_settings
from koderz_core.errors import Cancelled, ContextError, ModelError, WeightsError
from koderz_core.models import weights
from koderz_core.models.embedded import SERVER, EmbeddedModel
from koderz_core.models.embedded_server import Order
from koderz_core.records import Message, Request, Sampling, Usage

CONTENT = b"GGUF tiny"
TINY = weights.Weights(
    "tiny", "tiny.gguf", len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), "MIT", None, (), context_bytes=12_288
)
SPEAKER = Path(__file__).with_name("speaking_server.py")

Make = Callable[..., EmbeddedModel]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """With a ``llama-server`` that is a script."""
    (tmp_path / "tiny.gguf").write_bytes(CONTENT)
    server = tmp_path / "llama-server"
    server.write_text(f"#!{sys.executable}\n{SPEAKER.read_text()}")
    server.chmod(0o755)
    return load_settings(home=tmp_path / "koderz", models_dir=tmp_path, timeout=60, llama_server=server)


@pytest.fixture
def make(settings: Settings) -> Iterator[Make]:
    """Makes models with settings as given; all are closed at the end."""
    made: list[EmbeddedModel] = []

    def make(**changed: object) -> EmbeddedModel:
        made.append(EmbeddedModel(TINY, settings.changed(**changed)))
        return made[-1]

    yield make
    for model in made:
        model.close()


def say(text: str, sampling: Sampling = Sampling(), seed: int = 1) -> Request:  # noqa: B008 (frozen)
    return Request((Message("user", text),), sampling, seed)


def is_alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    return True


# --- what an answer is --------------------------------------------------------------------------


def test_an_answer_streams_piece_by_piece_and_adds_up(make: Make) -> None:
    heard: list[str] = []
    answer = make().complete(say("hello"), heard.append)
    assert heard == ["one ", "two ", " ", "thrée "]
    assert answer.text == "one two  thrée "
    assert answer.finish == "stop"
    assert answer.usage == Usage(input_tokens=7, output_tokens=3, cache_read_tokens=5)
    assert answer.first_token_seconds is not None
    assert 0 < answer.first_token_seconds <= answer.seconds


def test_the_server_gets_the_request_as_it_is_and_the_answer_says_what_was_honoured(make: Make) -> None:
    sampling = Sampling(temperature=0.8, top_p=0.9, max_tokens=5)
    answer = make().complete(say("request", sampling, seed=7))
    sent = json.loads(answer.text)
    assert sent["messages"] == [{"role": "user", "content": "request"}]
    assert (sent["temperature"], sent["top_p"], sent["max_tokens"], sent["seed"]) == (0.8, 0.9, 5, 7)
    assert answer.honoured == replace(sampling, seed=7)


def test_no_seed_means_any_seed_to_llama_cpp(make: Make) -> None:
    assert json.loads(make().complete(say("request", seed=0xFFFF_FFFF)).text)["seed"] == 0


@pytest.mark.parametrize(("reproducible", "cache"), [(False, ("1", "512")), (True, ("0", "0"))])
def test_the_server_is_started_as_settings_say(make: Make, tmp_path: Path, reproducible: bool, cache: object) -> None:
    said = json.loads(make(num_ctx=1234, reproducible=reproducible).complete(say("started")).text)
    assert said["arguments"][:4] == ["--model", str((tmp_path / "tiny.gguf").resolve()), "--host", "127.0.0.1"]
    assert (said["LLAMA_ARG_CTX_SIZE"], said["LLAMA_ARG_FIT"]) == ("1234", "off")
    assert (said["LLAMA_ARG_CACHE_PROMPT"], said["LLAMA_ARG_CACHE_RAM"]) == cache
    assert said["LLAMA_ARG_SPEC_TYPE"] == "ngram-simple"


def test_an_answer_that_was_cut_says_so(make: Make) -> None:
    assert make().complete(say("cut")).finish == "length"


def test_an_answer_without_text_is_empty(make: Make) -> None:
    answer = make().complete(say("silence"))
    assert (answer.text, answer.finish, answer.first_token_seconds) == ("", "empty", None)


# --- the child ----------------------------------------------------------------------------------


def test_the_server_is_kept_from_call_to_call(make: Make) -> None:
    model = make()
    assert model.complete(say("pid")).text == model.complete(say("pid")).text


def test_the_server_sees_no_secret_and_its_threads_do_not_spin(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    environment = json.loads(make().complete(say("started")).text)
    assert (environment["OMP_WAIT_POLICY"], environment["CUDA_VISIBLE_DEVICES"]) == ("passive", "0")
    assert "sk-secret" not in environment.values()


def test_a_server_that_dies_fails_one_call_and_the_next_has_a_fresh_one(make: Make) -> None:
    model = make()
    first = model.complete(say("pid")).text
    with pytest.raises(ModelError, match=r"exit code 7: GGML_ASSERT\(x\) failed") as caught:
        model.complete(say("die"))
    assert caught.value.retryable
    assert model.complete(say("pid")).text != first


def test_a_server_that_died_between_two_calls_is_replaced_unnoticed(make: Make) -> None:
    model = make()
    first = model.complete(say("pid")).text
    os.kill(int(first), 9)
    until(lambda: model._child is None or model._child.ended)
    assert model.complete(say("pid")).text != first


def test_a_prompt_beyond_the_context_is_not_worth_a_retry(make: Make) -> None:
    with pytest.raises(ContextError, match=r"does not fit.*KODERZ_NUM_CTX") as caught:
        make().complete(say("too long"))
    assert not caught.value.retryable


def test_weights_that_cannot_be_loaded_are_explained(make: Make) -> None:
    with pytest.raises(ModelError, match=r"embedded/tiny: llama.cpp cannot load the weights.*666 tokens") as caught:
        make(num_ctx=666).complete(say("hello"))
    assert not caught.value.retryable


def test_a_server_that_cannot_be_started_is_named(make: Make, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=f"KODERZ_LLAMA_SERVER cannot be started .*{tmp_path}/none"):
        make(llama_server=tmp_path / "none").complete(say("hello"))


def test_a_model_that_falls_silent_is_ended(make: Make) -> None:
    model = make(timeout=1)
    pid = model.complete(say("pid")).text
    with pytest.raises(ModelError, match=r"sent nothing for 1 s.*KODERZ_TIMEOUT") as caught:
        model.complete(say("sleep"))
    assert caught.value.retryable
    until(lambda: not is_alive(pid))


def test_an_answer_may_take_longer_than_any_silence_in_it(make: Make) -> None:
    answer = make(timeout=1).complete(say("slow"))
    assert (answer.text, answer.seconds > 1) == ("a b c d e ", True)


def test_an_answer_takes_no_longer_than_a_budget_holds_for_it(make: Make) -> None:
    with pytest.raises(ModelError, match=r"took longer than 4 s.*KODERZ_TIMEOUT"):
        make(timeout=1).complete(say("endless"))  # a pause of 1 s is rare even on a busy machine


def test_what_the_listener_raises_comes_through_and_ends_the_answer(make: Make) -> None:
    model = make()
    pid = model.complete(say("pid")).text

    def enough(piece: str) -> None:
        raise Cancelled(piece)

    with pytest.raises(Cancelled, match="awake"):
        model.complete(say("sleep"), enough)
    assert model.complete(say("pid")).text == pid


def test_weights_that_do_not_fit_into_memory_are_refused_before_they_are_loaded(make: Make) -> None:
    with pytest.raises(ModelError, match=r"needs .* GB of memory with a context of 100000000 tokens.*KODERZ_NUM_CTX"):
        make(num_ctx=100_000_000).complete(say("hello"))


# --- the end ------------------------------------------------------------------------------------


def test_close_ends_the_server_and_may_be_called_again(make: Make) -> None:
    model = make()
    pid = model.complete(say("pid")).text
    model.close()
    model.close()
    until(lambda: not is_alive(pid))
    with pytest.raises(ModelError, match="was closed"):
        model.complete(say("hello"))


def test_close_ends_a_call_in_flight(make: Make) -> None:
    model, awake = make(), Event()
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(model.complete, say("sleep"), lambda piece: awake.set())
        assert awake.wait(30)
        model.close()
        with pytest.raises(ModelError, match="signal 9"):
            call.result()


def test_close_ends_a_model_that_is_still_loading(make: Make, tmp_path: Path) -> None:
    model = make(num_ctx=777)
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(model.complete, say("hello"))
        until((tmp_path / "loading").exists)
        model.close()
        with pytest.raises(ModelError, match="signal 9"):
            call.result(timeout=30)


def test_the_server_ends_when_its_parent_is_killed(settings: Settings) -> None:
    """Its output ends only when nobody holds it any more: neither parent nor child nor server."""
    order = msgspec.json.encode(Order("none", 512, "key", str(settings.llama_server), False)) + b"\n"
    start = f"subprocess.Popen({SERVER!r}, stdin=subprocess.PIPE)"
    code = f"import subprocess, time; p = {start}; p.stdin.write({order!r}); p.stdin.flush(); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as parent:
        assert parent.stdout
        assert b"ready" in parent.stdout.readline()
        parent.kill()
        assert parent.communicate(timeout=60) == (b"", None)


# --- what is missing ----------------------------------------------------------------------------


def test_missing_weights_say_how_to_get_them(make: Make, tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="koderz models pull tiny"):
        make(models_dir=tmp_path / "empty").complete(say("hello"))


def test_a_runtime_that_does_not_load_says_what_to_do(settings: Settings) -> None:
    code = "import sys; sys.modules['xllamacpp'] = None; from koderz_core.models.embedded_server import main; main()"
    bundled = settings.changed(llama_server=None)
    model = EmbeddedModel(TINY, bundled, command=[sys.executable, "-c", code])
    with pytest.raises(ModelError, match=r"xllamacpp cannot be loaded.*KODERZ_LLAMA_SERVER") as caught:
        model.complete(say("hello"))
    assert not caught.value.retryable


def until(happened: Callable[[], bool]) -> None:
    """A process ends a moment after it was told to."""
    deadline = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)
