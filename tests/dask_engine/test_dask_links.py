"""Links and owners when the other end is silent, lost, or sends what cannot be used."""

from __future__ import annotations

import os
import platform
import socket
import threading
import time
from dataclasses import replace
from multiprocessing import AuthenticationError
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace

import pytest

pytest.importorskip("distributed")

from koderz_core import egress
from koderz_core.config import Settings, load_settings
from koderz_core.dask_engine import link as links
from koderz_core.dask_engine.link import Entrance, Link, connect
from koderz_core.dask_engine.messages import Answered, AskMemories, AskStep, begin, fault_of
from koderz_core.dask_engine.owner import Owner, Site
from koderz_core.dask_engine.performance import Performance, Turn
from koderz_core.dask_engine.proxies import Asking, RemoteSlot
from koderz_core.dask_engine.worker import Joining, WorkerSite
from koderz_core.datasets import load
from koderz_core.errors import Cancelled
from koderz_core.grading.testsets import Split, TestPolicy, split
from koderz_core.records import Asker, Configuration, DatasetOrigin, Experiment, Memory, Query
from koderz_core.runner.experiment import Task
from koderz_core.runner.history import Tape
from koderz_core.runner.recorder import NO_KEYS, Voice
from koderz_core.runner.scheduler import Scheduler
from koderz_core.workspace.engines import _write_workers, experiments_by_worker, workers_file

HERE, KEY = "127.0.0.1", b"key"
ORIGIN = DatasetOrigin("tiny", "0" * 64, "MIT")


def test_a_worker_does_not_wait_for_an_owner_that_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "HANDSHAKE_SECONDS", 0.3)
    with socket.create_server((HERE, 0)) as silent, pytest.raises((OSError, EOFError, AuthenticationError)):
        connect(silent.getsockname(), KEY)


def test_a_machine_that_loses_its_power_is_noticed_within_a_minute() -> None:
    arrived: SimpleQueue[Link] = SimpleQueue()
    entrance = Entrance(HERE, KEY, arrived.put)
    link = connect((HERE, entrance.port), KEY)
    with socket.socket(fileno=os.dup(arrived.get()._connection.fileno())) as held:
        idle, between, probes = (
            held.getsockopt(socket.IPPROTO_TCP, option)
            for option in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
        )
    assert idle + between * probes < 60
    link.close()
    entrance.close()


def test_a_stopped_experiment_is_not_begun_by_a_worker_that_waited_for_its_last_answer() -> None:
    task = SimpleNamespace(experiment=Experiment("e", "c", "p", 0, 1))
    performance = Performance(task, None, None, None)  # type: ignore[arg-type]  # none of them is used
    performance._answered.add((None, 1))  # type: ignore[arg-type]  # an answer of a lost worker is being recorded
    begun: SimpleQueue[object] = SimpleQueue()
    threading.Thread(target=lambda: begun.put(performance.begin(None, 1)), daemon=True).start()  # type: ignore[arg-type]
    time.sleep(0.1)
    performance.close()
    assert begun.get(timeout=10) is None
    assert performance.turn is None


class Broken(Performance):
    def begin(self, link: Link, run: int) -> tuple[Turn, object]:  # type: ignore[override]
        raise KeyError("a text that is missing")


def test_an_experiment_that_cannot_be_sent_ends_and_its_worker_is_free() -> None:
    sent: list[object] = []
    owner = Owner(None, Scheduler(), HERE, KEY)  # type: ignore[arg-type]  # no worker asks for its terms
    performance = Broken(None, None, None, None)  # type: ignore[arg-type]
    owner._begin(Site("w", "h", SimpleNamespace(send=sent.append)), 7, performance)  # type: ignore[arg-type]
    assert isinstance(performance.outcome.get(timeout=10), KeyError)
    assert [type(message).__name__ for message in sent] == ["Gone"]
    owner.close()


