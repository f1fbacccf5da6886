"""Trajectories in the Agent Trajectory Interchange Format (ATIF) of Harbor: one JSON document per experiment.

Each call is a step of its own, after the messages that no earlier call sent. Test results are observations: those of
the gate tests at the call that wrote the program, those of the scoring at the last step. The fields and their rules are
those of the pydantic models in the package ``harbor`` (``harbor.models.trajectories``, 0.26.0). That version also reads
1.8, which only adds audio; older versions end at 1.7.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from koderz_core.exports.recording import Recording, Transcript, known
from koderz_core.records import Configuration, Verdict
from koderz_core.records.notes import NoteRow
from koderz_core.records.plans import SOME_SCRIPTED
from koderz_core.records.rows import CallRow, ExperimentRow, IterationRow, ScoreRow, Step
from koderz_core.report.dump import DumpFile
from koderz_core.sums import known_sum
from koderz_core.times import iso

VERSION = "ATIF-v1.7"
Fields = dict[str, Any]  # Any: a JSON object
_SOURCES: Mapping[str, str] = {"system": "system", "user": "user", "assistant": "agent"}


def write(recordings: Iterable[Recording]) -> Iterator[DumpFile]:
    """One file per experiment. Its name is the id of the experiment."""
    for recording in recordings:
        for configuration, label in recording.configurations():
            for transcript in recording.transcripts(configuration.id):
                document = _document(recording, configuration, label, transcript)
                content = msgspec.json.format(msgspec.json.encode(document), indent=1)
                yield DumpFile(f"{transcript.details.experiment.id}.json", content)


def _document(recording: Recording, configuration: Configuration, label: str, transcript: Transcript) -> Fields:
    row, plan = transcript.details.experiment, recording.plan
    steps = _Steps(transcript).all()
    coders = configuration.models.get("coder", ())
    return {
        "schema_version": VERSION,
        "session_id": row.id,
        "trajectory_id": row.id,
        "agent": known(
            {
                "name": "koderz",
                "version": recording.provenance.koderz_version,
                "model_name": coders[0] if len(coders) == 1 else None,
                "extra": {
                    "strategy": configuration.strategy,
                    "parameters": dict(configuration.parameters),
                    "models": {role: list(models) for role, models in configuration.models.items()},
                    "gate": configuration.gate,
                    "feedback": configuration.feedback,
                    "configuration": label,
                },
            }
        ),
        "steps": steps,
        **({"notes": SOME_SCRIPTED} if row.scripted else {}),
        "final_metrics": _final_metrics(transcript, len(steps)),
        "extra": {
            "benchmark": recording.provenance.name or plan.id,
            "benchmark_id": plan.id,
            "dataset": plan.dataset.name,
            "dataset_sha256": plan.dataset.sha256,
            "problem": row.problem,
            "repeat": row.repeat,
            **_result(row),
        },
    }


def _result(row: ExperimentRow) -> Fields:
    """The outcome; ``score_kind`` tells which tests it comes from."""
    return {
        "outcome": row.outcome,
        "reason": row.reason,
        "score_kind": row.score_kind,
        "failure": row.failure,
        "error": row.error,
        "seconds": row.seconds,
    }


def _final_metrics(transcript: Transcript, steps: int) -> Fields:
    row = transcript.details.experiment
    finished = [call for call in transcript.details.calls if call.state == "finished"]
    return known(
        {
            "total_prompt_tokens": row.input_tokens,
            "total_completion_tokens": row.output_tokens,
            "total_cached_tokens": known_sum(call.cache_read_tokens for call in finished),
            "total_cost_usd": row.cost_usd,
            "total_steps": steps,
        }
    )


class _Steps:
    """The steps of one experiment, numbered from 1."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._made: list[Fields] = []
        self._sent: dict[tuple[str, str], int] = {}  # role and SHA-256 of a message -> the number of its step

    def all(self) -> list[Fields]:
        details = self._transcript.details
        for step in details.steps:
            self._add_step(step)
        if details.scores:
            self._add("system", "koderz scored the programs after the strategy had ended.", details.scores[-1].at)
            results = [_scored(score, details.programs[score.code]) for score in details.scores]
            self._made[-1]["observation"] = {"results": results}
        if not self._made:  # a trajectory has at least one step
            self._add("system", "No call was recorded.", details.experiment.started_at)
        return self._made

    def _add_step(self, step: Step) -> None:
        for call in step.calls:
            self._add_call(call, step)
        if step.note and not step.calls:  # such as a spec that was recalled from another experiment
            self._add("system", step.note.text, step.note.at)["extra"] = {"part": step.kind, "number": step.number}
        if step.iteration:
            if not step.calls:  # a program that no call of this step wrote
                self._add("agent", "", step.iteration.at)["llm_call_count"] = 0
            program = self._transcript.text(step.program)
            self._made[-1]["observation"] = {"results": [_tested(step.iteration, program)]}

    def _add_call(self, call: CallRow, step: Step) -> None:
        prompts = [self._message(message.role, message.text, call.at) for message in call.messages]
        made = self._add("agent", self._transcript.text(call.text) or "", call.at)
        made["model_name"] = call.model
        made["llm_call_count"] = 1
        if metrics := _metrics(call):
            made["metrics"] = metrics
        made["extra"] = known(
            {
                "part": step.kind,
                "number": step.number,
                **_call(call),
                "prompt_step_ids": prompts,
                **(_review(step.note) if step.note and call is step.calls[-1] else {}),
            }
        )
        if call.text is not None:
            self._sent["assistant", call.text] = made["step_id"]

    def _message(self, role: str, sha256: str, at: float) -> int:
        """The number of the step with this message, which is added if no earlier call sent or wrote it."""
        if (role, sha256) not in self._sent:
            made = self._add(_SOURCES[role], self._transcript.text(sha256) or "", at)
            if role == "assistant":  # an answer that koderz shortened or composed
                made["llm_call_count"] = 0
            self._sent[role, sha256] = made["step_id"]
        return self._sent[role, sha256]

    def _add(self, source: str, message: str, at: float | None) -> Fields:
        made: Fields = {"step_id": len(self._made) + 1, "source": source, "message": message}
        if at is not None:
            with suppress(ValueError, OverflowError, OSError):  # another person's journal may have an impossible time
                made["timestamp"] = iso(at)
        self._made.append(made)
        return made


