"""``koderz analyze``: into one benchmark, or into one experiment iteration by iteration."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from koderz_core.cli.formats import count, duration, money, plain
from koderz_core.cli.options import as_json, data_dir, print_json, workspace
from koderz_core.cli.tables import MARKS, print_experiments, print_iterations, print_summaries
from koderz_core.store.queries import Reader
from koderz_core.store.rows import ExperimentRow


@click.command()
@click.argument("identifier")
@click.option("--show-code", is_flag=True, help="Also the programs.")
@as_json
@data_dir
def analyze(identifier: str, show_code: bool, as_json: bool, data_dir: Path | None) -> None:
    """Look into the benchmark or experiment whose id begins with IDENTIFIER."""
    with workspace(data_dir) as opened, opened.results() as found:
        chosen = found.find(identifier)
        if chosen.startswith("exp_"):
            _experiment(found, found.experiment(chosen), show_code=show_code, as_json=as_json)
        else:
            _benchmark(found, chosen, as_json=as_json)


def print_experiment(found: Reader, row: ExperimentRow, *, show_code: bool = False) -> None:
    """Head, iterations, notes and error of one experiment."""
    click.echo(f"\n{row.id}  {plain(row.problem)}  {plain(row.label)}")
    tokens = f"{count(row.input_tokens)} tokens in, {count(row.output_tokens)} out"
    click.echo(f"{MARKS[row.outcome]} · {row.calls} calls · {tokens} · {duration(row.seconds)} · {money(row.cost_usd)}")
    if row.error:
        click.echo(f"Error (not the model's): {plain(row.error, 1000)}")
    iterations = found.iterations(row.id)
    if iterations:
        print_iterations(iterations)
    for note in found.notes(row.id):
        after = f" after iteration {note.iteration}" if note.iteration else ""
        click.echo(f"\n{note.kind.replace('_', ' ')}{after}:\n{plain(note.text, 600)}")
    for score in found.scores(row.id) if show_code else ():
        click.echo(f"\n{'returned program' if score.returned else 'candidate'} {score.code[:12]}:")
        click.echo(plain(found.text(score.code)))


def _experiment(found: Reader, row: ExperimentRow, *, show_code: bool, as_json: bool) -> None:
    if not as_json:
        print_experiment(found, row, show_code=show_code)
        return
    parts = {"iterations": found.iterations(row.id), "calls": found.calls(row.id), "notes": found.notes(row.id)}
    print_json({"experiment": row, **parts, "scores": found.scores(row.id)})


def _benchmark(found: Reader, benchmark: str, *, as_json: bool) -> None:
    summaries, rows = found.summaries(benchmark), found.experiments(benchmark)
    errors = {summary.label: _error_classes(found, rows, summary.configuration) for summary in summaries}
    if as_json:
        print_json({"benchmark": benchmark, "summaries": summaries, "errors": errors, "experiments": rows})
        return
    print_summaries(summaries)
    for label, classes in errors.items():
        if classes:
            told = ", ".join(f"{name} {number}" for name, number in classes.items())
            click.echo(f"\nFailed iterations of {plain(label)}: {told}")
    click.echo()
    print_experiments(sorted(rows, key=lambda row: (row.label, row.problem)))


def _error_classes(found: Reader, rows: list[ExperimentRow], configuration: str) -> dict[str, int]:
    """How often each error class ended an iteration, or a program that no iteration had tested."""
    classes: Counter[str] = Counter()
    for row in rows:
        if row.configuration == configuration:
            tested = [iteration.error for iteration in found.iterations(row.id)]
            scored = [score.held_out.error for score in found.scores(row.id) if score.held_out] if not tested else []
            classes.update(error for error in (*tested, *scored) if error)
    return dict(classes.most_common())
