"""``koderz conduct``: the map of a repository, its summary, files of rules, and the prompt for its next feature."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from koderz_core.cli.options import agrees, as_json, data_dir, print_json, workspace
from koderz_core.cli.tables import console, terminal_table
from koderz_core.errors import UsageError
from koderz_core.records.repositories import RepositoryMap
from koderz_core.report.formats import count, duration, money, numbered, plain
from koderz_core.report.repository_tables import FactTable, fact_tables, remarks
from koderz_core.report.repository_text import title
from koderz_core.workspace import Workspace
from koderz_core.workspace.repositories import RULES_FILES, RulesPreview, Summary

LISTED = 10  # lines of a table; --json shows all
ALL = "all"


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--summary", "model", metavar="MODEL", help="Let this model summarize the map.")
@click.option(
    "--rules",
    type=click.Choice([*RULES_FILES, ALL]),
    multiple=True,
    help="Show this rules file for coding agents, and write it if you confirm. Repeatable.",
)
@click.option(
    "--feature",
    metavar="TEXT",
    help="Print a prompt that asks a coding agent to add this feature. Without --summary, the map is not printed.",
)
@click.option("--yes", is_flag=True, help="Write the files of --rules and send the map for --summary without asking.")
@as_json
@data_dir
def conduct(folder: Path, data_dir: Path | None, **options: Any) -> None:
    """Map the repository in FOLDER: files, languages, imports, tests, entry points, git state and hot spots.

    koderz runs no program in FOLDER, and sends nothing unless you add --summary. With --summary, it sends the map to
    the model: the description of the project and its required Python version, names (such as paths, packages and
    commands), counts (such as numbers of lines and of commits), coding conventions (such as the maximum line length),
    dependencies, the subjects of commits and the first sentences of docstrings. The model receives no other contents
    of files. If the model is not on this machine, koderz asks before it sends the map. koderz writes into FOLDER only
    with --yes, or if you confirm in a terminal.
    """
    with workspace(data_dir) as opened:
        repository = opened.repositories.map(folder)
        summary = _summary(opened, repository, options["model"], yes=options["yes"])
        feature = (
            opened.repositories.feature(repository, options["feature"]) if options["feature"] is not None else None
        )
        names = RULES_FILES if ALL in options["rules"] else tuple(dict.fromkeys(options["rules"]))
        if options["as_json"]:
            previews, written = [], []
            for name in names:  # CLAUDE.md depends on whether AGENTS.md was written
                previews.append(preview := opened.repositories.rules(repository, name))
                written += [opened.repositories.write(preview)] if options["yes"] and preview.changed else []
            text = summary or opened.repositories.summary(repository)
            print_json({"map": repository, "summary": text, "rules": previews, "written": written, "feature": feature})
            return
        if summary or not (feature or names):
            _print_map(repository, opened.repositories.summary(repository), summary)
        if feature:
            click.echo(plain(feature.prompt), nl=False)
        for name in names:
            _offer(opened, opened.repositories.rules(repository, name), yes=options["yes"])


def _summary(opened: Workspace, repository: RepositoryMap, model: str | None, *, yes: bool) -> Summary | None:
    if model is None:
        return None
    if opened.repositories.leaves_machine(model) and not yes:
        if not sys.stdin.isatty():
            raise UsageError(f"{model} is not on this machine. To send the map to this model, add --yes.")
        files = numbered(len(repository.files), "file")
        if not click.confirm(f"Send the map of {title(repository)} ({files}) to {plain(model)}?", err=True):
            click.echo("Nothing was sent.", err=True)
            return None
    return opened.repositories.summarize(repository, model)


def _offer(opened: Workspace, preview: RulesPreview, *, yes: bool) -> None:
    """Show what would change in a file of rules, and write it after a yes."""
    path = plain(str(preview.path))
    if not preview.changed:
        click.echo(f"{path} is up to date.")
        return
    click.echo(plain(preview.diff))
    if agrees(f"Write {path}?", f"Not written: {path}. To write it, add --yes.", yes=yes):
        click.echo(f"Written: {plain(str(opened.repositories.write(preview)))}")


def _print_map(repository: RepositoryMap, by_rules: str, summary: Summary | None) -> None:
    click.echo(plain(f"{repository.root}\n"))
    click.echo(plain(summary.text.strip()) if summary else by_rules)
    if summary:
        tokens = f"{count(summary.usage.input_tokens)} tokens in, {count(summary.usage.output_tokens)} out"
        price = f"{money(summary.cost.usd)} ({plain(summary.cost.source)})"
        click.echo(f"\nSummary by {plain(summary.model)}: {tokens}, {duration(summary.seconds)}, {price}.")
        click.echo(f"Record of the call: {plain(summary.record)}")
    for table in fact_tables(repository).values():
        console().print(f"\n{table.title}", style="bold")
        console().print(_drawn(table))
    for line in remarks(repository):
        click.echo(line, err=True)


def _drawn(table: FactTable) -> Table:
    drawing = terminal_table()
    for name, cell in zip(table.columns, table.rows[0], strict=True):
        drawing.add_column(name, justify="right" if isinstance(cell, int) else "left", overflow="fold")
    for row in table.rows[:LISTED]:
        drawing.add_row(*(count(cell) if isinstance(cell, int) else cell for cell in row))
    if len(table.rows) > LISTED:
        drawing.add_row(f"… and {len(table.rows) - LISTED} more")
    return drawing