def test_a_worker_learns_how_long_a_pause_was_that_a_stop_ended() -> None:
    def answer(question: AskStep) -> None:
        asking.take(Answered(question.run, question.number, 7.5, fault=fault_of(Cancelled("stopped"))))

    link = SimpleNamespace(halting=True, lost=threading.Event(), send=answer)
    asking = Asking(link, 1, "bench_1", {})  # type: ignore[arg-type]
    slot = RemoteSlot(asking, "c", "e", paused_before=2.0)
    assert slot.paused_seconds == 0.0
    with pytest.raises(Cancelled):
        slot.step()
    assert slot.paused_seconds == 5.5


def test_a_worker_on_the_owners_machine_gets_divided_tests_once_and_another_machine_measures_its_own_limits(
    settings: Settings,
) -> None:
    problem, owner = load("humaneval", settings).problems[0], Owner(None, Scheduler(), HERE, KEY)  # type: ignore[arg-type]
    task = Task(Experiment("e", "c", problem.id, 0, 1), Configuration("direct", {}), problem, ORIGIN, Tape())
    parts, slot = SimpleNamespace(divide=split), SimpleNamespace(paused_seconds=0.0)
    performance = Performance(task, parts, Voice(SimpleNamespace(text=str), "e"), slot)  # type: ignore[arg-type]  # nothing is recorded
    got: list[tuple[bool, bool]] = []
    for host in (platform.node(), "another"):
        link = SimpleNamespace(
            lost=threading.Event(), send=lambda sent: got.append((bool(sent.problem), bool(sent.split)))
        )
        site = Site("w", host, link)  # type: ignore[arg-type]
        for run in (1, 2):
            owner._start(site, run, performance)
    assert got == [(True, True), (False, False), (True, False), (False, False)]
    owner.close()


def test_a_search_for_an_experiment_of_a_worker_is_logged_with_its_benchmark(settings: Settings) -> None:
    problem, owner = load("humaneval", settings).problems[0], Owner(None, Scheduler(), HERE, KEY)  # type: ignore[arg-type]
    task = Task(Experiment("e", "c", problem.id, 0, 1), Configuration("direct", {}), problem, ORIGIN, Tape())
    parts = SimpleNamespace(
        benchmark="bench_1", redact=NO_KEYS, recall=lambda *_: [Memory(egress.BENCHMARK.get(), "web", {})]
    )
    performance = Performance(task, parts, None, SimpleNamespace(paused_seconds=0.0))  # type: ignore[arg-type]
    answers: SimpleQueue[Answered] = SimpleQueue()
    site = Site("w", "h", SimpleNamespace(send=answers.put))  # type: ignore[arg-type]
    question = AskMemories(1, 1, Query("web"), Asker("e", problem.id, ORIGIN, {}))
    owner._take_of(site, performance, Turn(site.link, 1, None), question)  # type: ignore[arg-type]
    assert [memory.text for memory in answers.get(timeout=10).memories] == ["bench_1"]
    owner.close()


def test_a_worker_uses_the_divided_tests_that_it_received(settings: Settings) -> None:
    problem = load("humaneval", settings).problems[0]
    task = Task(Experiment("e", "c", problem.id, 0, 1), Configuration("direct", {}), problem, ORIGIN, Tape())
    made = split(problem, task.policy)
    assert isinstance(made, Split)
    message = begin(1, task, task.tape, "hash", 0.0)
    message.split = replace(made, base=replace(made.base, seconds=7.0))
    site = WorkerSite(Joining("b", (HERE, 1), KEY, "", "r", ours=True), "w", "tcp://w:1")
    divide = site._divide(SimpleNamespace(divide=split))  # type: ignore[arg-type]  # nothing else is used
    assert divide(problem, task.policy) == made
    site._keep(message)
    assert divide(problem, task.policy).base.seconds == 7.0
    assert divide(problem, TestPolicy("split:0.5")) == split(problem, TestPolicy("split:0.5"))


def test_the_experiments_of_a_killed_owner_are_not_shown_and_a_report_that_fails_ends_nothing(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path)
    _write_workers(settings, "bench_1", {"w": ("e",)})
    assert experiments_by_worker(settings, "bench_1") == {"w": ("e",)}
    file = workers_file(settings, "bench_1")
    os.utime(file, (0, 0))
    assert not experiments_by_worker(settings, "bench_1")
    file.unlink()
    file.mkdir()
    _write_workers(settings, "bench_1", {})
