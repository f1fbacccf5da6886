"""What a comparison comes to, in plain sentences that say how sure it is and claim no more than was tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor, inf, log10
from typing import TypeVar

from koderz_core.analysis.bootstrap import Interval
from koderz_core.analysis.bounds import ALPHA, WorstCase
from koderz_core.analysis.curves import BreakEven
from koderz_core.analysis.paired import Paired, in_points
from koderz_core.analysis.power import detectable, observed_discordance
from koderz_core.analysis.tradeoff import Tradeoff

K = TypeVar("K")

NO_BASELINE = (
    "No measured baseline: no frontier model was run directly on these problems, so its success, its cost and any "
    "savings are unknown."
)

_FRACTIONS = ("half", "a third", "a quarter", "a fifth", "a sixth", "a seventh", "an eighth", "a ninth", "a tenth")


@dataclass(frozen=True, slots=True)
class Against:
    """What was found of a configuration, ``a`` of ``test``, against another, ``b``; None where it is not known.

    ``p``: adjusted for how many pairs were tested, ``test.at_once``, as are all bounds. ``price``: a's cost per solved
    problem by b's (``price_ratio``). ``mixed``: on how many problems one is scored by the tests it stopped on and the
    other by held-out tests. ``worst``: what experiments without a result could change; None if all pairs are
    complete.
    """

    label: str
    other: str
    test: Paired
    p: float | None
    price: Interval | None
    break_even: BreakEven | None
    mixed: int = 0
    worst: WorstCase | None = None


def finding(of: Against) -> str:
    """Whether the two were told apart, by how much, and what the one costs of the other."""
    if not of.test.n:
        return f"{of.label} and {of.other} have no problem on which both have a result, so they cannot be compared."
    parts = [f"{_difference(of)}: {_verdict(of)}; {_price(of.price, of.test.at_once)}."]
    if of.break_even is not None:
        parts.append(_break_even(of.label, of.other, of.break_even, of.test.at_once))
    if of.mixed:
        where = "One" if of.mixed >= of.test.n else f"On {of.mixed} of the {of.test.n} problems one"
        parts.append(
            f"{where} of them is scored by the tests it stopped on (oracle), the other by held-out tests: the "
            "difference is not theirs alone."
        )
    if of.test.unpaired:
        left = f"{of.test.unpaired} problem{'s' if of.test.unpaired > 1 else ''}"
        parts.append(f"Left out: {left} without a result of both.")
    return " ".join(parts)


def picked(pairs: int) -> str | None:
    """What must be said of a finding that was picked out of those of so many pairs; None if there is no other."""
    if pairs < 2:
        return None
    return (
        f"This pair was selected from {pairs} after the results were known. Its p (Holm) and its interval are adjusted "
        f"for all {pairs} pairs; its point estimates are not, so they are probably too favourable."
    )


def frontier(labels: Mapping[K, str], found: Tradeoff[K]) -> str | None:
    """Which configurations no other beats in both cost and success, and how often resamples agree; None if unknown."""
    placed = [(point, point.probability) for point in found.points if point.probability is not None]
    on = [f"{labels[point.key]} ({_percent(share)})" for point, share in placed if point.on_frontier]
    near = [
        f"{labels[point.key]} ({_percent(share)})" for point, share in placed if not point.on_frontier and share > ALPHA
    ]
    if len(placed) < 2:
        return None
    said = f"On {found.problems} problems nothing measured is both cheaper and better than {_listed(on)}"
    off = f"; {_listed(near)} cannot be ruled out" if near else ""
    return f"{said}{off} (in brackets: share of resamples that put it on the frontier)."


def _difference(of: Against) -> str:
    test = of.test
    difference = 100 * (test.difference or 0.0)
    than = f"{abs(difference):.3g} points {'more' if difference > 0 else 'less'} than" if difference else "as many as"
    apart = of.p is not None and of.p <= ALPHA
    bounds = f"{_level(test.at_once)} {' to '.join(in_points(test.low or 0.0, test.high or 0.0, apart))}"
    return (
        f"On {test.n} problem{'s' if test.n > 1 else ''} {of.label} solved {than} {of.other} ({bounds}, p {_p(of.p)})"
    )


def _verdict(of: Against) -> str:
    if of.p is None:
        return "not tested"
    if of.p <= ALPHA:
        return _significant(of.test.n, of.worst)
    if of.test.method != "exact McNemar":
        return "no significant difference"
    discordance = observed_discordance(of.test.only_a + of.test.only_b, of.test.n)
    # The strictest step of Holm's, as can_show takes.
    unseen = detectable(of.test.n, discordance, power=0.5, alpha=ALPHA / of.test.at_once)
    if unseen == inf:
        return "no significant difference; with so few problems no difference can be statistically significant"
    below = f"below {100 * unseen:.2g} points"
    return f"no significant difference; with this many problems a true difference {below} is usually not detected"


def _significant(n: int, worst: WorstCase | None) -> str:
    """What is significant only if missing results are left out is so under that condition."""
    if worst is None:
        return "significant"
    without = "experiments without one" if worst.missing > 1 else "experiment without one"
    whatever = f"every possible result of the {worst.missing} {without}"
    if worst.p is not None and worst.p <= ALPHA:
        return f"significant, for {whatever}" if worst.missing else "significant"
    on = f"significant on the {n} problem{'s' if n > 1 else ''} with a result of both"
    if not worst.missing:
        return f"{on}, but not after Holm's adjustment in the worst case of the other pairs"
    return f"{on}, but not for {whatever}"


def _price(price: Interval | None, at_once: int) -> str:
    if price is None:
        return "their costs per solved problem cannot be compared"
    if price.value == 0:
        return "it cost nothing"
    said = f"it cost {_times(price.value)} per solved problem"
    if price.low is None or price.high is None:
        return said
    bounds = f"{_level(at_once)} {price.low:.2g} to {'∞' if price.high == inf else f'{price.high:.2g}'} times"
    return f"{said} ({bounds}{', so either may be the cheaper' if price.low <= 1 <= price.high else ''})"


def _times(value: float) -> str:
    whole = round(1 / value)
    if 2 <= whole <= 10 and abs(1 / value - whole) < 0.25:
        return _FRACTIONS[whole - 2]
    return f"{value:.2g} times as much" if value >= 0.1 else f"1/{whole} as much"


def _break_even(label: str, other: str, found: BreakEven, at_once: int) -> str:
    if found.usd is None or found.never is None:
        return f"{other} solved nothing, so there is no break-even price."
    never = f"in {_percent(found.never)} of resamples it never does"
    bounds = " to ".join(_reached(one) for one in (found.low, found.high) if one is not None)
    parts = [never] if found.usd == inf else [f"{_level(at_once)} {bounds}", never]
    sure = f" ({'; '.join(parts)})" if bounds else ""  # one problem does not vary
    if found.usd == inf:
        return f"Within its own limits {label} never reaches what {other} solved{sure}."
    paid = "" if found.frontier_usd is None else f"; {other} spent {_usd(found.frontier_usd)}"
    return f"{label} reaches what {other} solved at {_usd(found.usd)} a problem{sure}{paid}."


def _reached(usd: float) -> str:
    return "never" if usd == inf else _usd(usd)


def _level(at_once: int) -> str:
    return "95 %" if at_once == 1 else f"95 % for {at_once} pairs at once"


def _p(p: float | None) -> str:
    if p is None:
        return "unknown"
    return "< 0.001" if p < 0.001 else f"= {p:.2g}"


def _usd(usd: float) -> str:
    """Two significant digits, and at least cents."""
    return f"${usd:.{2 if usd == 0 else max(2, 1 - floor(log10(usd)))}f}"


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
