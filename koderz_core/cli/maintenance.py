"""Maintenance commands: ``koderz delete``, ``prune``, ``pin``, ``unpin``, ``backup``, ``restore`` and ``reindex``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import click

from koderz_core.cli.options import Number, OutputPath, Whole, advised, data_dir, report_faults, workspace
from koderz_core.errors import InfrastructureError, UsageError
from koderz_core.report.formats import numbered, plain
from koderz_core.times import minute
from koderz_core.workspace import Workspace

MOST_DAYS = 36_500  # a century
LISTED = 20
KINDS = ("journal", "pin", "label file", "problem file", "selector")  # files of which a backup may contain several


_yes = click.option(
    "--yes",
    is_flag=True,
    help="Delete. Without this option, the command only shows what it would delete.",
)


@click.command()
@click.argument("benchmarks", metavar="BENCH...", nargs=-1, required=True)
@_yes
@data_dir
def delete(benchmarks: tuple[str, ...], data_dir: Path | None, *, yes: bool) -> None:
    """Delete benchmarks, with their journals, labels, index rows and memories.

    BENCH is a name, an id or the start of an id. koderz refuses to delete running and pinned benchmarks.
    Deletion cannot be undone without a backup.
    """
    with workspace(data_dir) as opened:
        delete_benchmarks(opened, list(dict.fromkeys(map(opened.upkeep.find, benchmarks))), yes=yes)


@click.command()
@click.option("--keep", type=Whole(0), help="Keep the N newest benchmarks.")
@click.option("--days", type=Number(0, MOST_DAYS), help="Keep benchmarks that changed in the last N days.")
@click.option(
    "--cache", is_flag=True, help="Delete the answers in the response cache. The journals keep copies of these answers."
)
@_yes
@data_dir
def prune(keep: int | None, days: float | None, data_dir: Path | None, *, cache: bool, yes: bool) -> None:
    """Delete old benchmarks. With both --keep and --days, a benchmark is kept if either option keeps it.

    Running and pinned benchmarks are always kept.
    """
    if keep is None and days is None and not cache:
        raise UsageError(
            "Say which benchmarks to keep: --keep 20, --days 90, or both. To delete cached answers, add --cache."
        )
    with workspace(data_dir) as opened:
        if cache:
            held = opened.upkeep.clear_cache() if yes else opened.upkeep.cache_contents()
            verb, hint = ("Deleted", "") if yes else ("Would delete", " To delete it, add --yes.")
            cached = f"{numbered(held.answers, 'answer')} ({held.size / 1e6:.1f} MB)"
            click.echo(f"{verb} the response cache with {cached}.{hint}")
        if keep is not None or days is not None:
            delete_benchmarks(opened, opened.upkeep.old(keep, days), yes=yes)


def _on_benchmark(act: Callable[[Workspace, str], str]) -> click.Command:
    """The command that acts on one benchmark, by its id, and prints the answer. ``act`` gives it its name and help."""

    @click.command(act.__name__, help=act.__doc__)
    @click.argument("benchmark")
    @data_dir
    def command(benchmark: str, data_dir: Path | None) -> None:
        with workspace(data_dir) as opened:
            answer = act(opened, opened.upkeep.find(benchmark))
        click.echo(answer)

    return command


@_on_benchmark
def pin(opened: Workspace, benchmark: str) -> str:
    """Protect a benchmark from `koderz delete` and `koderz prune`. BENCHMARK is a name, an id or the start of an id."""
    opened.upkeep.pin(benchmark)
    return advised(f"{benchmark} is pinned and cannot be deleted. To allow deletion again: koderz unpin {benchmark}")


@_on_benchmark
def unpin(opened: Workspace, benchmark: str) -> str:
    """Remove the protection of a pinned benchmark. BENCHMARK is a name, an id or the start of an id."""
    opened.upkeep.unpin(benchmark)
    return f"{benchmark} is unpinned."


def delete_benchmarks(opened: Workspace, benchmarks: list[str], *, yes: bool, option: str = "--yes") -> None:
    """Checks every benchmark before it deletes the first. ``option``: the one that deletes."""
    would = () if yes else [opened.upkeep.deletion(benchmark) for benchmark in benchmarks]
    for deletion in opened.upkeep.delete(benchmarks) if yes and benchmarks else would:
        verb = "Deleted" if yes else "Would delete"
        number = deletion.memories
        memories = f"{number} {'memory' if number == 1 else 'memories'}"
        if number is None:
            memories = "the memories on the external memory server are kept"
        labels = f"; labels and notes: {deletion.annotations}" if deletion.annotations else ""
        click.echo(f"{verb} {plain(deletion.benchmark)}: {deletion.size / 1e6:.1f} MB{labels}; {memories}.")
    if not benchmarks:
        click.echo("Nothing to delete.")
    elif not yes:
        protect = advised("To protect a benchmark: koderz pin BENCHMARK")
        click.echo(f"Nothing was deleted. To delete, add {option}. {protect}")


@click.command()
@click.argument("file", type=OutputPath())
@data_dir
def backup(file: Path, data_dir: Path | None) -> int:
    """Back up journals, labels, pins, problems entered on the page New run, selectors, settings and memories.

    FILE is the zip file to write. After writing the file, koderz reads it again and checks it.

    The backup contains no API keys or other secrets. It also omits the index, caches and model weights, because koderz
    can rebuild or download them. Benchmarks may run during the backup. Exits with code 3 if a file is missing
    from the backup.
    """
    with workspace(data_dir) as opened:
        made = opened.upkeep.back_up(file)
    click.echo(
        f"Written and verified: {plain(str(made.path))} ({_counted(made.manifest.files)}, {made.size / 1e6:.1f} MB)."
    )
    if made.secrets:
        click.echo(
            f"Settings that are not in the backup: {plain(', '.join(made.secrets))}. Set them again after a restore."
        )
    for name in made.left_out:
        click.echo(
            f"Error: {plain(name)} is missing from the backup. Repair, rename or move this file, then create the "
            "backup again.",
            err=True,
        )
    return InfrastructureError.exit_code if made.left_out else 0


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@data_dir
def restore(file: Path, data_dir: Path | None) -> None:
    """Restore a backup into the data folder. FILE is a zip file that `koderz backup` has written.

    koderz checks the whole backup first. It skips files that already exist with the same content. If a file exists with
    different content, koderz restores nothing. Restore only backups that you trust, because koderz will use their
    settings.
    """
    with workspace(data_dir) as opened:
        done = opened.upkeep.restore(file)
        home = opened.settings.home
    click.echo(f"Backup from {minute(done.manifest.made_at)}, written by koderz {plain(done.manifest.koderz_version)}.")
    click.echo(f"Restored into {plain(str(home))}: {_counted(done.restored)}.")
    for name in done.restored[:LISTED]:
        click.echo(f"  {plain(name)}")
    if len(done.restored) > LISTED:
        click.echo(f"  … and {len(done.restored) - LISTED} more")
    if done.already_there:
        click.echo(f"Files skipped because they already exist with the same content: {_counted(done.already_there)}.")
    click.echo("Backups contain no API keys: set your API keys again. The index is rebuilt automatically.")


def _counted(names: Iterable[str]) -> str:
    kinds = Counter(_kind(name) for name in names)
    return ", ".join(numbered(n, kind) if kind in KINDS else kind for kind, n in kinds.items()) or "nothing"


def _kind(name: str) -> str:
    if name.startswith(("journals/", "workbench/")):
        return "journal" if name.endswith(".jsonl") else "pin"
    if name.startswith(("labels/", "selectors/")):
        return "label file" if name.startswith("labels/") else "selector"
    return "problem file" if name.startswith("problems/") else name


@click.command()
@data_dir
def reindex(data_dir: Path | None) -> int:
    """Rebuild the index from the journals. No results are lost, because the journals contain them all."""
    with workspace(data_dir) as opened:
        ingested = opened.results.reindex()
        click.echo(f"Indexed {numbered(ingested.events, 'event')} from {opened.settings.journals_dir}.")
        return report_faults(opened)
