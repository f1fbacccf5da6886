"""How dollars and tokens are divided among tiers."""

from __future__ import annotations

from koderz_core.analysis.money import tier_shares
from koderz_core.records.progress import TierCost


def test_shares_add_up_and_the_cheapest_tier_comes_first() -> None:
    told = tier_shares([TierCost("frontier", 1, 0, 3.0, tokens=10), TierCost("local", 9, 0, 1.0, tokens=90)])
    assert [(entry.spent.tier, entry.usd, entry.tokens) for entry in told] == [
        ("local", 0.25, 0.9),
        ("frontier", 0.75, 0.1),
    ]


def test_one_unknown_amount_makes_all_shares_unknown_and_nothing_has_none() -> None:
    told = tier_shares([TierCost(None, 1, 1, None, tokens=5), TierCost("local", 1, 0, 0.0, tokens=None)])
    assert [(entry.spent.tier, entry.usd, entry.tokens) for entry in told] == [
        ("local", None, None),
        (None, None, None),
    ]
    assert tier_shares([TierCost("local", 1, 0, 0.0, tokens=0)])[0].usd is None
