"""Judges modules: in a process apart from the tests where the canonical solution passes so, else with twins.

Where the program decides how its own objects compare, may make the expected values itself, or shares the process of its
tests, a verdict counts only if the twins of the tests fail (``twins``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from koderz_core.python_parser import parse
from koderz_core.records import Isolation, Problem, TestFailure, TestSet, Verdict
from koderz_core.sandbox.inside.instrument import asserts_in, last_name, method_of
from koderz_core.sandbox.requests import Answer, Order, Report
from koderz_core.sandbox.twins import Twins, Unit, guarded, runs_of

Ask = Callable[[Order], Answer]
_Key = tuple[str, str, bool]
_NO_REASON = "the program's process reported failed tests without a reason"
_PLAIN = frozenset({
    *("int", "float", "complex", "str", "bytes", "bytearray", "tuple", "list", "dict", "set", "frozenset"),
    *("NamedTuple", "IntEnum", "StrEnum", "IntFlag", "Counter", "OrderedDict", "defaultdict"),
    *("Fraction", "Decimal", "deque"),
})  # fmt: skip
_MAKE_CLASSES = frozenset({"namedtuple", "NamedTuple"})
_DIFFERS = "results differ between runs"


@dataclass(frozen=True, slots=True)
class Checked:
    """The twins of a test set, with the units that the canonical solution has confirmed."""

    twins: Twins
    units: tuple[Unit, ...]


class Modules:
    """Decides how modules are judged, and checks their verdicts. Caches what depends on the canonical solution alone.

    Safe to use from several threads, which may compute the same answer.
    """

    def __init__(self, ask: Ask, isolation: Isolation) -> None:
        self._ask, self._isolation = ask, isolation
        self._apart: dict[_Key, bool] = {}
        self._checked: dict[_Key, Checked] = {}
        self._may_be_made: dict[str, bool] = {}

    def is_shared(self, problem: Problem, tests: TestSet, order: Order) -> bool:
        """Whether the tests need the program's own process: the canonical solution does not pass them otherwise.

        If it exceeds the time limit, that decides nothing: it would need the time in both ways. Tests that are broken
        apart, such as those that import the module by its name, may run there.
        """
        if tests.shared or not problem.canonical_solution:
            return True
        key = _key(problem, tests)
        if key not in self._apart:
            answer = self._ask(replace(order, code=problem.canonical_solution, shared=False))
            report = answer.report
            if answer.stalled or (report and report.error == "timeout"):
                return False
            self._apart[key] = bool(report and report.verdict(self._isolation).passed)
        return not self._apart[key]

    def verdict(self, problem: Problem, tests: TestSet, order: Order) -> Verdict | Answer:
        """The verdict of tests in the program's own process; an answer without a report if there is none.

        The marks are those of a run with real tests only. Runs with twins stop at the first that shows a failure.
        """
        checked = self._units(problem, tests, order)
        real: Report | None = None
        doubt: Verdict | None = None
        runs = runs_of(checked.units)
        while runs and not (doubt and real):
            units = runs.pop() if not doubt else ()
            answer = self._ask(replace(order, tests=checked.twins.source(units)))
            if answer.report is None:
                return answer
            real = real if units else real or answer.report
            doubt = doubt or self._doubt(answer.report, units, tests)
        assert real is not None
        verdict = real.verdict(self._isolation)
        if doubt and verdict.passed:
            return replace(doubt, seconds=verdict.seconds)
        if "F" in verdict.marks and not verdict.error:
            return replace(verdict, error="faked", message=_NO_REASON)
        return verdict

    def confirmed(self, problem: Problem, tests: TestSet, order: Order, passed: Verdict, *, opined: bool) -> Verdict:
        """A verdict on tests apart from the program, unless the program passes the twins as well.

        ``opined``: the program decided about its own objects. If not, only the twins of values that the program may
        have made are needed: it could make the same value for everything, such as 0 or one object.
        """
        if not opined and not self._made(tests):
            return passed
        checked = self._units(problem, tests, order)
        units = [unit for unit in checked.units if opined or unit.is_made]
        if not units:
            return passed
        report = self._ask(replace(order, tests=checked.twins.source(units))).report
        doubt = self._doubt(report, units, tests) if report else None
        return replace(doubt, seconds=passed.seconds) if doubt else passed

    def beside(self, problem: Problem, tests: TestSet, order: Order, failed: Verdict) -> Verdict:
        """A verdict on tests apart from the program, which has failed: it may pass them in its own process.

        Instances of a class that derives from ``tuple`` or another plain type cross as that type, without their
        methods. So such a program runs in the process of its tests if the failed tests have twins that it cannot tell.
        """
        order = replace(order, shared=True)
        if failed.error == "timeout" or not derives_plain(order.code):
            return failed
        safe = guarded(self._units(problem, tests, order).units)
        if not safe.issuperset(place for place, mark in enumerate(failed.marks) if mark != "P"):
            return failed
        found = self.verdict(problem, tests, order)
        return found if isinstance(found, Verdict) and found.passed else failed

    def _made(self, tests: TestSet) -> bool:
        if tests.source not in self._may_be_made:
            self._may_be_made[tests.source] = any(unit.is_made for unit in Twins(tests.source).units)
        return self._may_be_made[tests.source]

    def _doubt(self, report: Report, units: Iterable[Unit], tests: TestSet) -> Verdict | None:
        """Why a program that passes the real tests does not pass after this run with twins; None if it does."""
        verdict = report.verdict(self._isolation)
        changed = {place for unit in units for place in unit.places}
        marks = verdict.marks
        if faked := [place for place in sorted(changed) if marks[place] == "P"]:
            name = _names(tests.source)[faked[0]]
            message = f"{name} also passes with another expected value, so its result was not computed"
            return _failed(verdict, faked, "faked", message)
        wrong = [place for place, mark in enumerate(marks) if mark != "P" and place not in changed]
        if wrong:
            name = _names(tests.source)[wrong[0]]
            reason = next((failure.message for failure in verdict.failures if failure.index == wrong[0]), "")
            message = f"{_DIFFERS}: {name} does not always pass{f' ({reason})' if reason else ''}"
            return _failed(verdict, wrong, verdict.error or "exception", message)
        if not changed and not verdict.passed:
            return verdict
        return None

    def _units(self, problem: Problem, tests: TestSet, order: Order) -> Checked:
        key = (*_key(problem, tests)[:2], order.shared)
        if key in self._checked:
            return self._checked[key]
        twins = Twins(tests.source)
        units = tuple(unit for unit in twins.units if all(expected.sure for expected, _ in unit.changes))
        if problem.canonical_solution:
            try:
                units = self._confirmed_units(twins, replace(order, code=problem.canonical_solution))
            except _TimeLimitError:
                return Checked(twins, units)
        self._checked[key] = Checked(twins, units)
        return self._checked[key]

    def _confirmed_units(self, twins: Twins, order: Order) -> tuple[Unit, ...]:
        """The units whose tests the canonical solution passes, and whose twins it fails without an effect on others."""
        real = self._marks(twins, order)
        halves = (twins.units[::2], twins.units[1::2])
        good = [unit for half in halves for unit in self._good(twins, order, half, real)]
        second = twins.singles(unit for unit in twins.units if unit not in good and len(unit.changes) > 1)
        return (*good, *self._good(twins, order, second, real))

    def _good(self, twins: Twins, order: Order, units: Sequence[Unit], real: str) -> list[Unit]:
        if not units or not real:
            return []
        marks = self._marks(twins, order, units)
        changed = {place for unit in units for place in unit.places}
        if not marks or any(marks[place] != real[place] for place in range(len(real)) if place not in changed):
            return []
        return [unit for unit in units if all(real[place] == "P" and marks[place] == "F" for place in unit.places)]

    def _marks(self, twins: Twins, order: Order, units: Iterable[Unit] = ()) -> str:
        """The marks of the canonical solution, "" without a report."""
        report = self._ask(replace(order, tests=twins.source(units))).report
        if report and report.error == "timeout":
            raise _TimeLimitError
        return report.marks if report else ""


class _TimeLimitError(Exception):
    """The canonical solution exceeded the time limit, for example on a busy machine, so nothing is known of twins."""


def derives_plain(code: str) -> bool:
    """Whether a program defines a class that derives from a type whose values cross as plain data."""
    try:
        nodes = list(ast.walk(parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    bases = [base for node in nodes if isinstance(node, ast.ClassDef) for base in node.bases]
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    return not (_PLAIN.isdisjoint(map(_last_name, bases)) and _MAKE_CLASSES.isdisjoint(map(_last_name, called)))


def _last_name(node: ast.expr) -> str:
    """``Fraction`` for ``fractions.Fraction``, ``list`` for ``list[int]``."""
    return last_name(node.value if isinstance(node, ast.Subscript) else node)


def _key(problem: Problem, tests: TestSet) -> _Key:
    return (problem.canonical_solution, tests.source, tests.shared)


def _failed(verdict: Verdict, places: Sequence[int], error: object, message: str) -> Verdict:
    """A verdict in which only the tests at these places failed."""
    marks = "".join("F" if place in places else "P" for place in range(len(verdict.marks)))
    sources: Mapping[int, TestFailure] = {failure.index: failure for failure in verdict.failures}
    failures = tuple(replace(sources[place], message=message) for place in places if place in sources)
    return replace(verdict, marks=marks, failures=failures, error=error, message=message, completed=True)  # type: ignore[arg-type]  # an ErrorClass


def _names(source: str) -> list[str]:
    """The name of each test."""
    methods = (method_of(test) for test in asserts_in(parse(source)))
    return [".".join(filter(None, method)) if method else "a test" for method in methods]
