"""The judge's work: run the tests of one problem against one program, and say what came of it."""

from __future__ import annotations

import signal
import time
from types import FrameType
from typing import Any, NamedTuple

from .excerpt import excerpt
from .faults import Fault, ProgramEndedError, TestsBrokenError, describe, fault_of
from .instrument import SITE, Instrumented, instrument
from .program import Program
from .recorder import NOT_REACHED, Failure, Recorder


class Order(NamedTuple):
    """What to judge, from the host: texts, name of the function, wall time in seconds, address space in bytes."""

    preamble: str
    code: str
    tests: str
    entry_point: str
    seconds: float
    memory_bytes: int


class Report(NamedTuple):
    """What came of it: the content of ``koderz_core.records.Verdict``."""

    marks: str
    failures: tuple[Failure, ...]
    completed: bool
    error: str | None
    message: str
    seconds: float


def judge(order: Order, program: Program) -> Report:
    """Raise TestsBrokenError if the tests are wrong whatever the program does."""
    tests = _instrumented(order.tests)
    recorder = Recorder(tests.sources, lambda: program.calls > 0)
    completed, started = False, time.monotonic()
    set_deadline(order.seconds, program)
    try:
        program.load(for_candidate(order))
        _run(tests, order, program, recorder)
        program.check_alive()
        completed = True
    except (Exception, SystemExit, ProgramEndedError) as error:  # noqa: BLE001 (whatever ended the tests is the verdict)
        recorder.note(fault_of(error))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return _report(recorder, completed, time.monotonic() - started)


def _instrumented(tests: str) -> Instrumented:
    try:
        return instrument(tests)
    except (SyntaxError, ValueError) as error:
        raise TestsBrokenError(describe(error)) from None


def set_deadline(seconds: float, program: Program) -> None:
    """After ``seconds`` the program is killed and ProgramEndedError raised, wherever the judge is."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise program.end(Fault("timeout", f"stopped after {seconds:g} s"))

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def for_candidate(order: Order) -> dict[str, Any]:  # Any: JSON
    """All that the candidate's process is told."""
    limits = (order.seconds, order.memory_bytes)
    return {"preamble": order.preamble, "code": order.code, "entry_point": order.entry_point, "limits": limits}


def _run(tests: Instrumented, order: Order, program: Program, recorder: Recorder) -> None:
    """The tests see the problem's helper functions, and the program only as a stub, also under its real name."""
    stub = program.stub(order.entry_point)
    namespace: dict[str, Any] = {"__name__": "tests"}  # Any: a module's names
    try:
        exec(compile(order.preamble, "<preamble>", "exec", dont_inherit=True), namespace)  # noqa: S102 (the point)
        namespace |= {order.entry_point: stub, SITE: recorder.site}
        exec(compile(tests.tree, "<tests>", "exec", dont_inherit=True), namespace)  # noqa: S102 (the point)
        namespace["check"](stub)
    except (Exception, SystemExit) as error:
        if not program.calls:
            raise TestsBrokenError(describe(error)) from error
        raise


def _report(recorder: Recorder, completed: bool, seconds: float) -> Report:
    marks = "".join(recorder.marks)
    first = recorder.first
    message = first.message if first else _not_reached(marks)
    error = first.error if first else None
    line = excerpt(" ".join(message.splitlines()), 1000)
    return Report(marks, tuple(recorder.failures), completed, error, line, seconds)


def _not_reached(marks: str) -> str:
    missed = marks.count(NOT_REACHED)
    return f"{missed} of {len(marks)} tests were not reached" if missed else ""
