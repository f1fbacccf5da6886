"""Makes the lines of Every Eval Ever's instance-level files: one sample for each experiment with a result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from koderz_core.exports.recording import Transcript
from koderz_core.records import Problem
from koderz_core.records.rows import CallRow, ExperimentRow
from koderz_core.sandbox.inside.wire import Json
from koderz_core.sums import known_sum

VERSION = "0.3.0"
"""Of the schemas."""
METRIC = "koderz.success_rate"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What the samples of a configuration share. ``model`` is the one that writes the programs.

    ``configuration``: the name by which ``koderz import`` shows it. ``problems``: by id, empty if koderz lacks them.
    """

    id: str
    name: str
    model: str
    configuration: str
    problems: Mapping[str, Problem]


def sample(transcript: Transcript, evaluation: Evaluation) -> dict[str, Json]:
    """The line of an experiment with a result.

    A single answer is ``single_turn``; several answers, of one or several models, are ``multi_turn``. The terminal
    answer is the program that was returned, which need not be in the last message. ``reference`` is empty, because
    tests decide and not a reference answer. ``error`` is empty, because a failed call was repeated: see ``metadata``.
    """
    row = transcript.details.experiment
    calls = [call for call in transcript.details.calls if call.state == "finished"]
    turns = list(_turns(transcript, calls))
    prompt = _prompt(transcript, evaluation, calls)
    messages: list[Json] = [
        {"turn_idx": place, "role": role, "content": content} for place, (role, content, _) in enumerate(turns)
    ]
    single = len(calls) <= 1
    return {
        "schema_version": VERSION,
        "evaluation_id": evaluation.id,
        "model_id": evaluation.model,
        "evaluation_name": evaluation.name,
        "evaluation_result_id": METRIC,
        "sample_id": row.problem,
        "sample_hash": _hash(prompt),
        "interaction_type": "single_turn" if single else "multi_turn",
        "input": {"raw": prompt, "formatted": _formatted(transcript, calls) if single else None, "reference": []},
        "output": {"raw": _answers(transcript, calls)} if single else None,
        "messages": None if single else messages,
        "answer_attribution": _attribution(transcript.program, turns, single=single),
        "evaluation": {
            "score": float(row.outcome == "solved"),
            "is_correct": row.outcome == "solved",
            "num_turns": 1 if single else len(turns),
            "tool_calls_count": 0,
        },
        "token_usage": _tokens(row, calls),
        "performance": _performance(row, calls),
        "error": None,
        "metadata": _metadata(transcript, evaluation, turns),
    }


def _turns(transcript: Transcript, calls: Sequence[CallRow]) -> Iterator[tuple[str, str, CallRow | None]]:
    """Role and content of each message, and, of an answer, its call.

    A call repeats the conversation so far; only its new messages are turns.
    """
    conversations: dict[tuple[str, int], list[tuple[str, str]]] = {}
    for call in calls:
        sent = list(transcript.messages(call))
        before = conversations.get((call.role, call.member), [])
        for role, content in sent[len(before) :] if sent[: len(before)] == before else sent:
            yield role, content, None
        answer = transcript.text(call.text)
        if answer is not None:
            yield "assistant", answer, call
            sent.append(("assistant", answer))
        conversations[call.role, call.member] = sent


def _prompt(transcript: Transcript, evaluation: Evaluation, calls: Sequence[CallRow]) -> str:
    """The prompt of the problem, or, if koderz lacks the problem, the last message of the first call."""
    if problem := evaluation.problems.get(transcript.details.experiment.problem):
        return problem.public.prompt
    sent = transcript.messages(calls[0]) if calls else ()
    return sent[-1][1] if sent else ""


def _formatted(transcript: Transcript, calls: Sequence[CallRow]) -> str | None:
    sent = transcript.messages(calls[0]) if calls else ()
    return "\n\n".join(content for _, content in sent) or None


def _answers(transcript: Transcript, calls: Sequence[CallRow]) -> list[Json]:
    return [text for call in calls if (text := transcript.text(call.text)) is not None]


def _attribution(program: str | None, turns: Sequence[tuple[str, str, CallRow | None]], *, single: bool) -> list[Json]:
    """The returned program, and the last answer that contains it; without one, the last answer."""
    if program is None:
        return []
    answers = [place for place, (_, _, call) in enumerate(turns) if call]
    sources = [place for place in answers if program.strip() in turns[place][1]] or answers or [0]
    return [
        {
            "turn_idx": 0 if single else sources[-1],
            "source": "output.raw" if single else f"messages[{sources[-1]}].content",
            "extracted_value": program,
            "extraction_method": "koderz",
            "is_terminal": True,
        }
    ]


def _tokens(row: ExperimentRow, calls: Sequence[CallRow]) -> Json:
    if row.input_tokens is None or row.output_tokens is None:
        return None
    return {
        "input_tokens": row.input_tokens,
        "output_tokens": row.output_tokens,
        "total_tokens": row.input_tokens + row.output_tokens,
        "input_tokens_cache_write": known_sum(call.cache_write_tokens for call in calls) if calls else None,
        "input_tokens_cache_read": known_sum(call.cache_read_tokens for call in calls) if calls else None,
    }


def _performance(row: ExperimentRow, calls: Sequence[CallRow]) -> Json:
    """``latency_ms``: of the whole experiment with its tests; ``generation_time_ms``: the sum of its calls."""
    first = calls[0].first_token_seconds if len(calls) == 1 else None
    return {
        "latency_ms": _milliseconds(row.seconds),
        "time_to_first_token_ms": _milliseconds(first),
        "generation_time_ms": _milliseconds(known_sum(call.seconds for call in calls)) if calls else None,
    }


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000


def _metadata(
    transcript: Transcript, evaluation: Evaluation, turns: Sequence[tuple[str, str, CallRow | None]]
) -> dict[str, Json]:
    row, calls = transcript.details.experiment, transcript.details.calls
    failures = [call.message for call in calls if call.state == "failed" and call.message]
    speakers = [
        {"turn_idx": place, "role": call.role, "model": call.model} for place, (_, _, call) in enumerate(turns) if call
    ]
    tests = (row.held_out_tests_passed, row.held_out_tests_total)
    values: dict[str, object] = {
        "koderz_configuration": evaluation.configuration,
        "koderz_experiment": row.id,
        "koderz_score_kind": row.score_kind,
        "repeat": row.repeat,
        "tier": transcript.tier,
        "cost_usd": row.cost_usd,
        "stop_reason": row.reason,
        "failure": row.failure,
        "tests_passed": (row.gate_tests_passed if row.score_kind == "oracle" else tests[0]),
        "tests_total": (row.gate_tests_total if row.score_kind == "oracle" else tests[1]),
        "calls": json.dumps(speakers) if speakers else None,
        "failed_calls": json.dumps(failures) if failures else None,
    }
    return {name: str(value) for name, value in values.items() if value is not None}


def _hash(prompt: str) -> str:
    """As the format recommends, so that equal samples of several tools have equal hashes."""
    sample = json.dumps({"raw": prompt, "reference": []}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(sample.encode()).hexdigest()
