"""What a comparison comes to in two lines: who solves more, whether that is significant, and at what price."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.paired import in_points
from koderz_core.analysis.pairs import Pair, telling
from koderz_core.export.formats import bounded, count, share


@dataclass(frozen=True, slots=True)
class Answer:
    """``headline``: letters and our own words. ``told``: the figures behind it, with labels, so hostile text."""

    headline: str
    told: str


def answer(comparison: Comparison) -> Answer:
    """Of the pair to look at first, or of the one configuration that there is; bounds hold for all pairs at once."""
    pair = telling(comparison.pairs)
    if pair is None:
        alone = comparison.configurations[0]
        if not alone.n:
            return Answer("Nothing has a result yet", alone.label)
        cases = f"; {bounded(alone)} in the worst to best case" if alone.missing else ""
        return Answer(f"{alone.letter} solved {share(alone)} of {_problems(alone.n)}{cases}", alone.label)
    it, other = comparison.of(pair.key), comparison.of(pair.baseline)
    if pair.test.difference is None:
        return Answer(f"No common results for {it.letter} and {other.letter} yet", pair.finding)
    headline = f"On {_problems(pair.test.n)} {_verdict(pair, it.letter, other.letter)}{_dearer(pair, it.letter)}"
    told = f"{it.letter} · {it.label} against {other.letter} · {other.label}: {_points(pair)}{_times(pair)}."
    return Answer(headline, f"{told}\n{_level(pair.test.at_once)}")


def _verdict(pair: Pair, it: str, other: str) -> str:
    if not pair.seems_apart:
        return f"{it} and {other} do not differ significantly"
    said = f"{it} solves {'more' if (pair.test.difference or 0) > 0 else 'less'} than {other}"
    return said if pair.told_apart else f"{said}, but not for every possible result of what is missing"


def _dearer(pair: Pair, it: str) -> str:
    """What the bounds of the price settle, if anything."""
    price = pair.price
    if price is None or price.low is None or price.high is None:
        return ""
    if price.low <= 1 <= price.high:
        return "; the cost difference is not significant"
    return f"; {it} costs {'more' if price.low > 1 else 'less'} per solved problem"


def _points(pair: Pair) -> str:
    bounds = in_points(pair.test.low or 0.0, pair.test.high or 0.0, pair.seems_apart)
    return f"{100 * (pair.test.difference or 0.0):+.0f} points solved ({' to '.join(bounds)})"


def _times(pair: Pair) -> str:
    price = pair.price
    if price is None or price.low is None or price.high is None:
        return ""
    high = "∞" if price.high == inf else f"{price.high:.2g}"
    return f", {price.value:.2g} times the cost per solved problem ({price.low:.2g} to {high})"


def _level(at_once: int) -> str:
    return "Intervals at 95 %." if at_once == 1 else f"Intervals at 95 % for {at_once} pairs at once."


def _problems(n: int) -> str:
    return "1 problem" if n == 1 else f"{count(n)} problems"
