"""The prompt for the next feature of a repository, as one hands it to a coding agent."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

from koderz_core.records.repositories import Purpose, PythonModule, Relevant, RepositoryMap
from koderz_core.report.formats import plain
from koderz_core.report.repository_text import short, title

MOST_FILES, MOST_TESTS, MOST_DEFINITIONS = 8, 5, 8
LONGEST_FEATURE = 8_000
"""Characters of the description of a feature."""


def feature_prompt(repository: RepositoryMap, feature: str, relevant: Sequence[Relevant]) -> str:
    """The prompt: the goal, the files that probably matter, the constraints, and the tests to run."""
    return "\n".join(_lines(repository, feature, relevant)) + "\n"


def _lines(repository: RepositoryMap, feature: str, relevant: Sequence[Relevant]) -> Iterator[str]:
    tests = {file.path for file in repository.of_kind("test")}
    files = [it for it in relevant if it.path not in tests][:MOST_FILES]
    modules = {module.path: module for module in repository.modules}
    yield f"# Goal\n\n{plain(feature.strip())}"
    yield f"\n# Repository\n\n{title(repository)}. {short(repository.project.description, 300)}".rstrip()
    yield "\n# Files that probably matter\n"
    yield (
        "Each of these files shares words with the goal, imports such a file, or is imported by one. Read these files "
        "first; the list may be incomplete.\n"
    )
    yield from (_file(it, modules.get(it.path)) for it in files)
    if not files:
        yield "- No file shares a word with the goal. First search for the code that must change."
    yield "\n# Constraints\n"
    yield from (f"- {line}" for line in _constraints(repository))
    chosen = _tests_for(files, relevant, tests, modules)
    yield "\n# Tests\n"
    yield from (f"- {line}" for line in _tests(repository, chosen))


def _file(it: Relevant, module: PythonModule | None) -> str:
    why = [f"words: {', '.join(it.words)}"] if it.words else []
    why += [f"near {short(it.neighbour)}"] if it.neighbour else []
    names = {definition.name: None for definition in module.definitions if "." not in definition.name} if module else {}
    wanted = [name for name in names if any(word.lower() in name.lower() for word in it.words)]
    defined = f". Defines {', '.join(wanted[:MOST_DEFINITIONS])}" if wanted else ""
    return f"- {short(it.path)} ({'; '.join(why)}){short(defined)}"


def _constraints(repository: RepositoryMap) -> Iterator[str]:
    yield "Change only the code that the goal requires, and keep the public interface unless the goal says otherwise."
    if repository.project.requires_python:
        yield f"The code must run on Python {short(repository.project.requires_python)}."
    yield from (short(line) for line in repository.conventions)
    rules = [name for name in ("AGENTS.md", "CLAUDE.md") if any(file.path == name for file in repository.files)]
    if rules:
        yield f"Follow {rules[0]}."
    yield "Ask before you add a dependency."


def _tests_for(
    files: Sequence[Relevant], relevant: Sequence[Relevant], tests: set[str], modules: Mapping[str, PythonModule]
) -> list[str]:
    """Relevant tests that import one of the best files come first, then other relevant tests."""
    best = {it.path for it in files[:3]}
    paths = [it.path for it in relevant if it.path in tests and _has_tests(it.path)]
    importing = [path for path in paths if path in modules and best & {*modules[path].imports}]
    return list(dict.fromkeys([*importing, *paths]))[:MOST_TESTS]


def _has_tests(path: str) -> bool:
    """Whether the name of a file says that it has tests: a folder of tests may contain other files too."""
    name = path.rpartition("/")[2].lower()
    return ("test" in name or "spec" in name) and not name.startswith("conftest.")


def _tests(repository: RepositoryMap, chosen: Sequence[str]) -> Iterator[str]:
    commands = repository.commands_for("test")
    pytest = next((it.command for it in commands if it.command.endswith("pytest")), "")
    if chosen and pytest:
        yield f"Run while you work: `{pytest} {' '.join(shlex.quote(short(path)) for path in chosen)}`"
    elif chosen:
        yield f"Tests related to the goal: {', '.join(map(short, chosen))}"
    purposes: tuple[Purpose, ...] = ("test", "lint", "types")
    last = [found[0].command for purpose in purposes if (found := repository.commands_for(purpose))]
    if last:
        yield f"Run at the end: {', '.join(f'`{short(command)}`' for command in last)}"
    yield "Write a test that fails without the change and passes with it."
