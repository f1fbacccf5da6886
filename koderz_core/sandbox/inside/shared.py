"""Tests executed in the candidate's own process, for problems whose values cannot cross as plain data.

The program sits beside its judge here and could in principle fake what it reports, so a verdict says ``shared``.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from . import suite
from .faults import ENDS_ITERATION, CallStoppedError, Fault, TestsBrokenError, describe, fault_of
from .recorder import Recorder

Report = dict[str, Any]  # Any: JSON


def report(module: ModuleType, asked: dict[str, Any]) -> Report:  # Any: JSON
    """What came of the tests: the JSON of ``recorder.Outcome``, and whether they ran to their end."""
    calls = 0
    entry = getattr(module, asked["entry_point"])
    # Published tests that name StopIteration expect it; such a verdict is only as good as the program's word anyway.
    ends_iteration = () if "StopIteration" in asked["tests"] else ENDS_ITERATION

    def function(*arguments: object, **named: object) -> object:
        nonlocal calls
        calls += 1
        try:
            return entry(*arguments, **named)
        except ends_iteration as error:
            raise CallStoppedError(describe(error)) from error

    tests = suite.ready(asked["tests"])
    recorder = Recorder(tests.sources, lambda: calls > 0)
    completed = False
    try:
        suite.execute(tests, "", module.__dict__ | {asked["entry_point"]: function}, function, recorder)
        completed = True
    except TestsBrokenError as error:
        recorder.note(Fault("exception", str(error)))
    except Exception as error:  # noqa: BLE001 (whatever ended the tests is the verdict)
        recorder.note(fault_of(error))
    return {**recorder.outcome()._asdict(), "completed": completed}
