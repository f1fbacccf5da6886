"""OpenTelemetry traces in the OTLP JSON file format: one line of TracesData for each experiment.

Ids are hexadecimal, 64-bit integers are strings and enumerations are numbers, as the encoding requires
(https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding,
https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from koderz_core.exports.recording import Recording
from koderz_core.exports.spans import GEN_AI_VERSION, TraceSpan, spans_of
from koderz_core.otlp import Fields, encoded, nanoseconds
from koderz_core.report.dump import DumpFile

Encode = Callable[[bytes], str]
_KINDS: Mapping[str, int] = {"internal": 1, "client": 3}
_ERROR = 2


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
        "attributes": encoded({"koderz.conventions": f"OpenTelemetry GenAI {GEN_AI_VERSION}"}),
    }
    resource = encoded({"service.name": "koderz"})
    scope_spans = [{"scope": scope, "spans": [_span(span, encode) for span in spans]}]
    return {"resourceSpans": [{"resource": {"attributes": resource}, "scopeSpans": scope_spans}]}


def _span(span: TraceSpan, encode: Encode) -> Fields:
    fields: Fields = {
        "traceId": encode(span.trace),
        "spanId": encode(span.id),
        "name": span.name,
        "kind": _KINDS[span.kind],
        "startTimeUnixNano": nanoseconds(span.start),
        "endTimeUnixNano": nanoseconds(span.end),
        "attributes": encoded(span.attributes),
    }
    if span.parent is not None:
        fields["parentSpanId"] = encode(span.parent)
    if span.events:
        fields["events"] = [
            {"name": event.name, "timeUnixNano": nanoseconds(event.at), "attributes": encoded(event.attributes)}
            for event in span.events
        ]
    if span.error is not None:
        fields["status"] = {"code": _ERROR, "message": span.error}
    return fields
