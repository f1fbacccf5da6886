"""The map of a repository: its files, modules, tests, commands, entry points and the state of its git repository.

All texts in a map come from the repository and may be hostile. Paths are relative to the folder, with slashes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FileKind = Literal["source", "test", "documentation", "configuration", "other"]
Purpose = Literal["test", "lint", "format", "types", "build", "run"]
DefinitionKind = Literal["class", "function"]


@dataclass(frozen=True, slots=True)
class RepositoryFile:
    """A regular file. ``language``: "" if it is not known. ``lines`` None: not text, or too large to be read.

    ``commits``: how many of the counted commits changed the file; None without git.
    """

    path: str
    language: str
    kind: FileKind
    size_bytes: int
    lines: int | None
    commits: int | None = None


@dataclass(frozen=True, slots=True)
class LanguageShare:
    """All files of one language. ``lines``: of the files that could be read."""

    language: str
    files: int
    size_bytes: int
    lines: int


@dataclass(frozen=True, slots=True)
class Definition:
    """A class or function of a Python module, with its first and last line (from 1).

    ``name``: with the names of the classes and functions around it, as in ``Class.method``. ``typed``: a function whose
    result and parameters, except ``self`` and ``cls``, all have type hints.
    """

    name: str
    kind: DefinitionKind
    line: int
    end_line: int
    typed: bool
    documented: bool


@dataclass(frozen=True, slots=True)
class PythonModule:
    """A Python file. ``name``: the name under which it is imported. ``summary``: the first sentence of its
    docstring.

    ``imports``: the paths of the modules of the repository that it imports anywhere in the file. ``packages``,
    ``standard``: the top-level names of its other imports: third-party packages, and the standard library. ``fault``:
    why the file could not be parsed; it then has no definitions and no imports. ``has_main``: it does something if it
    is run as a program.
    """

    path: str
    name: str
    summary: str = ""
    definitions: tuple[Definition, ...] = ()
    imports: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    standard: tuple[str, ...] = ()
    has_main: bool = False
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Count:
    """A path or a name with the number of modules that import it."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Relevant:
    """A file that may matter for a task. ``words``: those of the task that occur in it, the most telling one first.

    ``neighbour``: a relevant file that imports it, or that it imports, if it has most of its score from that; else "".
    """

    path: str
    score: float
    words: tuple[str, ...]
    neighbour: str = ""


@dataclass(frozen=True, slots=True)
class HotSpot:
    """A text file that was often changed and is long. ``score``: commits × lines."""

    path: str
    commits: int
    lines: int
    score: int


@dataclass(frozen=True, slots=True)
class Command:
    """A command that the repository's own files suggest. ``source``: the file that says so."""

    purpose: Purpose
    command: str
    source: str


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """A place where the program starts. ``kind``: such as ``script``, ``module``, ``program``.

    ``name``: what a user types or opens. ``target``: what it calls, "" if that is the name itself.
    """

    kind: str
    name: str
    target: str
    source: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit on the current branch. ``at``: seconds since 1970."""

    id: str
    at: int
    subject: str


@dataclass(frozen=True, slots=True)
class GitState:
    """The git repository that contains the folder. ``branch`` None: no branch is checked out.

    ``commits``: the latest ones. ``counted``: the number of commits behind ``RepositoryFile.commits``. ``dirty``: files
    with changes that are not committed, and new files. ``shallow``: older commits are missing on this machine.
    """

    branch: str | None
    commits: tuple[Commit, ...]
    counted: int
    dirty: tuple[str, ...]
    shallow: bool


@dataclass(frozen=True, slots=True)
class Project:
    """What the repository says about itself. ``source``: the file that says so, "" if no file does."""

    name: str = ""
    version: str = ""
    description: str = ""
    requires_python: str = ""
    dependencies: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True)
class Omitted:
    """A file or folder that the map does not contain, or not completely, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class RepositoryMap:
    """The map of a folder. ``root``: its absolute path. ``name``: of the project, else of the folder.

    ``files`` are sorted by path. ``languages``: those of programs first, by their lines. ``modules``: all Python files.
    ``most_imported``: modules by the number of modules that import them. ``packages``: imported third-party packages by
    the number of modules that import them. ``frameworks``: of the tests. ``conventions``: sentences about the code,
    from settings and counts. ``git`` None: no repository, or git cannot read it; ``git_fault`` then says why, "" if
    there is none. ``left_out``: the number of files beyond the limit.
    """

    root: str
    name: str
    project: Project
    files: tuple[RepositoryFile, ...]
    languages: tuple[LanguageShare, ...]
    modules: tuple[PythonModule, ...]
    most_imported: tuple[Count, ...]
    packages: tuple[Count, ...]
    frameworks: tuple[str, ...]
    commands: tuple[Command, ...]
    entry_points: tuple[EntryPoint, ...]
    conventions: tuple[str, ...]
    hot_spots: tuple[HotSpot, ...]
    git: GitState | None
    git_fault: str
    omitted: tuple[Omitted, ...]
    left_out: int

    def of_kind(self, kind: FileKind) -> tuple[RepositoryFile, ...]:
        """The files of one kind, in order of their paths."""
        return tuple(file for file in self.files if file.kind == kind)

    def commands_for(self, purpose: Purpose) -> tuple[Command, ...]:
        """The commands for one purpose; the most direct one is first."""
        return tuple(command for command in self.commands if command.purpose == purpose)
