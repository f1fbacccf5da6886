"""Messages between owner and workers, places of clusters, and koderz without Dask."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("distributed")

from koderz_core import Order, Wanted, open_workspace
from koderz_core.config import Settings
from koderz_core.dask_engine.clusters import Place
from koderz_core.dask_engine.messages import TO_WORKER, Begin, begin, fault_of, packed, raised
from koderz_core.datasets import load
from koderz_core.errors import ContextError, ModelError, OfflineError, UsageError
from koderz_core.grading.testsets import Split, TestPolicy, split
from koderz_core.records import (
    Cases,
    Completion,
    Configuration,
    DatasetOrigin,
    Experiment,
    Memory,
    Observed,
    Problem,
    PublicProblem,
    Remaining,
    Repository,
    Sampling,
    SourceTree,
    TestSet,
    Usage,
    Verdict,
    fingerprint,
)
from koderz_core.runner.experiment import Task
from koderz_core.runner.history import Recorded, Tape

NO_STEPS = Tape()
ORIGIN = DatasetOrigin("tiny", "0" * 64, "MIT")
ANSWERS = (
    Completion("text", "stop", Usage(1, 2), 0.5, Sampling(0.8)),
    Verdict("P", (), True, None, "", 0.1, "hardened"),
    (Observed("f(1)", "2"),),
    (Memory("text", "origin", {"tag": "value"}),),
    (),
    Remaining(3, 0.25),
)


def sent(task: Task, split: Split | None = None) -> Begin:
    started = begin(1, task, task.tape, "hash", 0.0)
    started.problem, started.split = task.problem, split
    (message,) = TO_WORKER.decode(packed([started]))
    assert isinstance(message, Begin)
    return message


TREE = SourceTree("0" * 64, "package-1.0", "MIT", {"package/a.py": b"x = 1\n", "tests/test_a.py": b"\xff"})
REPOSITORY = Repository(TREE, "", ("package/a.py",), ("tests/test_a.py::test_x",), ())
TASK = Problem(
    PublicProblem("repo/1", "Fix it.", "", kind="repo", files={"package/a.py": "x = 1\n"}),
    TestSet(ids=("tests/test_a.py::test_x",)),
    "--- a",
    repository=REPOSITORY,
)


def task_of(problem: Problem, tape: Tape = NO_STEPS) -> Task:
    return Task(Experiment("e", "c", problem.id, 0, 1), Configuration("direct", {}), problem, ORIGIN, tape)


def test_problems_arrive_at_workers_unchanged(settings: Settings) -> None:
    for problem in (*load("humaneval", settings).problems[:20], TASK):
        received = sent(task_of(problem)).problem
        assert received == problem
        assert fingerprint(received) == fingerprint(problem)
    assert received.repository.tree.files == TREE.files


def test_divided_tests_arrive_at_workers_unchanged(settings: Settings) -> None:
    problem: Problem = load("humaneval", settings).problems[0]
    tests = split(problem, TestPolicy("split:0.5"))
    assert isinstance(tests, Split)
    whole = replace(
        tests,
        gate=replace(tests.gate, seconds=0.7),
        plus=TestSet("def like(): ...", cases=Cases("[1]\n[2]", "3\n4", limits="1\n2")),
    )
    assert sent(task_of(problem), whole).split == whole


def test_a_tape_arrives_at_workers_unchanged(settings: Settings) -> None:
    problem: Problem = load("humaneval", settings).problems[0]
    steps = {number: Recorded("hash", answer, 1.5, 0.5) for number, answer in enumerate(ANSWERS)}
    tape = Tape(steps, {0: 2})
    assert sent(task_of(problem, tape)).task(problem).tape == tape


def test_an_error_keeps_its_class_and_what_retries_depend_on() -> None:
    error = ModelError("busy", retryable=True, status=429, retry_after_seconds=3.0)
    again = raised(msgspec.msgpack.decode(msgspec.msgpack.encode(fault_of(error)), type=type(fault_of(error))))
    assert isinstance(again, ModelError)
    assert (str(again), again.retryable, again.status, again.retry_after_seconds) == ("busy", True, 429, 3.0)
    assert isinstance(raised(fault_of(ContextError("long"))), ContextError)
    assert type(raised(fault_of(ZeroDivisionError("x")))).__name__ == "ZeroDivisionError"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("=local:3", Place("local", "3")),
        ("=tcp://10.0.0.5:8786", Place("address", "tcp://10.0.0.5:8786")),
        ("=node:8786", Place("address", "node:8786")),
    ],
)
def test_places_of_workers(text: str, place: Place) -> None:
    assert Place.of(text) == place


@pytest.mark.parametrize("text", ["=local:0", "=local:many", "=node", "=slurm:", "=pbs:file"])
def test_unknown_places_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--engine dask"):
        Place.of(text)


def test_offline_no_cluster_beyond_this_machine_is_asked() -> None:
    with open_workspace(offline=True) as opened:
        plan = opened.plans.plan(Order([Wanted("direct", {"coder": "scripted/strong"})], "0:1"))
        with pytest.raises(OfflineError):
            opened.runs.engines.open("dask=tcp://10.0.0.5:8786", plan)


def test_a_file_of_slurm_options(tmp_path: Path) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text('cores = 8\nmemory = "16GB"\njobs = 4\n')
    place = Place.of(f"=slurm:{file}")
    assert (place.options, place.threads) == ({"cores": 8, "memory": "16GB", "jobs": 4}, 32)
    file.write_text("cores = 8\n")
    with pytest.raises(UsageError, match="number of Slurm jobs"):
        Place.of(f"=slurm:{file}")


def test_slurm_options_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "cluster.toml"
    for text in ('jobs = 1\ncores = "eight"\n', "jobs = true\n"):
        file.write_text(text)
        with pytest.raises(UsageError, match="Example: cores = 8"):
            Place.of(f"=slurm:{file}")


def test_nothing_imports_dask_unless_an_engine_asks_for_it_and_without_it_the_error_says_how_to_install_it() -> None:
    script = """
import sys
sys.modules["dask"] = None
from koderz_core import Order, Wanted, open_workspace
with open_workspace() as opened:
    plan = opened.plans.plan(Order([Wanted("direct", {"coder": "scripted/strong"})], "0:1"))
    opened.runs.run(plan)
    assert "distributed" not in sys.modules
    try:
        opened.runs.engines.open("dask", plan)
    except Exception as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "pip install 'koderz[dask]'" in done.stdout
