"""The messages between the owner of a benchmark and a worker, as msgpack: a frame is a list of messages.

``run`` is a worker's number for one run of an experiment, ``number`` that of a question in a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

import koderz_core.errors
from koderz_core.errors import KoderzError
from koderz_core.events import KINDS, BenchmarkOpened, CallStarted, Entry, ExperimentFinished, decode
from koderz_core.grading.testsets import Split, TestPolicy
from koderz_core.models.answer_cache import Draw
from koderz_core.records import (
    Asker,
    Completion,
    Configuration,
    DatasetOrigin,
    Experiment,
    Memory,
    Observed,
    Problem,
    Query,
    Remaining,
    Request,
    Verdict,
)
from koderz_core.runner.experiment import Task
from koderz_core.runner.history import Recorded, Tape

Run = int


class Fault(msgspec.Struct):
    """An exception: the names of its classes, its message, and the plain values that it carries."""

    classes: list[str]
    message: str
    carries: dict[str, bool | int | float | str | None] = {}


class Hello(msgspec.Struct):
    """The first message of a worker. Every version of koderz sends it as JSON, so that versions can be compared."""

    koderz: str
    python: str
    worker: str
    host: str


class Terms(msgspec.Struct, tag=True):
    """The benchmark, the ids of its models, and the settings that this worker uses in place of its own."""

    header: BenchmarkOpened
    models: list[str]
    settings: dict[str, Any]  # Any: values of settings, which the worker checks


class Ready(msgspec.Struct, tag=True):
    """The worker can run experiments. ``own``: the models that only this worker reaches."""

    own: list[str]


class Refused(msgspec.Struct, tag=True):
    """This worker runs no experiments of this benchmark. The text says what differs and what to do."""

    reason: str


class Fetch(msgspec.Struct, tag=True):
    """A worker is free to run an experiment."""

    run: Run


class Step(msgspec.Struct):
    """A step of a tape. ``kind``: the type of its answer."""

    ordinal: int
    kind: str
    request: str
    answer: msgspec.Raw
    ended_at: float
    seconds: float


class Begin(msgspec.Struct, tag=True):
    """The experiment to run. ``problem`` None: the worker has it already; ``sha256``: what its content must give.

    ``split``: the divided tests of its problem, with time limits; None: the worker has them, or divides the tests
    itself.
    ``paused``: the seconds that the experiment has waited in earlier runs.
    """

    run: Run
    experiment: Experiment
    configuration: Configuration
    problem_id: str
    sha256: str
    problem: Problem | None
    split: Split | None
    dataset: DatasetOrigin
    steps: list[Step]
    attempts: dict[int, int]
    before: ExperimentFinished | None
    policy: TestPolicy
    paused: float

    def task(self, problem: Problem) -> Task:
        """The task of the runner."""
        steps = {step.ordinal: _recorded(step) for step in self.steps}
        tape = Tape(steps, self.attempts)
        return Task(self.experiment, self.configuration, problem, self.dataset, tape, self.before, self.policy)


class Gone(msgspec.Struct, tag=True):
    """There is no experiment for a worker that is free."""

    run: Run


class Said(msgspec.Struct, tag=True):
    """An event of an experiment, as a line of a journal."""

    run: Run
    line: bytes

    def entry(self) -> Entry | None:
        """The event. Raises JournalError."""
        return decode(self.line)


class Text(msgspec.Struct, tag=True):
    """A text that later events name by its hash."""

    run: Run
    text: str


class AskCall(msgspec.Struct, tag=True):
    """Make this call: ``Calls.ask``."""

    run: Run
    number: int
    started: CallStarted
    request: Request
    ordinal: int
    place: Draw


class AskStep(msgspec.Struct, tag=True):
    """``Slot.step``, or ``Slot.check`` if ``check`` is set."""

    run: Run
    number: int
    check: bool


class AskLeft(msgspec.Struct, tag=True):
    """``Ledger.left``."""

    run: Run
    number: int


class AskMemories(msgspec.Struct, tag=True):
    """``Dependencies.recall``."""

    run: Run
    number: int
    query: Query
    asker: Asker


class Answered(msgspec.Struct, tag=True):
    """The answer to a question. ``paused``: the seconds that the experiment has waited so far."""

    run: Run
    number: int
    paused: float
    completion: Completion | None = None
    left: float | None = None
    memories: tuple[Memory, ...] = ()
    fault: Fault | None = None


class Complete(msgspec.Struct, tag=True):
    """Send this request to a model of the worker, once; ``streamed``: pass its text on piece by piece."""

    run: Run
    number: int
    model: str
    request: Request
    streamed: bool


class Piece(msgspec.Struct, tag=True):
    """A piece of a streamed answer."""

    run: Run
    number: int
    text: str


class Completed(msgspec.Struct, tag=True):
    """The answer of the model, or its error."""

    run: Run
    number: int
    completion: Completion | None = None
    fault: Fault | None = None


class Drop(msgspec.Struct, tag=True):
    """End the call of this question: nothing needs its answer any more."""

    run: Run
    number: int


class End(msgspec.Struct, tag=True):
    """The experiment has ended. ``before``: its earlier error stays; ``fault``: ``perform`` raised it."""

    run: Run
    finished: ExperimentFinished | None = None
    before: bool = False
    fault: Fault | None = None


class Flag(msgspec.Struct, tag=True):
    """Whether workers must ask before each step, because something is paused or stopped."""

    halting: bool


FromWorker = Ready | Refused | Fetch | Said | Text | AskCall | AskStep | AskLeft | AskMemories | Piece | Completed | End
FromOwner = Terms | Refused | Begin | Gone | Answered | Complete | Drop | Flag
Question = AskCall | AskStep | AskLeft | AskMemories

_ENCODER = msgspec.msgpack.Encoder()
TO_OWNER = msgspec.msgpack.Decoder(list[FromWorker])
TO_WORKER = msgspec.msgpack.Decoder(list[FromOwner])

_ANSWERS: Mapping[str, Any] = {  # Any: types, of which some are generic
    "completion": Completion,
    "verdict": Verdict,
    "observed": tuple[Observed, ...],
    "memories": tuple[Memory, ...],
    "remaining": Remaining,
    **KINDS,  # notes
}
_DECODERS = {kind: msgspec.msgpack.Decoder(type_) for kind, type_ in _ANSWERS.items()}
"""Made here, before any thread runs: two threads that prepare msgspec for the same class may fail (SystemError)."""


def packed(messages: Iterable[FromWorker | FromOwner]) -> bytes:
    """The frame of these messages."""
    return _ENCODER.encode(list(messages))


def begin(run: Run, task: Task, tape: Tape, sha256: str, paused: float) -> Begin:
    """The message that starts a task with this tape, for a worker that has the problem already."""
    return Begin(
        run,
        task.experiment,
        task.configuration,
        task.problem.id,
        sha256,
        None,
        None,
        task.dataset,
        [_step(ordinal, recorded) for ordinal, recorded in tape.steps.items()],
        dict(tape.attempts),
        task.before,
        task.policy,
        paused,
    )


def _step(ordinal: int, recorded: Recorded) -> Step:
    answer = msgspec.Raw(_ENCODER.encode(recorded.answer))
    return Step(ordinal, _kind(recorded.answer), recorded.request, answer, recorded.ended_at, recorded.seconds)


def _kind(answer: object) -> str:
    if isinstance(answer, tuple):
        return "memories" if answer and isinstance(answer[0], Memory) else "observed"
    plain = {Completion: "completion", Verdict: "verdict", Remaining: "remaining"}
    return str(plain.get(type(answer)) or getattr(answer, "kind", ""))


def _recorded(step: Step) -> Recorded:
    answer = _DECODERS[step.kind].decode(step.answer)
    return Recorded(step.request, answer, step.ended_at, step.seconds)


def fault_of(error: BaseException) -> Fault:
    """An exception as a message."""
    classes = [kind.__name__ for kind in type(error).__mro__]
    carries = {name: held for name, held in vars(error).items() if isinstance(held, bool | int | float | str | None)}
    return Fault(classes, str(error).encode("utf-8", "replace").decode(), carries)


def raised(fault: Fault) -> Exception:
    """The exception that a message describes: the nearest class of koderz' errors, else one with its name only."""
    known = (getattr(koderz_core.errors, name, None) for name in fault.classes)
    kind = next((kind for kind in known if isinstance(kind, type) and issubclass(kind, KoderzError)), None)
    if kind is None:
        unknown: type[Exception] = type(fault.classes[0], (Exception,), {})
        return unknown(fault.message)
    error = kind.__new__(kind)
    Exception.__init__(error, fault.message)
    vars(error).update(fault.carries)
    return error
