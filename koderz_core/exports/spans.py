"""The spans of an experiment: one trace with the experiment as root, its steps, and their calls and tests.

Ids are hashes of what a span stands for, so exporting an experiment again gives the same spans.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from koderz_core.exports import genai_conventions as names
from koderz_core.exports.recording import Recording, Transcript
from koderz_core.otlp import Attribute, Attributes
from koderz_core.prompts.markdown import fenced
from koderz_core.records import Configuration, Verdict
from koderz_core.records.notes import NoteRow
from koderz_core.records.plans import IMPORTED
from koderz_core.records.rows import CallRow, ExperimentRow, IterationRow, ScoreRow, Step


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """Something that happened during a span. ``at``: seconds since 1970."""

    name: str
    at: float
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """One span. ``start`` and ``end``: seconds since 1970. ``error``: why it failed, None if it did not."""

    trace: bytes
    id: bytes
    parent: bytes | None
    name: str
    kind: Literal["internal", "client"]
    start: float
    end: float
    attributes: Attributes
    error: str | None = None
    events: tuple[SpanEvent, ...] = ()


def spans_of(recording: Recording, configuration: Configuration, label: str, transcript: Transcript) -> list[TraceSpan]:
    """The spans of one experiment, the root first, and each step before its calls and tests."""
    trace = _Trace(transcript, imported=configuration.strategy == IMPORTED)
    inner = [*(span for step in transcript.details.steps for span in trace.step(step)), *trace.scores()]
    row = transcript.details.experiment
    starts = [row.started_at, *(span.start for span in inner)]
    start = min((at for at in starts if at is not None), default=recording.provenance.opened_at)
    end = row.finished_at
    attributes: dict[str, Attribute | None] = {
        names.OPERATION_NAME: names.INVOKE_AGENT,
        names.AGENT_NAME: label,
        names.SPAN_KIND: names.AGENT,
        names.INPUT_VALUE: _task(recording, row.problem),
        names.OUTPUT_VALUE: _fenced(transcript.program),
        **_facts(recording, configuration, row),
        names.ERROR_TYPE: names.OTHER_ERROR if row.outcome == "error" else None,
        names.DURATION_UNKNOWN: True if end is None or row.seconds is None else None,
    }
    error = (row.error or "error") if row.outcome == "error" else None
    events = tuple(_evaluation(row, start if end is None else end))
    name = f"{names.INVOKE_AGENT} {label}"
    end = start if end is None else max(end, start)
    root = TraceSpan(trace.id, trace.root, None, name, "internal", start, end, attributes, error, events)
    return [root, *inner]


def _task(recording: Recording, problem: str) -> str:
    """The id of a problem, and its prompt if the dataset is on this machine."""
    known = recording.problems.get(problem)
    return f"{problem}\n\n{_fenced(known.public.prompt)}" if known else problem


def _facts(recording: Recording, configuration: Configuration, row: ExperimentRow) -> Attributes:
    return {
        names.VERSION: recording.provenance.koderz_version,
        names.BENCHMARK: recording.provenance.name or recording.plan.id,
        names.BENCHMARK_ID: recording.plan.id,
        names.DATASET: recording.plan.dataset.name,
        names.PROBLEM: row.problem,
        names.REPEAT: row.repeat,
        names.EXPERIMENT: row.id,
        names.CONFIGURATION: configuration.id,
        names.STRATEGY: configuration.strategy,
        names.PARAMETERS: _json(dict(configuration.parameters)),
        names.OUTCOME: row.outcome,
        names.STOP_REASON: row.reason,
        names.SCRIPTED: row.scripted,
        names.COST_USD: row.cost_usd,
    }


def _evaluation(row: ExperimentRow, at: float) -> Iterator[SpanEvent]:
    """The score of the returned program, if the experiment has one."""
    if row.score_kind is None or row.outcome not in ("solved", "unsolved"):
        return
    held_out = row.held_out_tests_passed, row.held_out_tests_total
    passed, total = held_out if row.score_kind == "held_out" else (row.gate_tests_passed, row.gate_tests_total)
    solved = row.outcome == "solved"
    yield SpanEvent(
        names.EVALUATION_EVENT,
        at,
        {
            names.EVALUATION_NAME: row.score_kind,
            names.EVALUATION_SCORE: 1.0 if solved else 0.0,
            names.EVALUATION_LABEL: "pass" if solved else "fail",
            names.EVALUATION_EXPLANATION: None if total is None else f"{passed} of {total} tests passed",
        },
    )


class _Trace:
    """Makes the spans below the root. ``imported``: names of models have no provider."""

    def __init__(self, transcript: Transcript, *, imported: bool) -> None:
        self._transcript = transcript
        self._imported = imported
        self._experiment = transcript.details.experiment.id
        self.id = hashlib.sha256(f"koderz/{self._experiment}".encode()).digest()[:16]
        self.root = self._span_id("root")

    def step(self, step: Step) -> list[TraceSpan]:
        """A step, then its calls and its test."""
        own = self._span_id("step", step.kind, step.number)
        inner = [self._call(call, own) for call in step.calls]
        if step.iteration:
            inner.append(self._gate(step.iteration, own))
        text = step.note.text if step.note else _fenced(self._transcript.text(step.program))
        at = step.note.at if step.note else 0.0  # used only without calls and tests, and then there is a note
        attributes: Attributes = {
            names.SPAN_KIND: names.CHAIN,
            names.STEP: step.kind,
            names.STEP_NUMBER: step.number,
            **(_note(step.note) if step.note else {}),
            names.OUTPUT_VALUE: text,
            names.COST_USD: step.cost_usd,
        }
        start = min((span.start for span in inner), default=at)
        end = max((span.end for span in inner), default=at)
        name = f"{step.kind} {step.number}"
        return [TraceSpan(self.id, own, self.root, name, "internal", start, end, attributes), *inner]

    def scores(self) -> Iterator[TraceSpan]:
        """The tests that ran after the strategy had ended. A gate verdict of an iteration is not repeated."""
        details = self._transcript.details
        tested = {iteration.code for iteration in details.iterations}
        for score in details.scores:
            end = score.at
            for tests, verdict in (("held_out", score.held_out), ("gate", score.gate)):  # in this order from the end
                if verdict and (tests == "held_out" or score.code not in tested):
                    yield self._score(score, tests, verdict, end)
                    end -= verdict.seconds

    def _call(self, call: CallRow, parent: bytes) -> TraceSpan:
        provider, _, rest = call.model.partition("/")
        known = bool(rest) and not self._imported
        model = rest if known else call.model
        attributes: Attributes = {
            names.OPERATION_NAME: names.CHAT,
            names.PROVIDER_NAME: provider if known else "unknown",
            names.REQUEST_MODEL: model,
            names.SPAN_KIND: names.LLM,
            **_request(call),
            **_response(call),
            **self._messages(call),
        }
        own = self._span_id("call", call.ordinal, call.attempt)
        end = call.at + (call.seconds or 0.0)
        error = (call.message or call.state) if call.state in ("failed", "interrupted") else None
        return TraceSpan(self.id, own, parent, f"{names.CHAT} {model}", "client", call.at, end, attributes, error)

    def _messages(self, call: CallRow) -> Attributes:
        sent = [_message(role, content) for role, content in self._transcript.messages(call)]
        answer = self._transcript.text(call.text)
        # The reason is deprecated here, but receivers of earlier conventions refuse the message without it.
        written = None if answer is None else {**_message("assistant", answer), "finish_reason": _finish(call)}
        return {
            names.INPUT_MESSAGES: _json(sent) if sent else None,
            names.OUTPUT_MESSAGES: None if written is None else _json([written]),
        }

    def _gate(self, iteration: IterationRow, parent: bytes) -> TraceSpan:
        attributes = _tests("gate", iteration, self._transcript.text(iteration.code))
        start = iteration.at - iteration.seconds
        return self._tool(self._span_id("iteration", iteration.iteration), parent, start, iteration.at, attributes)

    def _score(self, score: ScoreRow, tests: str, verdict: Verdict, end: float) -> TraceSpan:
        program = self._transcript.details.programs[score.code]
        attributes = {**_tests(tests, verdict, program), names.RETURNED: score.returned}
        own = self._span_id("score", tests, score.code)
        return self._tool(own, self.root, end - verdict.seconds, end, attributes)

    def _tool(self, own: bytes, parent: bytes, start: float, end: float, attributes: Attributes) -> TraceSpan:
        name = f"{names.EXECUTE_TOOL} {attributes[names.TOOL_NAME]}"
        return TraceSpan(self.id, own, parent, name, "internal", start, end, attributes)

    def _span_id(self, *of: object) -> bytes:
        return hashlib.sha256("/".join(map(str, ("koderz", self._experiment, *of))).encode()).digest()[:8]


def _note(note: NoteRow) -> Attributes:
    return {names.REASON: note.why, names.SPEAKER: note.speaker, names.ROUND: note.round}


def _request(call: CallRow) -> Attributes:
    sampling = call.honoured or call.sampling
    return {
        names.REQUEST_TEMPERATURE: sampling.temperature,
        names.REQUEST_EFFORT: sampling.effort or None,
        names.REQUEST_TOP_P: sampling.top_p,
        names.REQUEST_MAX_TOKENS: sampling.max_tokens,
        names.REQUEST_SEED: sampling.seed,
        names.ROLE: call.role,
        names.MEMBER: call.member,
        names.ORDINAL: call.ordinal,
        names.ATTEMPT: call.attempt,
        names.TIER: call.tier,
    }


def _response(call: CallRow) -> Attributes:
    failure = str(call.status) if call.status else names.OTHER_ERROR
    errors = {"failed": failure, "interrupted": "interrupted"}
    return {
        names.FINISH_REASONS: [finish] if (finish := _finish(call)) else None,
        names.TIME_TO_FIRST_CHUNK: call.first_token_seconds,
        names.INPUT_TOKENS: call.input_tokens,
        names.OUTPUT_TOKENS: call.output_tokens,
        names.REASONING_TOKENS: call.reasoning_tokens,
        names.CACHE_READ_TOKENS: call.cache_read_tokens,
        names.CACHE_WRITE_TOKENS: call.cache_write_tokens,
        names.COST_USD: call.cost_usd,
        names.COST_SOURCE: call.cost_source,
        names.CALL_STATE: call.state,
        names.ERROR_TYPE: errors.get(call.state),
        names.DURATION_UNKNOWN: True if call.seconds is None else None,
    }


def _finish(call: CallRow) -> str | None:
    return "content_filter" if call.finish == "refused" else call.finish


def _tests(tests: str, verdict: Verdict | IterationRow, program: str | None) -> Attributes:
    failures = [
        {"test": failure.source, "expected": failure.expected, "actual": failure.actual, "message": failure.message}
        for failure in verdict.failures
    ]
    result = {
        "passed": verdict.passed,
        "tests_passed": verdict.tests_passed,
        "tests_total": verdict.tests_total,
        "error": verdict.error,
        "message": verdict.message,
        "failures": failures,
    }
    return {
        names.OPERATION_NAME: names.EXECUTE_TOOL,
        names.TOOL_NAME: f"run_{tests}_tests",
        names.TOOL_TYPE: names.FUNCTION,
        names.TOOL_ARGUMENTS: _json({"program": program}),
        names.TOOL_RESULT: _json(result),
        names.SPAN_KIND: names.TOOL,
        names.INPUT_VALUE: _fenced(program),
        names.TESTS_SUCCEEDED: verdict.passed,
        names.TESTS_PASSED: verdict.tests_passed,
        names.TESTS_TOTAL: verdict.tests_total,
    }


def _message(role: str, content: str) -> dict[str, object]:
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def _fenced(code: str | None) -> str | None:
    """Code as a block of Markdown, which the pages of receivers show as code; None without code."""
    return None if code is None else fenced(code.strip("\n"))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
