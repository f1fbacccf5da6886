"""Labels and notes of a person on experiments. They never change a score or a rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from koderz_core.errors import UnknownNameError

SUGGESTED = ("wrong test", "unclear problem", "cheats")


@dataclass(frozen=True, slots=True)
class Annotation:
    """A label or the note on an experiment (by id). ``text`` is hostile; ``at``: seconds since 1970 (UTC)."""

    experiment: str
    kind: Literal["label", "note"]
    text: str
    at: float


def labels_by_experiment(annotations: Iterable[Annotation]) -> dict[str, list[str]]:
    """The labels of each experiment that has some, the oldest first."""
    found: dict[str, list[str]] = {}
    for annotation in annotations:
        if annotation.kind == "label":
            found.setdefault(annotation.experiment, []).append(annotation.text)
    return found


def notes_by_experiment(annotations: Iterable[Annotation]) -> dict[str, str]:
    """The note on each experiment that has one."""
    return {annotation.experiment: annotation.text for annotation in annotations if annotation.kind == "note"}


def labelled(annotations: Sequence[Annotation], label: str) -> tuple[str, ...]:
    """The experiments with a label. Raises UnknownNameError if none has it."""
    found = tuple(it.experiment for it in annotations if (it.kind, it.text) == ("label", label))
    if not found:
        raise UnknownNameError("label", label, labels_in_use(annotations))
    return found


def labels_in_use(annotations: Iterable[Annotation]) -> Sequence[str]:
    """Every label once, the most frequent first."""
    counted = Counter(annotation.text for annotation in annotations if annotation.kind == "label")
    return [label for label, _ in counted.most_common()]
