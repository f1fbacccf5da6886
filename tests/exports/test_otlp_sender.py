"""Sending traces to a receiver by OTLP/HTTP: the same spans as in the file, all of them, and no secret in a message."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from receiver import Answer, Receiver, receiving
from test_otlp import RUN, exported

from koderz_core.errors import ReceiverError, UsageError
from koderz_core.exports import otlp_sender
from koderz_core.exports.otlp_sender import batches, endpoint_of, send
from koderz_core.exports.spans import TraceSpan

KEY = "planted-header-0123456789"
SPAN = TraceSpan(b"t" * 16, b"s" * 8, None, "a span", "client", 1.0, 2.5, {"text": "x" * 100, "number": 3})


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


def partial(rejected: int) -> bytes:
    answer = ExportTraceServiceResponse()
    answer.partial_success.rejected_spans = rejected
    answer.partial_success.error_message = f"too long; the key was {KEY}"
    return bytes(answer.SerializeToString())


def test_a_receiver_gets_exactly_the_spans_of_the_file_and_the_same_ids_again(koderz: Any, receiver: Receiver) -> None:
    koderz(*RUN)
    written = {
        (span["traceId"], span["spanId"], span.get("parentSpanId", ""), span["name"], int(span["endTimeUnixNano"]))
        for spans in exported(koderz)
        for span in spans
    }
    for _ in range(2):
        receiver.spans.clear()
        said = koderz("export", "own", "--format", "otlp", "--endpoint", receiver.url, "--header", f"x-key={KEY}")
        assert said.code == 0, said.err
        assert f"4 traces with {len(written)} spans" in said.err
        assert len(receiver.spans) == len(written)
        assert {
            (of.trace_id.hex(), of.span_id.hex(), of.parent_span_id.hex(), of.name, of.end_time_unix_nano)
            for of in receiver.spans
        } == written
    request = receiver.requests[0]
    assert (request["path"], request["x-key"], request["content-type"]) == ("/v1/traces", KEY, "application/x-protobuf")


def test_spans_are_sent_in_batches(receiver: Receiver) -> None:
    spans = [replace(SPAN, id=number.to_bytes(8, "big")) for number in range(1, 1301)]
    sent = send([spans], endpoint_of(receiver.url, ()))
    assert (sent.traces, sent.spans) == (1, 1300)
    assert receiver.sizes == [512, 512, 276]


def test_a_batch_has_a_limited_size() -> None:
    long = replace(SPAN, attributes={"text": "x" * (otlp_sender.BATCH_CHARACTERS // 2 + 1)})
    assert [len(batch) for batch in batches([long, long, SPAN])] == [1, 2]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(200, partial(1)), "rejected 1 of 1 spans"),
        (Answer(200, b'{"partialSuccess": {"rejectedSpans": "1"}}', "application/json"), "rejected 1 of 1 spans"),
        (Answer(200, b"<html>", "text/html"), "not a valid OTLP response"),
        (Answer(200, b"\xff\xff"), "not a valid OTLP response"),
        (Answer(200, b"\xff\xff", "application/json"), "not a valid OTLP response"),
        (Answer(200, b"[" * 9_000, "application/json"), "not a valid OTLP response"),
        (Answer(302, headers={"Location": "/elsewhere"}), "answered 302"),
        (Answer(401, f"wrong key {KEY}".encode(), "text/plain"), "answered 401"),
        (Answer(404), "answered 404"),
        (Answer(500, b'{"detail": "a\\u001b[2Jb"}', "application/json"), "answered 500"),
    ],
)
def test_a_refusal_is_an_error_with_the_number_of_spans_that_were_accepted(
    receiver: Receiver, answer: Answer, said: str
) -> None:
    receiver.answers = [Answer(), answer]
    spans = [replace(SPAN, id=number.to_bytes(8, "big")) for number in range(1, otlp_sender.BATCH_SPANS + 2)]
    with pytest.raises(ReceiverError, match=said) as error:
        send([spans], endpoint_of(receiver.url, [f"authorization=Bearer {KEY}"]))
    assert f"accepted {otlp_sender.BATCH_SPANS} spans" in str(error.value)
    assert KEY not in str(error.value)
    assert str(error.value).isprintable()
    assert len(receiver.requests) == 2


def test_a_busy_receiver_gets_the_batch_again(receiver: Receiver) -> None:
    receiver.answers = [Answer(503, headers={"Retry-After": "7"}), Answer(429), Answer()]
    waits: list[float] = []
    assert send([[SPAN]], endpoint_of(receiver.url, ()), waits.append).spans == 1
    assert waits == [7.0, 2.0]
    assert len(receiver.spans) == 1


def test_a_receiver_that_closes_the_connection_gets_the_batch_again(receiver: Receiver) -> None:
    receiver.answers = [Answer(status=0), Answer()]
    waits: list[float] = []
    assert send([[SPAN]], endpoint_of(receiver.url, ()), waits.append).spans == 1
    assert (len(receiver.spans), waits) == (1, [1.0])


def test_a_receiver_that_stays_busy_is_an_error(receiver: Receiver) -> None:
    receiver.answers = [Answer(503)] * 10
    waits: list[float] = []
    with pytest.raises(ReceiverError, match="answered 503"):
        send([[SPAN]], endpoint_of(receiver.url, ()), waits.append)
    assert waits == [1.0, 2.0, 4.0, 8.0]


def test_no_header_and_no_key_in_the_address_is_shown_or_logged(
    koderz: Any, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    koderz(*RUN)
    receiver.answers = [Answer(400, f"bad: {KEY}".encode(), "text/plain")]
    url = f"{receiver.url}/v1/traces?api_key={KEY}"
    said = koderz("export", "--format", "otlp", "--endpoint", url, "--header", f"authorization={KEY}")
    assert said.code == 3
    assert "answered 400" in said.err
    assert KEY not in said.out + said.err + caplog.text
    assert KEY not in repr(endpoint_of(receiver.url, [f"authorization={KEY}"]))


def test_other_prices_are_refused_as_in_a_file(koderz: Any, receiver: Receiver) -> None:
    koderz(*RUN)
    said = koderz("export", "--format", "otlp", "--endpoint", receiver.url, "--watts", "10")
    assert (said.code, "only with the recorded prices" in said.err, receiver.requests) == (2, True, [])


def test_a_receiver_that_cannot_be_reached_is_an_error(koderz: Any) -> None:
    koderz(*RUN)
    said = koderz("export", "--format", "otlp", "--endpoint", "http://127.0.0.1:1")
    assert said.code == 3
    assert "cannot be reached" in said.err


def test_offline_no_address_beyond_this_machine_is_contacted(koderz: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    koderz(*RUN)
    monkeypatch.setenv("KODERZ_OFFLINE", "1")
    said = koderz("export", "--format", "otlp", "--endpoint", "http://receiver.example")
    assert said.code == 3
    assert "KODERZ_OFFLINE" in said.err


@pytest.mark.parametrize(
    "options",
    [
        ("--endpoint", "http://127.0.0.1:1"),
        ("--format", "otlp", "--endpoint", ""),
        ("--format", "otlp", "--header", "a=b"),
        ("--format", "otlp", "--endpoint", "http://127.0.0.1:1", "--out", "-"),
        ("--format", "otlp", "--endpoint", "nowhere"),
        ("--format", "otlp", "--endpoint", f"http://me:{KEY}@127.0.0.1:1"),
        ("--format", "otlp", "--endpoint", "http://127.0.0.1:1", "--header", KEY),
        ("--format", "otlp", "--endpoint", "http://127.0.0.1:1", "--header", f"a b={KEY}"),
        ("--format", "otlp", "--endpoint", "http://127.0.0.1:1", "--header", f"a={KEY}\r\nb: c"),
        ("--format", "otlp", "--endpoint", "http://127.0.0.1:1", "--header", f"a={KEY}é"),
    ],
)
def test_impossible_options_are_refused_without_quoting_them(koderz: Any, options: tuple[str, ...]) -> None:
    said = koderz("export", *options)
    assert said.code == 2
    assert "--endpoint" in said.err or "--header" in said.err
    assert KEY not in said.err


def test_a_socks_proxy_without_its_package_is_an_error_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "socks5://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(UsageError, match=r"HTTPS_PROXY names a SOCKS proxy.*pip install 'httpx\[socks\]'"):
        send([[SPAN]], endpoint_of("https://receiver.example", ()))


def test_a_missing_package_is_named(koderz: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    koderz(*RUN)
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.collector.trace.v1", None)
    said = koderz("export", "--format", "otlp", "--endpoint", "http://127.0.0.1:1")
    assert said.code == 2
    assert "pip install 'koderz[otel]'" in said.err
