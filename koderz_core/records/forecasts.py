"""What a benchmark will probably take, told before it is begun, and the past that tells it."""

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
    a known price.
    """

    experiments: int
    calls: Range | None
    cost_usd: Range | None
    seconds: Range | None
    past: int
    unknown: tuple[str, ...]
    unpriced: tuple[str, ...]
