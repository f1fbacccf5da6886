"""Files of rules for coding agents, made of the facts in the map of a repository.

koderz owns only the part between its two marker lines, so that a person's own text in the file stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, get_args

from koderz_core.records.repositories import Purpose, RepositoryMap
from koderz_core.report.formats import numbered
from koderz_core.report.repository_text import entry_text, layout, main_entries, short, title

RulesName = Literal["AGENTS.md", "CLAUDE.md", ".cursorrules"]
RULES_FILES: tuple[RulesName, ...] = get_args(RulesName)
BEGIN = "<!-- koderz: the lines below are generated from the repository; write your own rules outside them -->"
END = "<!-- koderz: end of the generated lines -->"
MOST_FOLDERS, MOST_ENTRIES = 10, 6
PURPOSES: Mapping[Purpose, str] = {
    "test": "Run the tests",
    "lint": "Lint",
    "format": "Format",
    "types": "Check types",
    "build": "Build",
    "run": "Run",
}
_IMPORT = "@AGENTS.md"


def rules(repository: RepositoryMap, name: RulesName, *, imports_agents: bool) -> str:
    """The generated part of a file of rules, with its markers.

    ``imports_agents``: AGENTS.md exists, so CLAUDE.md can import it instead of repeating it.
    """
    body = _IMPORT if name == "CLAUDE.md" and imports_agents else "\n".join(_body(repository))
    return f"{BEGIN}\n{body}\n{END}\n"


def merged(existing: str, generated: str) -> str:
    """The content of a file with the generated part: in the place of an earlier one, else at the end."""
    newline = "\r\n" if "\r\n" in existing else "\n"
    part = generated.replace("\n", newline)
    start = existing.rfind(BEGIN)  # an earlier one has lost its end marker: the lines below may be a person's
    end = existing.find(END, max(start, 0))
    if 0 <= start < end:
        after = existing[end + len(END) :].removeprefix(newline)
        return existing[:start] + part + after
    if not existing.strip():
        return part
    return existing.rstrip() + newline * 2 + part


def _body(repository: RepositoryMap) -> Iterator[str]:
    yield f"# {_inline(title(repository))}"
    if repository.project.description:
        yield f"\n{_inline(short(repository.project.description, 300))}"
    yield from _section("Layout", _layout(repository))
    entries = [f"`{_inline(entry_text(it))}` ({_inline(short(it.kind))})" for it in main_entries(repository)]
    yield from _section("Entry points", entries[:MOST_ENTRIES])
    commands = [
        f"{PURPOSES[it.purpose]}: `{_inline(short(it.command))}` (from {_inline(short(it.source))})"
        for purpose in PURPOSES
        for it in repository.commands_for(purpose)
    ]
    yield from _section("Commands", commands)
    yield from _section("Conventions", [_inline(short(line)) for line in _conventions(repository)])
    yield from _section("Before you finish", _finish(repository))
    care = [
        f"`{_inline(short(it.name))}`: imported by {numbered(it.count, 'module')}" for it in repository.most_imported
    ]
    hot = [f"`{_inline(short(it.path))}`: long and often changed" for it in repository.hot_spots]
    yield from _section("Files to change with care", [*care[:5], *hot[:5]])


def _layout(repository: RepositoryMap) -> list[str]:
    lines = []
    for folder in layout(repository)[:MOST_FOLDERS]:
        about = f". {_inline(short(folder.summary))}" if folder.summary else ""
        place = "`.` (the root)" if folder.path == "." else f"`{_inline(short(folder.path))}/`"
        lines.append(f"{place}: {numbered(folder.files, 'file')}{about}")
    return lines


def _conventions(repository: RepositoryMap) -> list[str]:
    version = repository.project.requires_python
    stated = [f"The code must run on Python {version} ({repository.project.source})."] if version else []
    return [*stated, *repository.conventions]


def _finish(repository: RepositoryMap) -> list[str]:
    wanted: tuple[Purpose, ...] = ("format", "lint", "types", "test")
    firsts = [found[0].command for purpose in wanted if (found := repository.commands_for(purpose))]
    lines = [f"Run `{_inline(short(command))}`." for command in firsts]
    return [*lines, "Add or change a test for every change of behaviour."] if repository.of_kind("test") else lines


def _section(name: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"\n## {name}\n"
        yield from (f"- {line}" for line in lines)


def _inline(text: str) -> str:
    """A text of the repository inside a line of Markdown: it can end neither the code nor the generated part."""
    return text.replace("`", "'").replace("<!--", "(--").replace("-->", "--)")
