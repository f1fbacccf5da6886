"""Divides tests that consist of cases: at random, by their calls, or by any other rule. Each case keeps its answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from koderz_core.grading.test_split import ONE_PART, draw
from koderz_core.records import Cases, TestSet
from koderz_core.sandbox.inside.values import decode
from koderz_core.sandbox.inside.wire import WireError


def cases_at_random(tests: TestSet, fraction: float, lot: str) -> tuple[TestSet, TestSet] | str:
    """A random ``fraction`` of the cases and the rest, or why that is impossible. Equal calls stay together.

    The same ``lot`` always draws the same cases.
    """
    groups: dict[str, list[int]] = {}
    for place, call in enumerate(calls_of_cases(tests)):
        groups.setdefault(call, []).append(place)
    if len(groups) < 2:
        return ONE_PART
    numbered = list(groups.values())
    first, _ = draw(len(numbered), fraction, lot)
    return _divided(tests, {place for number in first for place in numbered[number]})


def cases_by_calls(tests: TestSet, calls: AbstractSet[str]) -> tuple[TestSet, TestSet]:
    """The cases that make one of these calls (lines of ``records.Cases.calls``), and all others."""
    return _divided(tests, {place for place, call in enumerate(calls_of_cases(tests)) if call in calls})


def cases_by_arguments(tests: TestSet, holds: Callable[[Sequence[object]], bool]) -> tuple[TestSet, TestSet]:
    """The cases with arguments for which ``holds`` is true, and all others. Arguments that are not plain data: others.

    Tests that do not consist of cases are others as well.
    """
    known = ((place, arguments_of_call(call)) for place, call in enumerate(calls_of_cases(tests)))
    return _divided(tests, {place for place, arguments in known if arguments is not None and holds(arguments)})


def calls_of_cases(tests: TestSet) -> list[str]:
    """The line of each case with its arguments; no line for tests that do not consist of cases."""
    return tests.cases.calls.split("\n") if tests.cases else []


def arguments_of_call(line: str) -> list[object] | None:
    """The arguments of a call; None if they are not plain data."""
    try:
        arguments = decode(json.loads(line))
    except WireError:
        return None
    return arguments if isinstance(arguments, list) else None


def _divided(tests: TestSet, first: Collection[int]) -> tuple[TestSet, TestSet]:
    """The cases at these places, and all others, both in their order."""
    cases = tests.cases
    if cases is None:
        return TestSet(), tests
    columns = (cases.calls, cases.answers, cases.limits) if cases.limits else (cases.calls, cases.answers)
    lines = list(zip(*(column.split("\n") for column in columns), strict=True))
    chosen = [line for place, line in enumerate(lines) if place in first]
    others = [line for place, line in enumerate(lines) if place not in first]
    return _of_lines(tests, cases, chosen), _of_lines(tests, cases, others)


def _of_lines(tests: TestSet, cases: Cases, lines: list[tuple[str, ...]]) -> TestSet:
    if not lines:
        return TestSet()
    calls, answers, *limits = ("\n".join(column) for column in zip(*lines, strict=True))
    return replace(tests, cases=replace(cases, calls=calls, answers=answers, limits="".join(limits)))
