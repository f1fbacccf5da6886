"""What a benchmark will probably take, told before it is begun, the past that tells it, and what it came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Past:
    """An experiment that was solved or unsolved; ``cost_usd`` None if one of its calls has no price."""

    configuration: str
    strategy: str
    models: Mapping[str, tuple[str, ...]]
    calls: int
    cost_usd: float | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Range:
    """Half of such benchmarks take at most ``p50``, nine in ten at most ``p90``."""

    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the ``experiments`` without a result will take; None: not known. ``past``: how many it is told from.

    ``unknown``: ids of configurations of which too few like them have ended so far. ``unpriced``: ids of models without
    a known price. ``spent_usd``: what calls of the same plan have cost already, as far as that is known.
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
        """Whether in more than one case of ten all of it costs more, what is spent already included."""
        return usd is not None and self.cost_usd is not None and self.spent_usd + self.cost_usd.p90 > usd

    @property
    def tells(self) -> bool:
        """Whether it says anything of what is left to do."""
        return self.experiments > 0 and not self.unknown


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a benchmark has come to since its forecast was made; ``cost_usd`` None if one of its calls has no price.

    ``forecast`` None: nothing was told. ``seconds`` None: it rested in between.
    """

    forecast: Forecast | None
    cost_usd: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class PastPair:
    """Two configurations of a benchmark that were given the same ``problems``, as their results differed.

    ``discordant``: on how many of these problems one trial of each has different outcomes; with repeats the expected
    number. ``from_chance``: the part of the variance of that difference that lies between trials of one problem, None
    if not both were repeated or they never differed.
    """

    strategies: tuple[str, str]
    models: tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]
    problems: int
    discordant: float
    from_chance: float | None
