"""Several draws per problem in words and in numbers: pass@k and pass^k, coverage, and the price of a further draw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from koderz_core.report.columns import (
    NAMED,
    Row,
    Shown,
    if_known,
    interval,
    number,
    reasons,
    share,
    text,
    usd,
    whole,
)
from koderz_core.report.formats import count, marked_rate, money_of, numbered, points_of, rate
from koderz_core.report.sections import Listing, Section

if TYPE_CHECKING:  # numpy is slow to import
    from koderz_core.analysis.comparison import Comparison
    from koderz_core.analysis.configurations import ConfigurationFigures
    from koderz_core.analysis.rates import Interval
    from koderz_core.analysis.sampling import DrawKind, Draws, PassRate, Sampling, Selection

Found = Mapping[tuple[str, str], "Sampling"]
"""By key of the configuration."""
REFUSALS = {
    "few draws": "no problem has 3 or more draws. With two draws, koderz cannot distinguish problems that the "
    "configuration never solves from problems that it rarely solves. Run the benchmark with --repeats 5",
    "few problems": "fewer than 18 problems have 3 or more draws. Add problems or repeats",
    "no variation": "all draws are right, or all draws are wrong. Choose harder or easier problems",
}
ABOUT_DRAWS = (
    "A draw is an independent result on a problem. Each experiment (repeat) of a configuration is a draw. For best_of, "
    "each sample within an experiment is also a draw, because the samples of best_of do not depend on each other. If a "
    "strategy repairs programs or stops at the first program that passes, its programs are not independent and "
    "therefore not draws. pass@k is the probability that at least one of k draws is right. pass^k is the probability "
    "that all k draws are right. The estimates of both are unbiased. The 95 % intervals take into account that other "
    "problems of the same kind would give other values. Each interval applies to a single k, not to all k together."
)
ABOUT_EXTRAPOLATION = (
    "Extrapolated values come from a fitted statistical model: each problem has its own success probability, which "
    "is 0, 1 or drawn from a beta distribution. The intervals do not assume this distribution: they allow for every "
    "distribution of success probabilities that fits the draws. With few draws, problems that are rarely solved look "
    "like problems that are never solved, so intervals for a large k are wide."
)
ABOUT_SELECTION = (
    "Coverage: the share of experiments in which at least one tested program is right. Selected: the share of "
    "experiments in which the submitted program is right. Chance: the expected share of experiments in "
    "which the submitted program would be right if it were chosen at random from the tested programs. Missed: the "
    "share of experiments in which a right program was tested, but a wrong program was submitted. A program is right "
    "if it passes the tests that score the experiment."
)
ABOUT_PRICE = (
    "The gain from a further draw and the price of an extra solved problem are computed under the assumption of a "
    "perfect selection: if the further draw on a problem is right, the program of this draw is submitted. Compare the "
    "price of an extra solved problem with the cost per solved problem of the other configurations."
)
_NO_FIT = "nothing was extrapolated; the field `remarks` states the reason"
_UNKNOWN = "a price is unknown, or nothing was extrapolated"


@dataclass(frozen=True, slots=True)
class RateRow:
    """pass@k and pass^k of a configuration at one k."""

    configuration: ConfigurationFigures
    draws: Draws
    of: PassRate

    @property
    def source(self) -> str:
        return "extrapolated" if self.of.extrapolated else "measured"


@dataclass(frozen=True, slots=True)
class PriceRow:
    """The price of a further draw; ``draws`` None: the configuration has fewer than two draws per problem."""

    configuration: ConfigurationFigures
    draws: Draws | None
    per_solved: Interval | None


def _marked(row: RateRow | Row[Selection], name: str) -> str:
    found: Interval = getattr(row.of, name)
    return marked_rate(found.value, found.low, found.high, row.configuration.marks)


def _per_hundred(found: Interval | None) -> str | None:
    if found is None or found.low is None or found.high is None:
        return None
    value, low, high = (
        "<0.01" if 0 < share < 1e-4 else f"{100 * share:.2g}" for share in (found.value, found.low, found.high)
    )
    return f"{value} [{low}, {high}]"


_KIND = text(
    "draws",
    "`experiments`: each experiment on a problem is a draw; `samples`: each sample within an experiment is a draw",
    path="draws.kind",
    shown=Shown("draws", 3, path="draws.kind"),
)
PASS_RATES = (
    *NAMED,
    _KIND,
    whole("k", "number of draws", shown=Shown("k", 4)),
    text("source", "`measured`, or `extrapolated` by a fit", path="source", shown=Shown("source", 5, path="source")),
    whole(
        "problems",
        "number of problems with at least k draws; for an extrapolated row, with at least one draw",
        shown=Shown("problems", 6, count),
    ),
    whole("left_out", "number of problems that the row omits, because they have too few draws"),
    *interval(
        share(
            "pass_at_k",
            "probability that at least one of k draws is right",
            path="of.any_passes",
            shown=Shown("pass@k [95 %]", 7, partial(_marked, name="any_passes"), ""),
        )
    ),
    *interval(
        share(
            "pass_hat_k",
            "probability that all of k draws are right (pass^k)",
            path="of.all_pass",
            shown=Shown("pass^k [95 %]", 8, partial(_marked, name="all_pass"), ""),
        )
    ),
)
SELECTION = (
    *NAMED,
    whole("problems", "number of problems", unit="problems"),
    whole(
        "experiments", "number of experiments with a result and a tested program", shown=Shown("experiments", 3, count)
    ),
    number(
        "candidates",
        "mean number of tested programs per experiment",
        unit="programs",
        shown=Shown("programs", 4, "{:.1f}".format),
    ),
    *(
        column
        for place, (name, meaning) in enumerate(
            {
                "coverage": "share of experiments in which at least one tested program is right",
                "selected": "share of experiments in which the submitted program is right",
                "chance": "expected share of experiments in which the submitted program would be right if it were "
                "chosen at random from the tested programs",
            }.items(),
            5,
        )
        for column in interval(
            share(name, meaning, shown=Shown(f"{name} [95 %]", place, partial(_marked, name=name), ""))
        )
    ),
    *interval(share("missed", "`coverage` minus `selected`", shown=Shown("missed [95 %]", 8, rate, "of.missed"))),
    *interval(
        share(
            "gained",
            "`selected` minus `chance`",
            shown=Shown("selected - chance, points [95 %]", 9, points_of, "of.gained"),
        )
    ),
)
FURTHER_DRAWS = (
    *NAMED,
    text(_KIND.name, _KIND.meaning, "fewer than two draws per problem", path="draws.kind", shown=_KIND.shown),
    whole(
        "made",
        "number of draws per problem so far",
        "fewer than two draws per problem",
        path="draws.most",
        shown=Shown("draws so far", 4),
    ),
    *interval(
        share(
            "gain",
            "additional share of problems that would be solved with one further draw on every problem",
            _NO_FIT,
            path="draws.further.gain",
            shown=Shown("extra solves per 100 problems [95 %]", 6, _per_hundred, "draws.further.gain"),
        )
    ),
    *interval(
        usd(
            "usd_per_draw",
            "mean cost of a draw",
            _UNKNOWN,
            path="draws.further.usd",
            shown=Shown("$ per draw [95 %]", 5, if_known(money_of), "draws.further.usd"),
        )
    ),
    *interval(
        usd(
            "usd_per_extra_solve",
            "`usd_per_draw` divided by `gain`",
            "a price is unknown, nothing was extrapolated, or the quotient is not finite",
            path="draws.further.usd_per_solve",
            shown=Shown("$ per extra solve [95 %]", 7, if_known(money_of), "draws.further.usd_per_solve"),
        )
    ),
    *interval(
        usd(
            "usd_per_solved",
            "cost per solved problem, computed from all experiments of the configuration",
            "a price is unknown, or the quotient is not finite",
            path="per_solved",
            shown=Shown("$ per solved [95 %]", 8, if_known(money_of), "per_solved"),
        )
    ),
    *reasons("usd_per_extra_solve", "usd_per_extra_solve_low", "usd_per_extra_solve_high"),
    *reasons("usd_per_solved", "usd_per_solved_low", "usd_per_solved_high"),
)


def sampling_section(comparison: Comparison, found: Found, kind: DrawKind | None = None) -> Section:
    """``kind``: the draws of the first listing, None for all."""
    title = "pass@k and pass^k (each interval applies to a single k)"
    rates = [RateRow(row, draws, of) for row, draws in draws_of(comparison, found, kind) for of in draws.rates]
    listings = (
        Listing("rates", title, PASS_RATES, rates),
        Listing(
            "selection", "Coverage and selection among the tested programs", SELECTION, _selections(comparison, found)
        ),
        Listing(
            "further_draws", "Price of one further draw on every problem", FURTHER_DRAWS, _prices(comparison, found)
        ),
    )
    return Section(listings, tuple(_remarks(comparison, found)))


def _selections(comparison: Comparison, found: Found) -> list[Row[Selection]]:
    results = [(row, found[row.key].selection) for row in comparison.configurations if row.key in found]
    return [Row(row, selection) for row, selection in results if selection]


def _prices(comparison: Comparison, found: Found) -> list[PriceRow]:
    """Also the configurations without draws, whose cost per solved problem is compared; empty if none has a fit."""
    if not any(draws.further for _, draws in draws_of(comparison, found)):
        return []
    return [
        PriceRow(row, draws, comparison.measured[row.key].price)
        for row in comparison.configurations
        for draws in (found[row.key].draws if row.key in found else ()) or (None,)
    ]


def draws_of(
    comparison: Comparison, found: Found, kind: DrawKind | None = None
) -> Iterator[tuple[ConfigurationFigures, Draws]]:
    """Every configuration with several draws per problem, of one ``kind`` or once for each."""
    for row in comparison.configurations:
        if row.key in found:
            yield from ((row, draws) for draws in found[row.key].draws if kind in (None, draws.kind))


def _remarks(comparison: Comparison, found: Found) -> Iterator[str]:
    several = list(draws_of(comparison, found))
    with_draws = {row.letter for row, _ in several}
    if once := [row.letter for row in comparison.configurations if row.letter not in with_draws]:
        yield (
            f"Configurations with fewer than two draws on most problems: {', '.join(once)}. To measure pass@k for "
            "these configurations, run the benchmark with --repeats 5."
        )
    for row, draws in several:
        last = next(rate for rate in reversed(draws.rates) if not rate.extrapolated)
        if last.left_out:
            yield (
                f"{row.letter}: {last.left_out} of {numbered(last.problems + last.left_out, 'problem')} have fewer "
                f"than {draws.most} draws ({draws.kind}). A row omits problems with fewer than k draws, so the rows "
                "of this configuration do not all cover the same problems."
            )
        if draws.refusal:
            yield (
                f"{row.letter}: nothing is extrapolated from the draws ({draws.kind}), because "
                f"{REFUSALS[draws.refusal]}."
            )
    if several:
        yield ABOUT_DRAWS
    if any(draws.further for _, draws in several):
        yield ABOUT_EXTRAPOLATION
        yield ABOUT_PRICE
    if _selections(comparison, found):
        yield ABOUT_SELECTION
