"""The answer of a comparison in sentences with names: the best, the cheapest, and the significant differences.

Each sentence says no more than was measured: a difference that is not significant is not called equal, and unknown
costs are named. Names in sentences are hostile text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING

from koderz_core.report.findings import names_of
from koderz_core.report.formats import case_bounds, money_span, numbered, one_line, points, solved_rate
from koderz_core.report.matching import matches, some
from koderz_core.report.registration import result_sentence

if TYPE_CHECKING:  # numpy is slow to import
    from koderz_core.analysis.comparison import Comparison
    from koderz_core.analysis.configurations import ConfigurationFigures
    from koderz_core.analysis.pairs import Key, Pair
    from koderz_core.analysis.rates import Interval

ROUNDING = 1e-9  # of means over problems
NOT_EQUAL = "but this does not show that the rates are equal"
_ACROSS = ", but the configurations did not run on the same problems"


@dataclass(frozen=True, slots=True)
class Answer:
    """``sentences``: hostile text. ``brackets``: what the brackets in them contain, None if there are none."""

    sentences: tuple[str, ...]
    brackets: str | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """All of it."""
        return (*self.sentences, *([self.brackets] if self.brackets else []))


def answer(comparison: Comparison, pinned: Key | None = None) -> Answer:
    """The best, the cheapest and the significant differences. ``pinned``: the pair of this key comes first."""
    with_result = [row for row in comparison.configurations if row.n]
    if not with_result:
        return Answer(("No experiment has a result yet.",))
    names = {key: one_line(name) for key, name in names_of(comparison.configurations).items()}
    pairs = [pair for pair in comparison.pairs if not pair.sequential]
    first = [pair for pair in pairs if pair.key == pinned and len(pairs) > 1]
    sentences = (
        *map(result_sentence, comparison.registered),
        *(_about(pair, names) for pair in first),
        _best(comparison, with_result, names),
        _cheapest(comparison, with_result, names),
        *([_about(pairs[0], names)] if len(pairs) == 1 else []),
        *([_differences(pairs, names)] if len(pairs) > 1 else []),
        *matches(pairs, names),
    )
    return Answer(tuple(sentence for sentence in sentences if sentence), _brackets(pairs))


def _best(comparison: Comparison, rows: Sequence[ConfigurationFigures], names: Mapping[Key, str]) -> str:
    """The highest success rate, and how many configurations have no rate."""
    most = max(row.share or 0.0 for row in rows)
    best = [row for row in rows if most - (row.share or 0.0) < ROUNDING]
    without = len(comparison.configurations) - len(rows)
    end = f" Without a result so far: {numbered(without, 'configuration')}." if without else ""
    if len(comparison.configurations) == 1:
        return f"{names[best[0].key]} solved {_rate(best[0])}."
    if not most:
        return f"No configuration solved a problem.{end}"
    across = _ACROSS if comparison.across else ""
    if len(best) == 1:
        return f"{names[best[0].key]} has the highest success rate: {_rate(best[0])}{across}.{end}"
    equal = some([f"{names[row.key]} ({_rate(row)})" for row in best])
    return f"{equal} have the highest success rate{across}.{end}"


def _rate(row: ConfigurationFigures) -> str:
    """``62 % [54, 69]* of 60 experiments``, with the bounds of missing results."""
    cases = f"; worst to best case for the missing results: {case_bounds(row)}" if row.missing else ""
    return f"{solved_rate(row)} of {numbered(row.n, 'experiment')}{cases}"


def _unknown(rows: Sequence[ConfigurationFigures]) -> str:
    """Why the cost of calls is unknown."""
    cached = " or were answered from the response cache" if any(row.cached for row in rows) else ""
    return f"have no known price{cached}"


def _cheapest(comparison: Comparison, rows: Sequence[ConfigurationFigures], names: Mapping[Key, str]) -> str:
    """The lowest cost per solved problem, and how many costs are unknown."""
    prices = {row.key: price for row in rows if (price := comparison.measured[row.key].price) is not None}
    solved = {key: price for key, price in prices.items() if isfinite(price.value)}
    unknown = len(rows) - len(prices)
    if not prices:
        return f"The cost per solved problem is unknown, because some calls of every configuration {_unknown(rows)}."
    end = (
        f" The cost of {numbered(unknown, 'configuration')} is unknown, because some calls {_unknown(rows)}."
        if unknown
        else ""
    )
    if not solved:
        return f"No configuration with a known cost solved a problem, so no cost per solved problem is known.{end}"
    least = min(price.value for price in solved.values())
    cheapest = [key for key, price in solved.items() if price.value == least]
    rates = [f"{names[key]} ({solved_rate(comparison.of(key))} solved)" for key in cheapest]
    cost = money_span(least, solved[cheapest[0]].low, solved[cheapest[0]].high)
    if len(comparison.configurations) == 1:
        return f"It cost {cost} per solved problem."
    across = _ACROSS if comparison.across else ""
    if len(cheapest) > 1:
        return f"{some(rates)} have the lowest cost per solved problem{across}: {cost if least else 'nothing'}.{end}"
    if len(solved) == 1 and unknown:
        return f"{rates[0]} is the only configuration with a known cost per solved problem: {cost}.{end}"
    return f"{rates[0]} has the lowest cost per solved problem{across}: {cost}.{end}"


def _differences(pairs: Sequence[Pair], names: Mapping[Key, str]) -> str:
    """The significant differences from the baseline, the largest first; never that others are equal."""
    base = names[pairs[0].baseline]
    found = sorted((pair for pair in pairs if pair.significant), key=lambda pair: -abs(pair.test.difference or 0.0))
    tail = "".join(f" {sentence}" for sentence in _not_settled(pairs))
    if not found:
        return f"No configuration differs significantly in success from the baseline {base}, {NOT_EQUAL}.{tail}"
    differ = "configurations differs" if len(found) == 1 else "configurations differ"
    several = some([f"{names[pair.key]} ({_points(pair)})" for pair in found])
    return f"{len(found)} of {len(pairs)} {differ} significantly in success from the baseline {base}: {several}.{tail}"


def _not_settled(pairs: Sequence[Pair]) -> Iterator[str]:
    """How many pairs missing results could change, and how many were not tested."""
    if so_far := sum(pair.significant_so_far and not pair.significant for pair in pairs):
        yield (
            "Configurations whose difference is significant on the results so far, but not in the worst case for the "
            f"missing results: {so_far}."
        )
    if untested := sum(pair.p_adjusted is None for pair in pairs):
        yield (
            "Configurations that cannot be compared with the baseline, because they and the baseline have no results "
            f"on the same problem: {untested}."
        )


def _about(pair: Pair, names: Mapping[Key, str]) -> str:
    """Whether the two differ significantly in success and in cost per solved problem."""
    it, other, test = names[pair.key], names[pair.baseline], pair.test
    if test.difference is None:
        return f"{it} and {other} do not have results on the same problem yet."
    on = f"On {numbered(test.n, 'problem')}, {it}"
    cost = _cost(pair.price, it)
    if not pair.significant_so_far:
        return f"{on} and {other} do not differ significantly in success ({_points(pair)}), {NOT_EQUAL}; {cost}."
    more = "more" if test.difference > 0 else "fewer"
    worst = (
        "" if pair.significant else ", but in the worst case for the missing results the difference is not significant"
    )
    return f"{on} solves significantly {more} problems than {other} ({_points(pair)}){worst}; {cost}."


def _points(pair: Pair) -> str:
    """``+17 [+3, +30] percentage points``, and whether the scores are of two kinds."""
    test = pair.test
    kinds = (
        "; different kinds of tests score the two configurations"
        if pair.mixed
        else "; an imported file states the results of one configuration"
        if pair.reported
        else ""
    )
    return f"{points(test.difference, test.low, test.high, pair.significant_so_far)} percentage points{kinds}"


def _cost(price: Interval | None, name: str) -> str:
    """What the bounds of the ratio of costs settle. ``name``: of the configuration whose cost is the numerator."""
    if price is None:
        return "their costs per solved problem cannot be compared"
    if price.low is None or price.high is None:
        return f"{name} costs {price.value:.2g} times as much per solved problem"
    high = "∞" if price.high == inf else f"{price.high:.2g}"
    ratio = f"ratio {price.value:.2g} [{price.low:.2g}, {high}]"
    if price.low <= 1 <= price.high:
        return f"the difference in cost per solved problem is not significant ({ratio})"
    return f"{name} costs {'more' if price.low > 1 else 'less'} per solved problem ({ratio})"


def _brackets(pairs: Sequence[Pair]) -> str:
    at_once = max((pair.test.at_once for pair in pairs), default=1)
    several = f"; intervals of differences hold simultaneously for {at_once} pairs" if at_once > 1 else ""
    return f"Brackets contain 95 % intervals{several}."
