"""Problems and datasets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cases:
    """Calls of a problem's function, each with an answer that is right: a test each, at least one.

    ``calls`` and ``answers`` have a line per test: the list of its arguments, and the answer, both as JSON that
    ``sandbox.inside.values`` describes. ``search``: of an answer it only counts whether something was found.
    ``by_arguments``: what is right is told from the arguments.
    """

    calls: str
    answers: str
    search: bool = False
    by_arguments: bool = False

    def __len__(self) -> int:
        return self.calls.count("\n") + 1


@dataclass(frozen=True, slots=True)
class TestSet:
    """Tests as Python source that defines ``check(candidate)``; ``source`` empty: no tests.

    With ``cases`` the source defines ``like(answer, *arguments)``, to which all that is right is equal, and ``some``.
    ``seconds``: what one program may take on them, as docs/tests.md has it, None: what the judge gives where nothing is
    said. ``shared``: they change the process that they run in, so that has to be the program's own.
    """

    __test__ = False  # pytest: not a test class
    source: str = ""
    seconds: float | None = None
    shared: bool = False
    cases: Cases | None = None

    def __bool__(self) -> bool:
        return bool(self.source.strip())


@dataclass(frozen=True, slots=True)
class PublicProblem:
    """What a strategy may know of a problem: no tests, no canonical solution.

    ``preamble`` is the part of ``prompt`` before the function to write: imports and given helper functions.
    It is run before every candidate program, so a program need not repeat it.
    """

    id: str
    prompt: str
    entry_point: str
    preamble: str = ""


@dataclass(frozen=True, slots=True)
class PlusTests:
    """Further inputs of a problem; what is right for them is what the canonical solution answers.

    ``inputs``: JSON, a list with one list of arguments per test. ``types`` names how the arguments' Python types are
    restored from JSON, ``oracle`` how an answer is compared, both "" for the plain way; ``tolerance`` is absolute.
    """

    inputs: str
    types: str = ""
    tolerance: float = 0.0
    oracle: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """One coding task, whole: what is public, what its tests are, and its publisher's solution.

    ``needs``: names of the modules that its solution and its tests import, where a problem is about using them.
    """

    public: PublicProblem
    tests: TestSet
    canonical_solution: str  # a whole program, preamble included
    plus: PlusTests | None = None
    needs: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return self.public.id


@dataclass(frozen=True, slots=True)
class DatasetOrigin:
    """Where a dataset came from: its name, the SHA-256 of its unpacked file, its licence."""

    name: str
    sha256: str
    licence: str

    @property
    def said(self) -> str:
        """In a few words; the licence may be somebody's own text."""
        return f"{self.name} (SHA-256 {self.sha256[:12]}, licence {self.licence})"


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named list of problems, in the publisher's order."""

    origin: DatasetOrigin
    problems: tuple[Problem, ...]

    def solutions(self) -> dict[str, str]:
        """A right program for the text of each problem, where there is one."""
        return {
            problem.public.prompt.rstrip(): problem.canonical_solution
            for problem in self.problems
            if problem.canonical_solution
        }
