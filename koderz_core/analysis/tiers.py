"""How the dollars and tokens of a configuration are divided among the tiers of models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from koderz_core.records import Tier
from koderz_core.records.progress import TierCost
from koderz_core.sums import all_known

_ORDER: tuple[Tier | None, ...] = (*get_args(Tier), None)


@dataclass(frozen=True, slots=True)
class TierShare:
    """What the calls to one tier took; ``usd`` and ``tokens``: the share of all tiers', None if unknown or none."""

    spent: TierCost
    usd: float | None
    tokens: float | None


def tier_shares(tiers: Sequence[TierCost]) -> tuple[TierShare, ...]:
    """The cheapest tier first. One unknown amount makes every share of it unknown."""
    ordered = sorted(tiers, key=lambda one: _ORDER.index(one.tier))
    usd = _shares([one.cost_usd for one in ordered])
    tokens = _shares([one.tokens for one in ordered])
    return tuple(TierShare(*one) for one in zip(ordered, usd, tokens, strict=True))


def _shares(amounts: Sequence[float | None]) -> list[float | None]:
    known = all_known(amounts)
    whole = sum(known or ())
    return [one / whole for one in known] if known and whole else [None] * len(amounts)
