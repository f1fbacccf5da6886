"""``koderz fix`` and ``koderz ask``: a strategy works on a person's own file or question."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from koderz_core.cli.analyze import print_details
from koderz_core.cli.benchmark import RunOptions, perform
from koderz_core.cli.options import (
    GroupedCommand,
    OutputPath,
    agrees,
    as_json,
    data_dir,
    option,
    print_json,
    quiet,
    workspace,
)
from koderz_core.cli.order import order, settings
from koderz_core.cli.order_options import task_options
from koderz_core.errors import BudgetSpent, Cancelled, PlanError
from koderz_core.plan.order import Order
from koderz_core.records import Dataset, Plan, Verdict
from koderz_core.records.rows import ExperimentDetails
from koderz_core.report.formats import plain
from koderz_core.workspace import Workspace
from koderz_core.workspace.workbench import FOLDER, Answer, Fix, WrittenFile

UNSOLVED, INFRASTRUCTURE, BUG = 4, 3, 1
FIXING, ANSWERING = "repair", "direct"


@click.command(cls=GroupedCommand)
@click.argument("file", type=click.Path(path_type=Path))
@option(
    "Problems",
    "--tests",
    type=click.Path(path_type=Path),
    required=True,
    help="File with the tests: pytest functions, unittest classes, or asserts.",
)
@option("Problems", "--instruction", default="", metavar="TEXT", help="What to change, or a hint about the fault.")
@option("Output", "--output", type=OutputPath(), help="Write the new program to this file instead of FILE.")
@option("Output", "--yes", is_flag=True, help="Write the program without asking, if it passes all tests.")
@option("Output", "--allow-failing", is_flag=True, help="Also offer to write a program that fails tests.")
@task_options(FIXING)
@quiet
@as_json
@data_dir
def fix(file: Path, tests: Path, instruction: str, as_json: bool, data_dir: Path | None, **options: Any) -> int:
    """Fix a Python file so that it passes your tests, and show the changes. koderz asks before it writes.

    The strategy sees which tests fail, and stops when a program passes all tests. Then koderz shows the steps of the
    strategy, the cost and the changes. The same command with the same files shows the recorded result again, without
    new calls; with another --seed, koderz makes another attempt. koderz' statistics exclude these results. Exits with
    code 4 if no program passes the tests.
    """
    with workspace(data_dir, **settings(_completed(options))) as opened:
        bench = opened.workbench
        given = bench.read(file)
        task = bench.task(given, bench.read(tests, "a file with tests"), instruction)
        passed, total = task.before.tests_passed, task.before.tests_total
        _say(f"{given.name}: {passed} of {total} tests pass.", *task.remarks)
        if task.before.passed and not instruction:
            _print_sound(task.before, as_json=as_json)
            return 0
        plan = _planned(opened, task.dataset, options, FIXING)
        ended = _performed(opened, plan, options, silent=as_json)
        found = bench.result(plan.id)
        assert isinstance(found, Fix), "the task has tests"
        if as_json:
            print_json(
                {"result": found.details.experiment, "passed": found.passed, "tests": found.after, **_code(found)}
            )
        else:
            _print_fix(found)
            _print_more(opened, found.details)
        if ended:
            return ended
        if found.changed and (found.passed or options["allow_failing"]):
            _write(opened, given, found, options, ask=not as_json)
        return 0 if found.passed else UNSOLVED


@click.command(cls=GroupedCommand)
@click.argument("text")
@option(
    "Problems",
    "--file",
    "files",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Text file that the question is about. May be repeated.",
)
@task_options(ANSWERING)
@quiet
@as_json
@data_dir
def ask(text: str, files: tuple[Path, ...], as_json: bool, data_dir: Path | None, **options: Any) -> int:
    """Answer a question with one model, a debate or an ensemble. TEXT is the question.

    Works with the strategies that need no tests: `direct` asks one model; `debate` lets personas debate before the
    coder answers; `ensemble` asks each coder several times and returns the answer that is most similar to the others.
    koderz' statistics exclude these results.
    """
    with workspace(data_dir, **settings(_completed(options))) as opened:
        bench = opened.workbench
        question = bench.question(text, [bench.read(file, "a text file") for file in files])
        plan = _planned(opened, question, options, ANSWERING)
        ended = _performed(opened, plan, options, silent=as_json)
        found = bench.result(plan.id)
        assert isinstance(found, Answer), "the task is a question"
        if as_json:
            print_json({"result": found.details.experiment, "answer": found.text})
            return ended
        print_details(found.details, score=False)
        if found.text is not None:
            click.echo(f"\nAnswer:\n{plain(found.text)}")
        elif not ended:
            click.echo("\nNo model gave an answer.")
        _print_more(opened, found.details)
        return ended or (0 if found.text is not None else UNSOLVED)


def _completed(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options with those of a benchmark that a task does not have."""
    return defaultdict(lambda: None, {**options, "name": ""})


