"""Problems and datasets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from koderz_core.records.trees import Repository

Kind = Literal["function", "repair", "module", "program", "repo", "question"]
"""What a problem asks for: one function; a corrected version of a given program; a whole file with functions or
classes; a program that reads standard input and writes standard output; changes to the files of a repository; an answer
in words, which no test scores."""
QUESTION: Kind = "question"
"""The kind of the questions of the workbench. No dataset has it."""
OF_DATASETS: tuple[Kind, ...] = ("function", "repair", "module", "program", "repo")
"""The kinds of the problems of datasets."""
Variant = Literal["renamed", "rephrased", "impossible"]
"""How a variant of a dataset differs from it: in names, in the words of the texts, or in one test that is false."""
VARIANTS: tuple[Variant, ...] = ("renamed", "rephrased", "impossible")
OF_VARIANT = ", variant "
"""Between the names of a dataset and of its variant in the name of the varied dataset."""


@dataclass(frozen=True, slots=True)
class Cases:
    """Calls of a problem's function with their correct answers: one test per call, at least one.

    ``calls`` and ``answers`` have a line per test: the list of its arguments, and the answer, both as JSON that
    ``sandbox.inside.values`` describes. ``search``: only whether the answer is a match counts. ``by_arguments``: the
    arguments determine which answers are correct. ``limits`` has a line per test as well, with its own time limit in
    seconds; it is empty if the tests have only the time limit of the test set.
    """

    calls: str
    answers: str
    search: bool = False
    by_arguments: bool = False
    limits: str = ""

    def __len__(self) -> int:
        return self.calls.count("\n") + 1


@dataclass(frozen=True, slots=True)
class TestSet:
    """Tests as Python source that defines ``check(candidate)``; ``source`` empty: no tests.

    With ``cases`` the source defines ``some`` and ``like(answer, *arguments)``, whose value equals every correct
    answer. ``seconds``: the time limit of one program, as in docs/tests.md, None for the default of the judge.
    ``shared``: the tests change the process that they run in, so they must run in the program's own process. ``ids``:
    the names of tests in a repository, instead of a source.
    """

    __test__ = False  # pytest: not a test class
    source: str = ""
    seconds: float | None = None
    shared: bool = False
    cases: Cases | None = None
    ids: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.ids or self.source.strip())


@dataclass(frozen=True, slots=True)
class PublicProblem:
    """The part of a problem that a strategy sees: no tests, no canonical solution.

    ``prompt`` is the whole text of the task, with the given code. ``preamble`` is run before every candidate program.
    It contains the part of ``prompt`` before the function to write, such as imports and given helper functions, so a
    program need not repeat this part. It may also contain code that the publisher's harness runs first. ``kind``
    decides which words a prompt uses and how a reply is read; strategies do not need it.
    ``entry_point``: the function or class that tests use first; ``run`` for a ``program``, whose tests call
    ``run(input)``, which returns the output. ``names``: further names that a program must define. ``file``: the name
    of the file that a ``module`` is. ``given``: the code to start from: the faulty program of a ``repair``, the stub
    of a ``module``. ``files``: the texts of a ``repo`` by path, without its tests; ``editable``: those that may change.
    """

    id: str
    prompt: str
    entry_point: str
    preamble: str = ""
    kind: Kind = "function"
    names: tuple[str, ...] = ()
    file: str = ""
    given: str = ""
    files: Mapping[str, str] = field(default_factory=dict, hash=False, compare=False, repr=False)
    editable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlusTests:
    """More inputs of a problem; the canonical solution's answers are the correct ones.

    ``inputs``: JSON, a list with one list of arguments per test. ``types`` names how the Python types of the arguments
    are restored from JSON, ``oracle`` how answers are compared, both "" for the default; ``tolerance`` is absolute.
    """

    inputs: str
    types: str = ""
    tolerance: float = 0.0
    oracle: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the publisher says about a problem, "" or empty if nothing. ``date``: of publication, as 2024-05-31."""

    difficulty: str = ""
    topic: str = ""
    date: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """One complete coding task: its public part, its tests, and the publisher's solution.

    ``needs``: names of the modules that its solution and its tests import, if the problem is about using them.
    ``samples``: the tests that the text of the problem shows, for a gate of examples, if the publisher names them.
    Those that ``tests`` contains as well are part of the score, but that gate shows them. ``facts`` group problems for
    tables of slices. ``obstacle``: why no program is known to pass the tests in the sandbox, although the modules in
    ``needs`` are there; empty if there is no such reason. ``variant``: None for a problem as it was published.
    ``repository``: of the kind ``repo`` only, whose programs and ``canonical_solution`` are unified diffs of its files.
    """

    public: PublicProblem
    tests: TestSet
    canonical_solution: str  # a whole program, preamble included
    plus: PlusTests | None = None
    needs: tuple[str, ...] = ()
    samples: TestSet = TestSet()
    facts: Facts = Facts()
    obstacle: str = ""
    variant: Variant | None = None
    repository: Repository | None = None

    @property
    def id(self) -> str:
        return self.public.id


_OF_REPOSITORIES = {"files", "editable", "ids", "repository"}


def to_hash(value: object) -> object:
    """What hashes and kept files contain of problems and their parts, as JSON: no empty field of the kind ``repo``.

    The hashes of the other kinds are older than these fields and are written in journals.
    """
    match value:
        case dict():
            kept = {name: part for name, part in value.items() if part or name not in _OF_REPOSITORIES}
            return {name: to_hash(part) for name, part in kept.items()}
        case list() | tuple():
            return [to_hash(part) for part in value]
        case str() | int() | float() | None:
            return value
    return to_hash(msgspec.to_builtins(value))


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A problem of a file that koderz cannot grade, and the reason."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class DatasetOrigin:
    """Where a dataset came from: its name, the SHA-256 of its unpacked file, its licence."""

    name: str
    sha256: str
    licence: str

    @property
    def said(self) -> str:
        """A short description; the licence may be a text of the user."""
        return f"{self.name} (SHA-256 {self.sha256[:12]}, licence {self.licence})"

    @property
    def base(self) -> str:
        """The name of the dataset that it is a variant of; its own name if it is not a variant."""
        return self.name.partition(OF_VARIANT)[0]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named list of problems, in the publisher's order; ``left_out``: the file's other problems."""

    origin: DatasetOrigin
    problems: tuple[Problem, ...]
    left_out: tuple[LeftOut, ...] = ()

    def solutions(self) -> dict[str, str]:
        """A correct program for the text of each problem that has one."""
        return {
            problem.public.prompt.rstrip(): problem.canonical_solution
            for problem in self.problems
            if problem.canonical_solution
        }
