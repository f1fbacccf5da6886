"""Orders to workers, and their answers: what a judge wants to know of one program, asked again if a worker is lost."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from koderz_core.errors import DataError, SandboxError
from koderz_core.records import Cases, ErrorClass, Isolation, TestFailure, Verdict
from koderz_core.sandbox.inside.wire import MAX_FRAME_BYTES
from koderz_core.sandbox.workers import LostError, StalledError, Workers

GRACE_SECONDS = 5.0
"""How much later than the judge's own deadline the host ends a worker, in seconds."""
CROWDED_TIMES = 5.0
"""How many times its limit a program may take on the wall's clock, where others had the processor meanwhile."""
_TRIES = 2


@dataclass(frozen=True, slots=True)
class Order:
    """``inside.trial.Order``, for a problem of that id; ``calls``: what to evaluate instead of running tests."""

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

    def content(self) -> dict[str, object]:
        names = ("preamble", "code", "tests", "entry_point", "names", "mirrors", "shared", "seconds", "memory_bytes")
        order = {name: getattr(self, name) for name in (*names, "cases")}
        return {"order": {**order, "most_seconds": self.most_seconds}, "calls": self.calls}

    @property
    def most_seconds(self) -> float:
        return CROWDED_TIMES * self.seconds


@dataclass(frozen=True, slots=True)
class Outcome:
    """``inside.recorder.Outcome``."""

    marks: str
    failures: tuple[TestFailure, ...]
    error: ErrorClass | None
    message: str
    test_seconds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """``inside.trial.Report``."""

    outcome: Outcome
    completed: bool
    seconds: float
    shared: bool
    changed: bool
    stuck: bool

    def verdict(self, isolation: Isolation) -> Verdict:
        out = self.outcome
        ended = (self.completed, out.error, out.message, self.seconds, isolation, self.shared)
        return Verdict(out.marks, out.failures, *ended, out.test_seconds)


@dataclass(frozen=True, slots=True)
class Sight:
    """``inside.probing.Sight``."""

    value: str | None
    error: ErrorClass | None
    message: str


@dataclass(frozen=True, slots=True)
class Answer:
    """``broken``: why the tests are; ``stalled``: nobody could finish with what the program gave. No report then."""

    nonce: str = ""
    report: Report | None = None
    observed: tuple[Sight, ...] = ()
    broken: str = ""
    stalled: bool = False


def ask(workers: Workers, order: Order) -> Answer:
    """A worker's answer, or the next one's if the first is lost.

    Raises SandboxError if that one dies too, DataError for tests that are too large or that UTF-8 cannot encode.
    """
    lost: list[LostError] = []
    while len(lost) < _TRIES:
        try:
            return _asked(workers, order)
        except LostError as error:
            lost.append(error)
    if all(isinstance(error, StalledError) for error in lost):
        return Answer(stalled=True)
    raise SandboxError(
        f"Two workers were lost while they judged a program for {order.problem} ({lost[-1]}): the program killed them, "
        "or this machine is out of memory. Look at the program, then try again."
    )


_encoded = msgspec.json.Encoder().encode
_ANSWERS = msgspec.json.Decoder(Answer)


def _asked(workers: Workers, order: Order) -> Answer:
    nonce = secrets.token_hex(16)
    try:
        message = _encoded({"nonce": nonce, **order.content()})
    except UnicodeEncodeError as error:
        raise DataError(
            f"The text of {order.problem} or of its tests cannot be encoded ({error}). Mend or remove that problem."
        ) from error
    if len(message) > MAX_FRAME_BYTES:
        raise DataError(
            f"The tests of {order.problem} are too large: {len(message) / 1e6:.0f} MB with the program, and a worker "
            f"takes {MAX_FRAME_BYTES / 1e6:.0f} MB. Make them smaller, or leave that problem out."
        )
    with workers.worker(order.problem.rpartition("/")[0]) as worker:
        said = worker.answer(message, order.most_seconds + GRACE_SECONDS)
        try:
            answer = _ANSWERS.decode(said)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            worker.kill()
            raise LostError(f"it answered nonsense: {error}") from None
        if not secrets.compare_digest(answer.nonce, nonce):
            worker.kill()
            raise LostError("it answered what nobody asked")
    return answer
