"""Sources of uncertainty as tables in words and as rows of numbers, the same for a terminal, a page and files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic

from koderz_core.analysis.discrimination import FEWEST, Item
from koderz_core.analysis.noise import MOST_REPEATS, Noise, Uncertainty
from koderz_core.records.trials import id_in_dataset
from koderz_core.report.columns import (
    NAMED,
    Result,
    Shown,
    if_known,
    interval,
    json,
    number,
    share,
    shown,
    text,
    usd,
    whole,
)
from koderz_core.report.formats import money, numbered, percent
from koderz_core.report.sections import Listing

if TYPE_CHECKING:  # numpy is slow to import
    from koderz_core.analysis.comparison import Comparison
    from koderz_core.analysis.configurations import ConfigurationFigures
    from koderz_core.analysis.pairs import Key
    from koderz_core.analysis.rates import Interval

MOST_ITEMS = 20  # problems in a terminal
_SINGLE = "fewer than two problems have at least two results of each configuration"
_ALONE = "the row describes the rate of one configuration, not a difference"


@dataclass(frozen=True, slots=True)
class Compared(Generic[Result]):
    """A result of a configuration, or of its difference to the ``baseline``."""

    configuration: ConfigurationFigures
    baseline: ConfigurationFigures | None
    of: Result

    @property
    def subject(self) -> str:
        """``B``, or ``B - A`` for a difference."""
        return self.configuration.letter + (f" - {self.baseline.letter}" if self.baseline else "")


@dataclass(frozen=True, slots=True)
class ItemRow:
    """A problem. ``by``: the share solved, ``variance``: the part of the variance, by full id; ``part``: of a pair.

    ``results``: of the two configurations of this pair, in words.
    """

    of: Item
    by: Mapping[str, float]
    variance: Mapping[str, float]
    part: float | None
    results: str | None

    @property
    def problem(self) -> str:
        """Its id in its dataset."""
        return id_in_dataset(self.of.problem)


def in_points(share: float, digits: int = 1) -> str:
    """A share as percentage points, without a sign."""
    return f"{100 * share:.{digits}f}"


def repeats_text(repeats: Sequence[float]) -> str:
    """``3``, or ``5 and 1`` if the configurations of a pair differ."""
    return " and ".join(dict.fromkeys(f"{number:.3g}" for number in repeats))


def _span(of: Interval) -> str:
    if of.low is None or of.high is None:
        return in_points(of.value)
    return f"{in_points(of.value)} [{in_points(of.low)}, {in_points(of.high)}]"


def _value(row: Compared[Noise]) -> str:
    return f"{100 * row.of.value:+.1f}" if row.baseline else percent(row.of.value)


def _budget(times: int | None) -> str:
    if times is None:
        return "as in the benchmark"
    return "best for the same cost" if times == 1 else f"best for {times} × the cost"


def _item_rest(of: Interval) -> str:
    bounds = "" if of.low is None or of.high is None else f" [{of.low:+.1f}, {of.high:+.1f}]"
    return f"{of.value:+.2f}{bounds}"


_COMPARED = (
    replace(NAMED[0], shown=Shown("", 1, path="subject")),
    NAMED[1],
    NAMED[2],
    text("baseline", "the baseline, written as benchmark/configuration", _ALONE, path="baseline.full_id"),
)
NOISE = (
    *_COMPARED,
    whole("problems", "problems on which each configuration has a result", unit="problems", shown=Shown("problems", 3)),
    json(
        "repeats",
        "mean number of results per problem: for the configuration, and for the baseline",
        shown=Shown("repeats", 4, repeats_text),
    ),
    share(
        "value",
        "success rate of the configuration, or the difference from the rate of the baseline",
        shown=Shown("rate or difference", 5, _value, ""),
    ),
    share(
        "error",
        "standard error of `value` as an estimate of the rate or difference on other problems of the same kind",
        "all problems have the same result",
        shown=Shown("standard error", 6, if_known(in_points)),
    ),
    *interval(
        share(
            "data_error",
            "part of the standard error that the choice of problems adds: the standard error with infinitely many "
            "repeats of these problems",
            _SINGLE,
            shown=Shown("from problems [95 %]", 7, if_known(_span), "of.data_error", optional=True),
        )
    ),
    *interval(
        share(
            "draw_error",
            "part of the standard error that the randomness of draws adds: the standard error for exactly these "
            "problems",
            _SINGLE,
            shown=Shown("from draws [95 %]", 8, if_known(_span), "of.draw_error", optional=True),
        )
    ),
    share(
        "from_draws",
        "share of the squared standard error that the randomness of draws adds",
        f"{_SINGLE}, or `error` is missing",
        shown=Shown("share of variance from draws", 9, if_known(percent), optional=True),
    ),
    number(
        "data_variance",
        "variance between problems of the true rate or of the true difference (data noise); the unbiased estimate can "
        "be negative",
        _SINGLE,
        path="of.components.data.value",
    ),
    number(
        "prediction_variance",
        "variance of one draw on the same problem, averaged over the problems (prediction noise); for a difference, "
        "the sum of these variances of both configurations",
        _SINGLE,
        path="of.components.prediction.value",
    ),
)
DESIGNS = (
    *_COMPARED,
    whole(
        "times",
        "budget, as a multiple of the cost of the experiments in the comparison",
        "the row describes the design of the benchmark itself",
        shown=Shown("design", 3, _budget),
    ),
    whole("problems", "number of problems", unit="problems", shown=Shown("problems", 4)),
    json(
        "repeats",
        "number of repeats of each problem: for the configuration, and for the baseline",
        shown=Shown("repeats", 5, repeats_text),
    ),
    usd("usd", "cost of the design", "a price is unknown", shown=Shown("cost", 6, money)),
    share("error", "expected standard error", shown=Shown("standard error", 7, in_points)),
)
CARRIERS = (
    *_COMPARED,
    whole(
        "problems", "problems on which both configurations have a result", unit="problems", shown=Shown("problems", 3)
    ),
    whole(
        "discordant",
        "problems for which the two configurations solved different shares of the repeats",
        unit="problems",
        shown=Shown("with different results", 4),
    ),
    whole(
        "needed",
        "smallest number of problems that together contribute 90 % of the variance of the difference",
        unit="problems",
        shown=Shown("problems with 90 % of the variance", 5),
    ),
)
ITEMS = (
    text(
        "problem",
        "id of the problem in its dataset; with several datasets, `shares` shows the benchmarks of the row",
        path="problem",
        shown=Shown("problem", 1),
    ),
    share(
        "share",
        "share of experiments solved, with equal weight for every configuration",
        shown=Shown("solved", 3, percent),
    ),
    json("shares", "share of the repeats that each configuration solved", path="by"),
    json(
        "variance",
        "for each configuration: share of this problem in the variance of the difference from the baseline, computed "
        "under the hypothesis that there is no true difference",
        path="variance",
        shown=Shown("share of the variance", 4, if_known(percent), "part", optional=True),
    ),
    *interval(
        number(
            "correlation",
            "item-rest correlation: over all configurations, the correlation between the share solved on this problem "
            "and the share solved on the other problems",
            f"fewer than {FEWEST} configurations, a missing result, or results that do not vary",
            shown=Shown("item-rest correlation [95 %]", 5, if_known(_item_rest), "of.correlation", optional=True),
        )
    ),
)


def noise_listings(
    comparison: Comparison, found: Uncertainty, pair: Key | None, most: int | None = None
) -> tuple[Listing, ...]:
    """The last one has at most ``most`` problems, those that carry the comparison of ``pair`` first."""
    subjects = noise_subjects(comparison, found)
    base = comparison.of(comparison.baseline) if comparison.baseline else None
    return (
        Listing(
            "sources",
            "Sources of uncertainty (standard errors in percentage points)",
            NOISE,
            subjects,
        ),
        Listing(
            "designs",
            f"Numbers of problems and repeats with the smallest standard error (at most {MOST_REPEATS} repeats)",
            DESIGNS,
            [Compared(row.configuration, row.baseline, design) for row in subjects for design in row.of.designs],
        ),
        Listing(
            "carriers",
            "Problems that contribute to the comparison",
            CARRIERS,
            [Compared(comparison.of(carrier.key), base, carrier) for carrier in found.problems.carriers],
        ),
        Listing("problems", "", ITEMS, _items(comparison, found, None)),
        _shown_items(comparison, found, pair, most),
    )


def leading_key(comparison: Comparison) -> Key | None:
    """The configuration of the leading pair; None without pairs."""
    from koderz_core.analysis.pairs import leading_pair  # noqa: PLC0415 (numpy is slow to import)

    first = leading_pair(comparison.pairs)
    return first.key if first else None


def _shown_items(comparison: Comparison, found: Uncertainty, pair: Key | None, most: int | None) -> Listing:
    """The problems that carry the comparison of ``pair`` with the baseline, the largest shares first.

    All problems if item-rest correlations are known, else only those with different results.
    """
    rows = _items(comparison, found, pair)
    if all(row.of.correlation is None for row in rows):
        rows = [row for row in rows if row.of.differs]
    kept = rows[:most]
    first = f", {len(kept)} of {numbered(len(rows), 'problem')}" if len(kept) < len(rows) else ""
    subject = f" of {_letters(comparison, pair)}" if pair else ""
    columns = (*shown(ITEMS), Shown("results", 2, path="results", optional=True))
    return Listing("", f"Problems by their share of the variance{subject}{first}", columns, kept)


def _items(comparison: Comparison, found: Uncertainty, pair: Key | None) -> list[ItemRow]:
    """One row per problem; with a pair, those that hold most of its variance come first."""
    rows = [_item(comparison, item, pair) for item in found.problems.items]
    return sorted(rows, key=lambda row: -(row.part or 0.0)) if pair else rows


def noise_subjects(comparison: Comparison, found: Uncertainty) -> list[Compared[Noise]]:
    """The configurations and differences with their noise."""
    rows = []
    for noise in found.noise:
        configuration, *others = map(comparison.of, noise.keys)
        rows.append(Compared(configuration, others[0] if others else None, noise))
    return rows


def _letters(comparison: Comparison, pair: Key) -> str:
    assert comparison.baseline is not None, "a pair has a baseline"
    return f"{comparison.of(pair).letter} - {comparison.of(comparison.baseline).letter}"


def _item(comparison: Comparison, item: Item, pair: Key | None) -> ItemRow:
    of_two = list(_results(comparison, item, pair))
    return ItemRow(
        of=item,
        by={"/".join(key): share for key, share in item.shares.items()},
        variance={"/".join(key): part for key, part in item.variance.items()},
        part=item.variance.get(pair) if pair else None,
        results=", ".join(of_two) or None,
    )


def _results(comparison: Comparison, item: Item, pair: Key | None) -> Iterator[str]:
    """``B ✓``, ``A 33 %``: the results of both configurations of a pair."""
    for key in (pair, comparison.baseline) if pair else ():
        solved = item.shares.get(key) if key else None
        if key and solved is not None:
            yield f"{comparison.of(key).letter} {('✗', '✓')[int(solved)] if solved in (0, 1) else percent(solved)}"
