"""The metrics that an OpenTelemetry receiver gets are those that Prometheus reads, and a receiver never stops a run."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import threading
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
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from test_metrics import Samples, samples

from koderz_core import Order, Wanted, open_workspace
from koderz_core.config import load_settings
from koderz_core.errors import ConfigError
from koderz_core.metrics import sender
from koderz_core.workspace import Workspace

KEY = "planted-header-0123456789"


@dataclass
class Receiver:
    """``answer``: status, kind and body of what it answers. ``requests``: what it got, as in the protocol."""

    url: str = ""
    answer: tuple[int, str, bytes] = (200, "application/x-protobuf", b"")
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
            status, kind, content = known.answer
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

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
        settings = {
            "metrics_otlp": receiver.url,
            "metrics_otlp_headers": f"authorization=Bearer {KEY},content-type=x,x-team=a%2Cb",
        }
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
    assert (headers["path"], headers["authorization"], headers["x-team"]) == ("/v1/metrics", f"Bearer {KEY}", "a,b")
    assert headers["content-type"] == "application/x-protobuf"
    resource = {item.key: item.value.string_value for item in last.resource_metrics[0].resource.attributes}
    assert resource["service.name"] == "koderz"


def test_metrics_are_sent_while_a_process_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "SECONDS", 0.05)
    with receiving() as receiver, open_workspace(home=tmp_path, metrics_otlp=receiver.url) as opened:
        opened.monitoring.begin()
        wait_until(lambda: len(receiver.requests) > 2)


def partial() -> bytes:
    answer = ExportMetricsServiceResponse()
    answer.partial_success.rejected_data_points = 5
    answer.partial_success.error_message = f"the key was {KEY}"
    return bytes(answer.SerializeToString())


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((401, "text/plain", KEY.encode()), "answered 401"),
        ((307, "text/plain", b""), "answered 307"),
        ((200, "text/html", b"<html>"), "not a valid OTLP response"),
        ((200, "application/x-protobuf", partial()), "rejected 5 values"),
    ],
)
def test_a_receiver_that_refuses_is_one_warning_without_a_secret(
    answer: tuple[int, str, bytes],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(sender, "SECONDS", 0.05)
    caplog.set_level(logging.DEBUG)
    with receiving() as receiver:
        receiver.answer = answer
        settings = {"metrics_otlp": f"{receiver.url}/?key={KEY}", "metrics_otlp_headers": f"authorization={KEY}"}
        with open_workspace(home=tmp_path, **settings) as opened:
            opened.monitoring.begin()
            wait_until(lambda: len(receiver.requests) > 2)
    assert caplog.text.count(said) == 1
    assert KEY not in caplog.text


def test_a_receiver_that_does_not_answer_delays_the_end_by_some_seconds_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender, "CLOSING_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        opened = open_workspace(home=tmp_path, metrics_otlp=f"http://127.0.0.1:{silent.getsockname()[1]}")
        opened.monitoring.begin()
        connection, _ = silent.accept()  # the first request, which gets no answer
        begin = time.monotonic()
        opened.close()
        assert time.monotonic() - begin < sender.REQUEST_SECONDS
        connection.close()
    for thread in threading.enumerate():
        if thread.name == "metrics sender":
            thread.join(20)


def test_a_fault_of_any_kind_is_a_warning_and_the_next_request_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sender, "SECONDS", 0.05)
    data, faults = sender.metrics_data, [FileNotFoundError("no certificates")]

    def failing(*given: Any) -> Any:
        if faults:
            raise faults.pop()
        return data(*given)

    monkeypatch.setattr(sender, "metrics_data", failing)
    with receiving() as receiver, open_workspace(home=tmp_path, metrics_otlp=receiver.url) as opened:
        opened.monitoring.begin()
        wait_until(lambda: bool(receiver.requests))
    assert "FileNotFoundError: no certificates" in caplog.text


def test_a_process_that_is_ended_by_a_signal_sends_its_last_counts(tmp_path: Path) -> None:
    with receiving() as receiver:
        command = [sys.executable, "-c", "from koderz_core.cli import main; main()", "benchmark", "--problems", "0:30"]
        environment = os.environ | {"KODERZ_HOME": str(tmp_path), "KODERZ_METRICS_OTLP": receiver.url}
        with subprocess.Popen(
            [*command, "--coder", "scripted/slow"], env=environment, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stderr is not None
            assert any("1/30 experiments" in line or " solved" in line for line in process.stderr)
            process.terminate()
            process.communicate(timeout=60)
    last = as_samples(receiver.requests[-1])
    assert sum(value for key, value in last.items() if key[0] == "koderz_experiments_total") > 0


def test_the_values_of_headers_and_the_key_in_the_address_are_secrets(tmp_path: Path) -> None:
    headers = f"authorization=Bearer%20{KEY},x-key={KEY[::-1]},"
    url = f"https://receiver.example/v1?api_key={KEY}42"
    settings = load_settings(home=tmp_path, metrics_otlp=url, metrics_otlp_headers=headers)
    masked = settings.redaction().text(f"{KEY} {KEY[::-1]} {KEY}42 authorization")
    assert KEY not in masked
    assert KEY[::-1] not in masked
    assert masked.endswith(" authorization")


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
    assert caplog.text.count("Sending the metrics failed") == 1
    assert said in caplog.text


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"metrics_otlp": "localhost"}, "metrics_otlp: this is not an address"),
        ({"metrics_otlp": "http://a:b@127.0.0.1:4318"}, "Pass both in a header"),
        ({"metrics_otlp_headers": KEY}, "Write it as NAME=VALUE"),
        ({"metrics_otlp_headers": f"a={KEY}%0D%0AHost: elsewhere"}, "Write it as NAME=VALUE"),
    ],
)
def test_settings_of_a_receiver_are_checked_like_all_others(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said) as error:
        load_settings(**settings)
    assert KEY not in str(error.value)


def wait_until(happened: Callable[[], bool]) -> None:
    for _ in range(1000):
        if happened():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen within ten seconds")
