"""Embedded models: a real child process that speaks the worker's protocol, and the real worker where it can run."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from koderz_core.config import Settings, load_settings
from koderz_core.errors import Cancelled, ContextError, ModelError, UnknownNameError, WeightsError
from koderz_core.models import weights
from koderz_core.models.embedded import WORKER, EmbeddedModel
from koderz_core.records import Message, Request, Sampling, Usage

CONTENT = b"GGUF tiny"
TINY = weights.Weights("tiny", "tiny.gguf", len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), "MIT", None, ())
SPEAKER = Path(__file__).with_name("speaking_child.py")

Make = Callable[..., EmbeddedModel]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "tiny.gguf").write_bytes(CONTENT)
    return load_settings(home=tmp_path / "koderz", models_dir=tmp_path, timeout=60)


@pytest.fixture
def make(settings: Settings) -> Iterator[Make]:
    """Makes models whose child is a script, with settings as given; all are closed at the end."""
    made: list[EmbeddedModel] = []

    def make(**changed: object) -> EmbeddedModel:
        command = (sys.executable, str(SPEAKER))
        changed_settings = settings.model_copy(update=changed)
        made.append(EmbeddedModel("tiny", changed_settings, catalogue={"tiny": TINY}, command=command))
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
    assert answer.usage == Usage(input_tokens=7, output_tokens=3)
    assert answer.first_token_seconds is not None
    assert 0 < answer.first_token_seconds <= answer.seconds


def test_the_child_gets_the_request_as_it_is_and_says_what_was_honoured(make: Make) -> None:
    sampling = Sampling(temperature=0.8, top_p=0.9, max_tokens=5)
    answer = make().complete(say("request", sampling, seed=2**60))
    assert json.loads(answer.text) == {
        "messages": [{"role": "user", "content": "request"}],
        "sampling": {"temperature": 0.8, "top_p": 0.9, "max_tokens": 5, "seed": 2**60},
        "seed": 2**60,
    }
    assert answer.honoured == replace(sampling, seed=2**60)


def test_the_child_loads_the_verified_file_with_the_context_of_the_settings(make: Make, tmp_path: Path) -> None:
    load = json.loads(make(num_ctx=1234).complete(say("load")).text)
    assert load == {"weights": str((tmp_path / "tiny.gguf").resolve()), "num_ctx": 1234}


def test_an_answer_that_was_cut_says_so(make: Make) -> None:
    assert make().complete(say("cut")).finish == "length"


def test_an_answer_without_text_is_empty_and_has_no_first_token(make: Make) -> None:
    answer = make().complete(say("silence"))
    assert (answer.text, answer.finish, answer.first_token_seconds) == ("", "empty", None)


# --- the child ----------------------------------------------------------------------------------


def test_the_child_is_kept_from_call_to_call(make: Make) -> None:
    model = make()
    assert model.complete(say("pid")).text == model.complete(say("pid")).text


def test_two_calls_at_once_come_one_after_the_other(make: Make) -> None:
    model = make()
    with ThreadPoolExecutor(2) as pool:
        answers = [pool.submit(model.complete, say("overlap")) for _ in range(2)]
    assert [answer.result().text for answer in answers] == ["False ", "False "]


def test_the_child_sees_no_secret_and_its_threads_do_not_spin(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    environment = json.loads(make().complete(say("environment")).text)
    assert environment["OMP_WAIT_POLICY"] == "passive"
    assert "sk-secret" not in environment.values()


def test_a_child_that_dies_fails_one_call_and_the_next_has_a_fresh_one(make: Make) -> None:
    model = make()
    first = model.complete(say("pid")).text
    with pytest.raises(ModelError, match=r"exit code 7: GGML_ASSERT\(x\) failed") as caught:
        model.complete(say("die"))
    assert caught.value.retryable
    assert model.complete(say("pid")).text != first


def test_a_child_that_died_between_two_calls_is_replaced_unnoticed(make: Make) -> None:
    model = make()
    first = model.complete(say("pid")).text
    os.kill(int(first), 9)
    os.waitid(os.P_PID, int(first), os.WEXITED | os.WNOWAIT)  # until it is really gone
    assert model.complete(say("pid")).text != first


def test_what_the_child_refuses_is_not_worth_a_retry(make: Make) -> None:
    with pytest.raises(ModelError, match="embedded/tiny: the prompt has 9 tokens, the context only 8") as caught:
        make().complete(say("too long"))
    assert type(caught.value) is ContextError
    assert not caught.value.retryable


def test_weights_that_cannot_be_loaded_are_explained(make: Make) -> None:
    with pytest.raises(ModelError, match="embedded/tiny: too little memory") as caught:
        make(num_ctx=666).complete(say("hello"))
    assert not caught.value.retryable


def test_foreign_lines_on_the_pipe_end_the_call(make: Make) -> None:
    with pytest.raises(ModelError, match="sent a line that is none of koderz") as caught:
        make().complete(say("chatter"))
    assert caught.value.retryable


def test_a_model_that_falls_silent_is_ended(make: Make) -> None:
    model = make(timeout=1)
    pid = model.complete(say("pid")).text
    with pytest.raises(ModelError, match="wrote nothing for 1 s, or 4 times as long: raise KODERZ_TIMEOUT") as caught:
        model.complete(say("sleep"))
    assert caught.value.retryable
    assert not is_alive(pid)


def test_an_answer_may_take_longer_than_any_silence_in_it(make: Make) -> None:
    answer = make(timeout=1).complete(say("slow"))
    assert (answer.text, answer.seconds > 1) == ("a b c d e ", True)


def test_an_answer_takes_no_longer_than_a_budget_holds_for_it(make: Make) -> None:
    with pytest.raises(ModelError, match="or 4 times as long"):
        make(timeout=0.35).complete(say("slow"))


def test_what_the_listener_raises_comes_through_and_ends_the_child(make: Make) -> None:
    model = make()
    pid = model.complete(say("pid")).text

    def enough(piece: str) -> None:
        raise Cancelled(piece)

    with pytest.raises(Cancelled, match="awake"):
        model.complete(say("sleep"), enough)
    assert not is_alive(pid)
    assert model.complete(say("hello")).finish == "stop"


# --- the end ------------------------------------------------------------------------------------


def test_close_ends_the_child_and_may_be_called_again(make: Make) -> None:
    model = make()
    pid = model.complete(say("pid")).text
    model.close()
    model.close()
    assert not is_alive(pid)
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


def test_the_worker_ends_when_its_parent_is_killed() -> None:
    """The pipe ends only when nobody holds it any more: neither parent nor worker."""
    start = f"subprocess.Popen({WORKER!r}, stdin=subprocess.PIPE)"
    code = f"import subprocess, time; {start}; print('up', flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as parent:
        assert parent.stdout
        assert parent.stdout.readline() == b"up\n"
        parent.kill()
        assert parent.communicate(timeout=60) == (b"", None)


# --- what is missing ----------------------------------------------------------------------------


def test_an_unknown_name_is_refused_before_anything_starts(settings: Settings) -> None:
    with pytest.raises(UnknownNameError, match="smollm2-135m"):
        EmbeddedModel("smollm2-13m", settings)


def test_missing_weights_say_how_to_get_them(make: Make, tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="koderz models pull tiny"):
        make(models_dir=tmp_path / "empty").complete(say("hello"))


def test_a_missing_runtime_says_how_to_install_it(settings: Settings) -> None:
    code = "import sys; sys.modules['llama_cpp'] = None; from koderz_core.models.embedded_worker import main; main()"
    model = EmbeddedModel("tiny", settings, catalogue={"tiny": TINY}, command=[sys.executable, "-c", code])
    with pytest.raises(ModelError, match=r"pip install 'koderz\[embedded\]'.*C\+\+ compiler") as caught:
        model.complete(say("hello"))
    assert not caught.value.retryable
