"""The steps of an experiment as events of Inspect, so that Inspect View shows each call, test and review in order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from koderz_core.exports.recording import Transcript, known
from koderz_core.prompts.markdown import fenced
from koderz_core.records import Sampling, TestFailure, Verdict
from koderz_core.records.notes import NoteRow
from koderz_core.records.rows import CallRow, IterationRow, Step
from koderz_core.report.formats import note_title
from koderz_core.times import clamp, utc

_STOPS = {"stop": "stop", "length": "max_tokens", "refused": "content_filter", "empty": "stop", "timeout": "unknown"}
"""How an answer ended, in the words of Inspect."""
_IN_STEPS = ("spec_written", "checkpoint_reviewed", "turn_spoken", "consensus_reached")


class Events:
    """The events of one experiment; ``made`` has them in order."""

    def __init__(self, transcript: Transcript, start: float) -> None:
        """``start``: of the experiment, in seconds since 1970, a possible time."""
        self._transcript, self._start, self._now = transcript, start, start
        self._spans: list[str] = []
        self._number = 0
        self.made: list[Any] = []  # Any: classes of inspect_ai

    def add_steps(self) -> None:
        """Add every step, and between them the notes that belong to no step."""
        details = self._transcript.details
        apart = [note for note in details.notes if note.kind not in _IN_STEPS]
        with self._span("solvers", "solvers"), self._span(details.experiment.strategy, "solver"):
            for step in details.steps:
                begin = min((call.at for call in step.calls), default=self._now)
                while apart and apart[0].at <= begin:
                    self._add_note(apart.pop(0))
                self._add_step(step, begin)
            for note in apart:
                self._add_note(note)

    def add_score(self, scorer: str, score: Any, at: float) -> None:  # Any: a Score of inspect_ai
        """Add the final score."""
        from inspect_ai.event import ScoreEvent  # noqa: PLC0415 (optional and heavy)

        self._now = at
        with self._span("scorers", "scorers"), self._span(scorer, "scorer"):
            self._add(ScoreEvent, score=score, scorer=scorer)

    def add_error(self, error: Any, at: float) -> None:  # Any: an EvalError of inspect_ai
        """Add the error that ended the experiment."""
        from inspect_ai.event import ErrorEvent  # noqa: PLC0415 (as above)

        self._now = at
        self._add(ErrorEvent, error=error)

    def _add_step(self, step: Step, begin: float) -> None:
        self._now = begin
        with self._span(_step_name(step), "step"):
            for call in step.calls:
                self._add_call(call)
            if step.iteration:
                self._add_gate_test(step.iteration)
            if step.note:
                self._add_note(step.note)

    def _add_call(self, call: CallRow) -> None:
        from inspect_ai.event import ModelEvent  # noqa: PLC0415 (as above)

        self._now = call.at
        self._add(
            ModelEvent,
            model=call.model,
            role=call.role,
            input=messages(self._transcript, call),
            tools=[],
            tool_choice="none",
            config=config(call.honoured or call.sampling),
            output=output(self._transcript, call),
            error=None if call.state == "finished" else call.message or call.state,
            completed=None if call.seconds is None else utc(clamp(call.at + call.seconds)),
            working_time=call.seconds,
            metadata=known(
                {
                    "tier": call.tier,
                    "member": call.member,
                    "attempt": call.attempt,
                    "status": call.status,
                    "cost_usd": call.cost_usd,
                    "cost_source": call.cost_source,
                    "first_token_seconds": call.first_token_seconds,
                    "kwh": call.kwh,
                }
            ),
        )
        self._now += call.seconds or 0

    def _add_gate_test(self, row: IterationRow) -> None:
        from inspect_ai.event import ScoreEvent  # noqa: PLC0415 (as above)

        self._now = max(self._now, row.at)
        program = None if row.code is None else self._transcript.details.programs.get(row.code)
        self._add(ScoreEvent, score=score_of(row, program), scorer="gate tests", intermediate=True)

    def _add_note(self, note: NoteRow) -> None:
        from inspect_ai.event import InfoEvent  # noqa: PLC0415 (as above)

        self._now = max(self._now, note.at)
        data = note.text  # as text, because Inspect View shows it as Markdown, and anything else as JSON
        if note.passed_on:
            data += f"\n\nReview sections that the coder received: {', '.join(note.passed_on)}"
        self._add(InfoEvent, source=note_title(note, self._transcript.details.notes), data=data)

    @contextmanager
    def _span(self, name: str, kind: str) -> Iterator[None]:
        from inspect_ai.event import SpanBeginEvent, SpanEndEvent  # noqa: PLC0415 (as above)

        parent = self._spans[-1] if self._spans else None
        self._spans.append(self._id("span"))
        self._add(SpanBeginEvent, id=self._spans[-1], parent_id=parent, name=name, type=kind)
        yield
        self._add(SpanEndEvent, id=self._spans[-1])
        self._spans.pop()

    def _add(self, kind: Any, **fields: Any) -> None:  # Any: a class of inspect_ai, and its fields
        now = clamp(max(self._now, self._start))
        span = self._spans[-1] if self._spans else None
        self.made.append(
            kind(uuid=self._id("event"), span_id=span, timestamp=utc(now), working_start=now - self._start, **fields)
        )

    def _id(self, kind: str) -> str:
        self._number += 1
        return f"{self._transcript.details.experiment.id}_{kind}{self._number}"


def messages(transcript: Transcript, call: CallRow) -> list[Any]:  # Any: classes of inspect_ai
    """The messages that a call sent. A message has the same id in every call."""
    from inspect_ai.model import (  # noqa: PLC0415 (as above)
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageUser,
    )

    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    return [
        kinds[ref.role](id=f"{ref.role}_{ref.text}", content=content)
        for ref, (_, content) in zip(call.messages, transcript.messages(call), strict=True)
    ]


def output(transcript: Transcript, call: CallRow) -> Any:  # Any: a ModelOutput of inspect_ai
    """The answer of a call, without a choice if there is no answer."""
    from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput  # noqa: PLC0415 (as above)

    text = transcript.text(call.text)
    choices = []
    if text is not None:
        answer = ChatMessageAssistant(id=f"assistant_{call.text}", content=text, model=call.model, source="generate")
        choices = [ChatCompletionChoice(message=answer, stop_reason=_STOPS.get(call.finish or "", "unknown"))]
    return ModelOutput(model=call.model, choices=choices, usage=usage(call), time=call.seconds, error=call.message)


def usage(call: CallRow) -> Any:  # Any: a ModelUsage of inspect_ai, or None
    """The tokens and the cost of a call; None if its tokens are unknown, because Inspect has no unknown number."""
    from inspect_ai.model import ModelUsage  # noqa: PLC0415 (as above)

    if call.input_tokens is None or call.output_tokens is None:
        return None
    cached = (call.cache_read_tokens or 0) + (call.cache_write_tokens or 0)
    return ModelUsage(
        input_tokens=max(call.input_tokens - cached, 0),  # Inspect counts cached tokens apart
        output_tokens=call.output_tokens,
        total_tokens=call.input_tokens + call.output_tokens,
        input_tokens_cache_read=call.cache_read_tokens,
        input_tokens_cache_write=call.cache_write_tokens,
        total_cost=call.cost_usd,
        reasoning_tokens=call.reasoning_tokens,
    )


def config(sampling: Sampling) -> Any:  # Any: a GenerateConfig of inspect_ai
    """The sampling options of a call."""
    from inspect_ai.model import GenerateConfig  # noqa: PLC0415 (as above)

    return GenerateConfig(
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        max_tokens=sampling.max_tokens,
        seed=sampling.seed,
        **_effort(sampling),
    )


def _effort(sampling: Sampling) -> dict[str, Any]:  # Any: the arguments of a GenerateConfig
    effort = sampling.effort
    if not effort:
        return {}
    return {"reasoning_tokens": int(effort)} if effort.isdigit() else {"reasoning_effort": effort}


def score_of(verdict: Verdict | IterationRow, program: str | None) -> Any:  # Any: a Score of inspect_ai
    """The result of a program on one test set: C or I, and which tests failed."""
    from inspect_ai.scorer import Score  # noqa: PLC0415 (as above)

    return Score(
        value="C" if verdict.passed else "I",
        answer=program,
        explanation=_explanation(verdict),
        metadata=known(
            {
                "tests_passed": verdict.tests_passed,
                "tests_total": verdict.tests_total,
                "marks": verdict.marks or None,
                "error": verdict.error,
                "seconds": verdict.seconds,
                "isolation": verdict.isolation,
            }
        ),
    )


def _explanation(verdict: Verdict | IterationRow) -> str:
    parts = [f"{verdict.tests_passed} of {verdict.tests_total} tests passed."]
    if verdict.message and not verdict.failures:
        parts.append(fenced(verdict.message.rstrip(), language=""))
    return "\n\n".join([*parts, *map(_failure, verdict.failures)])


def _failure(failure: TestFailure) -> str:
    lines = {"expected": failure.expected, "returned": failure.actual, "message": failure.message or None}
    shown = "\n".join([failure.source, *(f"{name}: {text}" for name, text in lines.items() if text is not None)])
    return f"Test {failure.index + 1} failed:\n\n{fenced(shown.rstrip(), language='')}"


def _step_name(step: Step) -> str:
    if step.kind in ("spec", "answer") and step.number == 1:
        return step.kind
    speaker = f": {step.note.speaker}, round {step.note.round}" if step.note and step.note.speaker else ""
    return f"{step.kind} {step.number}{speaker}"
