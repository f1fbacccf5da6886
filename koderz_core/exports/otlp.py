"""OpenTelemetry traces in the OTLP JSON file format: one line of TracesData for each experiment.

Ids are hexadecimal, 64-bit integers are strings and enumerations are numbers, as the encoding requires
(https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding,
https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from koderz_core.exports import genai_conventions as names
from koderz_core.exports.recording import Recording
from koderz_core.exports.spans import Attribute, Attributes, TraceSpan, spans_of
from koderz_core.report.dump import DumpFile

Fields = dict[str, Any]  # Any: a JSON object
Encode = Callable[[bytes], str]
_KINDS: Mapping[str, int] = {"internal": 1, "client": 3}
_ERROR = 2
_LATEST = 1.8e10  # seconds: the field has 64 bits


def write(recordings: Iterable[Recording]) -> Iterator[DumpFile]:
    """The pieces of one file: one line with the trace of each experiment that has started."""
    for spans in traces(recordings):
        line = json.dumps(traces_data(spans), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        yield DumpFile("traces.jsonl", f"{line}\n".encode(errors="replace"))


def traces(recordings: Iterable[Recording]) -> Iterator[list[TraceSpan]]:
    """The spans of each experiment that has started."""
    for recording in recordings:
        for configuration, label in recording.configurations():
            for transcript in recording.transcripts(configuration.id):
                yield spans_of(recording, configuration, label, transcript)


def traces_data(spans: Sequence[TraceSpan], encode: Encode = bytes.hex) -> Fields:
    """The message TracesData with these spans. ``encode``: writes ids as text."""
    scope = {
        "name": "koderz",
        "attributes": _attributes({names.CONVENTIONS: f"OpenTelemetry GenAI {names.GEN_AI_VERSION}"}),
    }
    resource = _attributes({names.SERVICE_NAME: "koderz"})
    scope_spans = [{"scope": scope, "spans": [_span(span, encode) for span in spans]}]
    return {"resourceSpans": [{"resource": {"attributes": resource}, "scopeSpans": scope_spans}]}


def _span(span: TraceSpan, encode: Encode) -> Fields:
    fields: Fields = {
        "traceId": encode(span.trace),
        "spanId": encode(span.id),
        "name": span.name,
        "kind": _KINDS[span.kind],
        "startTimeUnixNano": _nanoseconds(span.start),
        "endTimeUnixNano": _nanoseconds(span.end),
        "attributes": _attributes(span.attributes),
    }
    if span.parent is not None:
        fields["parentSpanId"] = encode(span.parent)
    if span.events:
        fields["events"] = [
            {"name": event.name, "timeUnixNano": _nanoseconds(event.at), "attributes": _attributes(event.attributes)}
            for event in span.events
        ]
    if span.error is not None:
        fields["status"] = {"code": _ERROR, "message": span.error}
    return fields


def _attributes(attributes: Attributes) -> list[Fields]:
    return [{"key": name, "value": _value(value)} for name, value in attributes.items() if value is not None]


def _value(value: Attribute) -> Fields:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value if math.isfinite(value) else str(value)}
        case str():
            return {"stringValue": value}
    return {"arrayValue": {"values": [_value(item) for item in value]}}


def _nanoseconds(at: float) -> str:
    return str(round(min(max(at, 0.0), _LATEST) * 1e9))
