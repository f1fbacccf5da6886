"""Makes the map of a folder. It runs nothing of the folder, writes nothing, and sends nothing.

Beside git, which is asked about the files and commits, only Python reads the folder. A broken file is part of the map,
never an exception.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from koderz_core.errors import UsageError
from koderz_core.records.repositories import (
    Count,
    Definition,
    GitState,
    HotSpot,
    LanguageShare,
    Omitted,
    PythonModule,
    RepositoryFile,
    RepositoryMap,
)
from koderz_core.repositories.commands import commands_of, frameworks_of
from koderz_core.repositories.entry_points import entry_points_of
from koderz_core.repositories.folder_files import MOST_BYTES, Listing, list_files, read_file, text_of
from koderz_core.repositories.git import Git, GitError, git_state, open_git
from koderz_core.repositories.languages import kind_of, language_of
from koderz_core.repositories.manifests import Manifests, project_of, read_manifests
from koderz_core.repositories.python_modules import Parsed, parse_module, resolve_modules

MOST_READ_BYTES = 256 << 20
"""Of all files together; the files beyond it are listed without their lines."""
MOST_HOT_SPOTS = 20
HABIT = 0.95  # the share of functions from which on a habit counts as a rule
_PROGRAMS = ("source", "test")
_GUIDES = ("CONTRIBUTING.md", "CONTRIBUTING.rst", ".github/CONTRIBUTING.md", "docs/contributing.md")
_LINE_LENGTHS = (
    ("pyproject.toml", "tool", "ruff", "line-length"),
    ("pyproject.toml", "tool", "black", "line-length"),
    ("ruff.toml", "line-length"),
    ("setup.cfg", "flake8", "max-line-length"),
    (".flake8", "flake8", "max-line-length"),
    ("tox.ini", "flake8", "max-line-length"),
)


def map_repository(folder: Path) -> RepositoryMap:
    """The map of a folder. Raises UsageError if it is no folder or cannot be read."""
    root = _root(folder)
    git, git_fault = open_git(root)
    listing = list_files(root, git)
    state, commits, fault = _git_state(git)
    files, parsed, large = _read(root, listing, commits if state else None)
    modules = resolve_modules(parsed)
    manifests = read_manifests(root, listing.sizes)
    project = project_of(manifests)
    return RepositoryMap(
        root=str(root),
        name=project.name or root.name or str(root),
        project=project,
        files=files,
        languages=_languages(files),
        modules=modules,
        most_imported=_counted(path for module in modules for path in module.imports),
        packages=_counted(package for module in modules for package in module.packages),
        frameworks=tuple(frameworks_of(manifests, files, modules)),
        commands=commands_of(manifests, files, modules),
        entry_points=entry_points_of(root, manifests, files, modules),
        conventions=tuple(_conventions(manifests, files, modules)),
        hot_spots=_hot_spots(files),
        git=state,
        git_fault=git_fault or fault,
        omitted=(*manifests.faults, *large, *listing.omitted),
        left_out=listing.left_out,
    )


def _root(folder: Path) -> Path:
    try:
        root = folder.expanduser().resolve(strict=True)
        next(root.iterdir(), None)
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{folder} cannot be read ({why}). Give the path of the folder of a repository.") from error
    return root


def _git_state(git: Git | None) -> tuple[GitState | None, Mapping[str, int], str]:
    try:
        return (*git_state(git), "") if git else (None, {}, "")
    except (GitError, ValueError) as error:
        return None, {}, str(error)


def _read(
    root: Path, listing: Listing, commits: Mapping[str, int] | None
) -> tuple[tuple[RepositoryFile, ...], list[Parsed], list[Omitted]]:
    """The files, the Python modules among them, and the files that were not read. Programs are read first."""
    files, parsed, omitted, left = [], [], [], MOST_READ_BYTES
    kinds = {path: kind_of(path) for path in listing.sizes}
    for path in sorted(kinds, key=lambda path: (kinds[path] not in _PROGRAMS, path)):
        size, language = listing.sizes[path], language_of(path)
        content = read_file(root, path) if size <= min(MOST_BYTES, left) else None
        if content is None:
            omitted.append(Omitted(path, f"was not read ({size:,} bytes)"))
        text = None if content is None else text_of(content)
        left -= len(content or b"")
        counted = None if commits is None else commits.get(path, 0)
        lines = None if text is None else text.count("\n") + (text[-1:] not in ("", "\n"))
        files.append(RepositoryFile(path, language, kinds[path], size, lines, counted))
        if language == "Python":
            parsed.append(_parsed(path, text))
    return tuple(sorted(files, key=lambda it: it.path)), parsed, omitted


def _parsed(path: str, text: str | None) -> Parsed:
    return (
        Parsed(PythonModule(path, "", fault="the file is not text, or was not read"))
        if text is None
        else parse_module(path, text)
    )


def _languages(files: Sequence[RepositoryFile]) -> tuple[LanguageShare, ...]:
    shares: dict[str, LanguageShare] = {}
    for file in files:
        share = shares.get(file.language, LanguageShare(file.language, 0, 0, 0))
        shares[file.language] = replace(
            share,
            files=share.files + 1,
            size_bytes=share.size_bytes + file.size_bytes,
            lines=share.lines + (file.lines or 0),
        )
    of_programs = {file.language for file in files if file.kind in _PROGRAMS}
    return tuple(sorted(shares.values(), key=lambda it: (it.language not in of_programs, not it.language, -it.lines)))


def _counted(names: Iterable[str]) -> tuple[Count, ...]:
    counts = Counter(names)
    return tuple(Count(name, counts[name]) for name in sorted(counts, key=lambda name: (-counts[name], name)))


def _hot_spots(files: Sequence[RepositoryFile]) -> tuple[HotSpot, ...]:
    code = (file for file in files if file.kind in _PROGRAMS and file.commits and file.lines)
    found = [HotSpot(it.path, it.commits or 0, it.lines or 0, (it.commits or 0) * (it.lines or 0)) for it in code]
    return tuple(sorted(found, key=lambda it: (-it.score, it.path))[:MOST_HOT_SPOTS])


def _conventions(
    manifests: Manifests, files: Sequence[RepositoryFile], modules: Sequence[PythonModule]
) -> Iterator[str]:
    paths = {file.path for file in files}
    yield from (f"Read {name} before you change the code." for name in _GUIDES if name in paths)
    for name, *keys in _LINE_LENGTHS:
        if str(length := manifests.get(name, *keys)).isdecimal():
            yield f"Lines have at most {length} characters ({name})."
            break
    source = {file.path for file in files if file.kind == "source" and not file.path.endswith(".pyi")}
    functions = [it for module in modules if module.path in source for it in _functions(module)]
    public = [it for it in functions if not any(part.startswith("_") for part in it.name.split("."))]
    yield from _habit("functions", "complete type hints", sum(it.typed for it in functions), len(functions))
    yield from _habit("public functions", "a docstring", sum(it.documented for it in public), len(public))
    if any(path.startswith("src/") and path.endswith(".py") for path in source):
        yield "Packages are in the folder src."
    yield from _test_names([file.path for file in files if file.kind == "test" and file.language == "Python"])


def _functions(module: PythonModule) -> Iterator[Definition]:
    """Functions and methods, without those inside other functions."""
    found = {it.name: it for it in module.definitions if it.kind == "function"}
    yield from (it for it in found.values() if it.name.rpartition(".")[0] not in found)


def _habit(things: str, has: str, number: int, total: int) -> Iterator[str]:
    """A share of functions; nearly all of them make it a rule."""
    if number >= HABIT * total > 0:
        yield f"Give all {things} {has} (currently {number} of {total})."
    elif total:
        yield f"{things.capitalize()} with {has}: {number} of {total}."


def _test_names(paths: Sequence[str]) -> Iterator[str]:
    names = [path.rpartition("/")[2] for path in paths]
    numbers = {
        "test_*.py": sum(name.startswith("test_") for name in names),
        "*_test.py": sum(name.endswith("_test.py") for name in names),
    }
    pattern = max(numbers, key=lambda it: numbers[it])
    if numbers[pattern]:
        yield f"Test files are named {pattern}: {numbers[pattern]} of {len(names)} Python test files."
