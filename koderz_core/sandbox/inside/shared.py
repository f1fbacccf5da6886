"""Runs tests in the candidate's own process, for problems whose values cannot cross as plain data.

Program and tests share a process here, so the program could forge the report. The verdict therefore says ``shared``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from types import ModuleType

from . import suite
from .faults import ENDS_ITERATION, CallStoppedError, Fault, TestsBrokenError, describe, fault_of
from .instrument import EXPECTING
from .recorder import Recorder
from .wire import Message

PROGRAM = "_koderz_program_"
"""The name of the tested module in tests of a module, as in ``koderz_core.datasets.module_imports``."""
_Function = Callable[..., object]


def report(module: ModuleType, question: Message) -> Message:
    """The result of the tests: the JSON of ``recorder.Outcome``, and whether they ran to their end."""
    if question.get("kind") == "module":
        return _of_module(module, question)
    tests = suite.ready(question["tests"], expecting=True)
    candidate = _Candidate(getattr(module, question["entry_point"]), copies=not question["mirrors"])
    function = candidate.function()

    def expecting(called: object, *ends: str) -> object:
        return candidate.function(*ends) if called is function else called

    names = {**module.__dict__, question["entry_point"]: function, EXPECTING: expecting}
    return _executed(tests, names, function, Recorder(tests.sources, lambda: candidate.calls > 0, asks=True))


def _of_module(module: ModuleType, question: Message) -> Message:
    """As ``report``, with the module's own objects: a class has to stay a class, and tests may patch the module."""
    tests = suite.ready(question["tests"])
    names = {**module.__dict__, PROGRAM: module}
    return _executed(tests, names, names[question["entry_point"]], Recorder(tests.sources, lambda: True, asks=True))


def _executed(
    tests: suite.Suite, names: Mapping[str, object], function: Callable[..., object], recorder: Recorder
) -> Message:
    completed = False
    try:
        suite.execute(tests, "", names, function, recorder)
        completed = True
    except TestsBrokenError as error:
        recorder.note(Fault("exception", str(error)))
    except Exception as error:  # noqa: BLE001 (every error that ends the tests is a verdict)
        recorder.note(fault_of(error))
    return {**recorder.outcome()._asdict(), "completed": completed}


class _Candidate:
    """The program's function, which counts its calls by tests. ``copies``: each call gets copies of its arguments."""

    def __init__(self, entry: _Function, *, copies: bool) -> None:
        self.calls = 0
        self._entry = entry
        self._copies = copies

    def function(self, *expected: str) -> _Function:
        """The function for the tests. ``expected``: names of exceptions that it raises although they end iterations."""
        stopped = tuple(kind for kind in ENDS_ITERATION if kind.__name__ not in expected)

        def function(*arguments: object, **named: object) -> object:
            self.calls += 1
            if self._copies:
                arguments, named = _copies(arguments, named)
            try:
                return self._entry(*arguments, **named)
            except stopped as error:
                raise CallStoppedError(describe(error)) from error

        return function


def _copies(arguments: tuple[object, ...], named: dict[str, object]) -> tuple[tuple[object, ...], dict[str, object]]:
    """Deep copies of all arguments together, so that shared objects stay shared; if that fails, one by one."""
    try:
        return deepcopy((arguments, named))
    except Exception:  # noqa: BLE001 (a generator, a file, or any error of __deepcopy__)
        return tuple(map(_copy, arguments)), {name: _copy(value) for name, value in named.items()}


def _copy(value: object) -> object:
    try:
        return deepcopy(value)
    except Exception:  # noqa: BLE001 (as above)
        return value
