"""Lessons from failures that recurred on several problems, and solved problems as examples for similar ones.

A lesson names the failure, the usual remedy, and the kinds of changes between a failed program and the next program,
which passed. No model writes lessons: they are computed from the journals and consist of phrases from fixed tables and
numbers. A lesson stores its evidence for each problem, so that an experiment on one of these problems gets only the
evidence of the others.
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
from koderz_core.prompts.coding import example
from koderz_core.prompts.programs import Reader
from koderz_core.records import Memory, Problem, PublicProblem
from koderz_core.records.steps import Lapse, Solved

LEAST_PROBLEMS = 3  # a failure on fewer problems may be specific to them
TAG = "lesson"
MOST_EXPERIMENTS = 3  # ids stored per problem, with which a person can look it up
MOST_CHANGES = 3  # named in the text of a lesson

ProblemLookup = Callable[[str, str], PublicProblem | None]
"""Maps a dataset and a problem id to the problem; None if the problem is not available."""
MOST_CHARACTERS = 20_000  # longer programs are not compared
REWRITTEN = "most of the program was written anew"
_REWRITTEN_BELOW = 0.5  # share of statements kept; below it a program counts as rewritten

Features = Counter[str]
MaySolve = Callable[[Problem, str], bool]
"""Whether a program passes the tests of a problem, or cannot be shown to fail them."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One problem: how often it failed this way, how often the next program passed, and what had changed then."""

    problem: str
    dataset: str
    times: int
    fixed: int = 0
    changes: Mapping[str, int] = field(default_factory=dict)
    experiments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Lesson:
    """``pattern``: a key of ``ADVICE``. ``scripted``: learnt from scripted models, so not valid for other models."""

    error: str
    pattern: str
    evidence: tuple[Evidence, ...]
    scripted: bool = False

    @property
    def title(self) -> str:
        """Identifies the failure, whatever the evidence."""
        return f"Lesson{' SCRIPTED' if self.scripted else ''}: {self.error} - {self.pattern}"

    @property
    def problems(self) -> tuple[str, ...]:
        """The ids, each once: a problem may be in several datasets."""
        return tuple(sorted({item.problem for item in self.evidence}))

    @property
    def times(self) -> int:
        return sum(item.times for item in self.evidence)

    @property
    def fixed(self) -> int:
        return sum(item.fixed for item in self.evidence)

    @property
    def text(self) -> str:
        """The text for a prompt: only phrases of the fixed tables and numbers."""
        failure = f"{self.pattern} ({self.times} times on {len(self.problems)} problems). {ADVICE[self.pattern]}"
        counts = sum((Counter(item.changes) for item in self.evidence), Counter[str]())
        named = [f"{name} ({times})" for name, times in counts.most_common(MOST_CHANGES)]
        fix = f" Where the next program passed ({self.fixed}): {', '.join(named)}." if named else ""
        return failure + fix


def distil(lapses: Iterable[Lapse]) -> list[Lesson]:
    """The failures that recurred on several problems, the most common first."""
    groups: dict[tuple[bool, str, str], list[Lapse]] = {}
    for lapse in lapses:
        groups.setdefault((lapse.scripted, lapse.error, pattern_of(lapse)), []).append(lapse)
    lessons = [
        Lesson(error, pattern, _evidence(group), scripted) for (scripted, error, pattern), group in groups.items()
    ]
    return ranked(lesson for lesson in lessons if len(lesson.problems) >= LEAST_PROBLEMS)


def ranked(lessons: Iterable[Lesson]) -> list[Lesson]:
    """The most common first."""
    return sorted(lessons, key=lambda lesson: (-len(lesson.problems), -lesson.times, lesson.title))


