"""Tests of whole programs: each case is a run in a fresh process, whose output is compared with the expected output.

A fresh process costs about two milliseconds. A program therefore starts each case as any program starts, a crash fails
one case only, and no program can read the input of a later case. The expected outputs stay in the judge's process.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

from .cases import Cases, Sources
from .deadline import Deadline
from .faults import Fault, ProgramEndedError, excerpt, fault_of, shown
from .handles import Handle
from .literals import literal
from .program import Calls, Program
from .recorder import FAILED, MAX_FAILURES, Failure, Recorder, seconds_of
from .values import number_of
from .wire import Message
from .zygote import Zygote

_SHOWN = 200  # characters of each text in a message
DEATH = Fault("exception", "the program's process did not report on its tests")


class Limits(NamedTuple):
    """The time limit of a case without its own, and by how much each limit may be extended on a busy machine.

    ``failed_seconds``: the time in which a program that has failed a case may begin further cases.
    """

    seconds: float
    crowded_times: float
    failed_seconds: float


class CallSources(Sources):
    """Each case as the call that it makes, written when it is needed."""

    def __getitem__(self, index: Any) -> Any:  # Any: int and str; slices are not used
        return f"run({', '.join(map(literal, self._cases.arguments(index)))})"


class Runs:
    """Runs a program on all cases and marks them. ``start`` loads the program in a fresh process."""

    def __init__(self, cases: Cases, limits: Limits, zygote: Zygote, recorder: Recorder) -> None:
        self._cases, self._limits, self._zygote, self._recorder = cases, limits, zygote, recorder
        names: dict[str, Any] = {"__name__": "tests"}  # Any: a module's names
        exec(cases.code, names)  # noqa: S102 (the point)
        self._like = names["like"]

    def execute(self, program: Callable[[float], Message], on_answer: Callable[[], object]) -> bool:
        """Whether all cases were run. ``program``: the message that loads it, with its time limit in seconds.

        Stops if it cannot be loaded, after a case that exceeds its time limit, and after ``failed_seconds`` of a
        program that has failed a case.
        """
        began = time.monotonic()
        for index in range(len(self._cases.calls)):
            failed = self._recorder.first
            if failed and (failed.error == "timeout" or time.monotonic() - began > self._limits.failed_seconds):
                return False
            if not self._run(index, program, on_answer if index == 0 else lambda: None):  # once is enough
                return False
        return not (self._recorder.first and self._recorder.first.error == "timeout")

    def _run(self, index: int, message: Callable[[float], Message], on_answer: Callable[[], object]) -> bool:
        """Run and mark one case; returns whether the program could be loaded."""
        seconds = self._cases.limits[index] if self._cases.limits else self._limits.seconds
        program = Program(self._zygote)
        loaded = False
        try:
            with Deadline(seconds, self._limits.crowded_times * seconds, program, patient=True):
                target = _entry(program, message(seconds), on_answer)
                loaded = True
                calls = Calls(self._cases.calls[index], 1, self._cases.large)
                for reply in program.answers(target, calls, nullcontext):
                    self._mark(index, program, reply)
        except (Exception, ProgramEndedError) as error:  # noqa: BLE001 (every error of a program is a verdict)
            self._fail(index, fault_of(error)) if loaded else self._recorder.note(fault_of(error))
        finally:
            program.close()
        return loaded

    def _mark(self, index: int, program: Program, reply: Message) -> None:
        written = program.value(reply)
        arguments = self._cases.arguments(index) if self._cases.by_arguments else ()
        right = self._like(self._cases.answers[index], *arguments)
        self._recorder.seconds[index] = seconds_of(reply.get("seconds"))
        if type(written) is str and written == right:  # nothing else is an output
            self._recorder.passed(index)
        else:
            source, wanted, seen = self._recorder.sources[index], shown(right), shown(written)
            message = f"{excerpt(source, _SHOWN)} returned {excerpt(seen, _SHOWN)}, expected {excerpt(wanted, _SHOWN)}"
            self._fail(index, Fault("assertion", message), wanted, seen)

    def _fail(self, index: int, fault: Fault, expected: str | None = None, actual: str | None = None) -> None:
        if len(self._recorder.failures) == MAX_FAILURES:
            self._recorder.marks[index] = FAILED  # further failures are not described
            return
        message = "" if fault.error == "assertion" else excerpt(fault.message)
        source = excerpt(self._recorder.sources[index])
        self._recorder.failed(Failure(index, source, expected, actual, message), fault)


def _entry(program: Program, message: Message, on_answer: Callable[[], object]) -> int:
    """The number of the function that runs the program."""
    entry = program.load(message, on_answer)[message["entry_point"]]
    number = number_of(entry) if isinstance(entry, Handle) else None
    if number is None:
        raise program.end(DEATH)
    return number
