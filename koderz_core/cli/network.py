"""``koderz network``: every address that koderz has connected to, for what, and what was sent."""

from __future__ import annotations

from pathlib import Path

import click

from koderz_core.cli.options import as_json, data_dir, print_json, workspace
from koderz_core.cli.tables import console, drawn
from koderz_core.report.network import NOT_COVERED, headline, tables
from koderz_core.workspace.network import seconds_of


@click.command()
@click.option(
    "--since", default="1d", show_default=True, metavar="PERIOD", help="Period to show, such as 90m, 12h or 7d."
)
@click.option("--benchmark", help="Show only this benchmark (its name, its id or the start of its id).")
@as_json
@data_dir
def network(since: str, benchmark: str | None, as_json: bool, data_dir: Path | None) -> None:
    """Show every address that koderz connected to, with purpose, setting and number of bytes.

    koderz logs hosts and ports, but no API keys, URL paths or message contents, and keeps the log for 7 days.
    Each row covers the calls to one address for one purpose in one benchmark, and shows the setting that names the
    address. In the JSON output, an unknown number is null. Calls and bytes of a koderz process that is still running
    appear within 5 seconds. If another program, such as pip, opened a connection for koderz, the number of bytes is
    unknown. With `KODERZ_OFFLINE=1`, koderz refuses every call to an address beyond this machine. See
    docs/privacy.md.
    """
    seconds = seconds_of(since)
    with workspace(data_dir) as opened:
        logged = opened.network.traffic(seconds)
        known = {"", *(row.benchmark for row in logged)}  # also tasks of the workbench, and deleted benchmarks
        of = benchmark if benchmark is None or benchmark in known else opened.names.benchmark(benchmark)
        rows = [row for row in logged if not of or row.benchmark == of]
    if as_json:
        print_json(rows)
        return
    click.echo(headline(rows, f"the last {since}" + (f", for {of}" if of else "")))
    for table in tables(rows):
        if table.rows:
            click.echo(f"\n{table.title}")
            console().print(drawn(table, known=False, words=table.columns))
    click.echo(f"\n{NOT_COVERED}")
