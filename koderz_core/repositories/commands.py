"""The commands that test, check, build and run a repository, and the frameworks of its tests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from koderz_core.records.repositories import Command, Purpose, PythonModule, RepositoryFile
from koderz_core.repositories.manifests import Manifests

_PYPROJECT, _SETUP, _TOX, _NODE = "pyproject.toml", "setup.cfg", "tox.ini", "package.json"
_WORDS: Mapping[str, Purpose] = {
    **dict.fromkeys(("test", "tests", "unit", "unittest"), "test"),
    **dict.fromkeys(("lint", "style", "eslint"), "lint"),
    **dict.fromkeys(("format", "fmt", "prettier"), "format"),
    **dict.fromkeys(("types", "typecheck", "type-check", "typing", "mypy", "tsc"), "types"),
    **dict.fromkeys(("build", "dist", "compile"), "build"),
    **dict.fromkeys(("run", "start", "serve", "dev"), "run"),
}
"""The usual names of targets and scripts."""
_NODE_TESTS = ("jest", "vitest", "mocha", "ava", "playwright", "cypress", "jasmine", "tap")
_SAFE = re.compile(r"[\w:.-]+")
"""Names of scripts that can be typed in a shell as they are."""


def frameworks_of(
    manifests: Manifests, files: Sequence[RepositoryFile], modules: Sequence[PythonModule]
) -> dict[str, str]:
    """The frameworks of the tests, by settings and by what test files import or are called.

    Each with the first file that shows it. pytest also runs the tests of unittest, and its users import mocks.
    """
    found: dict[str, str] = {}
    for name, source in _signs(manifests, files, modules):
        found.setdefault(name, source)
    if "pytest" in found:
        found.pop("unittest", None)
    return found


def _signs(
    manifests: Manifests, files: Sequence[RepositoryFile], modules: Sequence[PythonModule]
) -> Iterator[tuple[str, str]]:
    settings = ((_PYPROJECT, "tool", "pytest"), ("pytest.ini", "pytest"), (_TOX, "pytest"), (_SETUP, "tool:pytest"))
    yield from (("pytest", name) for name, *keys in settings if manifests.has(name, *keys))
    tests = {file.path: file.language for file in files if file.kind == "test"}
    python = [module for module in modules if module.path in tests]
    yield from (("pytest", module.path) for module in python if "pytest" in module.packages)
    yield from (("unittest", module.path) for module in python if "unittest" in module.standard)
    needed = {**manifests.table(_NODE, "devDependencies"), **manifests.table(_NODE, "dependencies")}
    names = {name.rpartition("/")[2] if name.startswith("@playwright") else name for name in needed}
    yield from ((name, _NODE) for name in _NODE_TESTS if name in names or f"@{name}/test" in needed)
    yield from (("go test", path) for path, language in tests.items() if language == "Go")
    if "Cargo.toml" in manifests.there:
        yield "cargo test", "Cargo.toml"


def commands_of(
    manifests: Manifests, files: Sequence[RepositoryFile], modules: Sequence[PythonModule]
) -> tuple[Command, ...]:
    """The commands that the files of the repository suggest; those for one purpose start with the most direct one."""
    found = [*_tests(manifests, files, modules), *_checks(manifests), *_named(manifests)]
    return tuple({(it.purpose, it.command): it for it in reversed(found)}.values())[::-1]


def runner_of(manifests: Manifests) -> str:
    """How a command of the repository's Python environment starts: ``uv run `` if it is managed by uv; else ""."""
    locks = {"uv.lock": "uv run ", "poetry.lock": "poetry run ", "pdm.lock": "pdm run ", "Pipfile.lock": "pipenv run "}
    return next((start for lock, start in locks.items() if lock in manifests.there), "")


def _tests(manifests: Manifests, files: Sequence[RepositoryFile], modules: Sequence[PythonModule]) -> Iterator[Command]:
    start = runner_of(manifests)
    commands = {
        "pytest": f"{start}pytest",
        "unittest": f"{start}python -m unittest discover",
        "go test": "go test ./...",
        "cargo test": "cargo test",
    }
    sources = frameworks_of(manifests, files, modules)
    for name, command in commands.items():
        if name in sources:
            yield Command("test", _of_folder(command, name, files), sources[name])
    if any(section == "tox" or section.startswith("testenv") for section in manifests.table(_TOX)):
        yield Command("test", "tox", _TOX)
    if manifests.has(_PYPROJECT, "tool", "tox"):
        yield Command("test", "tox", _PYPROJECT)
    if "noxfile.py" in manifests.there:
        yield Command("test", "nox", "noxfile.py")


def _of_folder(command: str, framework: str, files: Sequence[RepositoryFile]) -> str:
    """unittest finds no tests in a folder that is no package, unless the folder is named."""
    tests = [file.path for file in files if file.kind == "test" and file.language == "Python"]
    tops = {path.partition("/")[0] for path in tests if "/" in path}
    if framework != "unittest" or len(tops) != 1 or any("/" not in path for path in tests):
        return command
    (top,) = tops
    return command if f"{top}/__init__.py" in tests else f"{command} -s {top}"


def _checks(manifests: Manifests) -> Iterator[Command]:
    start = runner_of(manifests)
    tools: tuple[tuple[Purpose, str, tuple[tuple[str, ...], ...]], ...] = (
        ("lint", "ruff check .", ((_PYPROJECT, "tool", "ruff"), ("ruff.toml",), (".ruff.toml",))),
        ("format", "ruff format .", ((_PYPROJECT, "tool", "ruff", "format"), ("ruff.toml", "format"))),
        ("format", "black .", ((_PYPROJECT, "tool", "black"),)),
        ("format", "isort .", ((_PYPROJECT, "tool", "isort"), (_SETUP, "isort"))),
        ("lint", "flake8", ((".flake8",), (_SETUP, "flake8"), (_TOX, "flake8"))),
        ("lint", "lint-imports", ((_PYPROJECT, "tool", "importlinter"),)),
        ("types", "mypy", ((_PYPROJECT, "tool", "mypy"), ("mypy.ini",), (_SETUP, "mypy"))),
        ("types", "pyright", ((_PYPROJECT, "tool", "pyright"),)),
    )
    for purpose, command, places in tools:
        if source := next((place[0] for place in places if manifests.has(*place)), ""):
            yield Command(purpose, f"{start}{command}", source)
    if ".pre-commit-config.yaml" in manifests.there:
        yield Command("lint", "pre-commit run --all-files", ".pre-commit-config.yaml")
    if manifests.has(_PYPROJECT, "build-system"):
        yield Command("build", "python -m build", _PYPROJECT)
    if "Cargo.toml" in manifests.there:
        yield Command("build", "cargo build", "Cargo.toml")
    if "go.mod" in manifests.there:
        yield Command("build", "go build ./...", "go.mod")


def _named(manifests: Manifests) -> Iterator[Command]:
    """Targets of make and scripts of package.json whose names say what they do."""
    for target in manifests.targets:
        if purpose := _WORDS.get(target.lower()):
            yield Command(purpose, f"make {target}", manifests.makefile)
    locks = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun"}
    manager = next((name for lock, name in locks.items() if lock in manifests.there), "npm")
    for script in manifests.table(_NODE, "scripts"):
        purpose = _WORDS.get(script.partition(":")[0].lower())
        if purpose and _SAFE.fullmatch(script):
            run = "" if manager in ("pnpm", "yarn") or script in ("test", "start") else "run "
            yield Command(purpose, f"{manager} {run}{script}", _NODE)
