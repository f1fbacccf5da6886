"""The title, content and metadata of the memory of an event, and the totals of its experiment and benchmark.

Totals include the events before it in the journal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from koderz_core.events import (
    CheckpointReviewed,
    CodeTested,
    ExperimentFinished,
    SpecWritten,
)
from koderz_core.events.tally import ExperimentTally, Totals, added
from koderz_core.records import Configuration, Verdict
from koderz_core.strategies import name_of
from koderz_core.strategies.facts import ROLES

TITLE_CHARS = 120
Text = Callable[[str], str]
Kind = Literal["spec", "iteration", "checkpoint", "result", "benchmark"]


@dataclass(frozen=True, slots=True)
class JournalMemory:
    """A memory from a journal; ``at``: the time of its event, ISO 8601.

    Titles are unique within a journal and use plain characters only.
    """

    kind: Kind
    title: str
    content: str
    category: str
    importance: str
    tags: tuple[str, ...]
    metadata: Mapping[str, object]
    at: str = ""


def of_spec(event: SpecWritten, tally: ExperimentTally, _text: Text) -> JournalMemory:
    experiment = tally.experiment
    recalled = event.origin is not None
    metadata = {
        "model": None if recalled else tally.models.get("spec"),
        "cost": 0.0 if recalled else tally.costs.get("spec"),
        "prompt": event.prompt,
        "origin": event.origin,
    }
    content = f"Experiment: {experiment.id}\nProblem: {experiment.problem}\n\nSpec:\n{event.text}"
    title = f"Spec: {experiment.id} - {plain(experiment.problem)}"
    return JournalMemory("spec", title, content, "architecture", "critical", ("spec", "experiment"), metadata)


def of_iteration(event: CodeTested, tally: ExperimentTally, text: Text) -> JournalMemory:
    """The whole program, with the feedback that the strategy received."""
    experiment, verdict = tally.experiment, event.verdict
    model, usd = _author(tally)
    code = "(the reply contained no program)" if event.code is None else text(event.code)
    metadata = {
        "iteration": event.iteration,
        "model": model,
        "cost": usd,
        "success": verdict.passed,
        **_tests(verdict),
        "error": verdict.error,
        "message": verdict.message,
        "failures": [asdict(failure) for failure in verdict.failures],
        "marks": verdict.marks,
        "seconds": verdict.seconds,
        "isolation": verdict.isolation,
        "how": event.how,
    }
    title = f"Experiment {experiment.id} - Iteration {event.iteration}"
    tags = ("iteration", f"iter_{event.iteration}", "passed" if verdict.passed else "failed")
    return JournalMemory("iteration", title, f"{code}\n\n{_feedback(verdict)}", "custom", "high", tags, metadata)


def _author(tally: ExperimentTally) -> tuple[str | None, float | None]:
    """The model that wrote the last tested program and the cost of its call; None if several may have written it."""
    calls = [call for call in tally.recent if call.role in ROLES and ROLES[call.role].writes_programs]
    models = {call.model for call in calls}
    return calls[0].model if len(models) == 1 else None, calls[0].usd if len(calls) == 1 else None


def of_checkpoint(event: CheckpointReviewed, tally: ExperimentTally, _text: Text) -> JournalMemory:
    review = "\n\n".join(f"## {heading}\n{text}" for heading, text in event.sections.items())
    metadata = {
        "checkpoint_num": event.checkpoint,
        "iteration": event.after_iteration,
        "model": tally.models.get("reviewer"),
        "cost": tally.costs.get("reviewer"),
        "why": event.why,
        "sections": event.sections,
        "passed_on": event.passed_on,
    }
    title = f"Experiment {tally.experiment.id} - Checkpoint {event.checkpoint}"
    content = f"Review:\n{review}\n\nGuidance:\n{event.guidance}" if review else f"Guidance:\n{event.guidance}"
    return JournalMemory("checkpoint", title, content, "learning", "high", ("checkpoint",), metadata)


def of_result(event: ExperimentFinished, tally: ExperimentTally, text: Text) -> JournalMemory:
    """The outcome with the submitted program, which strategies without tests record nowhere else."""
    experiment, scored = tally.experiment, tally.scores.pop(event.code or "", None)
    completed = event.outcome in ("solved", "unsolved")
    metadata = {
        "outcome": event.outcome,
        "success": event.outcome == "solved" if completed else None,
        "reason": event.reason,
        "score_kind": event.score_kind,
        "failure": event.failure,
        "error": event.error,
        "iterations": len(tally.tested),
        "seconds": event.seconds,
        "gate": _tests(scored.gate) if scored and scored.gate else None,
        "held_out": _tests(scored.held_out) if scored and scored.held_out else None,
        **_spent(tally.totals),
        "cost_analysis": {model: _spent(totals) for model, totals in tally.by_model().items()},
    }
    title = f"Experiment {experiment.id} - {'COMPLETED' if completed else event.outcome.upper()}"
    tags = ("result", "completed" if completed else event.outcome, event.outcome)
    return JournalMemory("result", title, _result(event, tally, text), "learning", "high", tags, metadata)


def of_benchmark(benchmark: str, reason: str, planned: int, summary: Sequence[Mapping[str, object]]) -> str:
    lines = [f"Benchmark {benchmark}: {reason}. Planned experiments: {planned}.", ""]
    for row in summary:
        cost = "unknown" if row["cost"] is None else f"${row['cost']:.6g}"
        outcomes = ", ".join(f"{row[name]} {name}" for name in ("solved", "unsolved", "cancelled", "error"))
        used = f"iterations: {row['iterations']}; cost: {cost}"
        lines.append(f"{row['called']} ({row['configuration_id']}): {outcomes}; {used}")
    return "\n".join(lines)


def plain(text: str) -> str:
    """A title of characters that every server can store and search: letters, digits and _./:-."""
    return re.sub(r"[^A-Za-z0-9_./:-]+", " ", text).strip()[:TITLE_CHARS]


def _tests(verdict: Verdict) -> dict[str, object]:
    passed, total = verdict.tests_passed, verdict.tests_total
    return {"tests_passed": passed, "tests_total": total, "test_pass_rate": passed / total if total else None}


def _feedback(verdict: Verdict) -> str:
    lines = [f"Feedback: {verdict.tests_passed} of {verdict.tests_total} gate tests passed"]
    lines[0] += f", failed with {verdict.error}." if verdict.error else "."
    if verdict.message:
        lines.append(verdict.message)
    for failure in verdict.failures:
        values = (("expected", failure.expected), ("got", failure.actual), ("said", failure.message or None))
        lines += [failure.source, *(f"  {name}: {value}" for name, value in values if value is not None)]
    return "\n".join(lines)


def _result(event: ExperimentFinished, tally: ExperimentTally, text: Text) -> str:
    outcome = f"{tally.experiment.problem}: {event.outcome}"
    outcome += f" ({event.reason})" if event.reason else ""
    seconds = "unknown" if event.seconds is None else f"{event.seconds:.1f} s"
    lines = [f"{outcome}. Iterations: {len(tally.tested)}; time: {seconds}."]
    lines += [f"Failed with {event.failure}."] if event.failure else []
    lines += [f"Error: {event.error}"] if event.error else []
    lines += ["", "Program:", text(event.code)] if event.code else []
    return "\n".join(lines)


def benchmark_summary(
    tallies: Iterable[ExperimentTally], configurations: Mapping[str, Configuration]
) -> list[dict[str, object]]:
    """The outcomes and costs of each configuration so far."""
    by_configuration: dict[str, list[Totals]] = {name: [] for name in configurations}
    for tally in tallies:
        if tally.experiment.configuration in configurations:
            by_configuration[tally.experiment.configuration].append(tally.totals)
    return [_summary(configurations[name], added(totals)) for name, totals in by_configuration.items()]


def _summary(configuration: Configuration, totals: Totals) -> dict[str, object]:
    return {
        "configuration_id": configuration.id,
        "called": name_of(configuration),
        "models": configuration.models,
        "parameters": configuration.parameters,
        "solved": totals.solved,
        "unsolved": totals.unsolved,
        "cancelled": totals.cancelled,
        "error": totals.errors,
        "iterations": totals.iterations,
        **_spent(totals),
    }


def _spent(totals: Totals) -> dict[str, object]:
    """Totals as metadata: unknown is null, never zero."""
    return {
        "cost": totals.cost_usd,
        "calls": totals.calls,
        "unpriced": totals.unpriced,
        "input_tokens": totals.input_tokens,
        "output_tokens": totals.output_tokens,
    }
