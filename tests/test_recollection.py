"""A spec that was written once serves other experiments: at no cost, and an experiment never hangs on it."""

from __future__ import annotations

import fcntl
from collections.abc import Sequence

import pytest

from koderz_core import open_workspace
from koderz_core.events import CallStarted, Event, MemoryRecalled
from koderz_core.journal import read_all
from koderz_core.plan.order import Order, Wanted
from koderz_core.records import Plan
from koderz_core.records.notes import SpecRow
from koderz_core.workspace import Workspace

FEW = {"max_iterations": 2, "checkpoints": False}


def plan(workspace: Workspace, seed: int, **parameters: bool | str | float) -> Plan:
    wanted = Wanted("supervised", {"spec": "scripted/strong", "coder": "scripted/weak"}, FEW | parameters)
    return workspace.plans.plan(Order([wanted], "0:2", seed=seed))


def perform(workspace: Workspace, asked: Plan) -> list[SpecRow]:
    workspace.runs.run(asked, concurrency=1)
    return workspace.results.specs(benchmark=asked.id)


def said(workspace: Workspace, asked: Plan) -> Sequence[Event]:
    return [entry.event for entry in read_all(workspace.settings.journals_dir / f"{asked.id}.jsonl")]


def test_a_spec_of_an_earlier_benchmark_is_reused_at_no_cost_and_names_who_wrote_it() -> None:
    with open_workspace() as workspace:
        first = {row.problem: row for row in perform(workspace, plan(workspace, 1))}
        reusing = plan(workspace, 2, reuse_spec=True)
        for row in perform(workspace, reusing):
            assert (row.origin, row.text) == (first[row.problem].experiment, first[row.problem].text)
        events = said(workspace, reusing)
    assert "spec" not in {event.role for event in events if isinstance(event, CallStarted)}
    assert sum(isinstance(event, MemoryRecalled) and len(event.memories) == 1 for event in events) == 2


def test_where_nothing_is_there_to_reuse_a_spec_is_written_that_the_next_one_reuses() -> None:
    with open_workspace() as workspace:
        third = plan(workspace, 3, reuse_spec=True, spec_prompt="detailed")
        perform(workspace, plan(workspace, 1))  # of the other prompt
        written = perform(workspace, plan(workspace, 2, reuse_spec=True, spec_prompt="detailed"))
        reused = perform(workspace, third)
    assert [row.origin for row in written] == [None, None]
    assert {row.origin for row in reused} == {row.experiment for row in written}


def test_a_spec_that_was_written_with_a_top_p_is_not_reused() -> None:
    with open_workspace() as workspace:
        perform(workspace, plan(workspace, 1, **{"spec.top_p": 0.5}))
        assert {row.origin for row in perform(workspace, plan(workspace, 2, reuse_spec=True))} == {None}


def test_a_store_that_others_keep_locked_costs_the_spec_and_not_the_experiment(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with open_workspace() as workspace:
        reusing = plan(workspace, 1, reuse_spec=True)
        store = workspace.results.store
        store._patience_seconds = 0.0
        store.path.parent.mkdir(parents=True, exist_ok=True)
        with store.path.with_name(f"{store.path.name}.lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            workspace.runs.run(reusing, concurrency=1)
        store._patience_seconds = 10.0
        assert {row.origin for row in workspace.results.specs(benchmark=reusing.id)} == {None}
        faults = [event.fault for event in said(workspace, reusing) if isinstance(event, MemoryRecalled)]
    assert len(faults) == 2
    assert all("being used by another process" in fault for fault in faults)
    assert "continues without memories, because they could not be read" in caplog.text
