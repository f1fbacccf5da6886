"""The metrics that an OpenTelemetry receiver gets are those that Prometheus reads, and a receiver never stops a run."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from loopback import listening
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from test_metrics import Samples, samples

from koderz_core import KoderzError, Order, Wanted, open_workspace
from koderz_core.metrics import sender
from koderz_core.workspace import Workspace

KEY = "planted-header-0123456789"


@dataclass
class Receiver:
    """``status``: what it answers. ``requests``: what it got, as in the protocol."""

    url: str = ""
    status: int = 200
    requests: list[Any] = field(default_factory=list)  # Any: generated messages
    headers: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def receiving() -> Iterator[Receiver]:
    known = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            known.requests.append(ExportMetricsServiceRequest.FromString(body))
            known.headers.append({"path": self.path, **{name.lower(): text for name, text in self.headers.items()}})
            self.send_response(known.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

    with listening(Handler) as url:
        known.url = url
        yield known


def as_samples(request: Any) -> Samples:  # Any: a generated message
    """The values as Prometheus names them."""
    found: dict[tuple[str, ...], float] = {}
    for metric in request.resource_metrics[0].scope_metrics[0].metrics:
        for kind, ending in ((metric.gauge, ""), (metric.sum, "_total")):
            for point in kind.data_points:
                found[(f"{metric.name}{ending}", *labels(point))] = point.as_double
        for point in metric.histogram.data_points:
            bounds = [*(str(bound) for bound in point.explicit_bounds), "+Inf"]
            for bound, count in zip(bounds, accumulate(point.bucket_counts), strict=True):
                found[(f"{metric.name}_bucket", bound, *labels(point))] = count
            found[(f"{metric.name}_count", *labels(point))] = point.count
            found[(f"{metric.name}_sum", *labels(point))] = point.sum
    return found


def labels(point: Any) -> list[str]:  # Any: a generated message
    return [item.value.string_value for item in sorted(point.attributes, key=lambda item: item.key)]


def ran(opened: Workspace) -> None:
    opened.runs.run(opened.plans.plan(Order([Wanted("direct", {"coder": "scripted/weak"})], "0:3")))


def test_a_receiver_gets_at_the_end_what_prometheus_reads(tmp_path: Path) -> None:
    with receiving() as receiver:
        settings = {"metrics_otlp": receiver.url, "metrics_otlp_headers": f"authorization=Bearer {KEY},x-team=a=b"}
        with open_workspace(home=tmp_path, **settings) as opened:
            ran(opened)
            expected = samples(opened.monitoring.metrics)
    last, headers = receiver.requests[-1], receiver.headers[-1]
    found = as_samples(last)
    changing = ("process_", "koderz_memory_free")
    assert {key: value for key, value in found.items() if not key[0].startswith(changing)} == {
        key: value for key, value in expected.items() if not key[0].startswith(changing)
    }
    assert sum(value for key, value in found.items() if key[0] == "koderz_calls_total") == 3
    assert (headers["path"], headers["authorization"], headers["x-team"]) == ("/v1/metrics", f"Bearer {KEY}", "a=b")
    resource = {item.key: item.value.string_value for item in last.resource_metrics[0].resource.attributes}
    assert resource["service.name"] == "koderz"


def test_metrics_are_sent_while_a_process_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "SECONDS", 0.05)
    with receiving() as receiver, open_workspace(home=tmp_path, metrics_otlp=receiver.url) as opened:
        opened.monitoring.begin()
        wait_until(lambda: len(receiver.requests) > 2)


def test_a_receiver_that_refuses_is_one_warning_without_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sender, "SECONDS", 0.05)
    caplog.set_level(logging.DEBUG)
    with receiving() as receiver:
        receiver.status = 401
        settings = {"metrics_otlp": f"{receiver.url}/?key={KEY}", "metrics_otlp_headers": f"authorization={KEY}"}
        with open_workspace(home=tmp_path, **settings) as opened:
            ran(opened)
            wait_until(lambda: len(receiver.requests) > 2)
    assert caplog.text.count("answered 401") == 1
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"metrics_otlp": "http://127.0.0.1:1"}, "cannot be reached"),
        ({"metrics_otlp": "http://receiver.example:4318", "offline": True}, "KODERZ_OFFLINE"),
    ],
)
def test_a_receiver_that_cannot_be_reached_does_not_stop_a_benchmark(
    settings: dict[str, Any], said: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with open_workspace(home=tmp_path, **settings) as opened:
        ran(opened)
    assert caplog.text.count("No metrics are sent") == 1
    assert said in caplog.text


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"metrics_otlp": "localhost"}, "KODERZ_METRICS_OTLP is invalid"),
        ({"metrics_otlp": "http://a:b@127.0.0.1:4318"}, "KODERZ_METRICS_OTLP_HEADERS"),
        ({"metrics_otlp": "http://127.0.0.1:4318", "metrics_otlp_headers": KEY}, "Write it as NAME=VALUE"),
    ],
)
def test_a_receiver_that_is_set_wrongly_is_an_error_before_the_first_call(
    settings: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with open_workspace(home=tmp_path, **settings) as opened, pytest.raises(KoderzError, match=said) as error:
        ran(opened)
    assert KEY not in str(error.value)


def wait_until(happened: Callable[[], bool]) -> None:
    for _ in range(1000):
        if happened():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen within ten seconds")
