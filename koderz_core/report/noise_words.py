"""Sources of uncertainty in sentences: what further problems or repeats would change, and which problems matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, sqrt
from typing import TYPE_CHECKING

from koderz_core.analysis.discrimination import FEWEST
from koderz_core.analysis.noise import Noise, Uncertainty
from koderz_core.report.formats import money, numbered
from koderz_core.report.noise import Compared, in_points, leading_key, noise_listings, noise_subjects
from koderz_core.report.sections import Section

if TYPE_CHECKING:  # numpy is slow to import
    from koderz_core.analysis.comparison import Comparison
    from koderz_core.analysis.pairs import Key

ABOUT_NOISE = (
    "From problems: the part of the standard error that repeats cannot reduce, because another choice of problems "
    "would give another result (data noise). From draws: the part that repeats reduce, because single answers to the "
    "same problem vary (prediction noise). The squares of both parts add up to the square of the standard error. The "
    "standard error applies to results on other problems of the same kind. For results on exactly the problems of this "
    "comparison, the standard error is the part from draws alone. If the estimate "
    "of the variance between problems is negative, it counts as 0, and the squares of both parts add up to more than "
    "the square of the standard error."
)
ABOUT_PROBLEMS = (
    "The contributing problems were selected after the results were known. Do not use them alone to compare the same "
    "configurations: the difference between the configurations would look larger than it is."
)
MEASURE = (
    "For configurations with a single result per problem, the standard error cannot be divided into the part from "
    "problems and the part from draws. To measure both parts, run the benchmark with --repeats 2 or more."
)


def noise_section(
    comparison: Comparison, found: Uncertainty, pair: Key | None = None, most: int | None = None
) -> Section:
    """``pair``: the comparison to explain, None for the leading one. ``most``: problems in the last table."""
    pair = pair or leading_key(comparison)
    listings = noise_listings(comparison, found, pair, most)
    return Section(listings, tuple(_remarks(comparison, found, pair)), {"dataset_problems": found.dataset_problems})


def _remarks(comparison: Comparison, found: Uncertainty, pair: Key | None) -> Iterator[str]:
    rows = noise_subjects(comparison, found)
    if not rows:
        yield "Fewer than two problems have a result, so the standard error is unknown."
        return
    row = next((row for row in rows if pair and row.of.keys[0] == pair and row.baseline), rows[0])
    yield _next_buy(row, found.dataset_problems)
    if any(row.of.components is None for row in rows):
        yield MEASURE
    carriers = next((carrier for carrier in found.problems.carriers if carrier.key == pair), None)
    if carriers and carriers.discordant:
        same = carriers.problems - carriers.discordant
        yield (
            f"Problems that contribute to the comparison {row.subject}: {carriers.discordant} of {carriers.problems}. "
            f"On the other {numbered(same, 'problem')}, both configurations have the same result, so these problems do "
            f"not contribute to the test. {ABOUT_PROBLEMS}"
        )
    yield from _about_correlations(found)
    yield ABOUT_NOISE


def _next_buy(row: Compared[Noise], most: int | None) -> str:
    """What further experiments would do to the standard error."""
    noise, what = row.of, "difference" if row.baseline else "rate"
    if noise.error is None:
        return f"All problems have the same result for {row.subject}, so the standard error of the {what} is unknown."
    value = f"difference {row.subject}" if row.baseline else f"rate of {row.subject}"
    of = f"The standard error of the {value} is {in_points(noise.error)} percentage points"
    if most is None:
        limit = "The number of unused problems is unknown (several datasets, or a dataset that is not on this machine)."
    elif noise.problems < most:
        limit = f"{_problems_left(noise, most)}"
    else:
        limit = (
            f"All {numbered(most, 'problem')} of the dataset that can be run with these gates are used, so more "
            "experiments can only be repeats."
        )
    return f"{of}. {limit} {_repeats(noise)}".strip()


def _problems_left(noise: Noise, most: int) -> str:
    """A dollar buys more with problems, as long as there are any."""
    all_of_them = in_points((noise.error or 0.0) * sqrt(noise.problems / most))
    cost = _price(noise, most - noise.problems, noise.repeats)
    return (
        f"The dataset has at most {numbered(most - noise.problems, 'further problem')} with tests for these gates: "
        f"with all {most}, the standard error would be {all_of_them} points{cost}. At the same price per experiment, a "
        "further problem lowers the standard error of a rate more than a repeat does."
    )


def _repeats(noise: Noise) -> str:
    """What repeats of the same problems would do: known with components, else between two bounds."""
    now = max(noise.repeats)
    target = 3 if now < 3 else 2 * ceil(now)
    if noise.components is None:
        if now > 1:
            return ""
        low = in_points((noise.error or 0.0) / sqrt(target))
        return (
            f"With {target} repeats, the standard error would be between {low} points (if all variance comes from "
            "draws) and its current value (if all variance comes from problems)."
        )
    repeats = (target,) * len(noise.keys)
    added = [target - number for number in noise.repeats]
    expected = noise.components.error(noise.problems, repeats)
    if not noise.components.prediction.value:
        return (
            "On every problem, all repeats have the same result, so further repeats would not lower the standard error."
        )
    if noise.error is not None and expected >= noise.error:  # by chance, if little varies between problems
        return "These results do not show the effect of further repeats on the standard error."
    cost = _price(noise, noise.problems, added)
    return (
        f"{target} repeats of each problem would lower the standard error to about {in_points(expected)} points{cost}."
    )


def _price(noise: Noise, problems: int, repeats: Sequence[float]) -> str:
    """``, for $0.12 more``; empty if a price is unknown."""
    if noise.usd is None:
        return ""
    usd = problems * sum(cost * number for cost, number in zip(noise.usd, repeats, strict=True))
    return f", for {money(usd)} more" if usd else ", free of charge"


def _about_correlations(found: Uncertainty) -> Iterator[str]:
    configurations = found.problems.configurations
    if configurations < FEWEST:
        yield (
            f"Item-rest correlations need at least {FEWEST} configurations with results; this comparison has "
            f"{configurations}. With fewer configurations, even a correlation of 0.8 can be due to chance."
        )
        return
    against = [item for item in found.problems.items if item.correlation and item.correlation.value < 0]
    yield (
        f"Each item-rest correlation is computed from only {numbered(configurations, 'configuration')}, so it is "
        f"imprecise. Problems with a negative correlation: {len(against)}. On such problems, better "
        "configurations succeed less often than other configurations, so check the tests of such problems first."
    )
