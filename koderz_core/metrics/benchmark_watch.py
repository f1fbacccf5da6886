"""Derives metrics from the events of one benchmark, in the order in which the runner writes them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, get_args

from koderz_core.events import (
    BenchmarkOpened,
    CallFailed,
    CallFinished,
    CallStarted,
    CandidateScored,
    CodeTested,
    ControlObeyed,
    Entry,
    Event,
    ExperimentFinished,
    ExperimentStarted,
    MemoryLevelChanged,
    TextStored,
)
from koderz_core.events.outages import Troubles
from koderz_core.events.unanswered_calls import Unanswered, UnansweredCall
from koderz_core.records import Verdict
from koderz_core.records.progress import MemoryLevel, ModelTrouble

if TYPE_CHECKING:
    from koderz_core.metrics.metrics import Metrics

CALL_RESULTS = ("answered", "cached", "failed", "interrupted")
MEMORY_LEVELS: Sequence[MemoryLevel] = get_args(MemoryLevel)
"""The levels of the memory watchdog, the mildest first."""
UNKNOWN = "unknown"


class BenchmarkWatch:
    """A ``Watch`` of the runner: called with every written entry, from many threads."""

    def __init__(self, metrics: Metrics, follow: Callable[[BenchmarkWatch, bool], None]) -> None:
        """``follow`` is called with True at the first event, and with False at the end."""
        self._metrics, self._follow = metrics, follow
        self._unanswered, self._troubles = Unanswered(), Troubles()
        self._models: dict[str, str] = {}  # model -> label
        self._started: set[str] = set()
        self._running: set[str] = set()
        self._remaining = 0
        self._guard = threading.Lock()  # guards all of these
        self.last_at = 0.0
        self.memory_level = 0
        self.paused = False

    def begin(self, header: BenchmarkOpened, remaining: int) -> None:
        """Before the run. ``remaining``: the experiments that are to run.

        A resumed journal has its header already, so no event contains it.
        """
        self._unanswered.open(header)
        self._remaining = remaining

    def end(self) -> None:
        """The benchmark no longer runs. Idempotent."""
        self._follow(self, False)

    def __call__(self, entry: Entry) -> None:
        event, metrics = entry.event, self._metrics
        metrics.events.labels(event.kind).inc()
        if not isinstance(event, TextStored):  # which waits for the next event
            metrics.event_lag.observe(max(0.0, metrics.clock() - entry.at))
        with self._guard:
            if not self.last_at:
                self._follow(self, True)
            self.last_at = max(self.last_at, entry.at)
            model = self._model_of(entry)
            self._troubles.add(entry)
            for lost in self._unanswered.add(entry):
                self._lose(lost)
            self._count(event, entry.experiment or "", model)

    @property
    def running(self) -> int:
        """Experiments under way."""
        return len(self._running)

    @property
    def waiting(self) -> int:
        """Experiments that have not started."""
        return max(0, self._remaining - len(self._started))

    @property
    def calls_running(self) -> int:
        """Calls under way."""
        with self._guard:
            return sum(map(len, self._unanswered.calls.values()))

    @property
    def retrying(self) -> int:
        """Calls that failed and are sent again."""
        with self._guard:
            return sum(known.waiting for known in self._troubles.known() if isinstance(known, ModelTrouble))

    def _model_of(self, entry: Entry) -> str:
        """The label of the model of a call that ends now."""
        call = self._unanswered.calls.get(entry.experiment or "", {}).get(
            -1 if entry.ordinal is None else entry.ordinal
        )
        return self._label(call.model) if call else UNKNOWN

    def _label(self, model: str) -> str:
        if model not in self._models:
            self._models[model] = self._metrics.begin_model(model)
        return self._models[model]

    def _lose(self, lost: UnansweredCall) -> None:
        model = self._label(lost.model)
        self._metrics.calls.labels(model, "interrupted" if lost.interrupted else "failed").inc()
        if lost.cost and lost.cost.usd is not None:
            self._metrics.cost_usd.labels(model).inc(lost.cost.usd)

    def _count(self, event: Event, experiment: str, model: str) -> None:
        match event:
            case CallStarted():
                self._label(event.model)
            case CallFinished():
                self._count_answer(event, model)
            case CallFailed():
                self._count_failure(event, model)
            case CodeTested():
                self._count_verdict("gate", event.verdict)
            case CandidateScored() if event.held_out:
                self._count_verdict("held_out", event.held_out)
            case ExperimentStarted() | ExperimentFinished():
                self._count_experiment(event, experiment)
            case _:
                self._follow_state(event)

    def _count_experiment(self, event: ExperimentStarted | ExperimentFinished, experiment: str) -> None:
        if isinstance(event, ExperimentStarted):
            self._started.add(experiment)
            self._running.add(experiment)
        else:
            self._running.discard(experiment)
            self._metrics.experiments.labels(event.outcome).inc()

    def _follow_state(self, event: Event) -> None:
        if isinstance(event, ControlObeyed) and event.target is None:
            self.paused = event.what == "pause"
        elif isinstance(event, MemoryLevelChanged):
            self.memory_level = MEMORY_LEVELS.index(event.level)

    def _count_answer(self, event: CallFinished, model: str) -> None:
        metrics = self._metrics
        metrics.calls.labels(model, "cached" if event.cached else "answered").inc()
        if event.seconds is not None and not event.cached:
            metrics.call_seconds.labels(model).observe(event.seconds)
        for direction, tokens in (("input", event.usage.input_tokens), ("output", event.usage.output_tokens)):
            if tokens is None:
                metrics.unreported.labels(model, direction).inc()
            else:
                metrics.tokens.labels(model, direction).inc(tokens)
        if event.cost.usd is None:
            metrics.unpriced.labels(model).inc()
        else:
            metrics.cost_usd.labels(model).inc(event.cost.usd)

    def _count_failure(self, event: CallFailed, model: str) -> None:
        status = self._metrics.labels.bounded("status", str(event.status or "none"))
        self._metrics.failures.labels(model, status).inc()
        if event.wait_seconds is not None:
            self._metrics.retries.labels(model).inc()

    def _count_verdict(self, tests: str, verdict: Verdict) -> None:
        self._metrics.verdicts.labels(tests, "passed" if verdict.passed else verdict.error or UNKNOWN).inc()
