"""``koderz show-spec``: the spec of an experiment, the specs of a problem, a comparison of models that wrote specs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from koderz_core.cli.options import as_json, data_dir, print_json, report_faults, workspace
from koderz_core.cli.tables import console, terminal_table
from koderz_core.errors import DataError, UnknownNameError, UsageError
from koderz_core.records.notes import SpecRow
from koderz_core.records.plans import SCRIPTED
from koderz_core.report.findings import footnotes
from koderz_core.report.formats import plain
from koderz_core.report.supervision import CAUTION, spec_origin, spec_outcome, specs_table
from koderz_core.workspace import Workspace
from koderz_core.workspace.experiments import compare_specs, count_empty, spec_results

LONGEST = 600  # characters of each of several specs
WORDS = 4  # columns that hold words, before those of numbers


@click.command(name="show-spec")
@click.argument("what", required=False, metavar="[EXP_OR_PROBLEM]")
@click.option("--model", metavar="M", help="Show only specs that this model wrote.")
@click.option(
    "--compare", is_flag=True, help="Compare the models that wrote specs, in one benchmark or in all benchmarks."
)
@as_json
@data_dir
def show_spec(what: str | None, model: str | None, compare: bool, as_json: bool, data_dir: Path | None) -> int:
    """Show the spec of an experiment, or all specs of a problem.

    A spec is a specification of a problem that a model writes before the first program, for example in the strategy
    `supervised`. To name an experiment, give its id or the start of its id. With --compare, the argument is a benchmark
    (its name, its id or the start of its id); without an argument, koderz compares the models in all benchmarks.
    """
    if what is None and not compare:
        raise UsageError(
            "No experiment or problem was given. Give the id of an experiment or a problem, or add --compare."
        )
    with workspace(data_dir) as opened:
        if compare:
            _compare(opened, what, model, as_json=as_json)
        elif problem := _problem(opened, str(what)):
            _of_problem(opened, problem, model, as_json=as_json)
        else:
            _of_experiment(opened, str(what), model, as_json=as_json)
        return report_faults(opened)


def _problem(opened: Workspace, what: str) -> str | None:
    try:
        return opened.results.find_problem(what)
    except UnknownNameError:
        return None


def _of_experiment(opened: Workspace, what: str, model: str | None, *, as_json: bool) -> None:
    experiment = _found(opened, what)
    if experiment.startswith("bench_"):
        raise UsageError(
            f"{experiment} is a benchmark. Name one of its experiments, or add --compare to compare its specs."
        )
    if model is not None:
        raise UsageError(
            f"--model selects among the specs of a problem, but {experiment} is an experiment. Omit --model."
        )
    found = opened.results.specs(experiment=experiment)
    if as_json:
        print_json({"experiment": experiment, "specs": found, "problem": None if found else _text(opened, experiment)})
    elif found:
        _scripted(found)
        for spec in found:
            click.echo(f"{plain(spec.problem)}  {plain(spec.label)}\n{plain(spec_origin(spec))}\n\n{plain(spec.text)}")
    else:
        click.echo(f"{experiment} did not use a spec. The text of its problem:\n\n{plain(_text(opened, experiment))}")


def _found(opened: Workspace, what: str) -> str:
    try:
        return opened.results.find(what)
    except UnknownNameError as error:
        problems = {row.problem for row in opened.results.experiments()}
        raise UnknownNameError("experiment or problem", what, problems) from error


def _text(opened: Workspace, experiment: str) -> str:
    """The problem's text with keys masked, as models receive it, or the reason why it cannot be shown."""
    row = opened.results.experiment(experiment).experiment
    try:
        dataset = opened.datasets.load(row.dataset)
    except (DataError, UnknownNameError) as error:
        return f"({error})"
    texts = {problem.id: problem.public.prompt for problem in dataset.problems}
    if dataset.origin.sha256 != row.dataset_sha256 or row.problem not in texts:
        return f"(The text of {row.problem} is not shown, because {row.dataset} has changed since the experiment.)"
    return opened.settings.redaction().text(texts[row.problem])


def _of_problem(opened: Workspace, problem: str, model: str | None, *, as_json: bool) -> None:
    found = spec_results(_by(model, opened.results.specs(problem=problem)))
    if as_json:
        print_json(found)
        return
    _scripted([use.spec for use in found])
    for use in found:
        spec = use.spec
        dataset = plain(spec.dataset_origin.said)
        click.echo(f"{plain(spec_origin(spec))}; {spec_outcome(use)}. {dataset}\n\n{plain(spec.text, LONGEST)}\n")
    if not found:
        click.echo(f"No experiment on {plain(problem)} used a spec.")


def _compare(opened: Workspace, benchmark: str | None, model: str | None, *, as_json: bool) -> None:
    chosen = None if benchmark is None else opened.names.benchmark(benchmark)
    rows = _by(model, opened.results.specs(benchmark=chosen))
    found = compare_specs(rows)
    if as_json:
        specs = [{**asdict(spec), "oracle": spec.marks.oracle_problems > 0} for spec in found]
        print_json({"specs": specs, "caution": CAUTION})
        return
    if not found:
        click.echo("No experiment used a spec.")
        return
    _scripted(rows)
    if empty := count_empty(rows):
        click.echo(
            f"Experiments left out of the comparison, because the model returned an empty spec: {empty}. "
            "If the token limit was too low for a spec, raise --review-tokens in `koderz benchmark`.",
            err=True,
        )
    drawing, table = terminal_table(), specs_table(found)
    for place, name in enumerate(table.columns):
        drawing.add_column(name, justify="left" if place < WORDS else "right", overflow="fold")
    for line in table.rows:
        drawing.add_row(*map(plain, line))
    console().print(drawing)
    for remark in (*footnotes(spec.marks for spec in found), CAUTION):
        console().print(remark, style="dim")


def _by(model: str | None, rows: Sequence[SpecRow]) -> Sequence[SpecRow]:
    """The specs of a model, by its id or the last parts of it. Raises UnknownNameError."""
    if model is None:
        return rows
    chosen = [row for row in rows if row.model and f"/{row.model}".endswith(f"/{model}")]
    if not chosen:
        raise UnknownNameError("spec model", model, {row.model for row in rows if row.model})
    return chosen


def _scripted(rows: Sequence[SpecRow]) -> None:
    if any(row.scripted for row in rows):
        click.echo(SCRIPTED)
