"""Lessons: failures that recurred on several problems, what usually helps, and what had changed where the next passed.

No model writes them: they are told from the journals alone, in words of fixed tables and numbers. A lesson keeps what
it was learnt from problem by problem, so that whoever solves one of these problems is told of the others only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby

import msgspec

from koderz_core.errors import KoderzError
from koderz_core.memory.admissible import Learnt, admissible, akin
from koderz_core.memory.changes import KINDS, REWRITTEN, changes
from koderz_core.memory.patterns import ADVICE, pattern_of
from koderz_core.records import Memory, Problem, PublicProblem
from koderz_core.records.lapses import Lapse

LEAST_PROBLEMS = 3  # a failure on fewer may be about them
TAG = "lesson"
MOST_EXPERIMENTS = 3  # of each problem, by which a person can look it up
MOST_CHANGES = 3  # that a lesson names

Known = Callable[[str, str], PublicProblem | None]
"""A dataset and the id of a problem in it to the problem, None if it cannot be had."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one problem says: how often it failed so, how often the next program passed, what had changed in these."""

    problem: str
    dataset: str
    times: int
    fixed: int = 0
    changes: Mapping[str, int] = field(default_factory=dict)
    experiments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Lesson:
    """``pattern`` is a key of ``ADVICE``. ``scripted``: of scripted models, which are no ground for others."""

    error: str
    pattern: str
    evidence: tuple[Evidence, ...]
    scripted: bool = False

    @property
    def title(self) -> str:
        """The same for the same failure, whatever it was learnt from."""
        return f"Lesson{' SCRIPTED' if self.scripted else ''}: {self.error} - {self.pattern}"

    @property
    def problems(self) -> tuple[str, ...]:
        """Ids, each once: a problem may be in several datasets."""
        return tuple(sorted({one.problem for one in self.evidence}))

    @property
    def times(self) -> int:
        return sum(one.times for one in self.evidence)

    @property
    def fixed(self) -> int:
        return sum(one.fixed for one in self.evidence)

    @property
    def text(self) -> str:
        """For a prompt: words of our tables and numbers, nothing else."""
        said = f"{self.pattern} ({self.times} times on {len(self.problems)} problems). {ADVICE[self.pattern]}"
        counted = sum((Counter(one.changes) for one in self.evidence), Counter[str]())
        named = [f"{name} ({times})" for name, times in counted.most_common(MOST_CHANGES)]
        mended = f" Where the next program passed ({self.fixed}): {', '.join(named)}." if named else ""
        return said + mended


def distil(lapses: Iterable[Lapse]) -> list[Lesson]:
    """What recurred on several problems, the most common first."""
    found: dict[tuple[bool, str, str], list[Lapse]] = {}
    for one in lapses:
        found.setdefault((one.scripted, one.error, pattern_of(one)), []).append(one)
    lessons = [Lesson(error, pattern, _evidence(ours), scripted) for (scripted, error, pattern), ours in found.items()]
    return ranked(one for one in lessons if len(one.problems) >= LEAST_PROBLEMS)


def ranked(lessons: Iterable[Lesson]) -> list[Lesson]:
    """The most common first."""
    return sorted(lessons, key=lambda one: (-len(one.problems), -one.times, one.title))


def read(metadata: str | None) -> Lesson | None:
    """The lesson that a memory keeps; None for what is none, whatever it says of itself."""
    try:
        lesson = msgspec.json.decode(metadata or "", type=_Kept).lesson
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    named = {name for one in lesson.evidence for name in one.changes}
    counts = [count for one in lesson.evidence for count in (one.times, one.fixed, *one.changes.values())]
    told = lesson.pattern in ADVICE and named <= {*KINDS, REWRITTEN} and all(0 <= count < 10**9 for count in counts)
    return lesson if told else None


def kept(lesson: Lesson) -> dict[str, object]:
    """The metadata that ``read`` reads."""
    return {"lesson": msgspec.to_builtins(lesson)}


def for_problem(lesson: Lesson, problem: Problem, known: Known) -> Memory | None:
    """What may be said of it to who solves this problem; None if too little is left of it.

    Of its evidence only problems are left that are known and surely others.
    """
    others = [(one, source) for one in lesson.evidence if (source := known(one.dataset, one.problem))]
    left = [(one, source) for one, source in others if not akin(source, problem.public)]
    told = replace(lesson, evidence=tuple(one for one, _ in left))
    if len(told.problems) < LEAST_PROBLEMS:
        return None
    if not admissible(Learnt(told.text, tuple(source for _, source in left)), problem):
        return None
    tags = {"error": lesson.error, "problems": " ".join(told.problems)}
    return Memory(told.text, f"{len(told.problems)} other problems", tags)


def looked_up(problems: Callable[[str], Mapping[str, Problem]]) -> Known:
    """``problems``: a dataset's name to its problems by id; may raise KoderzError, and then they are not known."""

    def known(dataset: str, problem: str) -> PublicProblem | None:
        try:
            found = problems(dataset).get(problem)
        except KoderzError:
            return None
        return found.public if found else None

    return known


class _Kept(msgspec.Struct, frozen=True):
    lesson: Lesson


def _evidence(lapses: Iterable[Lapse]) -> tuple[Evidence, ...]:
    def place(one: Lapse) -> tuple[str, str]:
        return one.problem, one.dataset

    grouped = groupby(sorted(lapses, key=place), place)
    return tuple(_of_problem(problem, dataset, [*ours]) for (problem, dataset), ours in grouped)


def _of_problem(problem: str, dataset: str, lapses: list[Lapse]) -> Evidence:
    mended = [one for one in lapses if one.fixed_by is not None]
    changed = Counter(name for one in mended for name in changes(one.code, one.fixed_by))
    experiments = tuple(dict.fromkeys(one.experiment for one in lapses))[:MOST_EXPERIMENTS]
    return Evidence(problem, dataset, len(lapses), len(mended), dict(changed), experiments)
