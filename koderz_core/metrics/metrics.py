"""All metrics of a process, in one registry. Their names, units and help texts are in this file only.

Counters start at 0 with the process. They count what the process did, so the sum of several processes counts nothing
twice. An unknown cost or token count adds nothing to the sums and is counted separately.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol, get_args

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as MEDIA_TYPE

from koderz_core.metrics.benchmark_watch import CALL_RESULTS, BenchmarkWatch
from koderz_core.models.free_memory import Memory, read_memory
from koderz_core.records import Outcome

__all__ = ["MEDIA_TYPE", "Metrics", "Queue"]

MOST = 50
OTHER = "other"
LONGEST = 100  # characters
CALL_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)
LAG_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0)


class Queue(Protocol):
    """A queue of `koderz serve`. ``pending``: accepted jobs that have not ended."""

    pending: int
    accepted: int
    refused: int


class Metrics:
    """The metrics. May be used from any thread."""

    def __init__(
        self,
        version: str,
        clock: Callable[[], float] = time.time,
        memory: Callable[[], Memory | None] = read_memory,
    ) -> None:
        """``clock``: seconds since 1970."""
        self.clock, self._memory = clock, memory
        self.registry = registry = CollectorRegistry()
        self.labels = Labels()
        self._watches: set[BenchmarkWatch] = set()
        self._queues: dict[str, Queue] = {}
        self._guard = threading.Lock()  # guards both
        disable_created_metrics()  # type: ignore[no-untyped-call]  # twice the series, and Prometheus ignores them
        self._define_events(registry)
        self._define_calls(registry)
        self.requests = Counter(
            "koderz_serve_requests",
            "Requests to koderz serve, by the endpoint that received them.",
            ["endpoint", "status"],
            registry=registry,
        )
        ProcessCollector(registry=registry)
        Gauge("koderz_info", "The version of koderz.", ["version"], registry=registry).labels(version).set(1)
        registry.register(self)

    def _define_events(self, registry: CollectorRegistry) -> None:
        self.events = Counter("koderz_events", "Events in journals.", ["kind"], registry=registry)
        self.event_lag = Histogram(
            "koderz_event_lag_seconds",
            "Time from an event until the journal contains it.",
            buckets=LAG_SECONDS,
            registry=registry,
        )
        self.experiments = Counter("koderz_experiments", "Experiments that ended.", ["outcome"], registry=registry)
        for outcome in get_args(Outcome):
            self.experiments.labels(outcome)
        self.verdicts = Counter(
            "koderz_verdicts",
            "Tested programs, by verdict: passed, or the class of the first failure.",
            ["tests", "verdict"],
            registry=registry,
        )

    def _define_calls(self, registry: CollectorRegistry) -> None:
        """The metrics by model. Those of costs and tokens have no series until a value is known."""
        self.calls = Counter(
            "koderz_calls", "Ended calls to models, by result.", ["model", "result"], registry=registry
        )
        self.call_seconds = Histogram(
            "koderz_call_seconds",
            "Duration of answered calls, except calls that the response cache answered.",
            ["model"],
            buckets=CALL_SECONDS,
            registry=registry,
        )
        self.failures = Counter(
            "koderz_call_failures", "Failed requests to models, by HTTP status.", ["model", "status"], registry=registry
        )
        self.retries = Counter(
            "koderz_call_retries", "Failed requests that koderz retries.", ["model"], registry=registry
        )
        self.tokens = Counter(
            "koderz_tokens",
            "Tokens that providers reported for answered calls.",
            ["model", "direction"],
            registry=registry,
        )
        self.unreported = Counter(
            "koderz_calls_without_tokens",
            "Answered calls whose tokens were not reported.",
            ["model", "direction"],
            registry=registry,
        )
        self.cost_usd = Counter("koderz_cost_usd", "Known costs of calls, in US dollars.", ["model"], registry=registry)
        self.unpriced = Counter(
            "koderz_unpriced_calls", "Answered calls whose cost is unknown.", ["model"], registry=registry
        )

    def text(self) -> bytes:
        """All metrics in the format ``MEDIA_TYPE``."""
        return generate_latest(self.registry)

    def watch(self) -> BenchmarkWatch:
        """The watch of one benchmark, for the runner. The benchmark counts as running from its first event."""
        return BenchmarkWatch(self, self._follow)

    def add_queues(self, queues: Mapping[str, Queue]) -> None:
        """Also show the figures of these queues."""
        with self._guard:
            self._queues.update(queues)

    def begin_model(self, model: str) -> str:
        """The label of a model, whose counters of calls then exist: a rate needs their first value, 0."""
        label = self.labels.bounded("model", model)
        for result in CALL_RESULTS:
            self.calls.labels(label, result)
        for counter in (self.call_seconds, self.retries, self.unpriced):
            counter.labels(label)
        return label

    def collect(self) -> Iterator[Metric]:
        """What exists now, read when Prometheus asks."""
        with self._guard:
            watches, queues = list(self._watches), dict(self._queues)
        running = [watch for watch in watches if not watch.paused]
        benchmarks = GaugeMetricFamily("koderz_benchmarks", "Benchmarks in this process, by state.", labels=["state"])
        benchmarks.add_metric(["running"], len(running))
        benchmarks.add_metric(["paused"], len(watches) - len(running))
        yield benchmarks
        for name, what, values in (
            ("koderz_experiments_running", "Experiments under way.", (watch.running for watch in watches)),
            ("koderz_experiments_waiting", "Experiments not started yet.", (watch.waiting for watch in watches)),
            ("koderz_calls_running", "Calls under way.", (watch.calls_running for watch in watches)),
            ("koderz_calls_retrying", "Failed calls that koderz is retrying.", (watch.retrying for watch in watches)),
        ):
            yield GaugeMetricFamily(name, what, sum(values))
        yield GaugeMetricFamily(
            "koderz_memory_level",
            "Level of the memory watchdog: 0 = enough memory, 1 = low (no experiment starts), 2 = critical "
            "(experiments pause).",
            max((watch.memory_level for watch in watches), default=0),
        )
        last = GaugeMetricFamily(
            "koderz_last_event_timestamp_seconds",
            "Time of the last event of a running benchmark. If several benchmarks run, the earliest of these times. "
            "Absent if no benchmark runs.",
        )
        if running:
            last.add_metric([], min(watch.last_at for watch in running))
        yield last
        yield from self._memory_now()
        yield from _of_queues(queues)

    def _memory_now(self) -> Iterator[Metric]:
        """No metrics if the memory is unknown."""
        if memory := self._memory():
            yield GaugeMetricFamily("koderz_memory_free_bytes", "Free memory.", memory.free_bytes)
            yield GaugeMetricFamily("koderz_memory_total_bytes", "Total memory.", memory.total_bytes)

    def _follow(self, watch: BenchmarkWatch, active: bool) -> None:
        with self._guard:
            (self._watches.add if active else self._watches.discard)(watch)


class Labels:
    """The values of each label: text from outside, made printable and limited in number. Beyond ``MOST``: ``OTHER``.

    Every value costs memory, a server names its models itself, and a provider may answer any status. The library
    escapes the values in its output. May be used from any thread.
    """

    def __init__(self) -> None:
        self._known: dict[str, dict[str, str]] = {}
        self._guard = threading.Lock()  # guards _known

    def bounded(self, label: str, text: str) -> str:
        """The value for a text: always the same one while the process runs."""
        with self._guard:
            known = self._known.setdefault(label, {})
            if text in known:
                return known[text]
            if len(known) >= MOST:
                return OTHER
            known[text] = _printable(text)
            return known[text]


def _printable(text: str) -> str:
    """A text of at most ``LONGEST`` characters; a question mark replaces each character that cannot be printed."""
    cut = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return "".join(character if character.isprintable() else "?" for character in cut)


def _of_queues(queues: Mapping[str, Queue]) -> Iterator[Metric]:
    pending = GaugeMetricFamily(
        "koderz_serve_pending", "Accepted jobs of koderz serve that have not ended.", labels=["queue"]
    )
    accepted = CounterMetricFamily("koderz_serve_jobs", "Jobs that koderz serve accepted.", labels=["queue"])
    refused = CounterMetricFamily(
        "koderz_serve_refused", "Requests that koderz serve refused because a queue was full.", labels=["queue"]
    )
    for name, queue in queues.items():
        pending.add_metric([name], queue.pending)
        accepted.add_metric([name], queue.accepted)
        refused.add_metric([name], queue.refused)
    yield from (pending, accepted, refused)
