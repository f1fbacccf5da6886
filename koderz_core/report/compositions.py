"""Success and cost by composition of models: one row for all configurations whose models have the same tiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from koderz_core.report.columns import Numbers, Shown, if_known, json_rows, number, text, text_table, usd, whole
from koderz_core.report.formats import TextTable, money, solved_rate

if TYPE_CHECKING:  # numpy is slow to import
    from koderz_core.analysis.comparison import Comparison
    from koderz_core.analysis.configurations import ConfigurationFigures

TITLE = "Success and cost by tier of the models"
TIERS = ("local", "small frontier", "frontier")


@dataclass(frozen=True, slots=True)
class CompositionRow:
    """The configurations of one composition. ``best``: None without a result. ``cheapest``: None without a price.

    ``usd_per_solved``: the cost per solved problem of the cheapest one, in dollars.
    """

    composition: str
    configurations: tuple[ConfigurationFigures, ...]
    best: ConfigurationFigures | None
    cheapest: ConfigurationFigures | None
    usd_per_solved: float | None

    @property
    def number(self) -> int:
        return len(self.configurations)


def compositions(comparison: Comparison) -> list[CompositionRow]:
    """One row per composition: local models first, then in the order of the highest tier."""
    names = sorted({row.composition for row in comparison.configurations}, key=_rank)
    return [
        _row(comparison, name, tuple(row for row in comparison.configurations if row.composition == name))
        for name in names
    ]


def compositions_table(comparison: Comparison) -> TextTable:
    """The rows in words; without rows if all configurations have the same composition."""
    rows = compositions(comparison)
    columns = (
        Shown("models", path="composition"),
        Shown("configurations", path="number"),
        Shown("best success [95 %]", text=if_known(solved_rate), path="best"),
        Shown("configuration with the highest success rate", text=if_known(_name), path="best"),
        Shown("lowest $ per solved", text=if_known(money), path="usd_per_solved"),
        Shown("configuration with the lowest cost per solved problem", text=if_known(_name), path="cheapest"),
    )
    return text_table(TITLE, columns, rows if len(rows) > 1 else [])


def composition_rows(comparison: Comparison) -> list[Numbers]:
    """The rows for programs."""
    columns = [
        text("composition", "tiers of the models", path="composition"),
        whole("configurations", "number of configurations", path="number"),
        text("best", "letter of the configuration with the highest success rate", path="best.letter"),
        number("best_share", "share of problems that the configuration in `best` solved", path="best.share"),
        text("cheapest", "letter of the configuration with the lowest cost per solved problem", path="cheapest.letter"),
        usd("usd_per_solved", "cost per solved problem of the configuration in `cheapest`", path="usd_per_solved"),
    ]
    return json_rows(columns, compositions(comparison))


def _rank(composition: str) -> tuple[int, str]:
    coders, *more = composition.split(" + ")
    return (2 * TIERS.index(coders) + bool(more) if coders in TIERS else 2 * len(TIERS), composition)


def _row(comparison: Comparison, name: str, rows: Sequence[ConfigurationFigures]) -> CompositionRow:
    scored = [row for row in rows if row.share is not None]
    prices = [(price.value, row) for row in rows if (price := comparison.measured[row.key].price)]
    known = [(value, row) for value, row in prices if isfinite(value)]
    least, cheapest = min(known, key=lambda pair: pair[0], default=(None, None))
    return CompositionRow(name, tuple(rows), max(scored, key=lambda row: row.standing, default=None), cheapest, least)


def _name(row: ConfigurationFigures) -> str:
    return f"{row.letter} · {row.label}"
