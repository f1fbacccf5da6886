"""Pause, resume and stop: of all, of one configuration, of one experiment, by this process and by others."""

from __future__ import annotations

import json
import os
import resource
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from koderz_core.errors import Cancelled, JournalError, ModelError, UsageError
from koderz_core.events import BenchmarkClosed, ControlObeyed, Entry, ExperimentFinished, ExperimentStarted
from koderz_core.records import Configuration, Request
from koderz_core.runner.control import MOST_BYTES, POLL_SECONDS, ControlRequest, receiving, send
from koderz_core.runner.provider_limits import Policy
from koderz_core.runner.runner import ABANDON_SECONDS
from koderz_core.runner.scheduler import Scheduler, Slot

RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
SECONDS = 5.0  # generous: two are promised
Make = Callable[..., Any]  # Any: Bench of conftest.py, which a test module cannot import


class Model:
    """Answers one request each time it is let to."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self.let = threading.Semaphore(0)

    def __call__(self, _: Request) -> str:
        self.asked.release()
        assert self.let.acquire(timeout=SECONDS)
        return RIGHT

    def is_asked(self, seconds: float = SECONDS) -> bool:
        return self.asked.acquire(timeout=seconds)


def of(entries: list[Entry], kind: type) -> list[Any]:
    return [entry.event for entry in entries if isinstance(entry.event, kind)]


def wish(made: Any, what: str, target: str | None = None) -> None:
    send(made.path, ControlRequest(time.time(), 1, what, target))


def obeyed(made: Any, what: str) -> bool:
    return eventually(lambda: any(entry.what == what for entry in of(made.entries(), ControlObeyed)))


def eventually(claim: Callable[[], object]) -> bool:
    deadline = time.monotonic() + SECONDS
    while not claim() and time.monotonic() < deadline:
        time.sleep(0.005)
    return bool(claim())


@contextmanager
def begun(made: Any, concurrency: int = 1) -> Iterator[Any]:
    with made.runner() as runner:
        runner.start(concurrency)
        yield runner
        assert runner.ended(SECONDS)


def outcomes(made: Any) -> list[str]:
    return [end.outcome for end in of(made.entries(), ExperimentFinished)]


def test_a_pause_by_another_process_holds_the_next_step_until_it_is_resumed(bench: Make) -> None:
    model = Model()
    made = bench(model, problems=("tiny/0", "tiny/1"))
    with begun(made):
        assert model.is_asked()
        wish(made, "pause")
        assert obeyed(made, "pause")
        model.let.release(2)
        assert not model.is_asked(0.3)
        wish(made, "resume")
        assert model.is_asked()
    assert outcomes(made) == ["solved", "solved"]
    assert [(entry.what, entry.by) for entry in of(made.entries(), ControlObeyed)] == [("pause", 1), ("resume", 1)]


def test_a_stop_by_another_process_wakes_what_is_paused_and_leaves_no_control_file(bench: Make) -> None:
    model = Model()
    made = bench(model, "supervised", max_iterations=2)
    with begun(made) as runner:
        assert model.is_asked()
        runner.controller.obey("pause", by=os.getpid())
        model.let.release()
        wish(made, "stop")
    assert outcomes(made) == ["cancelled"]
    assert of(made.entries(), BenchmarkClosed) == [BenchmarkClosed("stopped")]
    assert not made.path.with_suffix(".control").exists()


def test_wishes_of_before_the_start_mean_nothing(bench: Make) -> None:
    model = Model()
    made = bench(model, "supervised", max_iterations=1, spec=False)
    wish(made, "stop")
    with begun(made):
        time.sleep(3 * POLL_SECONDS)
        model.let.release()
    assert outcomes(made) == ["solved"]
    assert not of(made.entries(), ControlObeyed)


def test_a_paused_experiment_gives_its_place_to_another(bench: Make) -> None:
    model = Model()
    made = bench(model, "supervised", problems=("tiny/0", "tiny/1"), spec=True)
    first, second = made.plan.experiments()
    with begun(made, concurrency=1) as runner:
        assert model.is_asked()
        runner.controller.obey("pause", first.id, by=os.getpid())
        model.let.release(5)
        assert eventually(lambda: [end.experiment for end in ends(made)] == [second.id])
        time.sleep(0.5)
        runner.controller.obey("resume", by=os.getpid())
    assert [end.experiment for end in ends(made)] == [second.id, first.id]
    assert ends(made)[1].event.seconds < 0.4  # a pause is no work


def ends(made: Any) -> list[Entry]:
    return [entry for entry in made.entries() if isinstance(entry.event, ExperimentFinished)]


def test_a_stopped_configuration_leaves_the_others_alone_and_can_be_taken_up_again(bench: Make) -> None:
    model = Model()
    made = bench(model, problems=("tiny/0", "tiny/1"))
    (one,) = made.plan.configurations
    other = Configuration("direct", one.models, {"temperature": 0.5})
    made.plan = replace(made.plan, configurations=(one, other))
    with begun(made) as runner:
        assert model.is_asked()
        runner.controller.obey("stop", one.id, by=os.getpid())
        model.let.release(4)
    started = of(made.entries(), ExperimentStarted)
    assert [begun.experiment.configuration for begun in started] == [one.id, other.id, other.id]
    assert of(made.entries(), BenchmarkClosed) == [BenchmarkClosed("stopped")]
    model.let.release(4)
    made.go()
    assert of(made.entries(), BenchmarkClosed)[-1] == BenchmarkClosed("finished")


def test_a_pause_holds_a_retry_back_and_a_stop_ends_its_waiting() -> None:
    scheduler = Scheduler()
    slot = Slot(scheduler, "conf_1", "exp_1")
    scheduler.obey("pause", "exp_1")
    threading.Timer(0.1, scheduler.obey, ["stop", "conf_1"]).start()
    with pytest.raises(Cancelled):
        slot.wait(0.0)
    with pytest.raises(Cancelled):
        slot.wait(SECONDS)


def test_who_comes_back_from_a_pause_goes_before_those_who_have_not_begun() -> None:
    scheduler = Scheduler()
    first, *waiting = (Slot(scheduler, "conf_1", f"exp_{n}") for n in range(4))
    scheduler.release(1)
    scheduler.admit([first])
    scheduler.obey("pause", "exp_0")
    back = threading.Thread(target=first.step, daemon=True)
    back.start()
    assert scheduler.admit(waiting)
    assert scheduler.hand_over(first, waiting)  # who is still paused holds nobody back
    scheduler.obey("resume", "exp_0")
    assert scheduler.hand_over(first, waiting) is None
    back.join(SECONDS)
    assert not back.is_alive()
    assert len(waiting) == 1
    assert scheduler.hand_over(first, waiting)


def test_what_is_paused_uses_no_time_and_counts_none() -> None:
    scheduler = Scheduler()
    scheduler.release(1)
    slot = Slot(scheduler, "conf_1", "exp_1")
    scheduler.admit([slot])
    scheduler.obey("pause")
    threading.Timer(0.3, scheduler.obey, ["resume"]).start()
    before = time.thread_time()
    slot.step()
    assert time.thread_time() - before < 0.02
    assert 0.2 < slot.paused_seconds < SECONDS


def held_slot(scheduler: Scheduler) -> Slot:
    """A slot of a scheduler that has no other one, held by an experiment."""
    scheduler.release(1)
    slot = Slot(scheduler, "conf_1", "exp_1")
    scheduler.admit([slot])
    return slot


def test_a_pause_counts_as_one_while_it_lasts_and_when_a_stop_ends_it() -> None:
    scheduler = Scheduler()
    slot = held_slot(scheduler)
    scheduler.obey("pause")
    stopping = threading.Thread(target=lambda: (eventually(lambda: slot.paused_seconds > 0.2), scheduler.obey("stop")))
    stopping.start()
    begin = time.monotonic()
    with pytest.raises(Cancelled):
        slot.step()
    stopping.join()
    assert 0.2 < slot.paused_seconds < time.monotonic() - begin < SECONDS


def test_the_wait_of_a_call_that_a_stop_ends_counts_as_a_pause() -> None:
    scheduler = Scheduler()
    slot = held_slot(scheduler)
    threading.Timer(0.2, scheduler.obey, ["stop"]).start()
    with pytest.raises(Cancelled):
        slot.wait(SECONDS)
    assert 0.1 < slot.paused_seconds < SECONDS


@pytest.mark.parametrize("abandoned", [False, True])
def test_a_stopped_experiment_took_no_longer_than_it_worked(bench: Make, abandoned: bool) -> None:
    model = Model()
    made = bench(model, "supervised", max_iterations=2)
    with made.runner() as runner:
        runner.start()
        assert model.is_asked()
        runner.controller.obey("pause", by=os.getpid())
        model.let.release()
        time.sleep(2 * ABANDON_SECONDS + 0.2)
        if abandoned:  # its second call hangs
            runner.controller.obey("resume", by=os.getpid())
            assert model.is_asked()
            runner.abandon()
            model.let.release()
        runner.stop()
        assert runner.ended(SECONDS)
    assert outcomes(made) == ["cancelled"]
    assert ends(made)[0].event.seconds < 2 * ABANDON_SECONDS


def test_what_is_not_there_cannot_be_paused(bench: Make) -> None:
    model = Model()
    made = bench(model)
    with begun(made) as runner:
        assert model.is_asked()
        with pytest.raises(UsageError, match="'exp_nothing' does not name an unfinished configuration or experiment"):
            runner.controller.obey("pause", "exp_nothing", by=os.getpid())
        model.let.release()


def test_a_hostile_control_file_is_passed_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path, heard = tmp_path / "b.jsonl", list[ControlRequest]()
    with receiving(path, heard.append):
        lines = [b"no json", b"[" * 5000, b'{"what":"delete","at":1,"by":1}', b"\xff", b"x" * (MOST_BYTES * 2)]
        lines.append(json.dumps({"at": 1, "by": 1, "what": "stop", "target": "x" * 101}).encode())
        path.with_suffix(".control").write_bytes(b"\n".join(lines) + b"\n")
        send(path, ControlRequest(1.0, 1, "stop"))
        assert eventually(lambda: heard)
    assert heard == [ControlRequest(1.0, 1, "stop")]
    assert caplog.text.count("contains an invalid line, which is ignored") == 1


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_a_control_file_that_is_none_is_not_read(
    tmp_path: Path, make: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    make(tmp_path / "b.control")
    with receiving(tmp_path / "b.jsonl", lambda _: pytest.fail("nobody wished that")):
        assert eventually(lambda: "The control file b.control" in caplog.text)


def test_a_control_file_that_was_written_anew_is_read_from_its_beginning(tmp_path: Path) -> None:
    path, heard = tmp_path / "b.jsonl", list[ControlRequest]()
    with receiving(path, heard.append):
        send(path, ControlRequest(1.0, 1, "pause", "conf_" + 30 * "x"))
        assert eventually(lambda: heard)
        path.with_suffix(".control").write_text('{"at":2,"by":1,"what":"stop"}\n')
        assert eventually(lambda: len(heard) == 2)
    assert heard[1] == ControlRequest(2.0, 1, "stop")


def test_half_a_line_is_read_when_it_is_whole(tmp_path: Path) -> None:
    path, heard = tmp_path / "b.jsonl", list[ControlRequest]()
    with receiving(path, heard.append), path.with_suffix(".control").open("wb", buffering=0) as file:
        file.write(b'{"at":1,"by":1,')
        time.sleep(0.5)
        file.write(b'"what":"pause"}\n')
        assert eventually(lambda: heard)
    assert heard == [ControlRequest(1.0, 1, "pause")]


def test_what_is_abandoned_in_a_call_is_journalled_as_cancelled_and_writes_no_more(bench: Make) -> None:
    model = Model()
    made = bench(model)
    with made.runner() as runner:
        runner.start()
        assert model.is_asked()
        runner.abandon()
        recorded = made.path.read_bytes()
        model.let.release()
    assert outcomes(made) == ["cancelled"]
    assert of(made.entries(), BenchmarkClosed) == [BenchmarkClosed("stopped")]
    assert made.path.read_bytes() == recorded


def test_what_ends_while_it_is_abandoned_ends_once(bench: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    made = bench(lambda _: RIGHT)
    monkeypatch.setattr(os, "fsync", lambda _: time.sleep(3 * ABANDON_SECONDS))  # a busy disk
    with made.runner() as runner:
        runner.start()
        assert eventually(lambda: b'"experiment_finished"' in made.path.read_bytes())
        runner.abandon()
        assert runner.ended(SECONDS)
    assert outcomes(made) == ["solved"]


def test_an_error_that_was_being_tried_again_when_abandoned_still_stands(bench: Make) -> None:
    def refuse(_: Request) -> str:
        raise ModelError("The key is wrong.")

    made, model = bench(refuse), Model()
    made.go()
    made.answer, made.retry_errors = model, True
    with made.runner() as runner:
        runner.start()
        assert model.is_asked()
        runner.abandon()
        model.let.release()
    first, last = of(made.entries(), ExperimentFinished)
    assert first == last


def test_what_was_never_started_is_abandoned_without_a_word(bench: Make) -> None:
    made = bench(lambda _: RIGHT)
    made.runner().abandon()
    assert not made.path.exists()


def test_what_broke_a_benchmark_is_raised_once_all_has_ended(bench: Make) -> None:
    model, limits = Model(), resource.getrlimit(resource.RLIMIT_FSIZE)
    made = bench(model)
    with made.runner() as runner:
        runner.start()
        assert model.is_asked()
        resource.setrlimit(resource.RLIMIT_FSIZE, (made.path.stat().st_size, limits[1]))
        try:
            runner.controller.obey("pause", by=os.getpid())
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert "cannot be written" in str(runner.fault)
        assert not runner.wait(0.2)
        model.let.release()
        with pytest.raises(JournalError, match="cannot be written"):
            runner.wait(SECONDS)


def test_a_provider_that_fails_is_asked_no_more_once_stopped(bench: Make) -> None:
    asked = threading.Event()

    def answer(_: Request) -> str:
        asked.set()
        raise ModelError("busy", retryable=True)

    made = bench(answer)
    made.policy = Policy(first_wait_seconds=SECONDS * 10, random=lambda: 1.0)
    with begun(made) as runner:
        assert asked.wait(SECONDS)
        runner.stop()
    assert outcomes(made) == ["cancelled"]
