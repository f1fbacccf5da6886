"""What models did when they were asked directly, as other benchmarks may use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from koderz_core.records.completions import Tier
from koderz_core.records.plans import Configuration, Scalar


@dataclass(frozen=True, slots=True)
class Measured:
    """One model asked directly in one benchmark: its experiments with a result, side by side.

    ``conditions`` are those of the benchmark, the versions of its prompts among them. ``usd``: None if unpriced.
    ``at``: when the last of them ended, in seconds since 1970.
    """

    benchmark: str
    configuration: str
    label: str
    model: str
    tier: Tier | None
    dataset: str
    dataset_sha256: str
    parameters: Mapping[str, Scalar]
    conditions: Mapping[str, Scalar]
    price_version: str
    at: float
    problems: tuple[str, ...]
    solved: tuple[bool, ...]
    usd: tuple[float | None, ...]

    @property
    def key(self) -> tuple[str, str]:
        """What its trials are of, as in ``Trial``."""
        return self.benchmark, self.configuration

    def of(self, problems: frozenset[str]) -> tuple[int, int, float | None]:
        """How many of its experiments on these problems there are, how many were solved, and their mean dollars."""
        chosen = [at for at, problem in enumerate(self.problems) if problem in problems]
        usd = [self.usd[at] for at in chosen]
        known = [one for one in usd if one is not None]
        mean = sum(known) / len(known) if known and len(known) == len(usd) else None
        return len(chosen), sum(self.solved[at] for at in chosen), mean


@dataclass(frozen=True, slots=True)
class Ground:
    """What a benchmark stands on: its problems, its conditions, the versions of its prompts among them, its prices."""

    benchmark: str
    problems: tuple[str, ...]
    conditions: Mapping[str, Scalar]
    price_version: str = ""


@dataclass(frozen=True, slots=True)
class Sought:
    """A direct configuration on problems of a dataset, each ``repeats`` times, as somebody would measure it now.

    ``conditions``: those that can change what its model answers or how that is scored; None: not there.
    """

    configuration: Configuration
    dataset_sha256: str
    conditions: Mapping[str, Scalar]
    problems: tuple[str, ...]
    repeats: int = 1
