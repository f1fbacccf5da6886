"""Lessons from failures that recurred on several problems, and solved problems as examples for similar ones.

A lesson names the failure, what usually helps, and which kinds of changes stood between the failed program and the
next, which passed. No model writes lessons: they are made from the journals alone, in words of fixed tables and
numbers. A lesson keeps its evidence problem by problem, so that an experiment on one of these problems sees only the
others.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby, islice

import msgspec

from koderz_core.errors import KoderzError
from koderz_core.memory.leak_guard import SourcedText, admissible, renamed_programs, same_problem
from koderz_core.memory.patterns import ADVICE, pattern_of
from koderz_core.prompts.coder import example
from koderz_core.prompts.programs import Reader
from koderz_core.records import Memory, Problem, PublicProblem
from koderz_core.records.steps import Lapse, Solved

LEAST_PROBLEMS = 3  # a failure on fewer may be about them
TAG = "lesson"
MOST_EXPERIMENTS = 3  # of each problem, by which a person can look it up
MOST_CHANGES = 3  # that a lesson names

ProblemLookup = Callable[[str, str], PublicProblem | None]
"""A dataset and the id of a problem in it to the problem, None if it cannot be had."""
MOST_CHARACTERS = 20_000  # of a program that is looked at
REWRITTEN = "most of the program was written anew"
_KEPT = 0.5  # of the statements, below which a program is a new one rather than a changed one

Features = Counter[str]
MaySolve = Callable[[Problem, str], bool]
"""Whether a program passes the tests of a problem, or cannot be shown to give a wrong answer."""


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
        return tuple(sorted({failure.problem for failure in self.evidence}))

    @property
    def times(self) -> int:
        return sum(failure.times for failure in self.evidence)

    @property
    def fixed(self) -> int:
        return sum(failure.fixed for failure in self.evidence)

    @property
    def text(self) -> str:
        """For a prompt: words of our tables and numbers, nothing else."""
        said = f"{self.pattern} ({self.times} times on {len(self.problems)} problems). {ADVICE[self.pattern]}"
        counted = sum((Counter(failure.changes) for failure in self.evidence), Counter[str]())
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


def stored_lesson(metadata: str | None) -> Lesson | None:
    """The lesson that a memory keeps; None for what is none, whatever it says of itself."""
    try:
        lesson = msgspec.json.decode(metadata or "", type=_Kept).lesson
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    named = {name for failure in lesson.evidence for name in failure.changes}
    counts = [
        count for failure in lesson.evidence for count in (failure.times, failure.fixed, *failure.changes.values())
    ]
    told = lesson.pattern in ADVICE and named <= {*KINDS, REWRITTEN} and all(0 <= count < 10**9 for count in counts)
    return lesson if told else None


def lesson_metadata(lesson: Lesson) -> dict[str, object]:
    """The metadata that ``read`` reads."""
    return {"lesson": msgspec.to_builtins(lesson)}


def for_problem(lesson: Lesson, problem: Problem, known: ProblemLookup) -> Memory | None:
    """What may be said of it to who solves this problem; None if too little is left of it.

    Of its evidence only problems are left that are known and surely others.
    """
    others = [(failure, source) for failure in lesson.evidence if (source := known(failure.dataset, failure.problem))]
    left = [(one, source) for one, source in others if not same_problem(source, problem.public)]
    told = replace(lesson, evidence=tuple(one for one, _ in left))
    if len(told.problems) < LEAST_PROBLEMS:
        return None
    if not admissible(SourcedText(told.text, tuple(source for _, source in left)), problem):
        return None
    tags = {"error": lesson.error, "problems": " ".join(told.problems)}
    return Memory(told.text, f"{len(told.problems)} other problems", tags)


def problem_lookup(problems: Callable[[str], Mapping[str, Problem]]) -> ProblemLookup:
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
    mended = [lapse for lapse in lapses if lapse.fixed_by is not None]
    changed = Counter(name for one in mended for name in changes(one.code, one.fixed_by))
    experiments = tuple(dict.fromkeys(lapse.experiment for lapse in lapses))[:MOST_EXPERIMENTS]
    return Evidence(problem, dataset, len(lapses), len(mended), dict(changed), experiments)


def changes(before: str | None, after: str | None) -> tuple[str, ...]:
    """Keys of ``KINDS``, or REWRITTEN alone; none where a program is missing, too long or does not parse."""
    trees = [_tree(code) for code in (before, after)]
    if None in trees:
        return ()
    old, new = ([*ast.walk(tree)] for tree in trees if tree is not None)
    try:
        if _statements_kept(old, new) < _KEPT:
            return (REWRITTEN,)
        return tuple(name for name, (feature, more) in KINDS.items() if _changed(feature(old), feature(new), more))
    except RecursionError:  # an expression nested so deeply that it cannot be written out
        return ()


def _tree(code: str | None) -> ast.Module | None:
    program = None if code is None or len(code) > MOST_CHARACTERS else Reader().parse(code)
    return program.tree if program else None


def _changed(old: Features, new: Features, more: bool) -> bool:
    """``more``: only what is there now and was not counts."""
    return bool(new - old) if more else old != new


def _statements_kept(old: Iterable[ast.AST], new: Iterable[ast.AST]) -> float:
    """The share of simple statements that stayed, of the program that has more of them."""
    one, other = (_written(nodes, ast.Return, ast.Assign, ast.AugAssign, ast.Expr) for nodes in (old, new))
    most = max(one.total(), other.total())
    return 1.0 if most < 4 else (one & other).total() / most  # of so few each change is most of it


def _written(nodes: Iterable[ast.AST], *kinds: type[ast.AST]) -> Features:
    return Counter(ast.dump(node) for node in nodes if isinstance(node, kinds))


def _of(*kinds: type[ast.AST]) -> Callable[[Iterable[ast.AST]], Features]:
    """The parts of these kinds, as they are written."""
    return lambda nodes: _written(nodes, *kinds)


def _counted(*kinds: type[ast.AST]) -> Callable[[Iterable[ast.AST]], Features]:
    """How many parts there are of these kinds."""
    return lambda nodes: Counter(type(node).__name__ for node in nodes if isinstance(node, kinds))


def _calls(*names: str) -> Callable[[Iterable[ast.AST]], Features]:
    def found(nodes: Iterable[ast.AST]) -> Features:
        called = (node for node in nodes if isinstance(node, ast.Call))
        return Counter(ast.dump(node) for node in called if _name(node.func) in names)

    return found


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _empty(nodes: Iterable[ast.AST]) -> Features:
    """Conditions that ask whether something is empty: ``not x``, ``len(x) == 0``, ``x == []``."""
    tests = (node.test for node in nodes if isinstance(node, ast.If | ast.IfExp))
    return Counter("empty" for test in tests if _asks_empty(test))


def _asks_empty(test: ast.expr) -> bool:
    if isinstance(test, ast.UnaryOp):
        return isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Name)
    if not (isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq)):
        return False
    right = test.comparators[0]
    none = isinstance(right, ast.List | ast.Tuple) and not right.elts
    of_length = isinstance(test.left, ast.Call) and _name(test.left.func) == "len"
    return none or (isinstance(right, ast.Constant) and (right.value == "" or (of_length and right.value == 0)))


KINDS: Mapping[str, tuple[Callable[[Iterable[ast.AST]], Features], bool]] = {
    "an import was added": (_of(ast.Import, ast.ImportFrom), True),
    "empty input was answered first": (_empty, True),
    "a case was added": (_counted(ast.If, ast.IfExp), True),
    "a comparison was changed": (_of(ast.Compare), False),
    "a range, index or slice was changed": (lambda nodes: _of(ast.Subscript)(nodes) + _calls("range")(nodes), False),
    "the arithmetic was changed": (_of(ast.BinOp, ast.AugAssign), False),
    "the order was changed": (_calls("sorted", "sort", "reverse", "reversed"), False),
    "a conversion was changed": (_calls("int", "str", "float", "list", "tuple", "set", "round"), False),
    "another loop was used": (_counted(ast.For, ast.While, ast.comprehension), False),
    "a function was added": (_counted(ast.FunctionDef, ast.Lambda), True),
    "what is returned was changed": (_of(ast.Return), False),
}
"""What can change, by its words: how it is seen, and whether only more of it counts."""


def examples(
    solved: Iterable[Solved], problem: Problem, known: ProblemLookup, may_solve: MaySolve, limit: int
) -> list[Memory]:
    """At most ``limit`` of those that are known and surely of other problems, no two of them of the same.

    First come those whose texts share most words with this problem's, as far as the guard lets them. Only a program
    that would be shown is run on this problem's tests.
    """
    sources = [(source, one) for one in solved if (source := known(one.dataset, one.problem))]
    sources.sort(
        key=lambda pair: (-_words_shared(pair[0].prompt, problem.public.prompt), pair[1].problem, pair[1].dataset)
    )
    return list(islice(_told(sources, problem, may_solve), limit))


def _told(sources: Iterable[tuple[PublicProblem, Solved]], problem: Problem, may_solve: MaySolve) -> Iterator[Memory]:
    taken: list[PublicProblem] = []
    for source, one in sources:
        text = example(source.prompt, one.code)
        if any(same_problem(source, other) for other in taken):
            continue
        if admissible(SourcedText(text, (source,), one.code), problem) and not _solves(
            source, one.code, problem, may_solve
        ):
            taken.append(source)
            yield Memory(text, one.experiment, {"problem": one.problem, "dataset": one.dataset})


def _solves(source: PublicProblem, code: str, problem: Problem, may_solve: MaySolve) -> bool:
    """Whether a function of the program may solve this problem, too; what cannot be tried may."""
    renamed = list(renamed_programs(problem.public.entry_point, source, code))
    return not renamed or any(may_solve(problem, one) for one in renamed)


def _words_shared(one: str, other: str) -> float:
    """The share of the words of two texts that are in both."""
    first, second = _words(one), _words(other)
    return len(first & second) / max(1, len(first | second))


@lru_cache(4096)
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d_]+", text.casefold()))
