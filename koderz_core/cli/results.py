"""``koderz results``: what was solved, at what cost, how surely."""

from __future__ import annotations

from pathlib import Path

import click

from koderz_core.cli.options import as_json, data_dir, print_json, workspace
from koderz_core.cli.tables import print_experiments, print_summaries
from koderz_core.records import Outcome


@click.command()
@click.argument("benchmark", required=False)
@click.option("--experiments", is_flag=True, help="One line per experiment instead of per configuration.")
@click.option("--problem", help="Only experiments on this problem.")
@click.option("--success-only", is_flag=True, help="Only solved experiments.")
@click.option("--limit", type=click.IntRange(0), default=20, show_default=True, help="Most lines; 0: all.")
@as_json
@data_dir
def results(  # noqa: PLR0913, PLR0917 (one argument per option)
    benchmark: str | None,
    experiments: bool,
    problem: str | None,
    success_only: bool,
    limit: int,
    as_json: bool,
    data_dir: Path | None,
) -> None:
    """Show all benchmarks, or the one whose id begins with BENCHMARK."""
    one_by_one = experiments or problem is not None or success_only
    with workspace(data_dir) as opened, opened.results() as found:
        chosen = found.find(benchmark) if benchmark else None
        outcome: Outcome | None = "solved" if success_only else None
        if one_by_one:
            rows = found.experiments(chosen, problem, outcome, limit or None)
            print_json(rows) if as_json else print_experiments(rows)
            return
        summaries = found.summaries(chosen)
    shown = summaries[: limit or None]
    if as_json:
        print_json(shown)
    elif not shown:
        click.echo("No results yet. Begin with: koderz quickstart")
    else:
        print_summaries(shown)
        if len(shown) < len(summaries):
            click.echo(f"… and {len(summaries) - len(shown)} more (--limit 0 shows all)")
