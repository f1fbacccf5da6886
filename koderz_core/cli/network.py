"""``koderz network``: every address that koderz has connected to, for what, and what was sent."""

from __future__ import annotations

from pathlib import Path

import click

from koderz_core.cli.options import as_json, data_dir, print_json, workspace
from koderz_core.cli.tables import console, drawn
from koderz_core.report.network import NOT_COVERED, headline, tables
from koderz_core.workspace.network import seconds_of


@click.command()
@click.option("--since", default="1d", show_default=True, metavar="PERIOD", help="Period to show: 90m, 12h, 7d.")
@as_json
@data_dir
def network(since: str, as_json: bool, data_dir: Path | None) -> None:
    """Show every address that koderz connected to, with purpose, setting and number of bytes.

    The log contains hosts and ports of the last 7 days, but no paths, keys or texts. `KODERZ_OFFLINE=1` refuses all
    addresses beyond this machine. See docs/privacy.md.
    """
    seconds = seconds_of(since)
    with workspace(data_dir) as opened:
        rows = opened.network.traffic(seconds)
    if as_json:
        print_json(rows)
        return
    click.echo(headline(rows, f"the last {since.strip()}"))
    for table in tables(rows):
        if table.rows:
            click.echo(f"\n{table.title}")
            console().print(drawn(table, known=False, numbers=False))
    click.echo(f"\n{NOT_COVERED}")
