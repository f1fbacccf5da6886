"""The commands that the Experiments page offers: a shell reads them as they are meant, and they plan the same."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from koderz_core import Order, Wanted, Workspace, open_workspace
from koderz_core.cli.benchmark import benchmark, run
from koderz_core.cli.order import order
from koderz_core.errors import PlanError
from koderz_core.records import Plan
from koderz_core.records.rows import ExperimentRow
from koderz_core.workspace.experiments import Commands

NAMES = (";touch${IFS}hacked#", "$(touch${IFS}hacked)", 'it\'s"two"', "--help", "`id`")
WEAK = {"coder": "scripted/weak"}


def own(folder: Path, *names: str) -> str:
    rows = (
        {
            "task_id": name,
            "prompt": "def f():\n",
            "entry_point": "f",
            "test": "def check(candidate):\n    assert candidate() == 1\n",
        }
        | {"canonical_solution": "    return 1\n"}
        for name in names
    )
    path = folder / "own.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


def begun(workspace: Workspace, plan: Plan) -> list[ExperimentRow]:
    """Its experiments, which were stopped before any of them began."""
    with workspace.runs.runner(plan) as runner:
        runner.stop()
        runner.start(1)
        runner.wait()
    return workspace.results.experiments(plan.id)


def commands(workspace: Workspace, row: ExperimentRow) -> Commands:
    return workspace.experiments.commands(row)


def planned(workspace: Workspace, line: str) -> Plan:
    """What a line comes to, read as a shell reads it."""
    koderz, name, *words = shlex.split(line)
    assert koderz == "koderz"
    options = {"run": run, "benchmark": benchmark}[name].make_context(name, words).params
    problems = options["problem_id"] if name == "run" else options["problems"]
    return workspace.plans.plan(order(options, problems, options.get("repeats", 1)), options["dataset"])


def test_a_benchmark_of_hostile_names_is_planned_again_and_each_problem_alone(tmp_path: Path) -> None:
    with open_workspace() as workspace:
        wanted = [Wanted("direct", WEAK), Wanted("supervised", WEAK, {"max_iterations": 2}, "tests", "error")]
        name = "--name '$(touch hacked)'"
        plan = workspace.plans.plan(Order(wanted, "all", 3, 2, name), own(tmp_path, *NAMES))
        for row in begun(workspace, plan):
            found = commands(workspace, row)
            assert row.id in {experiment.id for experiment in planned(workspace, found.whole).experiments()}
            alone = planned(workspace, found.alone)
            assert (alone.problems, [configuration.id for configuration in alone.configurations]) == (
                (row.problem,),
                [row.configuration],
            )
            assert shlex.split(found.look) == ["koderz", "analyze", row.id, "--dump", "files"]


def test_a_name_that_a_terminal_would_obey_gets_no_command(tmp_path: Path) -> None:
    with open_workspace() as workspace:
        order = Order([Wanted("direct", WEAK)], "all", name="paste me\x1b[201~\n")
        (row,) = begun(workspace, workspace.plans.plan(order, own(tmp_path, "p")))
        with pytest.raises(PlanError, match="interpret"):
            commands(workspace, row)


def test_where_the_dataset_is_gone_its_benchmark_is_taken_up_and_problems_go_by_their_ids(tmp_path: Path) -> None:
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order([Wanted("direct", WEAK)], "all"), own(tmp_path, "a", "b"))
        row = begun(workspace, plan)[0]
        for kept in (workspace.settings.home / "datasets").glob("own-*"):
            kept.unlink()
        found = commands(workspace, row)
        assert found.whole == f"koderz resume {plan.id}"
        assert f"--problem-id {row.problem} " in found.alone
