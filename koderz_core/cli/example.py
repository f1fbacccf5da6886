"""``koderz example``: a real benchmark to look at, before any model has been asked."""

from __future__ import annotations

from pathlib import Path

import click

from koderz_core.cli.options import data_dir, report_faults, workspace
from koderz_core.cli.tables import print_summaries
from koderz_core.workspace.examples import ABOUT_EXAMPLE, how_to_remove, open_example


@click.command()
@data_dir
def example(data_dir: Path | None) -> int:
    """Open the real benchmark that comes with koderz, and show its table. Asks no model and no network."""
    with workspace(data_dir) as opened:
        benchmark = open_example(opened.settings)
        click.echo(f"{ABOUT_EXAMPLE}\n")
        print_summaries(opened.results.summaries(benchmark))
        click.echo(
            f"\nWhat next?\n"
            f"  koderz ui                           all of it in the browser\n"
            f"  koderz compare {benchmark}   how sure that is\n"
            f"  koderz analyze {benchmark}   each experiment; with an exp_ id, each iteration\n"
            f"  koderz quickstart                   the same on this machine, with a model of yours\n"
            f"{how_to_remove(benchmark)}"
        )
        return report_faults(opened)
