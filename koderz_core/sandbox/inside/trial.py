"""The judge's work: run the tests of one problem against one program, and say what came of it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from . import cases, suite
from .deadline import Deadline
from .excerpt import excerpt
from .faults import CLASSES, CannotCrossError, Fault, ProgramEndedError, fault_of
from .handles import Handle, function
from .program import Program
from .recorder import FAILED, MAX_FAILURES, NOT_REACHED, PASSED, Failure, Outcome, Recorder
from .zygote import Zygote

Answered = Callable[[], object]
"""Told when there is something of the program's to deal with: what stalls the judge from then on is the program's."""
_DEATH = Fault("exception", "the program's process did not report on its tests")


class Order(NamedTuple):
    """What to judge, from the host: texts, name of the function, ``Deadline``'s seconds, address space in bytes.

    ``names``: what else of the program the tests speak of. ``mirrors``: what the program changes in place in its
    arguments is changed for the tests too. ``shared``: the tests run in the program's own process. ``cases``: the
    content of ``koderz_core.records.Cases``, if tests are made of them.
    """

    preamble: str
    code: str
    tests: str
    entry_point: str
    names: list[str]
    mirrors: bool
    shared: bool
    seconds: float
    most_seconds: float
    memory_bytes: int
    cases: dict[str, Any] | None = None  # Any: texts and truth values


class Report(NamedTuple):
    """What came of it: the content of ``koderz_core.records.Verdict``.

    ``changed``: arguments were changed in place. ``stuck``: the tests came upon something that cannot cross.
    """

    outcome: Outcome
    completed: bool
    seconds: float
    shared: bool
    changed: bool = False
    stuck: bool = False


def judge(order: Order, zygote: Zygote, answered: Answered) -> Report:
    """Raise TestsBrokenError if the tests are wrong whatever the program does."""
    tests = cases.ready(order.tests, **order.cases) if order.cases else suite.ready(order.tests)
    random.seed(0)  # the same program on the same tests has the same verdict
    if order.shared and isinstance(tests, suite.Suite):
        return _shared(order, tests, zygote, answered)
    return _apart(order, tests, zygote, answered)


def _apart(order: Order, tests: suite.Suite | cases.Cases, zygote: Zygote, answered: Answered) -> Report:
    """Program and tests in two processes."""
    program, started = Program(zygote, mirrors=order.mirrors), time.monotonic()
    recorder = Recorder(tests.sources, lambda: program.calls > 0)
    completed = stuck = False
    try:
        with Deadline(order.seconds, order.most_seconds, program, patient=order.cases is not None):
            found = program.load(for_candidate(order), answered)
            entry = found[order.entry_point]
            if not isinstance(entry, Handle):
                raise program.end(_DEATH)
            if isinstance(tests, cases.Cases):
                cases.execute(tests, program, entry, recorder)
            else:  # they get a stub for the function, under its real name too, and what else they speak of
                stub = function(entry, order.entry_point)
                suite.execute(tests, order.preamble, {**found, order.entry_point: stub}, stub, recorder)
        program.check_alive()
        completed = True
    except (Exception, SystemExit, ProgramEndedError) as error:  # noqa: BLE001 (whatever ended the tests is the verdict)
        recorder.note(fault_of(error))
    except CannotCrossError as error:
        stuck = True
        recorder.note(Fault("type", f"{error}, which is not plain data"))
    finally:
        program.close()
    return Report(recorder.outcome(), completed, time.monotonic() - started, False, program.changed, stuck)


def _shared(order: Order, tests: suite.Suite, zygote: Zygote, answered: Answered) -> Report:
    """Program and tests in one process, whose report is believed only as far as it could be true."""
    program, started = Program(zygote), time.monotonic()
    recorder = Recorder(tests.sources, lambda: True)
    outcome, completed = None, False
    try:
        with Deadline(order.seconds, order.most_seconds, program):
            program.load(for_candidate(order), answered)
            told = program.report(order._asdict())
        outcome, completed = _believed(told, tests), told.get("completed") is True
    except (Exception, ProgramEndedError) as error:  # noqa: BLE001 (as above)
        recorder.note(fault_of(error))
    finally:
        program.close()
    return Report(outcome or recorder.outcome(), completed, time.monotonic() - started, shared=True)


def _believed(told: Any, tests: suite.Suite) -> Outcome:  # Any: JSON of a hostile process
    """Raise ProgramEndedError if it is no report on these tests."""
    try:
        marks, count = str(told["marks"]), len(tests.sources)
        if len(marks) != count or not set(marks) <= {PASSED, FAILED, NOT_REACHED}:
            raise ValueError
        error = told["error"] if told["error"] in CLASSES else None
        failures = tuple(_believed_failure(one, count) for one in told["failures"][:MAX_FAILURES])
        seconds = tuple(float(one) for one in told["test_seconds"])
        return Outcome(marks, failures, error, excerpt(str(told["message"]), 1000), seconds)
    except (TypeError, ValueError, LookupError, AttributeError):
        raise ProgramEndedError(_DEATH) from None


def _believed_failure(told: Any, count: int) -> Failure:  # Any: as above
    place, source, expected, actual, message = told
    wanted, seen = (None if text is None else excerpt(str(text)) for text in (expected, actual))
    return Failure(range(count)[place], excerpt(str(source)), wanted, seen, excerpt(str(message)))


def for_candidate(order: Order) -> dict[str, Any]:  # Any: JSON
    """All that the candidate's process is told."""
    return {
        "preamble": order.preamble,
        "code": order.code,
        "entry_point": order.entry_point,
        "names": [order.entry_point, *order.names],
        "limits": (order.seconds, order.memory_bytes),
    }
