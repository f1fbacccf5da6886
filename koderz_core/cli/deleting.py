"""Maintenance commands: ``koderz delete``, ``prune``, ``pin``, ``unpin``, ``backup``, ``restore`` and ``reindex``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import click

from koderz_core.cli.numbers import Number, Whole
from koderz_core.cli.options import Command, OutputPath, data_dir, report_faults, workspace
from koderz_core.errors import InfrastructureError, UsageError
from koderz_core.export.formats import day, plain
from koderz_core.workspace import Workspace

MOST_DAYS = 36_500  # a century
LISTED = 20


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


@click.command()
@click.argument("file", type=OutputPath())
@data_dir
def backup(file: Path, data_dir: Path | None) -> int:
    """Write journals, pins, typed problems, settings and memories into FILE, a zip, and read it back to be sure.

    Keys and other secrets are never in it, nor the index, caches and weights, which koderz makes or fetches anew.
    Benchmarks may go on meanwhile. Ends with 3 if something could not be read and is not in it.
    """
    with workspace(data_dir) as opened:
        made = opened.upkeep.back_up(file)
    click.echo(
        f"{plain(str(made.path))}: {_counted(made.manifest.files)}, {made.size / 1e6:.1f} MB, read back and right."
    )
    if made.secrets:
        click.echo(f"Not in it, to be set again where it is restored: {plain(', '.join(made.secrets))}.")
    for one in made.left_out:
        click.echo(
            f"Error: not in the backup, since it cannot be read: {plain(one)}. Mend it, then back up again.", err=True
        )
    return InfrastructureError.exit_code if made.left_out else 0


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@data_dir
def restore(file: Path, data_dir: Path | None) -> None:
    """Put what is in the backup FILE into the data folder, and overwrite nothing.

    All of it is checked before anything is put there; what is there already, byte for byte, is passed over. Restore
    only backups that you trust: their settings become yours.
    """
    with workspace(data_dir) as opened:
        done = opened.upkeep.restore(file)
        home = opened.settings.home
    click.echo(f"A backup of {day(done.manifest.made_at)} by koderz {plain(done.manifest.koderz_version)}.")
    click.echo(f"Restored into {plain(str(home))}: {_counted(done.put)}.")
    for name in done.put[:LISTED]:
        click.echo(f"  {plain(name)}")
    if len(done.put) > LISTED:
        click.echo(f"  … and {len(done.put) - LISTED} more")
    if done.there:
        click.echo(f"There already, byte for byte: {_counted(done.there)}.")
    click.echo("Keys are in no backup: set them again. The index follows by itself.")


def _counted(names: Iterable[str]) -> str:
    kinds = Counter(_kind(name) for name in names)
    return ", ".join(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in kinds.items()) or "nothing"


def _kind(name: str) -> str:
    if name.startswith("journals/"):
        return "journal" if name.endswith(".jsonl") else "pin"
    return "typed problem" if name.startswith("problems/") else name


@click.command()
@data_dir
def reindex(data_dir: Path | None) -> int:
    """Rebuild the index from the journals. They are the truth: nothing can be lost by it."""
    with workspace(data_dir) as opened:
        ingested = opened.results.reindex()
        click.echo(f"Indexed {ingested.events} events from {opened.settings.journals_dir}.")
        return report_faults(opened)
