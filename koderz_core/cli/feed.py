"""Lines of a running benchmark: one per iteration, spec, turn of a debate, review, and result without iteration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from rich.text import Text

from koderz_core.errors import UsageError
from koderz_core.events import (
    CallFailed,
    CallFinished,
    CandidateScored,
    CheckpointReviewed,
    CodeTested,
    Entry,
    ExperimentFinished,
    ExperimentStarted,
    SpecWritten,
    TurnSpoken,
)
from koderz_core.events.unanswered_calls import UnansweredCall
from koderz_core.records import Configuration, Experiment, Plan, Verdict
from koderz_core.records.plans import scripted
from koderz_core.report.formats import MARKS, WHY, duration, money, one_line
from koderz_core.strategies import create
from koderz_core.strategies.labels import labels

MOST_OF_A_TEXT = 1000  # characters of a hostile text that are read: no terminal is wider
LEAST_LABEL = 20  # minimum width of a label, in columns
LEAST_MESSAGE = 6  # columns of a message: with fewer it is left out
ENOUGH_MESSAGE = 40  # columns of a message: up to this, the label is shortened for it


@dataclass(frozen=True, slots=True)
class Line:
    """A step of an experiment, on one line and without control characters.

    ``label``: its configuration, empty if there is only one; ``message``: a message, cut to the room that is left.
    """

    problem: str
    label: str
    what: str
    message: str
    spent: str

    def within(self, width: int) -> str:
        """The line in at most ``width`` columns: a long label loses its middle, then the message is cut."""
        message, spent = (
            Text(f": {self.message}" if self.message else ""),
            Text(f" · {self.spent}" if self.spent else ""),
        )
        room = width - Text(f"{self.problem} {self.what}").cell_len - spent.cell_len
        label = _ends_of(self.label, max(LEAST_LABEL, room - min(message.cell_len, ENOUGH_MESSAGE) - 1))
        head = Text(" ".join(part for part in (self.problem, label, self.what) if part))
        left = width - head.cell_len - spent.cell_len
        message.truncate(left, overflow="ellipsis")
        whole = head + message + spent if left >= LEAST_MESSAGE else head + spent
        whole.truncate(width, overflow="ellipsis")
        return whole.plain


@dataclass(slots=True)
class _Course:
    """A running experiment: seconds and cost of its calls since its latest line. ``cost_usd`` None: unknown."""

    problem: str
    label: str
    most: int | None  # iterations; None: its strategy has no limit
    seconds: float = 0.0
    cost_usd: float | None = 0.0
    iterations: int = 0
    held_out: Verdict | None = None  # of the returned program

    def add(self, seconds: float, usd: float | None) -> None:
        self.seconds += seconds
        self.cost_usd = None if self.cost_usd is None or usd is None else self.cost_usd + usd

    def step(self, what: str, message: str, seconds: float = 0.0) -> Line:
        """The line of a step with the calls before it; ``seconds``: of its test."""
        spent = f"{duration(self.seconds + seconds)} · {money(self.cost_usd)}"
        self.seconds, self.cost_usd = 0.0, 0.0
        return Line(self.problem, self.label, what, message, spent)

    def end(self, what: str, message: str) -> Line:
        """The line of a result, with what was spent since the latest step, if anything was."""
        called = self.seconds > 0
        line = self.step(what, message)
        return line if called else replace(line, spent="")


class Feed:
    """Reads the entries of a benchmark in order. A step's seconds and cost are those of ``records.rows.Step``."""

    def __init__(self, plan: Plan) -> None:
        named = labels(plan.configurations)
        self._repeated = plan.repeats > 1
        self._names: Mapping[str, str] = (
            named
            if len(named) > 1
            else {configuration.id: "SCRIPTED" * scripted(plan.models()) for configuration in plan.configurations}
        )
        self._most = {made.id: _most(made) for made in plan.configurations}
        self._courses: dict[str, _Course] = {}

    def add(self, entry: Entry, unanswered: Iterable[UnansweredCall] = ()) -> Line | None:
        """Read the next entry; ``unanswered``: the calls that ended without an answer by it."""
        for call in unanswered:
            if known := self._courses.get(call.experiment):
                known.add(0.0, call.cost.usd if call.cost and call.cost.usd is not None else 0.0)
        if isinstance(entry.event, ExperimentStarted):
            self._courses[entry.event.experiment.id] = self._start(entry.event.experiment)
        course = self._courses.get(entry.experiment or "")
        return None if course is None else self._of(course, entry)

    def _start(self, experiment: Experiment) -> _Course:
        repeat = f" repeat {experiment.repeat + 1}" if self._repeated else ""
        label = _one_line(self._names[experiment.configuration])
        return _Course(_one_line(experiment.problem) + repeat, label, self._most[experiment.configuration])

    def _of(self, course: _Course, entry: Entry) -> Line | None:
        match entry.event:
            case CallFinished(seconds=seconds, cost=cost):
                course.add(seconds or 0.0, cost.usd)
            case CallFailed(seconds=seconds):
                course.add(seconds, 0.0)
            case SpecWritten() | TurnSpoken() | CheckpointReviewed() as note:
                return course.step(*_noted(note))
            case CodeTested(iteration=number, verdict=verdict):
                course.iterations = number
                place = f"{number}/{course.most}" if course.most else f"iteration {number}"
                what = f"{place} {'✓' if verdict.passed else '✗'} {_counted(verdict, 'tests')}"
                return course.step(what, _failure(verdict), verdict.seconds)
            case CandidateScored(returned=True, held_out=held_out):
                course.held_out = held_out
            case ExperimentFinished() as ended:
                self._courses.pop(entry.experiment or "", None)
                return _ended(course, ended)
        return None


