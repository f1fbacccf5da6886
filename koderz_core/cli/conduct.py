"""``koderz conduct``: the map of a repository, its summary, files of rules, and the prompt for its next feature."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from koderz_core.cli.options import as_json, data_dir, print_json, workspace
from koderz_core.cli.tables import console, terminal_table
from koderz_core.errors import UsageError
from koderz_core.records.repositories import RepositoryMap
from koderz_core.report.formats import count, duration, money, numbered, plain
from koderz_core.report.repository_text import KINDS, entry_text, layout, short, title
from koderz_core.times import day
from koderz_core.workspace import Workspace
from koderz_core.workspace.repositories import RULES_FILES, RulesPreview, Summary

LISTED = 10
ALL = "all"


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--summary", "model", metavar="MODEL", help="Let this model write a summary from the map.")
@click.option(
    "--rules",
    type=click.Choice([*RULES_FILES, ALL]),
    multiple=True,
    help="Preview this file of rules for coding agents, and write it after a yes. Repeatable.",
)
@click.option("--feature", metavar="TEXT", help="Print the prompt for this feature instead of the map.")
@click.option("--yes", is_flag=True, help="Write the files of --rules, and send the map of --summary, without asking.")
@as_json
@data_dir
def conduct(folder: Path, data_dir: Path | None, **options: Any) -> None:
    """Map the repository in FOLDER: files, languages, imports, tests, entry points, git state and hot spots.

    koderz runs nothing in FOLDER and sends nothing. With --summary, the model receives the map: names, numbers, the
    first sentences of docstrings and subjects of commits, but no other contents of files. If the model is not on this machine,
    koderz asks first. Without a terminal and without --yes, koderz writes and sends nothing.
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
            words = summary or opened.repositories.summary(repository)
            found = {"map": repository, "summary": words, "rules": previews, "written": written, "feature": feature}
            print_json(found)
            return
        if feature:
            click.echo(plain(feature.prompt), nl=False)
        elif not names or summary:
            _print_map(repository, opened.repositories.summary(repository), summary)
        for name in names:
            _offer(opened, opened.repositories.rules(repository, name), yes=options["yes"])


def _summary(opened: Workspace, repository: RepositoryMap, model: str | None, *, yes: bool) -> Summary | None:
    if model is None:
        return None
    if opened.repositories.leaves_machine(model) and not yes:
        _require_terminal(f"{model} is not on this machine. To send it the map, add --yes.")
        files = numbered(len(repository.files), "file")
        click.confirm(f"Send the map of {title(repository)} ({files}) to {plain(model)}?", abort=True, err=True)
    return opened.repositories.summarize(repository, model)


def _require_terminal(advice: str) -> None:
    if not sys.stdin.isatty():
        raise UsageError(advice)


def _offer(opened: Workspace, preview: RulesPreview, *, yes: bool) -> None:
    """Show what would change in a file of rules, and write it after a yes."""
    path = plain(str(preview.path))
    if not preview.changed:
        click.echo(f"{path} is up to date.")
        return
    click.echo(plain(preview.diff))
    if not yes and not sys.stdin.isatty():
        click.echo(f"Not written: {path}. To write it, add --yes.", err=True)
    elif yes or click.confirm(f"Write {path}?", err=True):
        click.echo(f"Written: {plain(str(opened.repositories.write(preview)))}")


def _print_map(repository: RepositoryMap, by_rules: str, summary: Summary | None) -> None:
    click.echo(plain(f"{repository.root}\n"))
    click.echo(plain(summary.text.strip()) if summary else by_rules)
    if summary:
        tokens = f"{count(summary.usage.input_tokens)} tokens in, {count(summary.usage.output_tokens)} out"
        price = f"{money(summary.cost.usd)} ({plain(summary.cost.source)})"
        click.echo(f"\nSummary by {plain(summary.model)}: {tokens}, {duration(summary.seconds)}, {price}.")
        click.echo(f"Record of the call: {plain(summary.record)}")
    for name, table in _tables(repository):
        if table.row_count:
            console().print(f"\n{name}", style="bold")
            console().print(table)
    for line in _remarks(repository):
        click.echo(line, err=True)


def _tables(repository: RepositoryMap) -> Sequence[tuple[str, Table]]:
    files = [(KINDS[kind], found) for kind in KINDS if (found := repository.of_kind(kind))]
    kinds = [(name, count(len(found)), count(sum(it.lines or 0 for it in found))) for name, found in files]
    languages = [
        (it.language or "(unknown)", count(it.files), count(it.lines), _kilobytes(it.size_bytes))
        for it in repository.languages
    ]
    folders = [(short(it.path), count(it.files), count(it.lines), short(it.summary, 80)) for it in layout(repository)]
    entries = [(it.kind, entry_text(it), short(it.source)) for it in repository.entry_points]
    commands = [(it.purpose, short(it.command), short(it.source)) for it in repository.commands]
    imported = [(short(it.name), count(it.count)) for it in repository.most_imported]
    packages = [(short(it.name), count(it.count)) for it in repository.packages]
    hot = [(short(it.path), count(it.commits), count(it.lines), count(it.score)) for it in repository.hot_spots]
    commits = (
        [(it.id[:10], day(it.at), short(it.subject, 80)) for it in repository.git.commits] if repository.git else []
    )
    return (
        ("Files", _table(("kind", "files", "lines"), kinds)),
        ("Languages", _table(("language", "files", "lines", "kB"), languages)),
        ("Folders with programs and tests", _table(("folder", "files", "lines", "about"), folders)),
        ("Entry points", _table(("kind", "name", "source"), entries)),
        ("Commands", _table(("purpose", "command", "source"), commands)),
        ("Most imported modules", _table(("module", "imported by"), imported)),
        ("Imported packages", _table(("package", "imported by"), packages)),
        ("Hot spots", _table(("file", "commits", "lines", "commits × lines"), hot)),
        ("Latest commits", _table(("commit", "date", "subject"), commits)),
    )


def _table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    table = terminal_table()
    numbers = {"files", "lines", "kB", "imported by", "commits", "commits × lines"}
    for name in columns:
        table.add_column(name, justify="right" if name in numbers else "left", overflow="fold")
    for row in rows[:LISTED]:
        table.add_row(*row)
    if len(rows) > LISTED:
        table.add_row(f"… and {len(rows) - LISTED} more (--json shows all)")
    return table


def _kilobytes(size: int) -> str:
    return count(round(size / 1000))


def _remarks(repository: RepositoryMap) -> list[str]:
    git = repository.git
    lines = []
    if git:
        branch = short(git.branch) if git.branch else "none (detached)"
        lines.append(f"Git: branch {branch}, {numbered(len(git.dirty), 'file')} with changes that are not committed.")
        if git.shallow:
            lines.append("Git: older commits are missing (a shallow clone), so hot spots count only some commits.")
    else:
        why = (
            f"git cannot read the repository: {short(repository.git_fault)}"
            if repository.git_fault
            else "no repository"
        )
        lines.append(f"Git: {why}, so there are no hot spots.")
    if repository.left_out:
        lines.append(f"Not in the map: {numbered(repository.left_out, 'file')} beyond the limit.")
    lines += [f"Omitted: {short(it.path)} {short(it.reason)}" for it in repository.omitted[:LISTED]]
    if (more := len(repository.omitted) - LISTED) > 0:
        lines.append(f"… and {more} more omitted files (--json shows all)")
    broken = [it for it in repository.modules if it.fault]
    return [*lines, *(f"Not parsed: {short(it.path)} ({it.fault})" for it in broken[:LISTED])]
