"""Only the newest run of an experiment writes to the journal, and an answer that has arrived is never lost."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, cast

import pytest

pytest.importorskip("distributed")

from koderz_core.config import Settings
from koderz_core.dask_engine.link import Link
from koderz_core.dask_engine.messages import Completed
from koderz_core.dask_engine.performance import Performance, Turn, WorkerLostError
from koderz_core.datasets import load
from koderz_core.events import CallFinished, CallStarted, CodeTested, ExperimentFinished
from koderz_core.journal import Journal, read_all
from koderz_core.records import (
    Completion,
    Configuration,
    Cost,
    DatasetOrigin,
    Experiment,
    Message,
    Request,
    Sampling,
    Usage,
    Verdict,
)
from koderz_core.runner.dependencies import Dependencies
from koderz_core.runner.experiment import Task, without_result
from koderz_core.runner.history import Tape
from koderz_core.runner.recorder import Recorder, Voice
from koderz_core.runner.scheduler import Scheduler, Slot

ANSWER = Completion("the answer", "stop", Usage(), 0.5, Sampling())
REQUEST = Request((Message("user", "?"),), Sampling(), 1)
STARTED = CallStarted("coder", 0, "vllm/m", "hash", (), Sampling(), 1, attempt=1)
TESTED = CodeTested(1, "hash", None, "fence", Verdict("P", (), True, None, "", 0.1, "hardened"))


class FakeLink:
    """A link that answers a call at once, or never."""

    def __init__(self) -> None:
        self.sent: list[object] = []
        self.lost = threading.Event()

    def send(self, *messages: object) -> None:
        self.sent += messages


@pytest.fixture
def performance(tmp_path: Path, settings: Settings) -> Performance:
    problem = load("humaneval", settings).problems[0]
    experiment = Experiment("exp_1", "c", problem.id, 0, 1)
    task = Task(experiment, Configuration("direct", {}), problem, DatasetOrigin("t", "0" * 64, "MIT"), Tape())
    voice = Voice(Recorder(Journal(tmp_path / "j.jsonl"), (), lambda: 1.0), "exp_1")
    parts = Dependencies({}, frozenset(), cast(Any, None), lambda *_: Cost(0.0, "a test"), lambda: 1.0)
    return Performance(task, parts, voice, Slot(Scheduler(), "c", "exp_1"))


def new_run(performance: Performance, run: int) -> tuple[Turn, Tape]:
    begun = performance.begin(cast(Link, FakeLink()), run)
    assert begun
    return begun


def finished(turn: Turn) -> CallFinished:
    return CallFinished(turn.voice.text(ANSWER.text), "stop", Usage(), Cost(0.0, "a test"), 0.5, None, Sampling())


def test_a_run_that_another_one_replaced_records_nothing(performance: Performance, tmp_path: Path) -> None:
    old, _ = new_run(performance, 1)
    new, _ = new_run(performance, 2)
    with pytest.raises(WorkerLostError):
        old.voice.say(TESTED, 1)
    new.voice.say(TESTED, 1)
    assert len(list(read_all(tmp_path / "j.jsonl"))) == 1


def test_a_new_run_starts_with_the_answers_of_the_earlier_one(performance: Performance) -> None:
    old, _ = new_run(performance, 1)
    old.voice.say(STARTED, 1)
    old.voice.say(finished(old), 1)
    old.voice.say(STARTED, 2)
    performance.lose(old)
    _, tape = new_run(performance, 2)
    assert tape.answer(1, "hash", Completion) == ANSWER
    assert tape.attempts == {1: 1, 2: 1}
    assert tape.answer(2, "hash", Completion) is None


def test_an_experiment_without_a_worker_ends_with_the_time_of_its_recorded_calls(performance: Performance) -> None:
    turn, _ = new_run(performance, 1)
    turn.voice.say(STARTED, 1)
    turn.voice.say(finished(turn), 1)
    performance.lose(turn)
    assert performance.ended(without_result("cancelled")).seconds == 0.5
    performance.give_up(without_result("error", "its workers were lost"))
    end = performance.outcome.get(timeout=10)
    assert isinstance(end, ExperimentFinished)
    assert (end.outcome, end.seconds) == ("error", 0.5)


def test_an_answer_that_arrived_before_its_worker_was_lost_is_recorded_before_the_next_run(
    performance: Performance,
) -> None:
    old, _ = new_run(performance, 1)
    old.voice.say(STARTED, 1)
    old.ordinals[7] = 1
    answers: list[Completion] = []
    asking = threading.Thread(target=lambda: answers.append(performance.complete(old, 7, "vllm/m", REQUEST, None)))
    asking.start()
    while not old.calls:
        pass
    performance.take(old, Completed(1, 7, ANSWER))
    performance.lose(old)
    asking.join()
    tapes: list[Tape] = []
    starting = threading.Thread(target=lambda: tapes.append(new_run(performance, 2)[1]))
    starting.start()
    starting.join(0.3)  # it waits for the answer to be recorded
    old.voice.say(finished(old), 1)
    starting.join(10)
    assert answers == [ANSWER]
    assert tapes[0].answer(1, "hash", Completion) == ANSWER


def test_a_call_whose_worker_is_lost_has_no_end(performance: Performance) -> None:
    old, _ = new_run(performance, 1)
    old.ordinals[7] = 1
    ends: list[Exception] = []

    def ask() -> None:
        try:
            performance.complete(old, 7, "vllm/m", REQUEST, None)
        except WorkerLostError as error:
            ends.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    while not old.calls:
        pass
    assert performance.lose(old)
    asking.join(10)
    assert len(ends) == 1
