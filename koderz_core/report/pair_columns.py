"""The columns of pairs with the baseline in a comparison: for files, tables and the data dictionary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isinf
from typing import TYPE_CHECKING

from koderz_core.analysis.bounds import Cases, WorstCase
from koderz_core.report.columns import (
    NAMED,
    Column,
    Numbers,
    Shown,
    if_known,
    interval,
    json_rows,
    number,
    reasons,
    share,
    text,
    usd,
    whole,
    yes,
)
from koderz_core.report.formats import CASES, NONE, chance, money, percent, point_cases, points

if TYPE_CHECKING:  # numpy is slow to import
    from koderz_core.analysis.comparison import Comparison
    from koderz_core.analysis.configurations import ConfigurationFigures
    from koderz_core.analysis.curves import BreakEven
    from koderz_core.analysis.paired import Paired
    from koderz_core.analysis.pairs import Pair


@dataclass(frozen=True, slots=True)
class Reach:
    """A price at which a configuration solves as many problems as the baseline; ``state``: why there is none."""

    usd: float | None
    state: str


@dataclass(frozen=True, slots=True)
class PairRow:
    """A pair, with the one of its two configurations that is not the baseline.

    ``registered``: ``primary`` or ``exploratory`` if its benchmark is registered, else None.
    """

    configuration: ConfigurationFigures
    pair: Pair
    registered: str | None
    reach: Reach
    reach_low: Reach
    reach_high: Reach

    @property
    def of(self) -> Paired:
        return self.pair.test

    @property
    def baseline(self) -> str:
        return "/".join(self.pair.baseline)

    @property
    def worst(self) -> WorstCase:
        """The observed result if nothing is missing."""
        known = self.of.difference
        cases = None if known is None else Cases(known, known)
        return self.pair.worst or WorstCase(0, cases, self.pair.p_adjusted)

    @property
    def significant(self) -> bool | None:
        return self.pair.significant if self.of.n and not self.pair.sequential else None


def pairs(comparison: Comparison) -> list[PairRow]:
    """A row per configuration except the baseline."""
    return [
        PairRow(comparison.of(pair.key), pair, _registered(comparison, pair), *_reaches(pair.break_even))
        for pair in comparison.pairs
    ]


def pair_rows(comparison: Comparison) -> list[Numbers]:
    """One flat row per configuration except the baseline."""
    return json_rows(PAIRS, pairs(comparison))


def break_even_price(found: BreakEven | None) -> str:
    """The dollars per problem, ``never``, or ``baseline solved nothing`` if the baseline solved nothing."""
    if found is None:
        return NONE
    if found.usd is None:
        return "baseline solved nothing"
    return "never" if isinf(found.usd) else money(found.usd)


def _reaches(even: BreakEven | None) -> tuple[Reach, Reach, Reach]:
    if even is None or even.usd is None:
        missing = Reach(None, "no_target" if even else "unknown")
        return missing, missing, missing
    return _reach(even.usd), _reach(even.low), _reach(even.high)


def _reach(price: float | None) -> Reach:
    if price is None:
        return Reach(None, "unknown")
    return Reach(price, "reached") if isfinite(price) else Reach(None, "never")


def _registered(comparison: Comparison, pair: Pair) -> str | None:
    found = next((found for found in comparison.registered if found.benchmark == pair.key[0]), None)
    if found is None:
        return None
    primary = {(found.benchmark, configuration) for configuration in found.pair}
    return "primary" if {pair.key, pair.baseline} == primary else "exploratory"


def _points(pair: Pair) -> str:
    return points(pair.test.difference, pair.test.low, pair.test.high, pair.significant_so_far)


def _difference_cases(worst: WorstCase | None) -> str | None:
    return point_cases(worst.difference) if worst and worst.missing and worst.difference else None


def _never(even: BreakEven | None) -> str | None:
    return chance(even.never) if even else None


_NOT_BOTH = "no problem was planned for both configurations"
_NO_RATIO = "`price_ratio` or one of its bounds is unknown, or one of the two configurations solved no problem"
SEQUENTIAL = "the pair is the primary comparison of a sequential benchmark"
_NO_COMMON = f"`n` is 0, or {SEQUENTIAL}"
_NOTHING = "no problem was solved by both configurations, or a cost is unknown"
_REACHED = "`reached`, `never`, `no_target` (the baseline solved no problem) or `unknown`"

PAIRS: Sequence[Column] = [
    *NAMED[:2],
    text(
        "baseline",
        "the baseline, written as benchmark/configuration",
        path="baseline",
    ),
    text(
        "registered",
        "in a registered benchmark, `primary` for the registered comparison and `exploratory` for all others",
        "the benchmark is not registered",
        path="registered",
        shown=Shown("registered", 2, if_known(str), optional=True),
    ),
    whole("n", "problems on which both configurations have a result", unit="problems", shown=Shown("n", 11)),
    whole(
        "unpaired",
        "problems on which at least one of the two configurations has no result; the comparison omits them",
        unit="problems",
    ),
    whole(
        "both",
        "problems that both configurations solved; with repeats, problems that both solved in the same share of their "
        "repeats",
        unit="problems",
        shown=Shown("both", 10),
    ),
    whole(
        "only_a",
        "problems that only the configuration solved, or that it solved in a larger share of its repeats than the "
        "baseline",
        unit="problems",
        shown=Shown("only this row", 8),
    ),
    whole(
        "only_b",
        "problems that only the baseline solved, or that it solved in a larger share of its repeats than the "
        "configuration",
        unit="problems",
        shown=Shown("only {baseline}", 9),
    ),
    whole("neither", "problems that neither of the two configurations solved", unit="problems"),
    share(
        "difference",
        "success rate of the configuration minus success rate of the baseline, on the `n` problems",
        "`n` is 0",
        shown=Shown("points [95 %]", 3, _points, "pair"),
    ),
    share(
        "low",
        "lower bound of the interval of `difference` (Bonett-Price), or 0 if this bound would contradict the test "
        "result in `told_apart`",
        _NO_COMMON,
    ),
    share(
        "high",
        "upper bound of the interval of `difference`; if `told_apart` is true and a bound is 0, the interval does not "
        "include this bound",
        _NO_COMMON,
    ),
    number("p", "two-sided p value of the test in `method`", _NO_COMMON),
    text("method", "the statistical test: `exact McNemar`, or `label permutation` if problems were repeated"),
    number(
        "p_adjusted",
        "p value, adjusted for the number of pairs by Holm's method",
        _NO_COMMON,
        path="pair.p_adjusted",
        shown=Shown("p (Holm)", 5, chance),
    ),
    whole(
        "missing",
        "experiments without a result: the total of both configurations, on problems planned for both",
        path="worst.missing",
    ),
    number(
        "p_worst",
        "maximum of `p_adjusted` over all possible outcomes of the experiments without a result; a value above 0.05 "
        "may be only a lower bound of this maximum",
        _NO_COMMON,
        path="worst.p",
        shown=Shown("p worst", 6, if_known(chance), "pair.worst.p", optional=True),
    ),
    share(
        "difference_worst",
        "`difference` if missing experiments of the configuration count as unsolved, and missing experiments of the "
        "baseline count as solved",
        _NOT_BOTH,
        path="worst.difference.worst",
        shown=Shown(CASES, 4, _difference_cases, "pair.worst", optional=True),
    ),
    share(
        "difference_best",
        "`difference` if missing experiments of the configuration count as solved, and missing experiments of the "
        "baseline count as unsolved",
        _NOT_BOTH,
        path="worst.difference.best",
    ),
    yes(
        "told_apart",
        "whether the difference is significant: `p_adjusted` and `p_worst` are at most 0.05",
        _NO_COMMON,
        path="significant",
        shown=Shown("significant", 7),
    ),
    share(
        "margin",
        "the largest amount by which the success rate of a matching configuration may be below the rate of the "
        "baseline; in the registered primary comparison, the registered margin",
        _NO_COMMON,
        path="pair.match.margin",
    ),
    share("match_low", "lower bound of Tango's score interval of `difference`", _NO_COMMON, path="pair.match.low"),
    share("match_high", "upper bound of Tango's score interval of `difference`", _NO_COMMON, path="pair.match.high"),
    number(
        "p_noninferior",
        "one-sided p value of the score test, adjusted by Holm's method; in the registered primary comparison, not "
        "adjusted, and computed from the registered problems and repeats only; null hypothesis: the success rate of "
        "the configuration is at least `margin` below the rate of the baseline; missing results count against the "
        "configuration",
        _NO_COMMON,
        path="pair.match.p_worst",
    ),
    number(
        "p_equivalent",
        "p value of the two one-sided score tests of the hypothesis that the success rates differ by `margin` or more "
        "in either direction, adjusted in the same way as `p_noninferior`",
        _NO_COMMON,
        path="pair.match.p_equal",
    ),
    text(
        "match",
        "`matches` if `p_noninferior` is at most 0.025; `falls short` if a test shows at the same level that the "
        "success rate of the configuration is more than `margin` below the rate of the baseline, even if missing "
        "results count in favour of the configuration; otherwise `undecided`",
        _NO_COMMON,
        path="pair.match.verdict",
        shown=Shown("match", 7),
    ),
    *interval(
        number(
            "price_ratio",
            "cost per solved problem of the configuration, divided by the cost per solved problem of the baseline",
            "unknown",
            "times",
            "pair.price",
            Shown("cost ratio", 14, if_known("{:.2g}".format)),
        ),
        SEQUENTIAL,
    ),
    *reasons("price_ratio", "price_ratio_low", "price_ratio_high"),
    number(
        "cost_margin",
        "the largest `price_ratio` with which a configuration still matches the cost of the baseline",
        _NO_RATIO,
        "times",
        path="pair.cost_match.margin",
    ),
    number(
        "cost_match_low",
        "lower bound of `price_ratio` that decides `cost_match`; it is at most `price_ratio_low`",
        _NO_RATIO,
        "times",
        path="pair.cost_match.low",
    ),
    number(
        "cost_match_high",
        "upper bound of `price_ratio` that decides `cost_match`; it is at least `price_ratio_high`",
        _NO_RATIO,
        "times",
        path="pair.cost_match.high",
    ),
    text(
        "cost_match",
        "`matches` if `cost_match_high` is at most `cost_margin`, even if missing results count against the "
        "configuration; `falls short` if `cost_match_low` is above `cost_margin`, even if missing results count in "
        "favour of the configuration; otherwise `undecided`",
        _NO_RATIO,
        path="pair.cost_match.verdict",
    ),
    whole(
        "pairs_at_once", "number of pairs for which the intervals hold simultaneously (Bonferroni)", path="of.at_once"
    ),
    usd(
        "break_even_usd",
        "smallest number of dollars per problem with which the configuration reaches the success rate of the baseline",
        "see `break_even_is`",
        path="reach.usd",
        shown=Shown("break-even cost", 12, break_even_price, "pair.break_even"),
    ),
    text("break_even_is", f"state of `break_even_usd`: {_REACHED}", path="reach.state"),
    usd(
        "break_even_low",
        "lower bound of the interval of `break_even_usd`",
        "see `break_even_low_is`",
        path="reach_low.usd",
    ),
    text("break_even_low_is", f"state of `break_even_low`: {_REACHED}", path="reach_low.state"),
    usd(
        "break_even_high",
        "upper bound of the interval of `break_even_usd`",
        "see `break_even_high_is`",
        path="reach_high.usd",
    ),
    text("break_even_high_is", f"state of `break_even_high`: {_REACHED}", path="reach_high.state"),
    share(
        "break_even_never",
        "share of bootstrap resamples in which the configuration does not reach the success rate of the baseline, "
        "whatever its cost per problem",
        f"unknown, or {SEQUENTIAL}",
        path="pair.break_even.never",
        shown=Shown("P(never)", 13, _never, "pair.break_even"),
    ),
    whole(
        "saved_problems",
        "problems that both configurations solved; the next six columns refer to these problems",
        _NOTHING,
        "problems",
        "pair.savings.problems",
    ),
    *interval(
        usd(
            "saved_usd",
            "mean dollars saved per problem, compared with the baseline",
            _NOTHING,
            path="pair.savings.saved_usd",
        ),
        SEQUENTIAL,
    ),
    *interval(
        share(
            "saved_share",
            "`saved_usd`, divided by the mean cost per problem of the baseline",
            f"{_NOTHING}, or the baseline was free of charge",
            path="pair.savings.share",
            shown=Shown("saved", 15, percent),
        ),
        SEQUENTIAL,
    ),
]
