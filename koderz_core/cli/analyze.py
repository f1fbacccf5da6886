"""``koderz analyze``: into one benchmark, or into one experiment iteration by iteration."""

from __future__ import annotations

from pathlib import Path

import click

from koderz_core.analysis.timing import timings
from koderz_core.cli.options import as_json, data_dir, print_json, report_faults, workspace
from koderz_core.cli.tables import print_experiments, print_iterations, print_summaries, print_timings
from koderz_core.errors import UsageError
from koderz_core.export.forecasts import receipt
from koderz_core.export.formats import MARKS, SHARED, count, duration, isolation, money, plain
from koderz_core.records.order import natural
from koderz_core.records.rows import ExperimentDetails
from koderz_core.workspace import Workspace
from koderz_core.workspace.judging import outside


@click.command()
@click.argument("identifier")
@click.option("--show-code", is_flag=True, help="Also the programs.")
@click.option("--timing", is_flag=True, help="Where the time of a benchmark went, by phase.")
@as_json
@data_dir
def analyze(identifier: str, show_code: bool, timing: bool, as_json: bool, data_dir: Path | None) -> int:
    """Look into a benchmark (its name, its id, or how that begins) or an experiment (its id, or how that begins)."""
    with workspace(data_dir) as opened:
        chosen = opened.results.find(identifier)
        if timing:
            _timing(opened, chosen, as_json=as_json)
        elif chosen.startswith("bench_"):
            _benchmark(opened, chosen, as_json=as_json)
        else:
            details = opened.results.experiment(chosen)
            print_json(details) if as_json else print_details(details, show_code=show_code)
        return report_faults(opened)


def print_details(details: ExperimentDetails, *, show_code: bool = False) -> None:
    """Head, iterations, notes and error of one experiment."""
    row = details.experiment
    click.echo(f"\n{row.id}  {plain(row.problem)}  {plain(row.label)}")
    failure = f" ({row.failure})" if row.failure else ""
    tokens = f"{count(row.input_tokens)} tokens in, {count(row.output_tokens)} out"
    spent = f"{row.calls} calls · {tokens} · {duration(row.seconds)} · {money(row.cost_usd)}"
    click.echo(f"{MARKS[row.shown]}{failure} · {spent}")
    click.echo(f"Dataset: {plain(row.origin.said)}")
    if row.isolation:
        click.echo(f"Isolation: {plain(isolation(row.isolation, row.self_test))}")
    if row.shared:
        click.echo(SHARED)
    if row.error:
        click.echo(f"Error (not the model's): {plain(row.error, 1000)}")
    if details.iterations:
        print_iterations(details.iterations)
    for note in details.notes:
        after = f" after iteration {note.iteration}" if note.iteration else ""
        click.echo(f"\n{note.kind.replace('_', ' ')}{after}:\n{plain(note.text, 600)}")
    for score in details.scores if show_code else ():
        click.echo(f"\n{'returned program' if score.returned else 'candidate'} {score.code[:12]}:")
        click.echo(plain(details.programs[score.code]))


def _timing(opened: Workspace, benchmark: str, *, as_json: bool) -> None:
    if not benchmark.startswith("bench_"):
        raise UsageError(f"--timing looks into a benchmark, and {benchmark} is an experiment. Give a benchmark's id.")
    found = timings(opened.results.spans(benchmark))
    print_json(found) if as_json else print_timings(found)


def _benchmark(opened: Workspace, benchmark: str, *, as_json: bool) -> None:
    summaries = opened.results.summaries(benchmark)
    failures = opened.results.failures(benchmark)
    rows = opened.results.experiments(benchmark)
    came_to = opened.results.receipt(benchmark)
    if as_json:
        whole = {"benchmark": benchmark, "summaries": summaries, "failures": failures, "experiments": rows}
        print_json({**whole, "receipt": came_to})
        return
    print_summaries(summaries)
    for remark in outside(opened.recorded(benchmark)):
        click.echo(remark)
    for summary in summaries:
        classes = failures.get(summary.configuration, {})
        told = ", ".join(f"{name} {times}" for name, times in classes.items())
        if told:
            click.echo(f"\nFailed programs of {plain(summary.label)}: {told}")
    if came_to:
        click.echo(f"\n{receipt(came_to)}")
    click.echo()
    print_experiments(sorted(rows, key=lambda row: (row.label, natural(row.problem), row.repeat)))
