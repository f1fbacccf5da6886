"""Differences between configurations in their settings, and between two experiments step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from koderz_core.records import Scalar
from koderz_core.records.progress import SummaryRow
from koderz_core.records.rows import Step


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting and its value in each configuration, in their order; None if it does not apply."""

    name: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Differences:
    """The settings that differ, with a value per configuration, and the common ones with their value."""

    differing: tuple[Setting, ...]
    common: Mapping[str, Scalar]


def differences(rows: Sequence[SummaryRow]) -> Differences:
    """Which settings differ among configurations, in the order of their first occurrence."""
    return differing([_settings(row) for row in rows])


def differing(each: Sequence[Mapping[str, Scalar]]) -> Differences:
    """The same for settings by name."""
    names = dict.fromkeys(name for settings in each for name in settings)
    values_of = {name: tuple(settings.get(name) for settings in each) for name in names}
    # By their texts: to Python, True, 1 and 1.0 are equal.
    same = {name for name, values in values_of.items() if len({repr(value) for value in values}) == 1}
    differing = tuple(Setting(name, values) for name, values in values_of.items() if name not in same)
    return Differences(differing, {name: values[0] for name, values in values_of.items() if name in same})


def _settings(row: SummaryRow) -> dict[str, Scalar]:
    """All settings of a configuration; problems are given by number and a part of their hash."""
    models = {f"{role} model": " + ".join(members) for role, members in row.models.items()}
    parameters = {name.replace("_", " "): value for name, value in row.parameters.items()}
    return {
        "dataset": f"{row.dataset} ({row.dataset_sha256[:6]})" if row.dataset_sha256 else row.dataset,
        "problems": f"{row.problems} ({row.problem_set[:6]})",
        "repeats": row.planned // row.problems if row.problems else 0,
        "strategy": row.strategy,
        **models,
        **parameters,
        "gate": row.gate,
        "feedback": row.feedback,
        "isolation": row.isolation,
        "benchmark": row.benchmark,
    }


@dataclass(frozen=True, slots=True)
class StepPair:
    """A step of the left experiment and the corresponding one of the right; None: there is none."""

    left: Step | None
    right: Step | None


def aligned(left: Sequence[Step], right: Sequence[Step]) -> tuple[StepPair, ...]:
    """Both in their order. Tries of the same number are pairs; so are steps of one kind before each try."""
    parts = zip_longest(_before_tries(left), _before_tries(right), fillvalue=())
    return tuple(pair for of_left, of_right in parts for pair in _paired(of_left, of_right))


def _before_tries(steps: Sequence[Step]) -> list[tuple[Step, ...]]:
    """The steps up to and including each try; at the end those that no try followed."""
    parts: list[tuple[Step, ...]] = []
    part: list[Step] = []
    for step in steps:
        part.append(step)
        if _is_try(step):
            parts.append(tuple(part))
            part = []
    return [*parts, tuple(part)] if part else parts


def _paired(left: Sequence[Step], right: Sequence[Step]) -> Iterator[StepPair]:
    """Pairs of steps of the same kind, in their order; the tries, which come last, are a pair."""
    left, right = list(left), list(right)
    while left or right:
        if left and right and _kind(left[0]) == _kind(right[0]):
            yield StepPair(left.pop(0), right.pop(0))
        elif left and not (_is_try(left[0]) and right):
            yield StepPair(left.pop(0), None)
        else:
            yield StepPair(None, right.pop(0))


def _is_try(step: Step) -> bool:
    """An answer that is submitted untested is a try as well."""
    return step.kind in ("iteration", "answer")


def _kind(step: Step) -> str:
    return "try" if _is_try(step) else step.kind
