"""``koderz prepare-swebench``: repository tasks from rows in the format of SWE-bench."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import click

from koderz_core.cli.options import OutputPath, advised, as_json, check_tasks_file, data_dir, print_json, workspace
from koderz_core.cli.tables import progress_bar
from koderz_core.errors import Cancelled
from koderz_core.report.formats import numbered, plain
from koderz_core.workspace.swebench import PreparedRows, parse_clones

LEFT_OUT = 3


@click.command(name="prepare-swebench")
@click.argument("rows", type=click.Path(path_type=Path))
@click.option("--clone", "clones", multiple=True, metavar="REPO=FOLDER", help="Clone of a repository. Repeatable.")
@click.option("--output", type=OutputPath(), required=True, help="Output file for the tasks (.jsonl).")
@click.option("--force", is_flag=True, help="Overwrite the file of --output if it exists.")
@as_json
@data_dir
def prepare_swebench(
    rows: Path, clones: tuple[str, ...], output: Path, force: bool, as_json: bool, data_dir: Path | None
) -> int:
    """Make repository tasks from rows of SWE-bench and clones of their repositories.

    ROWS is a file in the format of SWE-bench: JSON lines, a JSON array or Parquet. koderz reads the commit of each row
    from your clone, applies the test patch, and runs the tests in the sandbox, without and with the correct patch. It
    lists the rows that it cannot use, each with the reason: for example, the repository has compiled extensions or
    needs a module that is not installed, the correct patch changes tests, or the tests fail on this machine even with
    the correct patch. Nothing is downloaded. Exits with code 3 if no row can be used.
    """
    check_tasks_file(output, force=force)
    with workspace(data_dir) as opened:
        try:
            prepared = opened.swebench.prepare(rows, parse_clones(clones), output, progress_bar)
        except KeyboardInterrupt:
            raise Cancelled("koderz was interrupted. No file was written. Run the same command again.") from None
    if as_json:
        print_json(prepared)
    else:
        _print(prepared)
    return 0 if prepared.tasks else LEFT_OUT


def _print(prepared: PreparedRows) -> None:
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for row in prepared.left_out:
        reasons[row.reason].append(row.id)
    for reason, ids in reasons.items():
        click.echo(plain(f"Rows left out: {len(ids)} ({', '.join(ids)}), each because {reason}.", 1000))
    if prepared.dropped:
        listed = ", ".join(f"{task}: {number}" for task, number in prepared.dropped.items())
        what = "PASS_TO_PASS tests left out because they do not pass on this machine (number per task)"
        click.echo(plain(f"{what}: {listed}.", 1000))
    if prepared.file:
        click.echo(f"{numbered(len(prepared.tasks), 'task')} in {plain(str(prepared.file))}.")
        click.echo(f"To use the tasks: {advised(f'--dataset {plain(prepared.dataset)}')}")
