"""``koderz bundle``: a benchmark as one file that lets another person re-check it."""

from __future__ import annotations

from pathlib import Path

import click

from koderz_core.bundles.keeping import KEPT
from koderz_core.bundles.levels import ABOUT, SAFEST
from koderz_core.cli.options import OutputPath, data_dir, report_faults, workspace

_LEVELS = "; ".join(f"{level}: {about}" for level, about in ABOUT.items())


@click.command()
@click.argument("benchmark")
@click.option("--privacy", metavar="LEVEL", default=SAFEST, show_default=True, help=f"{_LEVELS}.")
@click.option(
    "--out",
    type=OutputPath(),
    help=f"The file to write. [default: one in bundles of the data folder, where the newest {KEPT} stay]",
)
@click.option("--pin", is_flag=True, help="Never remove it for a newer one.")
@data_dir
def bundle(benchmark: str, privacy: str, out: Path | None, pin: bool, data_dir: Path | None) -> int:
    """Bundle BENCHMARK (its name, its id, or how that begins) with all that a re-check needs, as open as you choose.

    The same journal always gives the same bytes. Look into what you give away: masks are guesses.
    """
    with workspace(data_dir) as opened:
        made = opened.bundling.make(opened.results.find(benchmark), privacy, out, pinned=pin)
        click.echo(f"Written and verified: {made.path} ({made.size} bytes, {made.level})")
        if made.truncated:
            click.echo(f"Cut, as too long: {', '.join(made.truncated)}", err=True)
        return report_faults(opened)
