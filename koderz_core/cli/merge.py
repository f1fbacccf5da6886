"""``koderz merge``: merge the shards of a benchmark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from koderz_core.cli.options import advised, as_json, data_dir, print_json, workspace
from koderz_core.cli.tables import console, terminal_table
from koderz_core.report.formats import count, money, numbered, plain
from koderz_core.workspace.shards import Merged


@click.command()
@click.argument("shards", metavar="SHARD...", nargs=-1, required=True)
@click.option(
    "--partial",
    is_flag=True,
    help="Merge even if shards or results are missing. `koderz resume` can then run the missing experiments.",
)
@as_json
@data_dir
def merge(shards: tuple[str, ...], data_dir: Path | None, *, partial: bool, as_json: bool) -> None:
    """Merge the shards of a benchmark into one journal in the data folder. `koderz benchmark --shard` runs the shards.

    SHARD is the path of a shard's journal, or of a data folder that contains journals of shards. If the shards are
    already in the data folder that this command uses, SHARD can also be the id or name of the benchmark. The journals
    of the shards do not change. After the merge, the dashboard and the commands show the whole benchmark instead of its
    shards.

    Without --partial, koderz does not merge the shards if a shard or a result is missing. koderz never merges shards
    with different plans, versions of koderz or other conditions, or shards with different results of the same
    experiment.
    """
    with workspace(data_dir) as opened:
        merged = opened.shards.merge(shards, partial=partial)
        if as_json:
            print_json(
                {"benchmark": merged.plan.id, "shards": merged.shards, "missing": merged.missing}
                | {"budget_usd": merged.plan.budget.usd}
            )
            return
        _print_shards(merged)
        for line in _conclusion(merged):
            click.echo(line)


def _print_shards(merged: Merged) -> None:
    table = terminal_table()
    for name in ("shard", "experiments", "without a result", "spent", "budget", "left"):
        table.add_column(name, justify="right", no_wrap=True)
    for shard in merged.shards:
        limits = ("", "") if shard.usd is None else (money(shard.usd), money(shard.left_usd))
        numbers = count(shard.experiments), count(shard.without_result)
        table.add_row(str(shard.number), *numbers, money(shard.spent_usd), *limits)
    console().print(table)


def _conclusion(merged: Merged) -> Iterator[str]:
    id_, usd = merged.plan.id, merged.plan.budget.usd
    named = f"{plain(merged.plan.name)} ({id_})" if merged.plan.name else id_
    experiments = sum(shard.experiments for shard in merged.shards)
    yield f"Merged {numbered(len(merged.shards), 'shard')} into {named}: {numbered(experiments, 'experiment')}."
    if usd is not None:
        spent = sum(shard.spent_usd for shard in merged.shards)
        yield f"Budget: {money(usd)}. Spent: {money(spent)}. Left: {money(max(0.0, usd - spent))}."
    if merged.missing:
        yield f"Missing shards: {', '.join(map(str, merged.missing))}."
    if merged.missing or merged.without_result:
        yield f"To run the experiments without a result: {advised(f'koderz resume {id_}')}"
    yield f"For the results: {advised(f'koderz results {id_}')}"
