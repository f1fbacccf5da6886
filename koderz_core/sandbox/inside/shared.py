"""Tests executed in the candidate's own process, for problems whose values cannot cross as plain data.

The program sits beside its judge here and could in principle fake what it reports, so a verdict says ``shared``.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from types import ModuleType
from typing import Any

from . import suite
from .expecting import EXPECTING
from .faults import ENDS_ITERATION, CallStoppedError, Fault, TestsBrokenError, describe, fault_of
from .recorder import Recorder

Report = dict[str, Any]  # Any: JSON
_Function = Callable[..., object]


def report(module: ModuleType, asked: dict[str, Any]) -> Report:  # Any: JSON
    """What came of the tests: the JSON of ``recorder.Outcome``, and whether they ran to their end."""
    tests = suite.ready(asked["tests"], expecting=True)
    candidate = _Candidate(getattr(module, asked["entry_point"]), copies=not asked["mirrors"])
    function = candidate.function()

    def expecting(called: object, *ends: str) -> object:
        return candidate.function(*ends) if called is function else called

    names = {**module.__dict__, asked["entry_point"]: function, EXPECTING: expecting}
    recorder = Recorder(tests.sources, lambda: candidate.calls > 0)
    completed = False
    try:
        suite.execute(tests, "", names, function, recorder)
        completed = True
    except TestsBrokenError as error:
        recorder.note(Fault("exception", str(error)))
    except Exception as error:  # noqa: BLE001 (whatever ended the tests is the verdict)
        recorder.note(fault_of(error))
    return {**recorder.outcome()._asdict(), "completed": completed}


class _Candidate:
    """The program's function, and how often the tests have called it. ``copies``: of its arguments, to each call."""

    def __init__(self, entry: _Function, *, copies: bool) -> None:
        self.calls = 0
        self._entry = entry
        self._copies = copies

    def function(self, *expected: str) -> _Function:
        """What tests call. ``expected``: exceptions by name that would end an iteration and are raised all the same."""
        stopped = tuple(kind for kind in ENDS_ITERATION if kind.__name__ not in expected)

        def function(*arguments: object, **named: object) -> object:
            self.calls += 1
            if self._copies:
                arguments, named = _copied(arguments, named)
            try:
                return self._entry(*arguments, **named)
            except stopped as error:
                raise CallStoppedError(describe(error)) from error

        return function


def _copied(arguments: tuple[object, ...], named: dict[str, object]) -> tuple[tuple[object, ...], dict[str, object]]:
    """Deep copies: together, so that what is the same object stays it, else each that can be copied."""
    try:
        return deepcopy((arguments, named))
    except Exception:  # noqa: BLE001 (a generator, a file, or whatever __deepcopy__ raises)
        return tuple(map(_copy, arguments)), {name: _copy(value) for name, value in named.items()}


def _copy(value: object) -> object:
    try:
        return deepcopy(value)
    except Exception:  # noqa: BLE001 (as above)
        return value
