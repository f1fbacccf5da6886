"""``koderz backup`` and ``koderz restore``: all that cannot be made anew, in one file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import click

from koderz_core.cli.options import OutputPath, data_dir, workspace
from koderz_core.errors import InfrastructureError
from koderz_core.export.formats import day, plain

LISTED = 20


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
