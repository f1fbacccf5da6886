"""Tests that consist of calls and expected answers: many calls are sent together, and answers are compared one by one.

Arguments cross as the JSON that the host wrote; the judge decodes them only for a test that fails. The expected answers
stay in the judge's process.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from .deadline import Deadline
from .faults import ProgramEndedError, TestsBrokenError, describe
from .handles import Handle
from .literals import Large, literal
from .program import Calls, Program
from .recorder import FAILED, MAX_FAILURES, NOT_REACHED, Recorder, seconds_of
from .values import decode, number_of
from .wire import Json, Message, WireError

_MOST_CALLS = 2000
_MOST_CHARACTERS = 1 << 18  # of calls that are sent together, since they are all in the program's memory
_KEPT = 4  # test sets: the next program is mostly one for the same problem

Compare = Callable[..., object]


class Cases(NamedTuple):
    """``koderz_core.records.Cases``, decoded. ``code`` defines ``like`` and ``some`` and is run for each program.

    ``large``: some answers are known only by their digest.
    """

    code: CodeType
    calls: tuple[str, ...]
    answers: tuple[Any, ...]  # Any: plain data
    search: bool
    by_arguments: bool
    large: bool
    limits: tuple[float, ...]

    @property
    def sources(self) -> Sources:
        return Sources(self)

    def arguments(self, index: int) -> tuple[object, ...]:
        arguments = decode(json.loads(self.calls[index]))
        assert isinstance(arguments, list)
        return tuple(arguments)


class Sources(Sequence[str]):
    """Each test as an equivalent assert, written when it is needed."""

    def __init__(self, cases: Cases) -> None:
        self._cases = cases

    def __len__(self) -> int:
        return len(self._cases.calls)

    def __getitem__(self, index: Any) -> Any:  # Any: int and str; slices are not used
        cases = self._cases
        arguments, answer = map(literal, cases.arguments(index)), cases.answers[index]
        values = ", ".join(arguments)
        call = f"some(candidate({values}))" if cases.search else f"candidate({values})"
        right = f"Large({answer.digest!r})" if isinstance(answer, Large) else literal(answer)
        return f"assert {call} == like({right}{f', {values}' if cases.by_arguments else ''})"


@lru_cache(64)
def _compiled(source: str) -> CodeType:
    """Cached, because most problems have the same comparison."""
    return compile(source, "<tests>", "exec", dont_inherit=True)


@lru_cache(_KEPT)
def ready(source: str, calls: str, answers: str, search: bool, by_arguments: bool, limits: str) -> Cases:
    """The decoded tests. Raises TestsBrokenError if they are invalid."""
    lines = tuple(calls.split("\n"))
    try:
        code = _compiled(source)
        right = tuple(_answer(load) for load in json.loads(f"[{answers.replace(chr(10), ',')}]"))
        seconds = tuple(map(float, limits.split("\n"))) if limits else ()
        if len(lines) != len(right) or len(seconds) not in {0, len(lines)}:
            raise ValueError(f"{len(lines)} calls, {len(right)} answers, {len(seconds)} time limits")
    except (SyntaxError, ValueError, WireError) as error:
        raise TestsBrokenError(describe(error)) from None
    large = any(isinstance(answer, Large) for answer in right)
    return Cases(code, lines, right, search, by_arguments, large, seconds)


def _answer(encoded: Json) -> object:
    large = isinstance(encoded, dict) and encoded.get("large")
    return Large(large) if large else decode(encoded)


def execute(cases: Cases, program: Program, function: Handle, recorder: Recorder, deadline: Deadline) -> None:
    """Mark every test by the answer of the program's function. Raises ProgramEndedError, which fails the next test.

    The time of a test is that between two answers, by the judge's clock, without the judge's own work.
    """
    names: dict[str, Any] = {"__name__": "tests"}  # Any: a module's names
    exec(cases.code, names)  # noqa: S102 (the point)
    target = number_of(function)
    assert target is not None
    marking = _Marking(cases, names["like"], names["some"] if cases.search else lambda answer: answer, recorder)
    try:
        for calls in _batches(cases):
            for reply in program.answers(target, calls, lambda: marking.wait(deadline)):
                marking.mark(program, reply)
    except ProgramEndedError as error:
        marking.end(error)
        raise


def _batches(cases: Cases) -> Iterator[Calls]:
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

    def wait(self, deadline: Deadline) -> AbstractContextManager[None]:
        """The context of a wait for the next answer, with the time limit of its test."""
        limits = self._cases.limits
        return deadline.test(limits[self._index]) if limits else nullcontext()

    def mark(self, program: Program, reply: Message) -> None:
        index = self._index
        if self._passes(program, reply):
            self._recorder.passed(index)
        elif len(self._recorder.failures) == MAX_FAILURES:
            self._recorder.marks[index] = FAILED  # further failures are not described
        else:
            with self._recorder.site(index) as site:  # compares again, to record the details
                site.settle("==", self._seen(program.value(reply)), self._right())
        self._recorder.seconds[index] = seconds_of(reply.get("seconds"))
        self._index += 1

    def end(self, error: ProgramEndedError) -> None:
        """Mark the next test as failed, because the program ended before its answer."""
        marks = self._recorder.marks
        if self._index < len(marks) and marks[self._index] == NOT_REACHED:
            with suppress(ProgramEndedError), self._recorder.site(self._index):
                raise error

    def _passes(self, program: Program, reply: Message) -> bool:
        try:
            return bool(self._seen(program.value(reply)) == self._right())
        except Exception:  # noqa: BLE001 (the site meets the same error again and records it)
            return False

    def _right(self) -> object:
        cases, index = self._cases, self._index
        arguments = cases.arguments(index) if cases.by_arguments else ()
        return self._like(cases.answers[index], *arguments)
