"""The changes of rows in the index for each kind of event: pure functions of the event and its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from koderz_core.events import (
    AllowanceSet,
    BenchmarkClosed,
    BenchmarkDecided,
    BenchmarkOpened,
    CallFailed,
    CallFinished,
    CallStarted,
    CandidateScored,
    CheckpointReviewed,
    CodeTested,
    ConsensusReached,
    Considered,
    ControlObeyed,
    Event,
    ExperimentFinished,
    ExperimentLabelled,
    ExperimentNoted,
    ExperimentStarted,
    ForecastMade,
    MemoryLevelChanged,
    MemoryRecalled,
    ProgramProbed,
    RemainingRead,
    SpecWritten,
    TextStored,
    TurnSpoken,
)
from koderz_core.events.unanswered_calls import UnansweredCall
from koderz_core.records import Cost, Tier, Verdict
from koderz_core.store.schema import Value

How = Literal["replace", "merge", "amend", "insert"]


@dataclass(frozen=True, slots=True)
class Change:
    """Columns of one row, including its key.

    ``replace``: a new row; columns that are not named are null. ``merge``: into an existing row, if any. ``amend``: the
    row must exist. ``insert``: only if no row exists.
    """

    table: str
    how: How
    values: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Place:
    """The place of an event: its envelope, its position in the journal, and values of the journal's header.

    ``attempt``: the attempt of this ordinal that started last, None without one.
    """

    at: float
    experiment: str | None
    ordinal: int | None
    position: int
    benchmark: str
    tiers: Mapping[str, Tier]
    attempt: Value


Meaning = Callable[[Any, Place], Iterable[Change]]
"""The changes of one kind of event. Any: the event of that kind, which the type of a mapping cannot express."""


def as_json(value: object) -> str:
    """The value of a JSON column."""
    return msgspec.json.encode(value).decode()


def _spec_written(event: SpecWritten, place: Place) -> Iterator[Change]:
    yield note(place, event.kind, event.text, prompt=event.prompt, origin=event.origin)


def _checkpoint_reviewed(event: CheckpointReviewed, place: Place) -> Iterator[Change]:
    answer = {"sections": as_json(event.sections), "passed_on": as_json(event.passed_on)}
    yield note(place, event.kind, event.guidance, iteration=event.after_iteration, why=event.why, **answer)


def _turn_spoken(event: TurnSpoken, place: Place) -> Iterator[Change]:
    yield note(place, event.kind, event.text, speaker=event.speaker, round=event.round)


def _consensus_reached(event: ConsensusReached, place: Place) -> Iterator[Change]:
    """The text has a line per candidate, which marks the submitted one, and a line of weights if they decided."""
    lines = [_candidate(number, entry, number == event.chosen) for number, entry in enumerate(event.candidates, 1)]
    if event.by == "codebleu":
        parts = ("n-grams", "weighted n-grams", "syntax", "data flow")
        weights = ", ".join(f"{part} {weight:g}" for part, weight in zip(parts, event.weights, strict=False))
        lines.append(f"Weights of CodeBLEU: {weights}.")
    yield note(place, event.kind, "\n".join(lines), why=event.by)


def _candidate(number: int, candidate: Considered, chosen: bool) -> str:
    parts = [candidate.excluded] if candidate.excluded else []
    if candidate.iteration is not None:
        parts.append(
            f"iteration {candidate.iteration} passed {candidate.tests_passed} of {candidate.tests_total} tests"
        )
    parts += [f"similarity {candidate.similarity:.3f}"] if candidate.similarity is not None else []
    submitted = " (submitted)" if chosen else ""
    about = f": {', '.join(parts)}" if parts else ""
    return f"candidate {number} of coder {candidate.member + 1}{submitted}{about}"


def _memory_recalled(event: MemoryRecalled, place: Place) -> Iterator[Change]:
    if event.fault:
        yield note(place, "recall_failed", event.fault)
    elif event.query.kind == "selector":
        lines = [
            f"{memory.origin}: P(right) {_rounded(memory.tags['probability'])}"
            + (f", propensity {_rounded(memory.tags['propensity'])}" if "propensity" in memory.tags else "")
            for memory in event.memories
            if "probability" in memory.tags
        ]
        yield note(place, "selector_asked", "\n".join(lines))


def _rounded(number: str) -> str:
    """A recorded number with three significant digits; a text that is not a number is only shortened."""
    try:
        return f"{float(number):.3g}"
    except ValueError:
        return number[:5]


def note(place: Place, kind: str, text: str, **more: Value) -> Change:
    columns: dict[str, Value] = {"experiment": place.experiment, "ordinal": place.ordinal, "at": place.at}
    columns |= {"kind": kind, "text": text, "sections": "{}", "passed_on": "[]"}
    return Change("notes", "replace", columns | more)


def changes(event: Event, place: Place) -> Iterable[Change]:
    """The rows that an event adds or changes."""
    rows = CHANGES.get(type(event))
    return rows(event, place) if rows else ()


def _benchmark_opened(event: BenchmarkOpened, place: Place) -> Iterator[Change]:
    plan = event.plan
    columns: dict[str, Value] = {
        "id": event.benchmark,
        "name": f"{plan.name} ({plan.shard.name})" if plan.name and plan.shard else plan.name,
        "koderz_version": event.koderz_version,
        "schema_version": event.schema_version,
        "dataset": plan.dataset.name,
        "dataset_sha256": plan.dataset.sha256,
        "licence": plan.dataset.licence,
        "problems": len(plan.problems),
        "repeats": plan.repeats,
        "seed": plan.seed,
        "prompt_versions": as_json(event.prompt_versions),
        "price_version": event.price_version,
        "isolation": event.isolation,
        "self_test": event.self_test,
        "tiers": as_json(event.tiers),
        "energy": as_json(event.energy),
        "plan": as_json(plan),
        "budget_usd": plan.budget.usd,
        "imported": event.imported.file if event.imported else None,
        "closed_at": None,
        "closed_reason": None,
    }
    yield Change("benchmarks", "insert", columns | {"opened_at": place.at})
    yield Change("benchmarks", "merge", columns)  # an extended plan keeps the time of its first header
    yield from _configurations(event)
    experiments = plan.experiments()
    header: dict[str, Value] = {"benchmark": event.benchmark, "position": place.position, "at": place.at}
    header |= {"experiments": len(experiments), "plan": columns["plan"] if plan.registration else None}
    yield Change("recorded_plans", "replace", header)
    for planned in experiments:
        row: dict[str, Value] = {**asdict(planned), "benchmark": event.benchmark, "state": "planned"}
        yield Change("experiments", "insert", row | {"position": place.position})


def _configurations(event: BenchmarkOpened) -> Iterator[Change]:
    from koderz_core.strategies.labels import labels  # noqa: PLC0415 (all strategies, which only a new benchmark needs)

    names = labels(event.plan.configurations)
    for configuration in event.plan.configurations:
        columns: dict[str, Value] = {"benchmark": event.benchmark, "id": configuration.id}
        columns |= {"label": names[configuration.id], "strategy": configuration.strategy}
        columns |= {"gate": configuration.gate, "feedback": configuration.feedback}
        columns |= {"parameters": as_json(configuration.parameters), "models": as_json(configuration.models)}
        yield Change("configurations", "replace", columns)


def _benchmark_closed(event: BenchmarkClosed, place: Place) -> Iterator[Change]:
    closed: dict[str, Value] = {"id": place.benchmark, "closed_at": place.at, "closed_reason": event.reason}
    yield Change("benchmarks", "amend", closed)


def _benchmark_decided(event: BenchmarkDecided, place: Place) -> Iterator[Change]:
    decided: dict[str, Value] = {"decision": event.decision, "decided_by": event.problems}
    yield Change("benchmarks", "amend", {"id": place.benchmark, **decided})


def _forecast_made(event: ForecastMade, place: Place) -> Iterator[Change]:
    """The last estimate counts: it is for the experiments that were left then."""
    columns: dict[str, Value] = {"at": place.at, "position": place.position, "forecast": as_json(event.forecast)}
    yield Change("forecasts", "replace", {"benchmark": place.benchmark, **columns})


def _control_obeyed(event: ControlObeyed, place: Place) -> Iterator[Change]:
    """The last request for each target; without a target it is for the whole benchmark, which a resume reopens."""
    columns: dict[str, Value] = {"target": event.target or "", "what": event.what, "position": place.position}
    yield Change("controls", "replace", {"benchmark": place.benchmark, **columns})
    if event.what == "resume" and event.target is None:
        yield _reopened(place)


def _allowance_set(event: AllowanceSet, place: Place) -> Iterator[Change]:
    before = event.before
    row: dict[str, Value] = {"benchmark": place.benchmark, "position": place.position, "at": place.at, "by": event.by}
    row |= {"usd": event.after.usd, "concurrency": event.after.concurrency, "changed": before is not None}
    if before is not None:
        row |= {"usd_before": before.usd, "concurrency_before": before.concurrency}
    yield Change("allowances", "replace", row)
    now: dict[str, Value] = {"budget_usd": event.after.usd, "concurrency": event.after.concurrency}
    yield Change("benchmarks", "amend", {"id": place.benchmark, **now})


def _reopened(place: Place) -> Change:
    return Change("benchmarks", "amend", {"id": place.benchmark, "closed_at": None, "closed_reason": None})


def _text_stored(event: TextStored, _place: Place) -> Iterator[Change]:
    yield Change("texts", "insert", {"sha256": event.sha256, "text": event.text})


def _experiment_started(event: ExperimentStarted, place: Place) -> Iterator[Change]:
    """An earlier outcome stays until there is a new one."""
    row = {**asdict(event.experiment), "benchmark": place.benchmark, "state": "running", "started_at": place.at}
    yield Change("experiments", "merge", row)
    yield _reopened(place)


def _experiment_finished(event: ExperimentFinished, place: Place) -> Iterator[Change]:
    row: dict[str, Value] = {**asdict(event), "id": place.experiment, "state": "finished", "finished_at": place.at}
    yield Change("experiments", "amend", row)


def _call_started(event: CallStarted, place: Place) -> Iterator[Change]:
    columns = {
        "experiment": place.experiment,
        "ordinal": place.ordinal,
        "attempt": event.attempt,
        "position": place.position,
        "at": place.at,
        "role": event.role,
        "member": event.member,
        "model": event.model,
        "tier": place.tiers.get(event.model),
        "state": "started",
        "sampling": as_json(event.sampling),
        "messages": as_json(event.messages),
    }
    yield Change("calls", "replace", columns)
    row: dict[str, Value] = {"benchmark": place.benchmark, "experiment": place.experiment, "ordinal": place.ordinal}
    for message in event.messages:
        if message.role != "assistant":  # an earlier answer
            yield Change("prompts", "replace", {**row, "text": message.text, "at": place.at})


def _call_finished(event: CallFinished, place: Place) -> Iterator[Change]:
    answer: dict[str, Value] = {
        "state": "finished",
        **_cost(event.cost),
        "seconds": event.seconds,
        "first_token_seconds": event.first_token_seconds,
        "finish": event.finish,
        "honoured": as_json(event.honoured),
        "text": event.text,
    }
    if event.cached:
        answer |= {"cached_from": event.cached.experiment, "cached_usd": event.cached.cost.usd}
    usage = {name: None if value is UNSET else value for name, value in asdict(event.usage).items()}
    yield Change("calls", "amend", _call_key(place) | usage | answer)


def _call_failed(event: CallFailed, place: Place) -> Iterator[Change]:
    fault: dict[str, Value] = {"state": "failed", "message": event.message, "seconds": event.seconds}
    fault |= {"status": event.status, "wait_seconds": event.wait_seconds, "arrived": event.arrived}
    yield Change("calls", "amend", _call_key(place) | fault)


def unanswered(call: UnansweredCall) -> Change:
    """The row of a call that ended without an answer."""
    key: dict[str, Value] = {"experiment": call.experiment, "ordinal": call.ordinal, "attempt": call.attempt}
    state: dict[str, Value] = {"state": "interrupted"} if call.interrupted else {}
    return Change("calls", "amend", key | state | ({} if call.cost is None else _cost(call.cost)))


def _cost(cost: Cost) -> dict[str, Value]:
    what = {"cost_usd": cost.usd, "cost_source": cost.source}
    return {**what, "kwh": cost.kwh, "energy_usd": cost.energy_usd, "rental_usd": cost.rental_usd}


def _call_key(place: Place) -> dict[str, Value]:
    return {"experiment": place.experiment, "ordinal": place.ordinal, "attempt": place.attempt}


def _code_tested(event: CodeTested, place: Place) -> Iterator[Change]:
    verdict = event.verdict
    columns = {
        "experiment": place.experiment,
        "iteration": event.iteration,
        "ordinal": place.ordinal,
        "at": place.at,
        "code": event.code,
        "how": event.how,
        "passed": verdict.passed,
        "marks": verdict.marks,
        "tests_passed": verdict.tests_passed,
        "tests_total": verdict.tests_total,
        "error": verdict.error,
        "message": verdict.message,
        "seconds": verdict.seconds,
        "isolation": verdict.isolation,
        "shared": verdict.shared,
        "test_seconds": as_json(verdict.test_seconds),
        "failures": as_json(verdict.failures),
    }
    yield Change("iterations", "replace", columns)


def _candidate_scored(event: CandidateScored, place: Place) -> Iterator[Change]:
    columns: dict[str, Value] = {"experiment": place.experiment, "code": event.code, "at": place.at}
    verdicts = [verdict for verdict in (event.gate, event.held_out) if verdict is not None]
    columns |= {"returned": event.returned, "shared": any(verdict.shared for verdict in verdicts)}
    yield Change("scores", "replace", columns | _marks("gate", event.gate) | _marks("held_out", event.held_out))


def _marks(tests: str, verdict: Verdict | None) -> dict[str, Value]:
    if verdict is None:
        return {}
    return {
        tests: as_json(verdict),
        f"{tests}_passed": verdict.passed,
        f"{tests}_tests_passed": verdict.tests_passed,
        f"{tests}_tests_total": verdict.tests_total,
    }


def _no_rows(_event: Event, _place: Place) -> tuple[Change, ...]:
    """A resumed experiment or the list of troubles needs this event, or it belongs to a journal of labels."""
    return ()


CHANGES: Mapping[type[Event], Meaning] = {
    BenchmarkOpened: _benchmark_opened,
    ForecastMade: _forecast_made,
    ControlObeyed: _control_obeyed,
    AllowanceSet: _allowance_set,
    MemoryLevelChanged: _no_rows,
    TextStored: _text_stored,
    ExperimentStarted: _experiment_started,
    CallStarted: _call_started,
    CallFinished: _call_finished,
    CallFailed: _call_failed,
    CodeTested: _code_tested,
    ProgramProbed: _no_rows,
    MemoryRecalled: _memory_recalled,
    RemainingRead: _no_rows,
    SpecWritten: _spec_written,
    CheckpointReviewed: _checkpoint_reviewed,
    TurnSpoken: _turn_spoken,
    ConsensusReached: _consensus_reached,
    CandidateScored: _candidate_scored,
    ExperimentFinished: _experiment_finished,
    BenchmarkDecided: _benchmark_decided,
    BenchmarkClosed: _benchmark_closed,
    ExperimentLabelled: _no_rows,
    ExperimentNoted: _no_rows,
}
"""The changes of each kind of event."""
