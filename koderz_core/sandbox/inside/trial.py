"""The judge's work: it runs the tests of one problem on one program and reports the result."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import NamedTuple

from . import cases, suite, whole_program
from .deadline import Deadline
from .faults import CLASSES, CannotCrossError, Fault, ProgramEndedError, excerpt, fault_of
from .handles import Handle
from .program import Program
from .recorder import FAILED, MAX_FAILURES, MAX_SOURCE, NOT_REACHED, PASSED, Failure, Outcome, Recorder, seconds_of
from .runs import DEATH, CallSources, Limits, Runs
from .wire import Json, Message
from .zygote import Zygote

OnAnswer = Callable[[], object]
"""Called when the program has sent something. If the judge stalls after that, the program is the cause."""


class Order(NamedTuple):
    """An order of the host: texts, name of the function, seconds as in ``Deadline``, address space in bytes.

    ``names``: further names of the program that the tests use. ``mirrors``: changes of arguments in place are applied
    to the tests' objects as well. ``shared``: the tests run in the program's own process. ``cases``: the content of
    ``koderz_core.records.Cases``, for tests that consist of cases. ``total_seconds``: the time limit of all tests
    together while none has failed, if each test has its own limit as well; 0 if not. ``kind``:
    ``koderz_core.records.Kind``. ``file``: the name of a module's file, which its tracebacks show.
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
    cases: Message | None = None
    total_seconds: float = 0.0
    kind: str = "function"
    file: str = ""


class Report(NamedTuple):
    """The result: the content of ``koderz_core.records.Verdict``.

    ``changed``: arguments were changed in place. ``stuck``: the tests met a value that cannot cross. ``opined``: the
    program decided how its own objects compare or compute (``objects.OPINIONS``).
    """

    outcome: Outcome
    completed: bool
    seconds: float
    shared: bool
    changed: bool = False
    stuck: bool = False
    opined: bool = False


def judge(order: Order, zygote: Zygote, on_answer: OnAnswer) -> Report:
    """The report on a program. Raises TestsBrokenError if the tests are wrong independently of the program."""
    tests = cases.ready(order.tests, **order.cases) if order.cases else suite.ready(order.tests)
    random.seed(0)  # so that a program always has the same verdict on the same tests
    if order.kind == whole_program.KIND and isinstance(tests, cases.Cases):
        return _run_by_run(order, tests, zygote, on_answer)
    if order.shared and isinstance(tests, suite.Suite):
        return _shared(order, tests, zygote, on_answer)
    return _apart(order, tests, zygote, on_answer)


def _apart(order: Order, tests: suite.Suite | cases.Cases, zygote: Zygote, on_answer: OnAnswer) -> Report:
    """The report for program and tests in two processes."""
    is_module = order.kind == "module"
    program, started = Program(zygote, mirrors=order.mirrors, objects=is_module), time.monotonic()
    recorder = Recorder(tests.sources, lambda: program.calls > 0, asks=is_module)
    completed = stuck = False
    try:
        with Deadline(order.seconds, order.most_seconds, program, patient=order.cases is not None) as deadline:
            values = program.load(for_candidate(order), on_answer)
            entry = values[order.entry_point]
            if is_module and isinstance(tests, suite.Suite) and callable(entry):
                suite.execute(tests, order.preamble, values, entry, recorder)
            elif not isinstance(entry, Handle):
                raise program.end(DEATH)
            elif isinstance(tests, cases.Cases):
                deadline.extend(order.total_seconds, lambda: recorder.first is None)
                cases.execute(tests, program, entry, recorder, deadline)
            else:
                entry.__dict__["__name__"] = order.entry_point  # as that of a function in one process
                suite.execute(tests, order.preamble, values, entry, recorder)
        program.check_alive()
        completed = True
    except (Exception, SystemExit, ProgramEndedError) as error:  # noqa: BLE001 (every error that ends the tests is a verdict)
        recorder.note(fault_of(error))
    except CannotCrossError as error:
        stuck = True
        recorder.note(Fault("type", f"{error}, which is not plain data"))
    finally:
        program.close()
    stuck = stuck or recorder.met_own
    return Report(
        recorder.outcome(), completed, time.monotonic() - started, False, program.changed, stuck, program.opined
    )


def _shared(order: Order, tests: suite.Suite, zygote: Zygote, on_answer: OnAnswer) -> Report:
    """The report for program and tests in one process, which is checked because the program may forge it."""
    if order.kind == "module":
        zygote.learn_unittest()
    program, started = Program(zygote), time.monotonic()
    recorder = Recorder(tests.sources, lambda: True)
    outcome, completed = None, False
    try:
        with Deadline(order.seconds, order.most_seconds, program):
            program.load(for_candidate(order), on_answer)
            answer = program.report(order._asdict())
        outcome, completed = _checked(answer, tests), answer.get("completed") is True
    except (Exception, ProgramEndedError) as error:  # noqa: BLE001 (as above)
        recorder.note(fault_of(error))
    finally:
        program.close()
    return Report(outcome or recorder.outcome(), completed, time.monotonic() - started, shared=True)


def _run_by_run(order: Order, tests: cases.Cases, zygote: Zygote, on_answer: OnAnswer) -> Report:
    """The report for a whole program: each test in a process of its own."""
    started, recorder = time.monotonic(), Recorder(CallSources(tests), lambda: True)
    limits = Limits(order.seconds, order.most_seconds / order.seconds, order.seconds)
    runs = Runs(tests, limits, zygote, recorder)
    completed = runs.execute(lambda seconds: for_candidate(order, seconds), on_answer)
    return Report(recorder.outcome(), completed, time.monotonic() - started, shared=False)


def _checked(answer: Json, tests: suite.Suite) -> Outcome:
    """The outcome in an answer. Raises ProgramEndedError if it is not a possible report on these tests."""
    try:
        marks, count = str(answer["marks"]), len(tests.sources)
        if len(marks) != count or not set(marks) <= {PASSED, FAILED, NOT_REACHED}:
            raise ValueError
        error = answer["error"] if answer["error"] in CLASSES else None
        failures = tuple(_checked_failure(failure, count) for failure in answer["failures"][:MAX_FAILURES])
        seconds = tuple(seconds_of(float(taken)) for taken in answer["test_seconds"])
        if len(seconds) != count:
            raise ValueError
        return Outcome(marks, failures, error, excerpt(str(answer["message"]), 1000), seconds)
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError):
        raise ProgramEndedError(DEATH) from None


def _checked_failure(failure: Json, count: int) -> Failure:
    place, source, expected, actual, message = failure
    wanted, seen = (None if text is None else excerpt(str(text)) for text in (expected, actual))
    return Failure(range(count)[place], excerpt(str(source), MAX_SOURCE), wanted, seen, excerpt(str(message)))


def for_candidate(order: Order, seconds: float = 0.0) -> Message:
    """Everything that the candidate's process receives. ``seconds``: its limit, if it is not that of the order."""
    file_bytes = whole_program.MOST_BYTES if order.kind == whole_program.KIND else 0
    return {
        "preamble": order.preamble,
        "code": order.code,
        "entry_point": order.entry_point,
        "names": [order.entry_point, *order.names],
        "kind": order.kind,
        "file": order.file,
        "limits": (seconds or max(order.seconds, order.total_seconds), order.memory_bytes, file_bytes),
    }
