"""What sets configurations apart, and what all of them have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from koderz_core.records import Scalar
from koderz_core.records.summaries import SummaryRow


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that can be chosen: what each configuration has, in their order; None where it means nothing."""

    name: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Differences:
    """Each setting once: those that differ for each configuration, those that are the same for all with their value."""

    differing: tuple[Setting, ...]
    common: Mapping[str, Scalar]


def differences(rows: Sequence[SummaryRow]) -> Differences:
    """Which settings differ among configurations, in the order in which they are named first."""
    return differing([_settings(row) for row in rows])


def differing(each: Sequence[Mapping[str, Scalar]]) -> Differences:
    """The same of settings by name."""
    names = dict.fromkeys(name for settings in each for name in settings)
    found = {name: tuple(settings.get(name) for settings in each) for name in names}
    # By their texts: to Python, True, 1 and 1.0 would be the same.
    same = {name for name, values in found.items() if len({repr(value) for value in values}) == 1}
    differing = tuple(Setting(name, values) for name, values in found.items() if name not in same)
    return Differences(differing, {name: values[0] for name, values in found.items() if name in same})


def _settings(row: SummaryRow) -> dict[str, Scalar]:
    """All that somebody chose; problems are told by their number, and apart where they are others."""
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
