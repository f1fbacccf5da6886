"""``koderz problems``: the problems that are hard for configurations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from koderz_core.cli.options import as_json, data_dir, print_json, report_faults, workspace
from koderz_core.cli.tables import console, drawn
from koderz_core.errors import UsageError
from koderz_core.records.progress import SummaryRow
from koderz_core.report.difficulty import MEANING, problem_rows, problems_table, shared_rows, solvers_table
from koderz_core.report.findings import remarks
from koderz_core.report.formats import plain
from koderz_core.workspace import Workspace
from koderz_core.workspace.comparisons import Kind, problems_of_kind
from koderz_core.workspace.names import configuration_named


@click.command()
@click.argument("configurations", nargs=-1, metavar="[A B ...]")
@click.option(
    "--only",
    type=click.Choice(["unsolved", "split", "flaky"]),
    help="Problems to show. unsolved: no configuration solved them; split: at least two configurations have different "
    "success rates; flaky: the repeats of a configuration have different results.",
)
@click.option(
    "--only-by",
    metavar="X",
    help="Show the problems that only configuration X solved. X is the letter, id or label of a configuration.",
)
@click.option(
    "--between",
    nargs=2,
    metavar="X Y",
    help="Show only problems on which the success rates of the configurations X and Y differ.",
)
@click.option("--same-problems", is_flag=True, help="Show only problems that are planned for all configurations.")
@as_json
@data_dir
def problems(  # noqa: PLR0913, PLR0917 (one argument per option)
    configurations: Sequence[str],
    only: Kind | None,
    only_by: str | None,
    between: tuple[str, str] | None,
    same_problems: bool,
    as_json: bool,
    data_dir: Path | None,
) -> int:
    """Show the result of each configuration on each problem, the hardest problems first.

    A, B, ... are configurations or benchmarks, named as in `koderz compare`. The default is the newest benchmark.
    """
    if sum(choice is not None for choice in (only, only_by, between)) > 1:
        raise UsageError("--only, --only-by and --between exclude each other. Use one of them.")
    with workspace(data_dir) as opened:
        rows = opened.comparisons.named(configurations, same_problems=same_problems)
        if not rows:
            raise UsageError("No problem has a result yet. Start with: koderz quickstart")
        words = between or ((only_by,) if only_by is not None else ())
        keys = [configuration_named(word, rows).key for word in words]
        kind: Kind = "differ" if between else "only" if only_by is not None else only or "all"
        _show(opened, rows, kind, keys, as_json=as_json)
        return report_faults(opened)


def _show(
    opened: Workspace, rows: Sequence[SummaryRow], kind: Kind, keys: Sequence[tuple[str, str]], *, as_json: bool
) -> None:
    every = opened.comparisons.problems(rows)
    shown = problems_of_kind(every, kind, *keys)
    if as_json:
        print_json(problem_rows(rows, shown))
        return
    screen = console()
    screen.print(drawn(solvers_table(rows, every), known=False))
    screen.print()
    screen.print(drawn(problems_table(rows, shown), known=False))
    for remark in (f"{len(shown)} of {len(every)} problems.", f"{MEANING}.", *shared_rows(rows), *remarks(rows)):
        screen.print(plain(remark), style="dim")