def _call(call: CallRow) -> Fields:
    return {
        "role": call.role,
        "member": call.member,
        "ordinal": call.ordinal,
        "attempt": call.attempt,
        "state": call.state,
        "finish": call.finish,
        "seconds": call.seconds,
        "error": call.message,
        "status": call.status,
    }


def _metrics(call: CallRow) -> Fields:
    return known(
        {
            "prompt_tokens": call.input_tokens,
            "completion_tokens": call.output_tokens,
            "cached_tokens": call.cache_read_tokens,
            "cost_usd": call.cost_usd,
        }
    )


def _review(note: NoteRow) -> Fields:
    """The part of a review, spec or turn that koderz passed on, and why it was due."""
    return {
        "passed_on": note.text,
        "sections_passed_on": list(note.passed_on) or None,
        "why": note.why,
        "speaker": note.speaker,
        "round": note.round,
    }


def _tested(iteration: IterationRow, program: str | None) -> Fields:
    failures = [failure.message or failure.source for failure in iteration.failures]
    extra = {"tests": "gate", "passed": iteration.passed, "error": iteration.error, "seconds": iteration.seconds}
    content = _sentence(iteration.tests_passed, iteration.tests_total, iteration.message, failures)
    return {"content": content, "extra": known(extra | {"program": program})}


def _scored(score: ScoreRow, program: str) -> Fields:
    verdicts: Mapping[str, Verdict | None] = {"held_out": score.held_out, "gate": score.gate}
    lines = [
        f"{tests} tests: {_sentence(verdict.tests_passed, verdict.tests_total, verdict.message, ())}"
        for tests, verdict in verdicts.items()
        if verdict
    ]
    passed = {f"{tests}_passed": verdict.passed for tests, verdict in verdicts.items() if verdict}
    return {"content": "\n".join(lines), "extra": {"returned": score.returned, **passed, "program": program}}


def _sentence(passed: int, total: int, message: str, failures: Sequence[str]) -> str:
    return "\n".join([f"{passed} of {total} tests passed.", *dict.fromkeys(filter(None, [message, *failures]))])
