"""Which model a policy chooses for a role, and what of results speaks for it."""

from __future__ import annotations

from dataclasses import dataclass

QUALITY, LATENCY, COST, CONTEXT, FIXED = "quality", "latency", "cost", "context", "fixed"
POLICIES = (QUALITY, LATENCY, COST, CONTEXT, FIXED)
"""What a model can be chosen by: most solved, quickest, cheapest, largest context, or the order they are named in."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What came of a model in a role, on one problem of a dataset: of so many ``experiments`` some were ``solved``.

    ``seconds`` and ``cost_usd``: what its calls in that role took in all of them together; None: not known of each.
    """

    model: str
    dataset_sha256: str
    problem: str
    experiments: int
    solved: int
    seconds: float | None
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Ranked:
    """A model that was considered. ``score``: of what the policy goes by, None: nothing is known. ``reason``: why."""

    model: str
    score: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Selection:
    """For a ``role`` of a ``strategy`` the ``chosen`` model; ``ranked``: all that were considered, the best first.

    Those behind the chosen one are its fallbacks; those before it could not be asked, and their reason says why.
    ``results_of``: the strategy whose results were compared, empty if none were.
    """

    strategy: str
    role: str
    policy: str
    chosen: str
    ranked: tuple[Ranked, ...]
    results_of: str = ""
