"""The map of a repository as tables, for the terminal and the page; and remarks on what it lacks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from koderz_core.records.repositories import RepositoryMap
from koderz_core.report.formats import numbered
from koderz_core.report.repository_text import KINDS, entry_text, layout, short
from koderz_core.times import day

LISTED = 10  # remarks of one kind
UNKNOWN = "(unknown)"


@dataclass(frozen=True, slots=True)
class FactTable:
    """``title`` and ``columns`` are koderz' words; texts in cells come from the repository and are on one line."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]


def fact_tables(repository: RepositoryMap) -> dict[str, FactTable]:
    """The tables with at least one row, by title."""
    found = (*_of_files(repository), *_of_work(repository), *_of_modules(repository))
    return {table.title: table for table in found if table.rows}


def _of_files(repository: RepositoryMap) -> Iterator[FactTable]:
    kinds = ((name, repository.of_kind(kind)) for kind, name in KINDS.items())
    rows = tuple((name, len(files), sum(it.lines or 0 for it in files)) for name, files in kinds if files)
    yield FactTable("Files", ("kind", "files", "lines"), rows)
    languages = tuple(
        (it.language or UNKNOWN, it.files, it.lines, round(it.size_bytes / 1000)) for it in repository.languages
    )
    yield FactTable("Languages", ("language", "files", "lines", "kB"), languages)
    folders = tuple((short(it.path), it.files, it.lines, short(it.summary, 80)) for it in layout(repository))
    yield FactTable("Folders with source code or tests", ("folder", "files", "lines", "about"), folders)


def _of_work(repository: RepositoryMap) -> Iterator[FactTable]:
    entries = tuple((short(it.kind), entry_text(it), short(it.source)) for it in repository.entry_points)
    yield FactTable("Entry points", ("kind", "name", "source"), entries)
    commands = tuple((it.purpose, short(it.command), short(it.source)) for it in repository.commands)
    yield FactTable("Commands", ("purpose", "command", "source"), commands)


def _of_modules(repository: RepositoryMap) -> Iterator[FactTable]:
    summaries = {module.path: module.summary for module in repository.modules}
    imported = tuple(
        (short(it.name), it.count, short(summaries.get(it.name, ""), 80)) for it in repository.most_imported
    )
    yield FactTable("Most imported modules", ("module", "imported by", "about"), imported)
    packages = tuple((short(it.name), it.count) for it in repository.packages)
    yield FactTable("Imported packages", ("package", "imported by"), packages)
    hot = tuple((short(it.path), it.commits, it.lines, it.score) for it in repository.hot_spots)
    yield FactTable("Hot spots", ("file", "commits", "lines", "commits × lines"), hot)
    latest = repository.git.commits if repository.git else ()
    commits = tuple((it.id[:10], day(it.at), short(it.subject, 80)) for it in latest)
    yield FactTable("Latest commits", ("commit", "date", "subject"), commits)


def remarks(repository: RepositoryMap) -> tuple[str, ...]:
    """The state of git, and everything that the map leaves out."""
    broken = [f"Not parsed: {short(it.path)} ({it.fault})." for it in repository.modules if it.fault]
    omitted = [f"Omitted: {short(it.path)} {short(it.reason)}." for it in repository.omitted]
    beyond = f"Omitted, because the repository has too many files: {numbered(repository.left_out, 'file')}."
    return (*_git(repository), *_cut(broken), *_cut(omitted), *([beyond] if repository.left_out else []))


def _git(repository: RepositoryMap) -> Iterator[str]:
    git = repository.git
    if git is None:
        fault = short(repository.git_fault)
        why = f"git cannot read the repository ({fault})" if fault else "the folder is not in a git repository"
        yield f"Git: {why}, so koderz cannot find hot spots (long files that change often)."
        return
    branch = f"branch {short(git.branch)}" if git.branch else "no branch"
    yield (
        f"Git: {branch}, {numbered(len(git.dirty), 'file')} with uncommitted changes. Hot spots (long files "
        f"that change often) are computed from the latest {numbered(git.counted, 'commit')}."
    )
    if git.shallow:
        yield "Git: older commits are missing on this machine, because the clone is shallow."


def _cut(lines: list[str]) -> list[str]:
    more = len(lines) - LISTED
    return [*lines[:LISTED], f"… and {more} more"] if more > 0 else lines
