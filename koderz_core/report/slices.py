"""Results by slice in words and in numbers, the same for a terminal, a page and files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from koderz_core.report.columns import (
    NAMED,
    Shown,
    if_known,
    interval,
    number,
    share,
    text,
    whole,
    yes,
)
from koderz_core.report.formats import chance, marked_rate, numbered, plain, points
from koderz_core.report.registration import about_untested
from koderz_core.report.sections import Listing, Section

if TYPE_CHECKING:  # numpy is slow to import
    from koderz_core.analysis.comparison import Comparison
    from koderz_core.analysis.configurations import ConfigurationFigures
    from koderz_core.analysis.paired import Paired
    from koderz_core.analysis.slices import SliceResult, Slices

MOST_NAMED = 20
_NO_TEST = "the configuration is the baseline, or no paired test was run"


@dataclass(frozen=True, slots=True)
class SliceRow:
    """The result of a configuration in a slice. ``baseline``: full id, "" if there is none."""

    configuration: ConfigurationFigures
    of: SliceResult
    baseline: str

    @property
    def test(self) -> Paired | None:
        return self.of.test

    @property
    def n(self) -> int:
        return self.of.test.n if self.of.test else 0


def _rate(row: SliceRow) -> str:
    rate = row.of.rate
    return marked_rate(rate.value, rate.low, rate.high, row.configuration.marks)


def _points(result: SliceResult) -> str | None:
    test = result.test
    apart = result.p_adjusted is not None and result.p_adjusted <= 0.05
    return points(test.difference, test.low, test.high, apart) if test else None


SLICES = (
    text(
        "slice",
        "the difficulty, topic, tag, kind or year of the problems; `unknown` if the dataset does not state it",
        shown=Shown("slice", 0),
    ),
    *NAMED,
    text("baseline", "the baseline, written as benchmark/configuration", "no baseline", path="baseline"),
    whole(
        "problems",
        "number of problems of the slice with a result of the configuration",
        unit="problems",
        path="of.rate.problems",
        shown=Shown("problems", 3),
    ),
    *interval(
        share(
            "share",
            "success rate on the problems of the slice, with equal weight for every problem",
            "no result",
            path="of.rate",
            shown=Shown("solved [95 %]", 4, _rate, ""),
        )
    ),
    whole(
        "n",
        "number of problems of the slice on which both the configuration and the baseline have a result; 0 if no "
        "paired test was run",
        unit="problems",
        path="n",
        shown=Shown("n", 9, path="test.n"),
    ),
    share(
        "difference",
        "success rate of the configuration minus success rate of the baseline, on the `n` problems",
        _NO_TEST,
        path="test.difference",
        shown=Shown("points [95 %]", 5, _points, "of"),
    ),
    share(
        "low",
        "lower bound of the interval of `difference` (simultaneous 95 % intervals for all tests)",
        _NO_TEST,
        path="test.low",
    ),
    share(
        "high",
        "upper bound of the interval of `difference` (simultaneous 95 % intervals for all tests)",
        _NO_TEST,
        path="test.high",
    ),
    number("p", "two-sided p value of the paired test in this slice alone", _NO_TEST, path="test.p"),
    number(
        "p_adjusted",
        "p value, adjusted by Holm's method for the number of tests in all slices",
        _NO_TEST,
        shown=Shown("p (Holm)", 6, if_known(chance)),
    ),
    number(
        "p_worst", "maximum of `p_adjusted` over all possible outcomes of the experiments without a result", _NO_TEST
    ),
    whole(
        "missing",
        "experiments without a result: the total of the configuration and the baseline, on problems planned for both",
    ),
    yes("significant", "whether `p_adjusted` and `p_worst` are at most 0.05", _NO_TEST, shown=Shown("significant", 8)),
)


def slice_section(comparison: Comparison, found: Slices) -> Section:
    """The listing ``rows`` has one line per slice and configuration."""
    title = f"By {found.by}"
    if comparison.baseline:
        title += f": difference from {comparison.of(comparison.baseline).letter} on the same problems"
    if found.tests > 1:
        title += f" (simultaneous 95 % intervals for all {found.tests} differences)"
    base = "/".join(comparison.baseline) if comparison.baseline else ""
    rows = [SliceRow(comparison.of(result.key), result, base) for result in found.results]
    remarks = (*_remarks(found), *about_untested(comparison))
    return Section((Listing("rows", title, SLICES, rows),), remarks, {"by": found.by, "tests": found.tests})


def _remarks(found: Slices) -> Iterator[str]:
    yield from found.notes
    if found.unknown and not found.notes:
        yield (
            f"Problems whose {found.by} the dataset does not state: {found.unknown}. They form the slice "
            "'unknown', for which no difference is tested."
        )
    if found.tests > 1:
        slices = len({result.slice for result in found.results if result.test})
        yield (
            f"{found.tests} differences were tested in {numbered(slices, 'slice')}. Even if no true difference exists, "
            f"the expected number of tests with a p of at most 0.05 is up to {0.05 * found.tests:.2g}. Therefore use "
            "only the adjusted p, which takes all of these tests into account."
        )
        if slices > 1:
            yield (
                "If the difference is significant in one slice and not in another, this does not show that the slices "
                "differ: such a claim needs a separate test."
            )
    if found.few:
        yield (
            f"These slices have too few problems: {_named(found.few)}. No difference in them can be significant, "
            "whatever the results."
        )
    if found.by == "tag":
        yield "A problem with several tags is in several slices."


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return plain(", ".join(names[:MOST_NAMED])) + more