def stored_lesson(metadata: str | None) -> Lesson | None:
    """The lesson in the metadata of a memory; None if the metadata does not hold a valid lesson."""
    try:
        lesson = msgspec.json.decode(metadata or "", type=_Metadata).lesson
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    named = {name for item in lesson.evidence for name in item.changes}
    counts = [count for item in lesson.evidence for count in (item.times, item.fixed, *item.changes.values())]
    valid = lesson.pattern in ADVICE and named <= {*KINDS, REWRITTEN} and all(0 <= count < 10**9 for count in counts)
    return lesson if valid else None


def lesson_metadata(lesson: Lesson) -> dict[str, object]:
    """The metadata of a memory that holds the lesson, which ``stored_lesson`` reads."""
    return {"lesson": msgspec.to_builtins(lesson)}


def for_problem(lesson: Lesson, problem: Problem, known: ProblemLookup) -> Memory | None:
    """The lesson for a prompt about this problem, with evidence only from known problems that are surely others.

    None if too little evidence is left.
    """
    known_evidence = [(item, source) for item in lesson.evidence if (source := known(item.dataset, item.problem))]
    others = [(item, source) for item, source in known_evidence if not same_problem(source, problem.public)]
    reduced = replace(lesson, evidence=tuple(item for item, _ in others))
    if len(reduced.problems) < LEAST_PROBLEMS:
        return None
    if not admissible(SourcedText(reduced.text, tuple(source for _, source in others)), problem):
        return None
    tags = {"error": lesson.error, "problems": " ".join(reduced.problems)}
    return Memory(reduced.text, f"{len(reduced.problems)} other problems", tags)


def problem_lookup(problems: Callable[[str], Mapping[str, Problem]]) -> ProblemLookup:
    """``problems`` maps a dataset to its problems by id. If it raises KoderzError, these are not available."""

    def known(dataset: str, problem: str) -> PublicProblem | None:
        try:
            full = problems(dataset).get(problem)
        except KoderzError:
            return None
        return full.public if full else None

    return known


class _Metadata(msgspec.Struct, frozen=True):
    lesson: Lesson


def _evidence(lapses: Iterable[Lapse]) -> tuple[Evidence, ...]:
    def key(lapse: Lapse) -> tuple[str, str]:
        return lapse.problem, lapse.dataset

    groups = groupby(sorted(lapses, key=key), key)
    return tuple(_of_problem(problem, dataset, [*group]) for (problem, dataset), group in groups)


def _of_problem(problem: str, dataset: str, lapses: list[Lapse]) -> Evidence:
    fixed = [lapse for lapse in lapses if lapse.fixed_by is not None]
    changed = Counter(name for lapse in fixed for name in changes(lapse.code, lapse.fixed_by))
    experiments = tuple(dict.fromkeys(lapse.experiment for lapse in lapses))[:MOST_EXPERIMENTS]
    return Evidence(problem, dataset, len(lapses), len(fixed), dict(changed), experiments)


def changes(before: str | None, after: str | None) -> tuple[str, ...]:
    """Keys of ``KINDS``, or REWRITTEN alone. Empty if a program is missing, too long or cannot be parsed."""
    trees = [_tree(code) for code in (before, after)]
    if None in trees:
        return ()
    old, new = ([*ast.walk(tree)] for tree in trees if tree is not None)
    try:
        if _statements_kept(old, new) < _REWRITTEN_BELOW:
            return (REWRITTEN,)
        return tuple(name for name, (feature, more) in KINDS.items() if _changed(feature(old), feature(new), more))
    except RecursionError:  # an expression that is nested too deeply for ast.dump
        return ()


def _tree(code: str | None) -> ast.Module | None:
    program = None if code is None or len(code) > MOST_CHARACTERS else Reader().parse(code)
    return program.tree if program else None


def _changed(old: Features, new: Features, more: bool) -> bool:
    """``more``: only additions count."""
    return bool(new - old) if more else old != new


def _statements_kept(old: Iterable[ast.AST], new: Iterable[ast.AST]) -> float:
    """The share of simple statements that both programs contain, relative to the longer program."""
    before, after = (_dumps(nodes, ast.Return, ast.Assign, ast.AugAssign, ast.Expr) for nodes in (old, new))
    most = max(before.total(), after.total())
    return 1.0 if most < 4 else (before & after).total() / most  # in a shorter program each change is most of it


