"""What experiments leave behind is remembered while they run, and nothing about a memory server reaches them."""

from __future__ import annotations

import logging
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.events import (
    BenchmarkClosed,
    BenchmarkOpened,
    CallFinished,
    CallStarted,
    CodeTested,
    Entry,
    Event,
    ExperimentFinished,
    ExperimentStarted,
)
from koderz_core.journal import read_all
from koderz_core.memory.journal_memories import MemoryExtractor
from koderz_core.records import Configuration, Cost, DatasetOrigin, Plan, Sampling, Usage, Verdict
from koderz_core.workspace import mirror_thread

HOSTILE = Path(__file__).parent / "memory" / "hostile_server.py"


@pytest.fixture
def remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """``remembered("dies")``: the outcomes of a benchmark beside such a server, which costs its end no time."""
    monkeypatch.setattr(mirror_thread, "PATIENT_SECONDS", 1.0)
    monkeypatch.setattr(mirror_thread, "EVERY_SECONDS", 0.05)

    def run(way: str) -> list[str]:
        command = shlex.join((sys.executable, "-I", str(HOSTILE), way, str(tmp_path / "log.txt")))
        with open_workspace(memory="all", cortex_command=command) as workspace:
            plan = workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/slow"})], "0:3"))
            workspace.runs.run(plan)
            eventually((tmp_path / "log.began").exists)
            eventually(lambda: way != "obeys" or "Benchmark" in said(tmp_path))
            begun = time.monotonic()
        assert time.monotonic() - begun < 8  # a second where nobody else wants the processor
        events = [entry.event for entry in read_all(workspace.settings.journals_dir / f"{plan.id}.jsonl")]
        assert isinstance(events[-1], BenchmarkClosed)
        return [event.outcome for event in events if isinstance(event, ExperimentFinished)]

    return run


def said(folder: Path) -> str:
    log = folder / "log.txt"
    return log.read_text() if log.exists() else ""


def eventually(claim: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not claim():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("way", ["dies", "hangs"])
def test_an_experiment_hears_nothing_of_a_server_that_fails(
    way: str, remembered: Callable[[str], list[str]], caplog: pytest.LogCaptureFixture
) -> None:
    outcomes = remembered(way)
    assert (len(outcomes), set(outcomes) <= {"solved", "unsolved"}) == (3, True)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_benchmark_is_remembered_while_it_runs(remembered: Callable[[str], list[str]], tmp_path: Path) -> None:
    remembered("obeys")
    titles = said(tmp_path).splitlines()
    assert len([title for title in titles if title.endswith("COMPLETED")]) == 3
    assert titles[-1].startswith("Benchmark bench_")


def test_nothing_is_started_where_memory_is_off(remembered: Callable[[str], list[str]], tmp_path: Path) -> None:
    with open_workspace(memory="off", cortex_command="true") as workspace:
        workspace.runs.run(workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/strong"})], "0:1")))
    assert not (workspace.settings.home / "mirrored.db").exists()


def test_a_benchmark_that_takes_no_time_is_in_memory_when_its_command_ends(tmp_path: Path) -> None:
    with open_workspace(memory="all") as workspace:
        workspace.runs.run(workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/strong"})], "0:1")))
    with open_workspace(memory="all") as workspace:
        counts = workspace.memories.counts()
    assert counts is not None
    assert counts.total == 2


def test_a_command_that_could_not_wait_for_its_memory_says_so(
    remembered: Callable[[str], list[str]], caplog: pytest.LogCaptureFixture
) -> None:
    remembered("hangs")
    assert [record for record in caplog.records if "benchmarks are not stored yet: bench_" in record.getMessage()]


def test_what_scripted_models_did_is_not_remembered_unless_somebody_wants_it(tmp_path: Path) -> None:
    with open_workspace(memory="on") as workspace:
        workspace.runs.run(workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/strong"})], "0:1")))
    with open_workspace(memory="on") as workspace:
        counts = workspace.memories.counts()
    assert counts is None or counts.total == 0


def test_of_a_benchmark_with_real_and_scripted_models_only_the_real_ones_are_remembered() -> None:
    real, mock = (Configuration("direct", {"coder": (name,)}) for name in ("ollama/it", "scripted/weak"))
    plan = Plan(DatasetOrigin("d", "0" * 64, ""), ("p/0",), (real, mock))
    header = BenchmarkOpened(1, "0", plan.id, plan, {}, "prices", "none", {})
    extractor = MemoryExtractor(str)
    ended = ExperimentFinished("unsolved", "iterations", "oracle", None, 1.0)
    memories = [extractor.add(Entry(1.0, header))]
    for experiment in plan.experiments():
        events = (ExperimentStarted(experiment), ended)
        memories += [extractor.add(Entry(1.0, event, experiment.id)) for event in events]
    memories += [extractor.add(Entry(1.0, BenchmarkClosed("finished")))]
    result, benchmark = (memory for memory in memories if memory)
    assert result.metadata["configuration_id"] == real.id
    assert benchmark.metadata["planned"] == 1
    assert not any("scripted/weak" in memory.tags for memory in (result, benchmark))


def test_the_memory_of_an_iteration_names_the_model_and_the_cost_of_the_call_that_wrote_its_program() -> None:
    made = Configuration("ensemble", {"coder": ("ollama/a", "ollama/b")})
    plan = Plan(DatasetOrigin("d", "0" * 64, ""), ("p/0",), (made,))
    (experiment,) = plan.experiments()
    verdict = Verdict("F", (), True, "assertion", "", 0.1, "limited")
    roles = [("coder", "a"), None, ("critic", "c"), ("refiner", "d"), None, ("coder", "a"), ("coder", "b"), None, None]
    roles += [("coder", "a"), ("coder", "a"), None]
    extractor = MemoryExtractor(str)
    extractor.add(Entry(1.0, BenchmarkOpened(1, "0", plan.id, plan, {}, "prices", "none", {})))
    extractor.add(Entry(1.0, ExperimentStarted(experiment), experiment.id))
    found: list[tuple[object, object]] = []
    for ordinal, asked in enumerate(roles):
        events: list[Event] = [CodeTested(ordinal, "hash", None, "none", verdict)]
        if asked:
            call = CallStarted(asked[0], 0, asked[1], "hash", (), Sampling(), 7, 1)
            said = CallFinished("", "stop", Usage(1, 1), Cost(float(ordinal), "prices"), 1.0, None, Sampling())
            events = [call, said]
        memories = [extractor.add(Entry(1.0, event, experiment.id, ordinal)) for event in events]
        found += [(memory.metadata["model"], memory.metadata["cost"]) for memory in memories if memory]
    assert found == [("a", 0.0), ("d", 3.0), (None, None), (None, None), ("a", None)]
