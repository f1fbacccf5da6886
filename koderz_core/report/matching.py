"""Sentences on whether configurations match the baseline within the margins of success and cost.

Names in sentences are hostile text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, get_args

from koderz_core.analysis.noninferiority import LEVEL, CostMatch, Match, Verdict
from koderz_core.report.formats import listed, numbered, p_value, within

if TYPE_CHECKING:  # numpy is slow to import
    from koderz_core.analysis.pairs import Key, Pair

MOST_NAMED = 3  # configurations in a sentence; the others are counted
SHOWN: Mapping[Verdict, str] = {"matches": "shown", "falls short": "ruled out"}


def match_sentences(pair: Pair, label: str, other: str) -> str:
    """Whether the configuration matches the baseline ``other``; empty if nothing is to be said.

    Success is left out if it solved significantly more.
    """
    better = pair.significant and (pair.test.difference or 0) > 0
    success = [] if pair.match is None or better else [_success(pair.match, label, other)]
    cost = [] if pair.cost_match is None else [_cost(pair.cost_match, label, other)]
    return " ".join(success + cost)


def matches(pairs: Sequence[Pair], names: Mapping[Key, str]) -> Iterator[str]:
    """Which configurations match the baseline within each margin, and which are no more expensive."""
    if len(pairs) == 1:
        if only := match_sentences(pairs[0], names[pairs[0].key], names[pairs[0].baseline]):
            yield only
        return
    judged = [(names[pair.key], pair.match) for pair in pairs if pair.match]
    for margin in dict.fromkeys(match.margin for _, match in judged):  # a registered margin may differ
        base, of = names[pairs[0].baseline], [(name, match) for name, match in judged if match.margin == margin]
        yield f"Match with the baseline {base} {within(margin)}: {_counted(of)}."
    if priced := [(names[pair.key], pair.cost_match) for pair in pairs if pair.cost_match]:
        most = f"at most {priced[0][1].margin:.3g} times that of the baseline"
        yield f"Cost per solved problem {most}: {_counted(priced)}."


def some(texts: Sequence[str]) -> str:
    """The first texts as a list; the others are counted."""
    more = len(texts) - MOST_NAMED
    return listed([*texts[:MOST_NAMED], f"{more} more"] if more > 0 else texts)


def _counted(judged: Sequence[tuple[str, Match]] | Sequence[tuple[str, CostMatch]]) -> str:
    """``shown for A; ruled out for B; undecided for 2 configurations``."""
    of = {verdict: [name for name, match in judged if match.verdict == verdict] for verdict in get_args(Verdict)}
    parts = [f"{word} for {some(of[verdict])}" for verdict, word in SHOWN.items() if of[verdict]]
    if of["undecided"]:
        parts.append(f"undecided for {numbered(len(of['undecided']), 'configuration')}")
    return "; ".join(parts)


def _success(found: Match, label: str, other: str) -> str:
    margin = f"{other} {within(found.margin)}"
    if found.equivalent:
        p = p_value(found.p_equal)
        return f"{label} and {other} are equivalent {within(found.margin)} (two one-sided tests, p {p})."
    if found.verdict == "matches":
        return f"{label} matches {margin} (one-sided p {p_value(found.p_worst)})."
    if found.verdict == "falls short":
        return f"{label} does not match {margin}: it falls short (one-sided p {p_value(found.p_short)})."
    missing = " in the worst case for the missing results" if found.p <= LEVEL else ""
    p = p_value(found.p_worst if missing else found.p)
    return f"Whether {label} matches {margin} is undecided{missing} (one-sided p {p})."


def _cost(found: CostMatch, label: str, other: str) -> str:
    cost, limit = f"cost per solved problem of {label} is", f"{found.margin:.3g} times that of {other}"
    if found.verdict == "matches":
        return f"The {cost} shown to be at most {limit}."
    if found.verdict == "falls short":
        return f"The {cost} shown to be more than {limit}."
    return f"Whether the {cost} at most {limit} is undecided."
