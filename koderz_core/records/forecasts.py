"""Estimates of what a benchmark will take, the past results they come from, and the actual result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Past:
    """A past experiment that was solved or unsolved; ``cost_usd`` None if one of its calls has no price."""

    configuration: str
    strategy: str
    models: Mapping[str, tuple[str, ...]]
    calls: int
    cost_usd: float | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Range:
    """The median and the 90th percentile of an estimate."""

    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """The estimate for the ``experiments`` without a result; None: unknown. ``past``: the experiments it is based on.

    ``unknown``: ids of configurations for which too few similar experiments have ended. ``unpriced``: ids of models
    without a known price. ``spent_usd``: the known cost of the earlier calls of the same plan.
    """

    experiments: int
    calls: Range | None
    cost_usd: Range | None
    seconds: Range | None
    past: int
    unknown: tuple[str, ...]
    unpriced: tuple[str, ...]
    spent_usd: float = 0.0

    def may_exceed(self, usd: float | None) -> bool:
        """Whether the 90th percentile of the total cost, including what is already spent, exceeds ``usd``."""
        return usd is not None and self.cost_usd is not None and self.spent_usd + self.cost_usd.p90 > usd

    @property
    def tells(self) -> bool:
        """Whether there is an estimate for all experiments that are left."""
        return self.experiments > 0 and not self.unknown


@dataclass(frozen=True, slots=True)
class Receipt:
    """The actual result since the estimate was made; ``cost_usd`` None if one of the calls has no price.

    ``forecast`` None: there was no estimate. ``seconds`` None: the benchmark was interrupted or paused in between.
    """

    forecast: Forecast | None
    cost_usd: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class PastPair:
    """How the results of two configurations of a benchmark differed on the same ``problems``.

    ``discordant``: the number of these problems on which one trial of each has different outcomes; with repeats the
    expected number. ``from_chance``: the part of the variance of that difference that is between trials of one problem,
    None if one configuration was not repeated or they never differed.
    """

    strategies: tuple[str, str]
    models: tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]
    problems: int
    discordant: float
    from_chance: float | None
