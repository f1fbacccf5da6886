"""The rows that notes make: what a strategy put into the journal, and what could not be recalled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from koderz_core.events import (
    CheckpointReviewed,
    ConsensusReached,
    Considered,
    Event,
    MemoryRecalled,
    SpecWritten,
    TurnSpoken,
)
from koderz_core.store.changes import Change, Meaning, Place, Value, as_json


def _spec_written(event: SpecWritten, place: Place) -> Iterator[Change]:
    yield _note(place, "spec_written", event.text, prompt=event.prompt, origin=event.origin)


def _checkpoint_reviewed(event: CheckpointReviewed, place: Place) -> Iterator[Change]:
    answer = {"sections": as_json(event.sections), "passed_on": as_json(event.passed_on)}
    yield _note(place, "checkpoint_reviewed", event.guidance, iteration=event.after_iteration, why=event.why, **answer)


def _turn_spoken(event: TurnSpoken, place: Place) -> Iterator[Change]:
    yield _note(place, "turn_spoken", event.text, speaker=event.speaker, round=event.round)


def _consensus_reached(event: ConsensusReached, place: Place) -> Iterator[Change]:
    """Its text has a line for each candidate, that which was handed in marked, and one on weights that counted."""
    lines = [_told(number, one, number == event.chosen) for number, one in enumerate(event.candidates, 1)]
    if event.by == "codebleu":
        weights = ", ".join(f"{weight:g}" for weight in event.weights)
        lines.append(f"CodeBLEU: n-grams, weighted n-grams, syntax and data flow count {weights}.")
    yield _note(place, "consensus_reached", "\n".join(lines), why=event.by)


def _told(number: int, one: Considered, chosen: bool) -> str:
    parts = [one.excluded] if one.excluded else []
    if one.iteration is not None:
        parts.append(f"iteration {one.iteration}, {one.tests_passed} of {one.tests_total} tests")
    parts += [f"similarity {one.similarity:.3f}"] if one.similarity is not None else []
    return f"{'*' if chosen else ' '} candidate {number} of coder {one.member + 1}: {', '.join(parts)}"


def _memory_recalled(event: MemoryRecalled, place: Place) -> Iterator[Change]:
    if event.fault:
        yield _note(place, "recall_failed", event.fault)


def _note(place: Place, kind: str, text: str, **more: Value) -> Change:
    columns: dict[str, Value] = {"experiment": place.experiment, "ordinal": place.ordinal, "at": place.at}
    columns |= {"kind": kind, "text": text, "sections": "{}", "passed_on": "[]"}
    return Change("notes", "replace", columns | more)


NOTES: Mapping[type[Event], Meaning] = {
    SpecWritten: _spec_written,
    CheckpointReviewed: _checkpoint_reviewed,
    TurnSpoken: _turn_spoken,
    ConsensusReached: _consensus_reached,
    MemoryRecalled: _memory_recalled,
}
