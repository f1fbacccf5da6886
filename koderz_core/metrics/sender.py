"""Sends the metrics to an OpenTelemetry receiver by OTLP/HTTP with protobuf: at once, regularly and at the end.

Counters and histograms are sums since the start of the process, so a request that fails loses nothing: the next one
contains what it contained. Names and labels are those of Prometheus, without the suffix ``_total`` of counters, which a
receiver appends that writes for Prometheus.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from koderz_core.egress import trace
from koderz_core.errors import KoderzError, ReceiverError, UsageError
from koderz_core.otlp import Attributes, Endpoint, Fields, encoded, exchange, nanoseconds, parsed
from koderz_core.proxies import proxy_of

if TYPE_CHECKING:
    from prometheus_client.core import CollectorRegistry, Metric
    from prometheus_client.samples import Sample

SECONDS = 15.0  # between two requests
REQUEST_SECONDS = 5.0
CLOSING_SECONDS = 6.0  # for the last request: Docker kills a process ten seconds after it asked it to end
SETTING, PATH = "KODERZ_METRICS_OTLP", "/v1/metrics"
_CUMULATIVE = 2
_LOG = logging.getLogger("koderz")

Check = Callable[[str, str, str], None]


class MetricsSender:
    """Sends in a thread of its own until ``close``. The first failure after a success is a warning."""

    def __init__(self, to: Endpoint, registry: CollectorRegistry, version: str, check: Check) -> None:
        """``check``: the gate of outbound addresses. Raises UsageError if a package is missing."""
        self._to, self._registry, self._check = to, registry, check
        self._begin = time.time()
        self._resource = {
            "service.name": "koderz",
            "service.version": version,
            "service.instance.id": str(uuid4()),
        }
        self._service = _service()
        self._failing = False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="metrics sender", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Send once more, and stop. Idempotent."""
        self._closing.set()
        self._thread.join(CLOSING_SECONDS)

    def _run(self) -> None:
        """Send at the start too: a rate needs the first value of a counter."""
        self._try(f"koderz tries again every {SECONDS:g} seconds")
        while not self._closing.wait(SECONDS):
            self._try(f"koderz tries again every {SECONDS:g} seconds")
        self._try("The last metric values of this process are lost")

    def _try(self, then: str) -> None:
        try:
            self._send()
        except Exception as error:  # noqa: BLE001 (the edge of a thread: no fault of a receiver may end it)
            if not self._failing:
                what = error if isinstance(error, KoderzError) else f"Cause: {type(error).__name__}: {error}."
                _LOG.warning("Sending the metrics failed. %s %s.", what, then)
            self._failing = True
        else:
            self._failing = False

    def _send(self) -> None:
        """Raises ReceiverError, OfflineError, ConfigError."""
        import httpx  # noqa: PLC0415 (heavy)
        from google.protobuf.json_format import ParseDict  # noqa: PLC0415 (optional, heavy)

        self._check(self._to.url, "the metrics", SETTING)
        data = metrics_data(self._registry.collect(), self._begin, time.time(), self._resource)
        body = ParseDict(data, self._service.ExportMetricsServiceRequest()).SerializeToString()
        try:
            with httpx.HTTPTransport(proxy=proxy_of(self._to.url)) as transport:
                answer, content = exchange(transport, self._to, body, REQUEST_SECONDS, trace)
        except httpx.HTTPError as error:
            raise ReceiverError(
                f"The receiver at {self._to.shown} cannot be reached ({type(error).__name__})."
            ) from None
        if answer.status_code != HTTPStatus.OK:
            raise self._refused(f"{answer.status_code}")
        self._accepted(answer.headers.get("content-type", ""), content)

    def _accepted(self, kind: str, content: bytes) -> None:
        """Raise ReceiverError if the answer does not accept all metrics."""
        answer = self._service.ExportMetricsServiceResponse()
        try:
            parsed(answer, kind, content)
        except ValueError as error:
            raise self._refused(f"with HTTP status 200, but {error}") from None
        if rejected := answer.partial_success.rejected_data_points:
            raise self._refused(f"that it rejected {rejected} values")

    def _refused(self, how: str) -> ReceiverError:
        """The receiver's own words are not shown, because they may repeat a header."""
        return ReceiverError(f"The receiver at {self._to.shown} answered {how}. Check {SETTING} and {SETTING}_HEADERS.")


def _service() -> Any:  # Any: a generated module
    try:
        from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2  # noqa: PLC0415 (optional, heavy)
    except ImportError:
        raise UsageError(f"{SETTING} needs a package: pip install 'koderz[otel]'") from None
    return metrics_service_pb2


def metrics_data(families: Iterable[Metric], begin: float, now: float, resource: Attributes) -> Fields:
    """The message MetricsData. ``begin``, ``now``: seconds since 1970 between which the counters counted."""
    times = {"startTimeUnixNano": nanoseconds(begin), "timeUnixNano": nanoseconds(now)}
    metrics = [metric for family in families for metric in _metrics(family, times)]
    scope = {"scope": {"name": "koderz"}, "metrics": metrics}
    return {"resourceMetrics": [{"resource": {"attributes": encoded(resource)}, "scopeMetrics": [scope]}]}


def _metrics(family: Metric, times: Mapping[str, str]) -> Iterator[Fields]:
    """The metric of a family; none if it has no values yet."""
    if not family.samples:
        return
    about = {"name": family.name, "description": family.documentation}
    if family.type == "histogram":
        points = [_histogram(labels, samples, times) for labels, samples in _series(family).items()]
        yield {**about, "histogram": {"dataPoints": points, "aggregationTemporality": _CUMULATIVE}}
        return
    points = [
        {**times, "attributes": encoded(sample.labels), "asDouble": float(sample.value)} for sample in family.samples
    ]
    if family.type == "counter":
        yield {
            **about,
            "sum": {"dataPoints": points, "aggregationTemporality": _CUMULATIVE, "isMonotonic": True},
        }
    else:
        yield {**about, "gauge": {"dataPoints": points}}


def _series(family: Metric) -> Mapping[tuple[tuple[str, str], ...], list[Sample]]:
    """The samples of a histogram by their labels, except the label of the bucket."""
    found: defaultdict[tuple[tuple[str, str], ...], list[Sample]] = defaultdict(list)
    for sample in family.samples:
        found[tuple(item for item in sample.labels.items() if item[0] != "le")].append(sample)
    return found


def _histogram(labels: tuple[tuple[str, str], ...], samples: Iterable[Sample], times: Mapping[str, str]) -> Fields:
    """A point of a histogram. The buckets of Prometheus are cumulative, and those of OTLP are not."""
    buckets, total = [], 0.0
    for sample in samples:
        if sample.name.endswith("_bucket"):
            buckets.append((float(sample.labels["le"]), sample.value))
        elif sample.name.endswith("_sum"):
            total = sample.value
    counts = [0.0, *(count for _, count in buckets)]
    return {
        **times,
        "attributes": encoded(dict(labels)),
        "explicitBounds": [bound for bound, _ in buckets[:-1]],  # the last one is infinite
        "bucketCounts": [str(int(after - before)) for before, after in pairwise(counts)],
        "count": str(int(counts[-1])),
        "sum": total,
    }