def _dumps(nodes: Iterable[ast.AST], *kinds: type[ast.AST]) -> Features:
    return Counter(ast.dump(node) for node in nodes if isinstance(node, kinds))


def _of(*kinds: type[ast.AST]) -> Callable[[Iterable[ast.AST]], Features]:
    """The nodes of these kinds, as they are written."""
    return lambda nodes: _dumps(nodes, *kinds)


def _counted(*kinds: type[ast.AST]) -> Callable[[Iterable[ast.AST]], Features]:
    """The number of nodes of these kinds."""
    return lambda nodes: Counter(type(node).__name__ for node in nodes if isinstance(node, kinds))


def _calls(*names: str) -> Callable[[Iterable[ast.AST]], Features]:
    def features(nodes: Iterable[ast.AST]) -> Features:
        called = (node for node in nodes if isinstance(node, ast.Call))
        return Counter(ast.dump(node) for node in called if _name(node.func) in names)

    return features


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _empty(nodes: Iterable[ast.AST]) -> Features:
    """Conditions that check whether a value is empty: ``not x``, ``len(x) == 0``, ``x == []``."""
    tests = (node.test for node in nodes if isinstance(node, ast.If | ast.IfExp))
    return Counter("empty" for test in tests if _checks_empty(test))


def _checks_empty(test: ast.expr) -> bool:
    if isinstance(test, ast.UnaryOp):
        return isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Name)
    if not (isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq)):
        return False
    right = test.comparators[0]
    empty = isinstance(right, ast.List | ast.Tuple) and not right.elts
    of_length = isinstance(test.left, ast.Call) and _name(test.left.func) == "len"
    return empty or (isinstance(right, ast.Constant) and (right.value == "" or (of_length and right.value == 0)))


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
"""The kinds of changes by their phrase: the features that show the change, and whether only additions count."""


def examples(
    solved: Iterable[Solved], problem: Problem, known: ProblemLookup, may_solve: MaySolve, limit: int
) -> list[Memory]:
    """At most ``limit`` solved problems that are known and surely others than this one, each problem once.

    Problems whose texts share the most words with this problem come first, unless the guard against leaks excludes
    them. Only a program that would be shown is run on the tests of this problem.
    """
    sources = [(source, solution) for solution in solved if (source := known(solution.dataset, solution.problem))]
    sources.sort(
        key=lambda pair: (-_words_shared(pair[0].prompt, problem.public.prompt), pair[1].problem, pair[1].dataset)
    )
    return list(islice(_admissible_examples(sources, problem, may_solve), limit))


def _admissible_examples(
    sources: Iterable[tuple[PublicProblem, Solved]], problem: Problem, may_solve: MaySolve
) -> Iterator[Memory]:
    chosen: list[PublicProblem] = []
    for source, solution in sources:
        if any(same_problem(source, other) for other in chosen):
            continue
        text = SourcedText(example(source.prompt, solution.code), (source,), solution.code)
        if admissible(text, problem) and not _solves(source, solution.code, problem, may_solve):
            chosen.append(source)
            tags = {"problem": solution.problem, "dataset": solution.dataset}
            yield Memory(text.text, solution.experiment, tags)


def _solves(source: PublicProblem, code: str, problem: Problem, may_solve: MaySolve) -> bool:
    """Whether the program or a function of it may solve this problem too. True if the program cannot be run."""
    renamed = list(renamed_programs(problem.public.entry_point, source, code))
    return not renamed or any(may_solve(problem, text) for text in renamed)


def _words_shared(one: str, other: str) -> float:
    """The share of the words of two texts that both contain."""
    first, second = _words(one), _words(other)
    return len(first & second) / max(1, len(first | second))


@lru_cache(4096)
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d_]+", text.casefold()))
