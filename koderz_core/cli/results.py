"""``koderz results``: success rates with intervals, and costs."""

from __future__ import annotations

from pathlib import Path

import click

from koderz_core.cli.options import Whole, as_json, data_dir, print_json, report_faults, workspace
from koderz_core.cli.tables import print_experiments, print_summaries
from koderz_core.records import Outcome
from koderz_core.records.annotations import labelled, labels_by_experiment


@click.command()
@click.argument("benchmark", required=False)
@click.option("--experiments", is_flag=True, help="Show one line per experiment instead of per configuration.")
@click.option("--problem", help="Show only experiments on this problem.")
@click.option("--success-only", is_flag=True, help="Show only solved experiments.")
@click.option("--label", metavar="NAME", help="Show only experiments with this label.")
@click.option(
    "--limit", type=Whole(0), default=20, show_default=True, help="Maximum number of lines; 0 shows all lines."
)
@as_json
@data_dir
def results(  # noqa: PLR0913, PLR0917 (one argument per option)
    benchmark: str | None,
    experiments: bool,
    problem: str | None,
    success_only: bool,
    label: str | None,
    limit: int,
    as_json: bool,
    data_dir: Path | None,
) -> int:
    """Show success rates and costs of all benchmarks, or of one BENCHMARK (its name, its id or the start of its id)."""
    with workspace(data_dir) as opened:
        found = opened.results
        chosen = (
            opened.names.benchmark(benchmark, "To see the experiment: koderz analyze {experiment}")
            if benchmark
            else None
        )
        if experiments or problem is not None or success_only or label is not None:
            outcome: Outcome | None = "solved" if success_only else None
            annotations = found.annotations(chosen)
            among = None if label is None else labelled(annotations, label)
            most = limit + 1 if limit else None  # one more, to see whether there are more
            every = found.experiments(chosen, found.find_problem(problem, chosen), outcome, most, among)
            rows = every[: limit or None]
            if as_json:
                print_json(rows, more=len(every) > len(rows))
            else:
                print_experiments(rows, labels_by_experiment(annotations), more=len(every) > len(rows))
        else:
            summaries = found.reached(found.summaries(chosen))
            shown = summaries[: limit or None]
            if as_json:
                print_json(shown, more=len(summaries) > len(shown))
            else:
                named = {row.id: row for row in found.benchmarks()}
                print_summaries(shown, len(summaries) - len(shown), named)
        return report_faults(opened)
