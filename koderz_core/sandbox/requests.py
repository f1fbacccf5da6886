"""Orders to workers and their answers. An order is sent to another worker if the first one is lost."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from koderz_core.errors import DataError, SandboxError
from koderz_core.records import Cases, ErrorClass, Isolation, Kind, TestFailure, Verdict
from koderz_core.sandbox.inside.faults import MAX_CHARACTERS
from koderz_core.sandbox.inside.wire import MAX_FRAME_BYTES
from koderz_core.sandbox.workers import LostError, StalledError, Workers

GRACE_SECONDS = 5.0
"""The host ends a worker this many seconds after the judge's own deadline."""
CROWDED_TIMES = 5.0
"""On a busy machine, a program may take this multiple of its time limit in wall time."""
TOTAL_SECONDS = 62.0
"""If each test has its own time limit, the limit of all tests together, in wall time, while none has failed.

EvalPlus 0.3.1 waits ``min(60, sum of the limits) + 1 + 1`` seconds: ``evalplus/eval/__init__.py``, ``untrusted_check``.
"""
START_SECONDS = 1.0
"""Time to start the process of one case of a whole program on a busy machine."""
_TRIES = 2


@dataclass(frozen=True, slots=True)
class Order:
    """``inside.trial.Order`` for the problem with that id. ``calls``: expressions to evaluate instead of tests.

    ``most_characters``: the length of the value of a call above which the answer has an excerpt.
    """

    problem: str
    preamble: str
    code: str
    tests: str
    entry_point: str
    seconds: float
    memory_bytes: int
    names: Sequence[str] = ()
    mirrors: bool = True
    shared: bool = False
    calls: Sequence[str] | None = None
    cases: Cases | None = None
    kind: Kind = "function"
    file: str = ""
    most_characters: int = MAX_CHARACTERS

    def content(self) -> dict[str, object]:
        names = ("preamble", "code", "tests", "entry_point", "names", "mirrors", "shared", "seconds", "memory_bytes")
        order = {name: getattr(self, name) for name in (*names, "cases", "kind", "file")}
        limits = {"most_seconds": self.most_seconds, "total_seconds": self.total_seconds}
        return {"order": {**order, **limits}, "calls": self.calls, "most_characters": self.most_characters}

    @property
    def most_seconds(self) -> float:
        return CROWDED_TIMES * self.seconds

    @property
    def total_seconds(self) -> float:
        """The limit of all tests together, where each has its own limit as well; 0 if not.

        For a whole program it is the sum of what its cases may take on a busy machine, so it never ends a program.
        """
        if self.kind == "program" and self.cases:
            limits = self.cases.limits.split("\n") if self.cases.limits else [str(self.seconds)] * len(self.cases)
            return sum(CROWDED_TIMES * float(limit) + START_SECONDS for limit in limits)
        return TOTAL_SECONDS if self.cases and self.cases.limits else 0.0


@dataclass(frozen=True, slots=True)
class Report:
    """``inside.trial.Report``, with the fields of its ``inside.recorder.Outcome``."""

    marks: str
    failures: tuple[TestFailure, ...]
    error: ErrorClass | None
    message: str
    test_seconds: tuple[float, ...]
    completed: bool
    seconds: float
    shared: bool
    changed: bool
    stuck: bool
    opined: bool = False

    def verdict(self, isolation: Isolation) -> Verdict:
        ended = (self.completed, self.error, self.message, self.seconds, isolation, self.shared)
        return Verdict(self.marks, self.failures, *ended, self.test_seconds)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """``inside.serving.Evaluation``."""

    value: str | None
    error: ErrorClass | None
    message: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A worker's answer. There is no report if the tests are ``broken`` (the reason) or the judge ``stalled``.

    ``stalled``: two workers could not process the program's output in time.
    """

    nonce: str = ""
    report: Report | None = None
    observed: tuple[Evaluation, ...] = ()
    broken: str = ""
    stalled: bool = False


def ask(workers: Workers, order: Order) -> Answer:
    """The answer of a worker, or of a second one if the first is lost.

    Raises SandboxError if the second one dies too, DataError for tests that are too large or that UTF-8 cannot encode.
    """
    lost: list[LostError] = []
    while len(lost) < _TRIES:
        try:
            return _send(workers, order)
        except LostError as error:
            lost.append(error)
    if all(isinstance(error, StalledError) for error in lost):
        return Answer(stalled=True)
    raise SandboxError(
        f"Two worker processes, one after the other, failed while they judged a program for {order.problem} "
        f"(failure of the second worker: {lost[-1]}). Either the program killed the workers, or this machine "
        "is out of memory. Check the program, then try again."
    )


_encoded = msgspec.json.Encoder().encode
_ANSWERS = msgspec.json.Decoder(Answer)


def _send(workers: Workers, order: Order) -> Answer:
    nonce = secrets.token_hex(16)
    try:
        message = _encoded({"nonce": nonce, **order.content()})
    except UnicodeEncodeError as error:
        raise DataError(
            f"The text of {order.problem} or of its tests cannot be encoded ({error}). Fix or remove that problem."
        ) from error
    if len(message) > MAX_FRAME_BYTES:
        raise DataError(
            f"The tests of {order.problem} are too large: {len(message) / 1e6:.0f} MB together with the program, but a "
            f"worker accepts at most {MAX_FRAME_BYTES / 1e6:.0f} MB. Make the tests smaller, or omit that problem."
        )
    with workers.worker(order.problem.rpartition("/")[0]) as worker:
        frame = worker.answer(message, max(order.most_seconds, order.total_seconds) + GRACE_SECONDS)
        try:
            answer = _ANSWERS.decode(frame)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            worker.kill()
            raise LostError(f"its answer is invalid: {error}") from None
        if not secrets.compare_digest(answer.nonce, nonce):
            worker.kill()
            raise LostError("it answered a different request")
    return answer
