"""``koderz delete``, ``prune``, ``pin`` and ``unpin``: which benchmarks stay, and which do not."""

from __future__ import annotations

from pathlib import Path

import click

from koderz_core.cli.numbers import Number, Whole
from koderz_core.cli.options import Command, data_dir, workspace
from koderz_core.errors import UsageError
from koderz_core.export.formats import plain
from koderz_core.workspace import Workspace

MOST_DAYS = 36_500  # a century


def _yes(command: Command) -> Command:
    return click.option("--yes", is_flag=True, help="Do it; without this it is only told.")(command)


@click.command()
@click.argument("benchmarks", metavar="BENCH...", nargs=-1, required=True)
@_yes
@data_dir
def delete(benchmarks: tuple[str, ...], data_dir: Path | None, *, yes: bool) -> None:
    """Delete benchmarks (name, id, or how that begins): journal, index rows, and what koderz remembers of them.

    Tells what it would delete; --yes does it. One that runs or is pinned is refused. It cannot be undone, but for a
    backup.
    """
    with workspace(data_dir) as opened:
        _delete(opened, list(dict.fromkeys(map(opened.upkeep.find, benchmarks))), yes=yes)


@click.command()
@click.option("--keep", type=Whole(0), help="So many of the newest benchmarks stay.")
@click.option("--days", type=Number(0, MOST_DAYS), help="What was written to in these last days stays.")
@_yes
@data_dir
def prune(keep: int | None, days: float | None, data_dir: Path | None, *, yes: bool) -> None:
    """Delete old benchmarks, as `koderz delete` does. With both options, what either keeps stays.

    Tells what it would delete; --yes does it. Pinned benchmarks and those that run always stay.
    """
    if keep is None and days is None:
        raise UsageError("Say what is to stay: --keep 20, --days 90, or both.")
    with workspace(data_dir) as opened:
        _delete(opened, opened.upkeep.old(keep, days), yes=yes)


@click.command()
@click.argument("benchmark")
@data_dir
def pin(benchmark: str, data_dir: Path | None) -> None:
    """Keep BENCHMARK (its name, its id, or how that begins) from being deleted and pruned."""
    with workspace(data_dir) as opened:
        found = opened.upkeep.find(benchmark)
        opened.upkeep.pin(found)
    click.echo(f"{found} is pinned: nothing deletes it. To take that back: koderz unpin {found}")


@click.command()
@click.argument("benchmark")
@data_dir
def unpin(benchmark: str, data_dir: Path | None) -> None:
    """Let BENCHMARK be deleted and pruned again."""
    with workspace(data_dir) as opened:
        found = opened.upkeep.find(benchmark)
        opened.upkeep.unpin(found)
    click.echo(f"{found} is not pinned.")


def _delete(opened: Workspace, benchmarks: list[str], *, yes: bool) -> None:
    """Every one is looked at before the first is deleted."""
    found = [opened.upkeep.unwanted(one) for one in benchmarks]
    done = opened.upkeep.delete(benchmarks) if yes and found else found
    for one in done:
        verb = "Deleted" if yes else "Would delete"
        memories = "what its memory server keeps stays there" if one.memories is None else f"{one.memories} memories"
        click.echo(f"{verb} {plain(one.benchmark)}: {one.size / 1e6:.1f} MB, {memories}.")
    if not found:
        click.echo("There is nothing to delete.")
    elif not yes:
        click.echo("Nothing was deleted. --yes does it, and `koderz pin` keeps what is to stay.")
