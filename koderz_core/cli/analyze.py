"""``koderz analyze``: details of one benchmark, or of one experiment iteration by iteration, with its programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from koderz_core.cli.label import print_annotations
from koderz_core.cli.options import as_json, data_dir, print_json, report_faults, workspace
from koderz_core.cli.progress import print_dump, print_timings
from koderz_core.cli.tables import console, drawn, print_experiments, print_iterations, print_summaries
from koderz_core.errors import UsageError
from koderz_core.records.annotations import labels_by_experiment
from koderz_core.records.notes import NoteRow
from koderz_core.records.plans import natural
from koderz_core.records.progress import SummaryRow
from koderz_core.records.rows import ExperimentDetails
from koderz_core.report.columns import Row
from koderz_core.report.forecasts import LAST_RUN, receipt
from koderz_core.report.formats import MARKS, SHARED, count, duration, isolation, money_spent, note_title, plain
from koderz_core.report.patches import changes_of, is_patch, patch_size
from koderz_core.report.status import changed
from koderz_core.report.supervision import (
    SHOWS,
    SHOWS_NOT,
    reviews_listing,
    supervised,
    supervision_numbers,
    supervision_table,
)
from koderz_core.report.timeline import passed_sections, repeated, review_outcome
from koderz_core.workspace import Workspace
from koderz_core.workspace.comparisons import Supervision
from koderz_core.workspace.grading import gate_remarks
from koderz_core.workspace.names import figures_of

MOST_OF_A_NOTE = 3000  # characters: as much of a review as any prompt gets
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command()
@click.argument("identifier")
@click.option("--show-code", is_flag=True, help="Also show the programs, in the order in which they were tested.")
@click.option(
    "--dump",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also write each prompt, answer, program and test result to its own file in this folder.",
)
@click.option("--timing", is_flag=True, help="Show how much time each phase of a benchmark took.")
@as_json
@data_dir
def analyze(
    identifier: str, show_code: bool, dump: Path | None, timing: bool, as_json: bool, data_dir: Path | None
) -> int:
    """Show one benchmark or experiment in detail.

    IDENTIFIER is the name or id of a benchmark, or the id of an experiment. The start of an id is enough.
    """
    with workspace(data_dir) as opened:
        chosen = opened.results.find(identifier)
        if timing:
            rows = opened.experiments.timings(opened.names.benchmark(chosen))
            print_json(rows) if as_json else print_timings(rows)
        elif chosen.startswith("bench_"):
            if show_code:
                raise UsageError(
                    "--show-code shows the programs of one experiment, not of a benchmark. Give the id of an "
                    f"experiment; `koderz results {chosen} --experiments` lists the experiments of the benchmark."
                )
            _benchmark(opened, chosen, as_json=as_json)
        else:
            details = opened.results.experiment(chosen)
            print_json(details) if as_json else print_details(details)
            if not as_json:
                print_annotations(opened.labels.of(chosen))
            if show_code and not as_json:
                print_programs(details, opened.experiments.read([chosen], tried_programs).texts)
        if dump:
            print_dump(opened.experiments.dump(chosen, dump))
        return report_faults(opened)


def print_details(details: ExperimentDetails, *, score: bool = True) -> None:
    """Head and error of one experiment, then its iterations with the specs and reviews between them.

    ``score`` False: for a question, which no test scores.
    """
    row = details.experiment
    click.echo(f"\n{row.id}  {plain(row.problem)}  {plain(row.label)}")
    failure = f" ({row.failure})" if row.failure else ""
    tokens = f"{count(row.input_tokens)} tokens in, {count(row.output_tokens)} out"
    spent = f"calls: {row.calls} · {tokens} · {duration(row.seconds)} · {money_spent(row.cost_usd, row.cached)}"
    click.echo(f"{MARKS[row.shown]}{failure} · {spent}" if score else spent)
    click.echo(f"Dataset: {plain(row.origin.said)}")
    if row.isolation and score:
        click.echo(f"Isolation: {plain(isolation(row.isolation, row.self_test))}")
    if row.shared:
        click.echo(SHARED)
    if row.error:
        ending = "Error (not caused by the model)" if row.outcome == "error" else "Stopped"
        click.echo(f"{ending}: {plain(row.error, 1000)}")
    _course(details)


def _course(details: ExperimentDetails) -> None:
    """Spec, iterations and reviews in the order of time."""
    again, left = repeated(details.iterations), list(details.iterations)
    for note in details.notes:
        before = [row for row in left if note.iteration is not None and row.iteration <= note.iteration]
        left = left[len(before) :]
        if before:
            click.echo()
            print_iterations(before, again)
        _note(note, details)
    if left:
        click.echo()
        print_iterations(left, again)


def _note(note: NoteRow, details: ExperimentDetails) -> None:
    click.echo(f"\n{plain(note_title(note, details.notes))}:")
    for remark in (review_outcome(note, details.notes, details.iterations), passed_sections(note)[0]):
        if remark:
            click.echo(f"({plain(remark)})")
    click.echo(plain(note.text, MOST_OF_A_NOTE))


def _benchmark(opened: Workspace, benchmark: str, *, as_json: bool) -> None:
    summaries = opened.results.reached(opened.results.summaries(benchmark))
    failures = opened.results.failures(benchmark)
    rows = opened.results.experiments(benchmark)
    progress = opened.results.progress(benchmark)
    if as_json:
        whole = {"benchmark": benchmark, "summaries": summaries, "failures": failures, "experiments": rows}
        effects = _supervised(opened, summaries)
        whole["changes"] = progress.changes
        print_json({**whole, "receipt": progress.receipt, "supervision": supervision_numbers(effects)})
        return
    print_summaries(summaries, benchmarks={benchmark: progress.benchmark})
    for remark in gate_remarks(opened.runs.recorded(benchmark)):
        click.echo(remark)
    click.echo()
    for summary in summaries:
        classes = failures.get(summary.configuration, {})
        counts = ", ".join(f"{name} {times}" for name, times in classes.items())
        if counts:
            click.echo(f"Failed programs of {plain(summary.label)}, by error class: {counts}")
    _supervision(opened, summaries)
    for change in progress.changes:
        click.echo(f"\nThe limits of the benchmark changed at {changed(change)}")
    if progress.receipt:
        click.echo(f"\n{receipt(progress.receipt, LAST_RUN)}")
    click.echo()
    labels = labels_by_experiment(opened.results.annotations(benchmark))
    print_experiments(sorted(rows, key=lambda row: (row.label, natural(row.problem), row.repeat)), labels)


def _supervision(opened: Workspace, summaries: Sequence[SummaryRow]) -> None:
    """The effect of reviews, for the configurations in which a stronger model reviewed; and what it does not show."""
    effects = _supervised(opened, summaries)
    screen = console()
    for table in (supervision_table(effects), reviews_listing(effects).table):
        if table.rows:
            screen.print(f"\n{table.title}", style="bold")
            screen.print(drawn(table, known=False))
    for remark in (SHOWS, SHOWS_NOT) if effects else ():
        screen.print(remark, style="dim")


def _supervised(opened: Workspace, summaries: Sequence[SummaryRow]) -> list[Row[Supervision]]:
    configurations = [figures_of(row, place) for place, row in enumerate(summaries)]
    return supervised(configurations, opened.comparisons.supervision(summaries))


def print_programs(details: ExperimentDetails, texts: Mapping[str, str]) -> None:
    """Each iteration's program, a repeated one only by reference; then a program that was submitted untested.

    ``texts``: SHA-256 -> source of ``tried_programs``.
    """
    again = repeated(details.iterations)
    returned = details.experiment.code
    for tried in details.iterations:
        passed = f"{tried.tests_passed} of {tried.tests_total} gate tests passed"
        click.echo(f"\nIteration {tried.iteration}, {passed}:", nl=False)
        if tried.code is None:
            click.echo(" no program in the answer")
        elif tried.iteration in again:
            click.echo(f" same program as in iteration {again[tried.iteration]}")
        else:
            click.echo(f"{' submitted' if tried.code == returned else ''}\n{_program(texts[tried.code])}")
    if returned and all(tried.code != returned for tried in details.iterations):
        click.echo(f"\nSubmitted without testing:\n{_program(texts[returned])}")


def _program(text: str) -> str:
    """A program; of a patch also its size, and its added and removed lines in colours if the terminal has any."""
    if not is_patch(text):
        return plain(text)
    lines = (click.style(line, fg=_COLOURS.get(line[:1])) for line in plain(text).split("\n"))
    return "\n".join((patch_size(changes_of(text)), *lines))


def tried_programs(details: ExperimentDetails) -> set[str]:
    """The SHA-256 of every program that was tried or returned."""
    return {code for code in (details.experiment.code, *(tried.code for tried in details.iterations)) if code}
