"""The title, content and metadata of the memory of an event, and the totals of its experiment and benchmark.

Totals include the events before it in the journal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

from koderz_core.events import (
    CallFinished,
    CandidateScored,
    CheckpointReviewed,
    CodeTested,
    ExperimentFinished,
    SpecWritten,
)
from koderz_core.records import Configuration, Cost, Experiment, Outcome, Verdict
from koderz_core.strategies import called

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


def of_spec(event: SpecWritten, tally: Tally, _text: Text) -> JournalMemory:
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


def of_iteration(event: CodeTested, tally: Tally, text: Text) -> JournalMemory:
    """The whole program, with the feedback that the strategy received."""
    experiment, verdict = tally.experiment, event.verdict
    tally.iterations = event.iteration
    code = "(the reply held no program)" if event.code is None else text(event.code)
    metadata = {
        "iteration": event.iteration,
        "model": tally.models.get("coder"),
        "cost": tally.costs.get("coder"),
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


def of_checkpoint(event: CheckpointReviewed, tally: Tally, _text: Text) -> JournalMemory:
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


def of_result(event: ExperimentFinished, tally: Tally, text: Text) -> JournalMemory:
    """The outcome with the submitted program, which strategies without tests record nowhere else."""
    experiment, spent, scored = tally.experiment, tally.spent, tally.scored
    tally.ended, tally.scored = event, None
    completed = event.outcome in ("solved", "unsolved")
    metadata = {
        "outcome": event.outcome,
        "success": event.outcome == "solved" if completed else None,
        "reason": event.reason,
        "score_kind": event.score_kind,
        "failure": event.failure,
        "error": event.error,
        "iterations": tally.iterations,
        "seconds": event.seconds,
        "gate": _tests(scored.gate) if scored and scored.gate else None,
        "held_out": _tests(scored.held_out) if scored and scored.held_out else None,
        **spent.told(),
        "cost_analysis": {model: part.told() for model, part in tally.by_model.items()},
    }
    title = f"Experiment {experiment.id} - {'COMPLETED' if completed else event.outcome.upper()}"
    tags = ("result", "completed" if completed else event.outcome, event.outcome)
    return JournalMemory("result", title, _result(event, tally, text), "learning", "high", tags, metadata)


def of_benchmark(benchmark: str, reason: str, planned: int, summary: Sequence[Mapping[str, object]]) -> str:
    lines = [f"Benchmark {benchmark}: {planned} experiments planned, {reason}.", ""]
    for row in summary:
        cost = "unpriced" if row["cost"] is None else f"${row['cost']:.6g}"
        outcomes = ", ".join(f"{row[name]} {name}" for name in ("solved", "unsolved", "cancelled", "error"))
        lines.append(f"{row['called']} ({row['configuration_id']}): {outcomes}, {row['iterations']} iterations, {cost}")
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


def _result(event: ExperimentFinished, tally: Tally, text: Text) -> str:
    outcome = f"{tally.experiment.problem}: {event.outcome}"
    outcome += f" ({event.reason})" if event.reason else ""
    lines = [f"{outcome} after {tally.iterations} iteration(s), {event.seconds:.1f} s."]
    lines += [f"Failed with {event.failure}."] if event.failure else []
    lines += [f"Error: {event.error}"] if event.error else []
    lines += ["", "Program:", text(event.code)] if event.code else []
    return "\n".join(lines)


@dataclass(slots=True)
class Spent:
    """What calls took. ``unpriced`` of them have no price, ``uncounted`` did not report their tokens."""

    calls: int = 0
    usd: float = 0.0
    unpriced: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0

    def add(self, call: CallFinished) -> None:
        self.calls += 1
        self.usd += call.cost.usd or 0.0
        self.unpriced += call.cost.usd is None
        self.input_tokens += call.usage.input_tokens or 0
        self.output_tokens += call.usage.output_tokens or 0
        self.uncounted += None in (call.usage.input_tokens, call.usage.output_tokens)

    def add_unanswered(self, cost: Cost | None) -> None:
        """A call without an answer cost that, as far as is known."""
        self.usd += 0.0 if cost is None else cost.usd or 0.0

    def told(self) -> dict[str, object]:
        """For metadata: unknown is null, never zero."""
        return {
            "cost": None if self.unpriced else self.usd,
            "calls": self.calls,
            "unpriced": self.unpriced,
            "input_tokens": None if self.uncounted else self.input_tokens,
            "output_tokens": None if self.uncounted else self.output_tokens,
        }


@dataclass(slots=True)
class Tally:
    """One experiment so far: its open calls, the models and costs of its roles, and its outcome."""

    experiment: Experiment
    open_calls: dict[int | None, tuple[str, str]] = field(default_factory=dict)  # ordinal -> role and model
    models: dict[str, str] = field(default_factory=dict)  # role -> the model that answered last
    costs: dict[str, float | None] = field(default_factory=dict)  # role -> cost of its last answer
    by_model: dict[str, Spent] = field(default_factory=dict)
    iterations: int = 0
    scored: CandidateScored | None = None  # the submitted program
    ended: ExperimentFinished | None = None

    def add(self, ordinal: int | None, call: CallFinished) -> None:
        role, model = self.open_calls.pop(ordinal, ("unknown", "unknown"))
        self.models[role], self.costs[role] = model, call.cost.usd
        self.by_model.setdefault(model, Spent()).add(call)

    @property
    def spent(self) -> Spent:
        return total(self.by_model.values())


def total(parts: Iterable[Spent]) -> Spent:
    """All of them together."""
    summed = Spent()
    for part in parts:
        for name in Spent.__slots__:
            setattr(summed, name, getattr(summed, name) + getattr(part, name))
    return summed


def benchmark_summary(tallies: Iterable[Tally], configurations: Mapping[str, Configuration]) -> list[dict[str, object]]:
    """The outcomes and costs of each configuration so far."""
    by_configuration: dict[str, list[Tally]] = {name: [] for name in configurations}
    for tally in tallies:
        by_configuration.setdefault(tally.experiment.configuration, []).append(tally)
    return [_summary(name, group, configurations.get(name)) for name, group in by_configuration.items()]


def _summary(name: str, tallies: list[Tally], known: Configuration | None) -> dict[str, object]:
    outcomes: dict[Outcome, int] = {"solved": 0, "unsolved": 0, "cancelled": 0, "error": 0}
    for tally in tallies:
        if tally.ended:
            outcomes[tally.ended.outcome] += 1
    about: dict[str, object] = {"configuration_id": name, "called": display_name(known) if known else name}
    about |= {"models": known.models, "parameters": known.parameters} if known else {}
    return (
        about
        | outcomes
        | {"iterations": sum(tally.iterations for tally in tallies)}
        | total(tally.spent for tally in tallies).told()
    )


def display_name(configuration: Configuration) -> str:
    """The name of the strategy with its parameters."""
    return called(configuration.strategy, configuration.parameters)