def _most(configuration: Configuration) -> int | None:
    """The limit of iterations; None if the strategy has none, or is not installed here, so that it does not run now."""
    try:
        strategy = create(configuration.strategy, configuration.parameters)
    except UsageError:
        return None
    most: int | None = getattr(strategy, "max_iterations", None)
    return most


def _noted(note: SpecWritten | TurnSpoken | CheckpointReviewed) -> tuple[str, str]:
    """The name of a note, and the start of its text; of a spec, where it comes from."""
    if isinstance(note, SpecWritten):
        return "spec", f"reused from {_one_line(note.origin)}" if note.origin else ""
    if isinstance(note, TurnSpoken):
        return f"round {note.round}, {_one_line(note.speaker)}", _one_line(note.text)
    return _reviewed(note)


def _reviewed(review: CheckpointReviewed) -> tuple[str, str]:
    """The review, and the start of its guidance."""
    why = WHY.get(review.why, review.why)
    message = review.guidance if review.guidance.strip() else "the answer was empty"
    return f"review {review.checkpoint} after iteration {review.after_iteration}, {why}", _one_line(message)


def _ended(course: _Course, ended: ExperimentFinished) -> Line | None:
    """How an experiment ended; None if its last iteration has shown that, or if it was cancelled."""
    if ended.outcome == "error":
        return course.end(MARKS["error"], _one_line(ended.error or ""))
    verdict = course.held_out
    if ended.outcome == "cancelled" or (verdict is None and course.iterations):
        return None
    message = _failure(verdict) if verdict else _one_line(ended.error or ended.failure or "")
    if ended.outcome == "solved" and verdict is None:
        return course.end("✓ answered", "")  # a question: no test scores it
    counted = f", {_counted(verdict, 'held-out tests')}" if verdict else ""
    return course.end(f"{MARKS[ended.outcome]}{counted}", message)


def _counted(verdict: Verdict, tests: str) -> str:
    """``2 of 7 tests passed``. Held-out tests are not run if base tests have failed."""
    if not verdict.marks.strip("-"):
        return f"{tests} not run"
    return f"{verdict.tests_passed} of {verdict.tests_total} {tests} passed"


def _failure(verdict: Verdict) -> str:
    """The first failure in words: ``got None, expected True``, else its message, else its class."""
    if verdict.passed:
        return ""
    first = verdict.failures[0] if verdict.failures else None
    if first and first.actual is not None and first.expected is not None:
        return f"got {_one_line(first.actual)}, expected {_one_line(first.expected)}"
    return _one_line((first and first.message) or verdict.message or verdict.error or "")


def _ends_of(label: str, columns: int) -> str:
    """Both ends of a label: they distinguish it best."""
    half = (columns - 1) // 2
    return label if len(label) <= columns else f"{label[:half]}…{label[-half:]}"


def _one_line(text: str) -> str:
    return one_line(text[:MOST_OF_A_TEXT])
