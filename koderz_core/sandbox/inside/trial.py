"""The judge's work: run the tests of one problem against one program, and say what came of it."""

from __future__ import annotations

import random
import signal
import time
from types import FrameType, TracebackType
from typing import Any, NamedTuple

from . import suite
from .excerpt import excerpt
from .faults import CannotCrossError, Fault, ProgramEndedError, TestsBrokenError, fault_of
from .handles import Handle, function
from .program import Program
from .recorder import FAILED, NOT_REACHED, PASSED, Failure, Outcome, Recorder
from .zygote import Zygote

_DEATH = Fault("exception", "the program's process did not report on its tests")


class Order(NamedTuple):
    """What to judge, from the host: texts, name of the function, wall time in seconds, address space in bytes.

    ``names``: what else of the program the tests speak of. ``mirrors``: what the program changes in place in its
    arguments is changed for the tests too.
    """

    preamble: str
    code: str
    tests: str
    entry_point: str
    names: list[str]
    mirrors: bool
    seconds: float
    memory_bytes: int


class Report(NamedTuple):
    """What came of it: the content of ``koderz_core.records.Verdict``, and whether arguments were changed in place."""

    outcome: Outcome
    completed: bool
    seconds: float
    shared: bool
    changed: bool = False


def judge(order: Order, zygote: Zygote) -> Report:
    """Raise TestsBrokenError if the tests are wrong whatever the program does."""
    tests = suite.ready(order.tests)
    random.seed(0)  # the same program on the same tests has the same verdict
    try:
        return _apart(order, tests, zygote)
    except CannotCrossError:
        return _shared(order, tests, zygote)


def _apart(order: Order, tests: suite.Suite, zygote: Zygote) -> Report:
    """Program and tests in two processes."""
    program, started = Program(zygote, mirrors=order.mirrors), time.monotonic()
    recorder = Recorder(tests.sources, lambda: program.calls > 0)
    completed = False
    try:
        with Deadline(order.seconds, program):
            given = _given(program.load(for_candidate(order)), order.entry_point)
            stub = given[order.entry_point]
            if not callable(stub):
                raise program.end(_DEATH)
            suite.execute(tests, order.preamble, given, stub, recorder)
        program.check_alive()
        completed = True
    except (Exception, SystemExit, ProgramEndedError) as error:  # noqa: BLE001 (whatever ended the tests is the verdict)
        recorder.note(fault_of(error))
    finally:
        program.close()
    return Report(recorder.outcome(), completed, time.monotonic() - started, shared=False, changed=program.changed)


def _shared(order: Order, tests: suite.Suite, zygote: Zygote) -> Report:
    """Program and tests in one process, whose report is believed only as far as it could be true."""
    program, started = Program(zygote), time.monotonic()
    recorder = Recorder(tests.sources, lambda: True)
    outcome, completed = None, False
    try:
        with Deadline(order.seconds, program):
            program.load(for_candidate(order))
            told = program.report(order._asdict())
        if "broken" in told:
            raise TestsBrokenError(str(told["broken"]))
        outcome, completed = _believed(told, tests), bool(told["completed"])
    except (Exception, ProgramEndedError) as error:  # noqa: BLE001 (as above)
        recorder.note(fault_of(error))
    finally:
        program.close()
    return Report(outcome or recorder.outcome(), completed, time.monotonic() - started, shared=True)


def _believed(told: dict[str, Any], tests: suite.Suite) -> Outcome:  # Any: JSON of a hostile process
    """Raise ProgramEndedError if it is no report on these tests."""
    try:
        outcome = Outcome(**{name: told[name] for name in Outcome._fields})
        if len(outcome.marks) == len(tests.sources) and set(outcome.marks) <= {PASSED, FAILED, NOT_REACHED}:
            return outcome._replace(
                failures=tuple(Failure(*failure) for failure in outcome.failures),
                message=excerpt(str(outcome.message), 1000),
            )
    except (TypeError, KeyError):
        pass
    raise ProgramEndedError(_DEATH)


class Deadline:
    """After ``seconds`` the program is killed and the tests are left, wherever they are."""

    def __init__(self, seconds: float, program: Program) -> None:
        self._seconds = seconds
        self._program = program
        self._armed = True

    def __enter__(self) -> None:
        signal.signal(signal.SIGALRM, self._stop)
        signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._armed = False  # a signal that is on its way has come too late
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _stop(self, _signal: int, _frame: FrameType | None) -> None:
        if self._armed:
            raise self._program.end(Fault("timeout", f"stopped after {self._seconds:g} s"))


def for_candidate(order: Order) -> dict[str, Any]:  # Any: JSON
    """All that the candidate's process is told."""
    return {
        "preamble": order.preamble,
        "code": order.code,
        "entry_point": order.entry_point,
        "names": [order.entry_point, *order.names],
        "limits": (order.seconds, order.memory_bytes),
    }


def _given(found: dict[str, object], entry_point: str) -> dict[str, object]:
    """Tests get a stub for the function, under its real name too, and what else they speak of."""
    handle = found.get(entry_point)
    return found | ({entry_point: function(handle, entry_point)} if isinstance(handle, Handle) else {})
