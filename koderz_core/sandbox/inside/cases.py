"""Tests that are nothing but calls and right answers: calls are sent many at a time, answers compared one by one here.

Arguments cross as the JSON that the host made of them, so nobody reads them on this side unless a test fails. What is
expected stays here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from .faults import ProgramEndedError, TestsBrokenError, describe
from .handles import Handle
from .literals import Large, literal
from .program import Calls, Program, Reply
from .recorder import FAILED, MAX_FAILURES, NOT_REACHED, Recorder
from .values import decode, number_of
from .wire import WireError

_MOST_CALLS = 2000
_MOST_CHARACTERS = 1 << 18  # of calls that are sent together: they are all in the program's memory
_MOST_SECONDS = 1e6
_KEPT = 4  # test sets: what is judged next is mostly another program for the same problem

Compare = Callable[..., object]


class Cases(NamedTuple):
    """``koderz_core.records.Cases``, read. ``code`` defines ``like`` and ``some``, anew for each program.

    ``large``: some answers are known by their digest only.
    """

    code: CodeType
    calls: tuple[str, ...]
    answers: tuple[Any, ...]  # Any: plain data
    search: bool
    by_arguments: bool
    large: bool

    @property
    def sources(self) -> Sources:
        return Sources(self)

    def arguments(self, index: int) -> tuple[object, ...]:
        made = decode(json.loads(self.calls[index]))
        assert isinstance(made, list)
        return tuple(made)


class Sources(Sequence[str]):
    """Each test as the assert that says the same, written when somebody looks at it."""

    def __init__(self, cases: Cases) -> None:
        self._cases = cases

    def __len__(self) -> int:
        return len(self._cases.calls)

    def __getitem__(self, index: Any) -> Any:  # Any: int and str; nobody asks for slices
        cases = self._cases
        arguments, answer = map(literal, cases.arguments(index)), cases.answers[index]
        given = ", ".join(arguments)
        call = f"some(candidate({given}))" if cases.search else f"candidate({given})"
        right = f"Large({answer.digest!r})" if isinstance(answer, Large) else literal(answer)
        return f"assert {call} == like({right}{f', {given}' if cases.by_arguments else ''})"


@lru_cache(64)
def _compiled(source: str) -> CodeType:
    """Most problems compare in the same way."""
    return compile(source, "<tests>", "exec", dont_inherit=True)


@lru_cache(_KEPT)
def ready(source: str, calls: str, answers: str, search: bool, by_arguments: bool) -> Cases:
    """Raise TestsBrokenError if they are no tests."""
    lines = tuple(calls.split("\n"))
    try:
        code = _compiled(source)
        right = tuple(_answer(load) for load in json.loads(f"[{answers.replace(chr(10), ',')}]"))
        if len(lines) != len(right):
            raise ValueError(f"{len(lines)} calls, {len(right)} answers")
    except (SyntaxError, ValueError, WireError) as error:
        raise TestsBrokenError(describe(error)) from None
    large = any(isinstance(one, Large) for one in right)
    return Cases(code, lines, right, search, by_arguments, large)


def _answer(encoded: Any) -> object:  # Any: JSON
    large = isinstance(encoded, dict) and encoded.get("large")
    return Large(large) if large else decode(encoded)


def execute(cases: Cases, program: Program, function: Handle, recorder: Recorder) -> None:
    """Mark every test by what the program's function answers. Raise ProgramEndedError, which fails the test it met."""
    names: dict[str, Any] = {"__name__": "tests"}  # Any: a module's names
    exec(cases.code, names)  # noqa: S102 (the point)
    target = number_of(function)
    assert target is not None
    marking = _Marking(cases, names["like"], names["some"] if cases.search else _same, recorder)
    try:
        for calls in _sent_together(cases):
            for reply in program.answers(target, calls):
                marking.mark(program, reply)
    except ProgramEndedError as error:
        marking.end(error)
        raise


def _same(answer: object) -> object:
    return answer


def _sent_together(cases: Cases) -> Iterator[Calls]:
    start, characters = 0, 0
    for place, call in enumerate(cases.calls):
        if place > start and (place - start == _MOST_CALLS or characters + len(call) > _MOST_CHARACTERS):
            yield Calls(",".join(cases.calls[start:place]), place - start, cases.large)
            start, characters = place, 0
        characters += len(call)
    yield Calls(",".join(cases.calls[start:]), len(cases.calls) - start, cases.large)


class _Marking:
    """Marks test after test."""

    def __init__(self, cases: Cases, like: Compare, seen: Compare, recorder: Recorder) -> None:
        self._cases, self._like, self._seen, self._recorder = cases, like, seen, recorder
        self._index = 0

    def mark(self, program: Program, reply: Reply) -> None:
        index = self._index
        if self._passes(program, reply):
            self._recorder.passed(index)
        elif len(self._recorder.failures) == MAX_FAILURES:
            self._recorder.marks[index] = FAILED  # of more, nothing is kept
        else:
            with self._recorder.site(index) as site:  # once more, where everything is recorded
                site.settle("==", self._seen(program.value(reply)), self._right())
        self._recorder.seconds[index] = _seconds(reply)
        self._index += 1

    def end(self, error: ProgramEndedError) -> None:
        """The program has ended where the answer to the next test was due."""
        marks = self._recorder.marks
        if self._index < len(marks) and marks[self._index] == NOT_REACHED:
            with suppress(ProgramEndedError), self._recorder.site(self._index):
                raise error

    def _passes(self, program: Program, reply: Reply) -> bool:
        try:
            return bool(self._seen(program.value(reply)) == self._right())
        except Exception:  # noqa: BLE001 (whatever it is, it comes again)
            return False

    def _right(self) -> object:
        cases, index = self._cases, self._index
        arguments = cases.arguments(index) if cases.by_arguments else ()
        return self._like(cases.answers[index], *arguments)


def _seconds(reply: Reply) -> float:
    """How long the program's process says that the call took: nobody else knows, and nothing follows from it."""
    seconds = reply.get("seconds")
    return float(seconds) if isinstance(seconds, int | float) and 0 <= seconds < _MOST_SECONDS else 0.0
