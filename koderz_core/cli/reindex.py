"""``koderz reindex``: the index made anew from the journals."""

from __future__ import annotations

from pathlib import Path

import click

from koderz_core.cli.options import data_dir, report_faults, workspace


@click.command()
@data_dir
def reindex(data_dir: Path | None) -> int:
    """Rebuild the index from the journals. They are the truth: nothing can be lost by it."""
    with workspace(data_dir) as opened:
        ingested = opened.results.reindex()
        click.echo(f"Indexed {ingested.events} events from {opened.settings.journals_dir}.")
        return report_faults(opened)
