"""The spans of an experiment: one trace with the experiment as root, its steps, and their calls and tests.

Ids are hashes of what a span stands for, so exporting an experiment again gives the same spans. The names of attributes
and events: ``gen_ai.*`` and ``error.type`` are of the OpenTelemetry semantic conventions for generative AI, version
``GEN_AI_VERSION`` (https://github.com/open-telemetry/semantic-conventions-genai, in development: a later version may
rename them). ``openinference.*``, ``input.*`` and ``output.*`` are of OpenInference
(https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md), which Phoenix and MLflow need for
the kind of a span, and for the input and output that lists of traces show. ``koderz.*``: this module.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from koderz_core.exports.recording import Recording, Transcript
from koderz_core.otlp import Attribute, Attributes
from koderz_core.prompts.markdown import fenced
from koderz_core.records import Configuration, Verdict
from koderz_core.records.notes import NoteRow
from koderz_core.records.plans import IMPORTED
from koderz_core.records.rows import CallRow, ExperimentRow, IterationRow, ScoreRow, Step

GEN_AI_VERSION = "0.1.0"


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
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": label,
        "openinference.span.kind": "AGENT",
        "input.value": _task(recording, row.problem),
        "output.value": _fenced(transcript.program),
        **_facts(recording, configuration, row),
        "error.type": "_OTHER" if row.outcome == "error" else None,
        # The span then has only the length of the spans inside it: 0, or the time of tests between cached answers.
        "koderz.duration_unknown": True if end is None or row.seconds is None else None,
    }
    error = (row.error or "error") if row.outcome == "error" else None
    events = tuple(_evaluation(row, start if end is None else end))
    name = f"invoke_agent {label}"
    end = start if end is None else max(end, start)
    root = TraceSpan(trace.id, trace.root, None, name, "internal", start, end, attributes, error, events)
    return [root, *inner]


def _task(recording: Recording, problem: str) -> str:
    """The id of a problem, and its prompt if the dataset is on this machine."""
    known = recording.problems.get(problem)
    return f"{problem}\n\n{_fenced(known.public.prompt)}" if known else problem


def _facts(recording: Recording, configuration: Configuration, row: ExperimentRow) -> Attributes:
    return {
        "koderz.version": recording.provenance.koderz_version,
        "koderz.benchmark": recording.provenance.name or recording.plan.id,
        "koderz.benchmark.id": recording.plan.id,
        "koderz.dataset": recording.plan.dataset.name,
        "koderz.problem": row.problem,
        "koderz.repeat": row.repeat,
        "koderz.experiment": row.id,
        "koderz.configuration.id": configuration.id,
        "koderz.strategy": configuration.strategy,
        "koderz.parameters": _json(dict(configuration.parameters)),
        "koderz.outcome": row.outcome,
        "koderz.stop_reason": row.reason,
        "koderz.scripted": row.scripted,
        "koderz.cost_usd": row.cost_usd,
    }


def _evaluation(row: ExperimentRow, at: float) -> Iterator[SpanEvent]:
    """The score of the returned program, if the experiment has one."""
    if row.score_kind is None or row.outcome not in ("solved", "unsolved"):
        return
    held_out = row.held_out_tests_passed, row.held_out_tests_total
    passed, total = held_out if row.score_kind == "held_out" else (row.gate_tests_passed, row.gate_tests_total)
    solved = row.outcome == "solved"
    yield SpanEvent(
        "gen_ai.evaluation.result",
        at,
        {
            "gen_ai.evaluation.name": row.score_kind,
            "gen_ai.evaluation.score.value": 1.0 if solved else 0.0,
            "gen_ai.evaluation.score.label": "pass" if solved else "fail",
            "gen_ai.evaluation.explanation": None if total is None else f"{passed} of {total} tests passed",
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
            "openinference.span.kind": "CHAIN",
            "koderz.step": step.kind,
            "koderz.step.number": step.number,
            **(_note(step.note) if step.note else {}),
            "output.value": text,
            "koderz.cost_usd": step.cost_usd,
            "koderz.duration_unknown": True if step.seconds is None else None,
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
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider if known else "unknown",
            "gen_ai.request.model": model,
            "openinference.span.kind": "LLM",
            **_request(call),
            **_response(call),
            **self._messages(call),
        }
        own = self._span_id("call", call.ordinal, call.attempt)
        end = call.at + (call.seconds or 0.0)
        error = (call.message or call.state) if call.state in ("failed", "interrupted") else None
        return TraceSpan(self.id, own, parent, f"chat {model}", "client", call.at, end, attributes, error)

    def _messages(self, call: CallRow) -> Attributes:
        sent = [_message(role, content) for role, content in self._transcript.messages(call)]
        answer = self._transcript.text(call.text)
        # The reason is deprecated here, but receivers of earlier conventions refuse the message without it.
        written = None if answer is None else {**_message("assistant", answer), "finish_reason": _finish(call)}
        return {
            "gen_ai.input.messages": _json(sent) if sent else None,
            "gen_ai.output.messages": None if written is None else _json([written]),
        }

    def _gate(self, iteration: IterationRow, parent: bytes) -> TraceSpan:
        attributes = _tests("gate", iteration, self._transcript.text(iteration.code))
        start = iteration.at - iteration.seconds
        return self._tool(self._span_id("iteration", iteration.iteration), parent, start, iteration.at, attributes)

    def _score(self, score: ScoreRow, tests: str, verdict: Verdict, end: float) -> TraceSpan:
        program = self._transcript.details.programs[score.code]
        attributes = {**_tests(tests, verdict, program), "koderz.program.returned": score.returned}
        own = self._span_id("score", tests, score.code)
        return self._tool(own, self.root, end - verdict.seconds, end, attributes)

    def _tool(self, own: bytes, parent: bytes, start: float, end: float, attributes: Attributes) -> TraceSpan:
        name = f"execute_tool {attributes['gen_ai.tool.name']}"
        return TraceSpan(self.id, own, parent, name, "internal", start, end, attributes)

    def _span_id(self, *of: object) -> bytes:
        return hashlib.sha256("/".join(map(str, ("koderz", self._experiment, *of))).encode()).digest()[:8]


def _note(note: NoteRow) -> Attributes:
    return {"koderz.step.reason": note.why, "koderz.step.speaker": note.speaker, "koderz.step.round": note.round}


def _request(call: CallRow) -> Attributes:
    sampling = call.honoured or call.sampling
    return {
        "gen_ai.request.temperature": sampling.temperature,
        "gen_ai.request.reasoning.level": sampling.effort or None,
        "gen_ai.request.top_p": sampling.top_p,
        "gen_ai.request.max_tokens": sampling.max_tokens,
        "gen_ai.request.seed": sampling.seed,
        "koderz.call.role": call.role,
        "koderz.call.member": call.member,
        "koderz.call.ordinal": call.ordinal,
        "koderz.call.attempt": call.attempt,
        "koderz.call.tier": call.tier,
    }


def _response(call: CallRow) -> Attributes:
    failure = str(call.status) if call.status else "_OTHER"
    errors = {"failed": failure, "interrupted": "interrupted"}
    return {
        "gen_ai.response.finish_reasons": [finish] if (finish := _finish(call)) else None,
        "gen_ai.response.time_to_first_chunk": call.first_token_seconds,
        "gen_ai.usage.input_tokens": call.input_tokens,
        "gen_ai.usage.output_tokens": call.output_tokens,
        "gen_ai.usage.reasoning.output_tokens": call.reasoning_tokens,
        "gen_ai.usage.cache_read.input_tokens": call.cache_read_tokens,
        "gen_ai.usage.cache_write.input_tokens": call.cache_write_tokens,
        "koderz.cost_usd": call.cost_usd,
        "koderz.cost_source": call.cost_source,
        "koderz.call.state": call.state,
        "error.type": errors.get(call.state),
        "koderz.duration_unknown": True if call.seconds is None else None,
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
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": f"run_{tests}_tests",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.arguments": _json({"program": program}),
        "gen_ai.tool.call.result": _json(result),
        "openinference.span.kind": "TOOL",
        "input.value": _fenced(program),
        "koderz.tests.succeeded": verdict.passed,
        "koderz.tests.passed": verdict.tests_passed,
        "koderz.tests.total": verdict.tests_total,
    }


def _message(role: str, content: str) -> dict[str, object]:
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def _fenced(code: str | None) -> str | None:
    """Code as a block of Markdown, which the pages of receivers show as code; None without code."""
    return None if code is None else fenced(code.strip("\n"))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
