"""The axis of costs in a chart: linear or logarithmic, with ticks in a readable unit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

UNITS = (1, 1_000, 1_000_000)  # problems
LEAST_SHOWN = 0.05  # dollars: if no cost reaches it, the axis shows the cost of more problems
LOGARITHMIC = 5.0  # a larger ratio of costs gets a logarithmic axis
FREE = 3.0  # on a logarithmic axis, costs of 0 are this factor left of the lowest other cost


@dataclass(frozen=True, slots=True)
class CostAxis:
    """From ``low`` to ``high`` dollars per problem, shown per ``unit`` problems.

    ``least``: the place of costs of 0 on a logarithmic axis; None if the axis is linear.
    """

    low: float
    high: float
    unit: int
    least: float | None
    free: bool

    @property
    def title(self) -> str:
        problems = "problem" if self.unit == 1 else f"{self.unit:,} problems"
        return f"Cost per {problems} (US dollars{', logarithmic' if self.least else ''})"

    @property
    def short_title(self) -> str:
        """The title for a narrow chart."""
        problems = "problem" if self.unit == 1 else f"{self.unit:,} problems"
        return f"US$ per {problems}{' (logarithmic)' if self.least else ''}"

    def shown(self, usd: float) -> float:
        """The value at which a cost is drawn."""
        return usd if self.least is None else max(usd, self.least)

    def position(self, usd: float) -> float:
        """The place of a cost in the coordinates of Plotly's annotations."""
        return usd if self.least is None else math.log10(self.shown(usd))

    def share(self, usd: float) -> float:
        """The place of a cost, from 0 (left) to 1 (right)."""
        left, right = self._span
        return (self.position(usd) - left) / (right - left)

    def options(self, most: int, sign: str = "$") -> dict[str, object]:
        """The axis for Plotly, with about ``most`` ticks. ``sign``: before each number."""
        ticks = self._powers(most) if self.least else _even(self.low, self.high, most)
        values = [tick for tick in ticks if self.low <= tick <= self.high]
        texts = [dollars(tick * self.unit, sign) for tick in values]
        if self.least and self.free:
            values, texts = [self.least, *values], ["$0", *texts]
        kind = "log" if self.least else "linear"
        return {"type": kind, "range": self._span, "tickvals": values, "ticktext": texts, "title": self.title}

    @property
    def _span(self) -> tuple[float, float]:
        """Both ends in Plotly's coordinates."""
        return (math.log10(self.low), math.log10(self.high)) if self.least else (self.low, self.high)

    def _powers(self, most: int) -> list[float]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        for digits, step in (((1, 2, 3, 5, 7), 1), ((1, 2, 5), 1), ((1, 3), 1), ((1,), 1), ((1,), 2), ((1,), 3)):
            ticks = [digit * 10.0**power for power in range(first, last + 1, step) for digit in digits]
            inside = [tick for tick in ticks if self._least_tick <= tick <= self.high]
            if len(inside) <= most:
                break
        return inside

    @property
    def _least_tick(self) -> float:
        """Ticks start right of the place of costs of 0."""
        return 1.5 * (self.least or 0.0) if self.free else self.low


def cost_axis(costs: Sequence[float]) -> CostAxis:
    """An axis that shows all costs (dollars per problem, at least one of them above 0) with a margin."""
    paid, high = [usd for usd in costs if usd > 0], max(costs)
    low, free = min(paid), min(costs) <= 0
    unit = unit_of(high)
    if high / low <= LOGARITHMIC:
        return CostAxis(-0.06 * high if free else 0.0, 1.15 * high, unit, None, free)
    least = low / FREE if free else low / 2
    return CostAxis(least / 1.3 if free else low / 1.6, high * 1.6, unit, least, free)


def unit_of(high: float) -> int:
    """The number of problems whose cost an axis shows, by its highest cost per problem."""
    return next((unit for unit in UNITS if high * unit >= LEAST_SHOWN), UNITS[-1])


def _even(low: float, high: float, most: int) -> Iterator[float]:
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * digit for digit in (1, 2, 5, 10) if power * digit >= rough * 0.999)
    return (step * at for at in range(math.ceil(max(low, 0.0) / step), math.floor(high / step) + 1))


def dollars(usd: float, sign: str = "$") -> str:
    """``$0.02``, ``$500``: a round number without needless digits."""
    return f"{sign}{Decimal(f'{usd:.4g}'):,f}"