def _print_more(opened: Workspace, details: ExperimentDetails) -> None:
    folder = shlex.quote(str(opened.settings.home / FOLDER))
    more = f"koderz analyze {details.experiment.id} --dump DIR --data-dir {folder}"
    click.echo(f"\nFor all prompts and answers: {plain(more)}", err=True)


def _say(*lines: str) -> None:
    for line in lines:
        click.echo(plain(line), err=True)


def _planned(opened: Workspace, dataset: Dataset, options: Mapping[str, Any], strategy: str) -> Plan:
    """The plan of a task. Raises PlanError for several configurations."""
    named = options["strategy"] or (None if options["configuration"] else strategy)
    wanted: Order = order(_completed({**options, "strategy": named}), "all")
    if len(wanted.configurations) != 1:
        raise PlanError(
            f"The options describe {len(wanted.configurations)} configurations, but this command runs exactly one. "
            "Name one strategy and one coder, or use a strategy that asks several coders, such as ensemble."
        )
    return opened.workbench.plan(dataset, wanted.configurations[0], wanted.seed, wanted.budget)


def _performed(opened: Workspace, plan: Plan, options: Mapping[str, Any], *, silent: bool) -> int:
    """Run a task; the exit code if it has no result, else 0."""
    mode = RunOptions(silent=silent, quiet=options["quiet"], retry_errors=True)
    try:
        runner = perform(opened.workbench.inside, plan, mode)
    except Cancelled as stopped:
        raise Cancelled(
            "The task was stopped. Finished calls are kept. To continue, run the same command."
        ) from stopped
    if not runner.remaining:
        _say("This task has run before. koderz shows the recorded result. For another attempt, add --seed N.")
    row = opened.workbench.details(plan.id).experiment
    if runner.bugs:
        return BUG
    if row.outcome == "error":
        return INFRASTRUCTURE
    return BudgetSpent.exit_code if runner.used_up else 0


def _print_sound(before: Verdict, *, as_json: bool) -> None:
    sentence = "The file passes all its tests, so there is nothing to fix. To change it, add --instruction."
    if as_json:
        print_json({"result": None, "passed": True, "tests": before, "sentence": sentence, "diff": "", "code": None})
    else:
        click.echo(sentence)


def _print_fix(found: Fix) -> None:
    print_details(found.details)
    if found.changed:
        click.echo(f"\nChanges:\n{plain(found.diff)}")
    if found.details.experiment.outcome in ("solved", "unsolved"):  # an error says nothing about the program
        click.echo(f"\n{plain(found.sentence)}")


def _code(found: Fix) -> dict[str, object]:
    return {"sentence": found.sentence, "diff": found.diff, "code": found.code}


def _write(opened: Workspace, given: WrittenFile, found: Fix, options: Mapping[str, Any], *, ask: bool) -> None:
    """Write the program if the user agrees. A program that fails tests is only written after a question."""
    target = options["output"] or given.path
    agreed = options["yes"] and found.passed
    also = ", or add --yes" if found.passed else ""
    advice = f"Nothing was written. To write the program, run the same command in a terminal{also}."
    failing = "" if found.passed else "that fails tests "
    question = f"Write the program {failing}to {plain(str(target))}?"
    if not agrees(question, advice, yes=agreed, ask=ask):
        return
    assert found.code is not None, "a changed program is a program"
    _say(f"Wrote {opened.workbench.write(given, found.code, options['output'])}.")
