"""Configurations at equal cost as tables, sentences and numbers, and the chart with simultaneous bands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import comb, isinf
from typing import TYPE_CHECKING

from koderz_core.records.completions import CPUS_MEASURED
from koderz_core.report.columns import (
    NAMED,
    Row,
    Shown,
    if_known,
    interval,
    number,
    share,
    shown,
    text,
    whole,
)
from koderz_core.report.formats import amount, numbered, percent, points_of, rate
from koderz_core.report.pair_columns import SEQUENTIAL
from koderz_core.report.registration import about_untested
from koderz_core.report.sections import Listing, Section

if TYPE_CHECKING:  # numpy is slow to import
    import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

    from koderz_core.analysis.comparison import Comparison
    from koderz_core.analysis.configurations import ConfigurationFigures
    from koderz_core.analysis.curves import Curves
    from koderz_core.analysis.equal_cost import EqualCost, Supported, Why
    from koderz_core.analysis.incidence import Axis
    from koderz_core.analysis.pairs import Key
    from koderz_core.analysis.total_budget import Breadth

BUDGETS = 5  # in tables
MOST_BANDS = 4  # more bands would hide each other
MOST_NAMED = 8  # supported differences in a sentence
TITLE = "Success at equal cost"
BANDED = "Simultaneous 95 % bands for all configurations and budgets"
PER_PROBLEM = {"usd": "dollars", "tokens": "tokens", "seconds": "seconds", "joules": "joules"}
ABOUT_EQUAL_COST = (
    "Each curve shows the share of problems solved if no problem may cost more than the budget. The 95 % bands hold "
    "simultaneously for all configurations and budgets, so you may choose the budget after you have seen the chart. At "
    "a given budget, one configuration solves significantly more problems than another if the band of their difference "
    "excludes 0. This band holds simultaneously for all pairs and budgets. Curves with overlapping bands can still "
    "differ significantly. Area: the share of problems solved, averaged over all budgets. The scale of the budgets is "
    "logarithmic, so every doubling of the budget has the same weight. The interval of an area is not "
    "simultaneous: it applies to one configuration alone. The intervals of differences between areas "
    "hold simultaneously for all differences from the baseline."
)
ABOUT_BREADTH = (
    "Breadth first: one budget for all problems together. Every problem gets a first attempt, then every unsolved "
    "problem gets a second attempt, and so on. Solved problems get no further attempt, so more of the budget is left "
    "for unsolved problems. The calculation uses only recorded attempts. "
    'The column "all attempts" shows the share of problems solved with all recorded attempts, and the mean amount that '
    "these attempts used per problem. A cell contains – if all recorded attempts of the configuration together used "
    "less than the budget of the column."
)
_STATED = "koderz multiplies the watts stated in the settings by the duration of the calls."
_MEASURED = (
    "The energy counters of the processors measure the energy of all programs that ran during the calls. They do not "
    "measure the energy of other parts of the machine, such as fans and the power supply."
)
WHY: Mapping[Why, str] = {
    "few problems": "This comparison needs at least 10 problems on which each configuration has a result. Run more "
    "problems.",
    "few configurations": "This comparison needs at least two configurations that have results and a known cost in "
    "this unit.",
    "nothing solved": "No configuration solved a problem, so there is nothing to compare.",
    "free": "All experiments have a cost of 0 in this unit, so the configurations cannot be compared at equal cost.",
    "mixed energy": "The energy of these configurations was not determined in the same way, so koderz does not compare "
    "joules.",
}


@dataclass(frozen=True, slots=True)
class SupportedRow:
    """A difference that the band supports; ``end``: None if it has no upper end."""

    better: ConfigurationFigures
    worse: ConfigurationFigures
    start: float
    end: float | None


@dataclass(frozen=True, slots=True)
class CurveStep:
    """One step of the curve of a configuration, with its band."""

    axis: Axis
    configuration: ConfigurationFigures
    at: float
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class BreadthRow:
    """The set of problems after a number of attempts on every unsolved problem."""

    configuration: ConfigurationFigures
    attempts: int
    spent: float
    share: float


@dataclass(frozen=True, slots=True)
class OrderRow:
    """A budget, with the configurations in the order of their shares, and the differences that the band supports."""

    budget: str
    order: str
    supported: str


AREAS = (
    *NAMED,
    *interval(
        share(
            "area",
            "share of problems solved, averaged over all budgets on a logarithmic scale",
            path="of.share",
            shown=Shown("area [95 %]", 3, rate, "of.share"),
        )
    ),
    *interval(
        share(
            "difference",
            "area minus the area of the baseline; the intervals of all differences hold simultaneously",
            "the configuration is the baseline",
            shown=Shown("points [95 %]", 4, if_known(points_of), "of.difference"),
        ),
        SEQUENTIAL,
    ),
)
BANDS = (
    *NAMED,
    text("axis", "`usd`, `tokens`, `seconds` or `joules`", path="axis"),
    number("budget", "amount that one problem may cost, in the unit of the axis", path="at"),
    share("share", "share of problems solved within the budget", path="share"),
    share("low", "lower end of the band, which holds simultaneously for all configurations and budgets", path="low"),
    share("high", "upper end of the band", path="high"),
)
SUPPORTED = (
    text(
        "better", "configuration that solves more problems, written as benchmark/configuration", path="better.full_id"
    ),
    text("worse", "configuration that solves fewer problems, written as benchmark/configuration", path="worse.full_id"),
    number(
        "start",
        "lowest budget at which the band shows that `better` solves more problems, in the unit of the axis",
        path="start",
    ),
    number(
        "end",
        "lowest budget above `start` at which the band no longer shows that `better` solves more problems",
        "the band shows that `better` solves more problems at every budget from `start`",
        path="end",
    ),
)
BREADTH = (
    *NAMED,
    whole(
        "attempts", "maximum number of attempts per problem; solved problems get no further attempt", path="attempts"
    ),
    number(
        "spent", "mean amount used per problem with at most `attempts` attempts, in the unit of the axis", path="spent"
    ),
    share("share", "share of problems solved with at most `attempts` attempts", path="share"),
)
ORDERS = (
    Shown("budget per problem", 1, path="budget"),
    Shown("share of problems solved, highest first", 2, path="order"),
    Shown("differences supported by the band", 3, path="supported"),
)


def equal_cost_section(comparison: Comparison, found: EqualCost) -> Section:
    """What the band supports, in words; or why there is none."""
    supported = [
        SupportedRow(comparison.of(of.better), comparison.of(of.worse), of.start, None if isinf(of.end) else of.end)
        for of in found.supported
    ]
    listings = (
        _orders(comparison, found),
        _areas(comparison, found),
        _under_one_budget(comparison, found),
        Listing("bands", "", BANDS, curve_steps(comparison, found.curves)),
        Listing("supported", "", SUPPORTED, supported),
        Listing("breadth", "", BREADTH, list(_breadth(comparison, found))),
    )
    facts = {
        "axis": found.axis,
        "problems": found.problems,
        "critical": found.critical,
        "critical_pairs": found.critical_pairs,
        "energy": found.energy,
        "left_out": [comparison.of(key).full_id for key in found.curves.left_out],
    }
    return Section(listings, tuple(_remarks(comparison, found)), facts)


def _orders(comparison: Comparison, found: EqualCost) -> Listing:
    """At a few budgets, which configuration solves most."""
    letters = {curve.key: comparison.of(curve.key).letter for curve in found.curves.curves}
    rows = [_order(found, letters, budget) for budget in _budgets(found)]
    return Listing("", f"Share of problems solved at equal {PER_PROBLEM[found.axis]} per problem", ORDERS, rows)


def _areas(comparison: Comparison, found: EqualCost) -> Listing:
    """The mean share solved over all budgets, and its difference to the baseline."""
    title = f"Area under the curve of success against {PER_PROBLEM[found.axis]}"
    if found.areas:
        bounds = f"from {amount(found.axis, found.least)} to {amount(found.axis, found.most)}"
        title += f" (budgets {bounds}, on a logarithmic scale)"
    return Listing("areas", title, AREAS, [Row(comparison.of(area.key), area) for area in found.areas])


def _under_one_budget(comparison: Comparison, found: EqualCost) -> Listing:
    """The share of the whole set solved with one budget for all problems."""
    spent = [each for breadth in found.breadth.values() for each in breadth.spent if each > 0]
    budgets = _spaced(min(spent), max(spent), BUDGETS - 1) if spent else []
    places = {amount(found.axis, budget): budget for budget in budgets}
    columns = (
        *shown(NAMED),
        *(Shown(header, text=partial(_covered, budget=budget), path="of") for header, budget in places.items()),
        Shown("all attempts", text=partial(_full, axis=found.axis), path="of"),
    )
    rows = [Row(comparison.of(key), breadth) for key, breadth in found.breadth.items()]
    unit = f"mean {PER_PROBLEM[found.axis]} per problem"
    title = f"Share of problems solved with one budget for all problems (unit of the budgets: {unit})"
    return Listing("", title, columns, rows if places else [])


def curve_steps(comparison: Comparison, found: Curves[Key]) -> list[CurveStep]:
    """One row per configuration and step of its curve."""
    return [
        CurveStep(found.axis, comparison.of(curve.key), *step)
        for curve in found.curves
        for step in zip(curve.at, curve.share, curve.low, curve.high, strict=True)
    ]


def equal_cost_chart(comparison: Comparison, found: EqualCost, chosen: Sequence[Key]) -> go.Figure:
    """The curves with simultaneous bands; of more than ``MOST_BANDS``, only those of ``chosen``."""
    from koderz_core.report.charts_curves import success_by  # noqa: PLC0415 (plotly is slow to import)
    from koderz_core.report.charts_frontier import View  # noqa: PLC0415 (as above)

    keys = [curve.key for curve in found.curves.curves]
    drawn = replace(comparison, curves={found.axis: found.curves}, pairs=())
    return success_by(drawn, found.axis, View(BANDED, chosen=keys if len(keys) <= MOST_BANDS else chosen), TITLE)


def _remarks(comparison: Comparison, found: EqualCost) -> Iterator[str]:
    if found.why:
        sources = f" Sources: {'; '.join(found.energy)}." if found.energy else ""
        yield f"Comparison at equal {PER_PROBLEM[found.axis]} per problem: {WHY[found.why]}{sources}"
        return
    drawn = {curve.key for curve in found.curves.curves}
    if comb(len(drawn), 2) > sum({*pair} <= drawn for pair in comparison.untested):
        yield _conclusion(comparison, found)
    yield from about_untested(comparison)
    if found.curves.left_out:
        names = ", ".join(comparison.of(key).letter for key in found.curves.left_out)
        yield (
            f"Omitted configurations: {names}. The {PER_PROBLEM[found.axis]} that they used are unknown, or none of "
            "their experiments has a result."
        )
    if found.energy:
        how = _MEASURED if found.energy[0].startswith(CPUS_MEASURED) else _STATED
        yield f"Source of the energy figures of all configurations: {found.energy[0]}. {how}"
    yield ABOUT_EQUAL_COST
    if found.breadth:
        yield ABOUT_BREADTH


def _conclusion(comparison: Comparison, found: EqualCost) -> str:
    start = f"At equal {PER_PROBLEM[found.axis]} per problem, on {numbered(found.problems, 'problem')}: "
    if not found.supported:
        which = "no tested pair of configurations differs" if comparison.untested else "no two configurations differ"
        return f"{start}{which} significantly at any budget (simultaneous band)."
    ranges = [_range(comparison, of, found) for of in found.supported[:MOST_NAMED]]
    more = len(found.supported) - len(ranges)
    rest = f"; and {numbered(more, 'further range')}" if more else ""
    return f"{start}the simultaneous band supports these differences: {'; '.join(ranges)}{rest}."


def _range(comparison: Comparison, of: Supported, found: EqualCost) -> str:
    better, worse = (comparison.of(key).letter for key in (of.better, of.worse))
    start = amount(found.axis, of.start)
    where = f"from {start}" if isinf(of.end) else f"from {start} to {amount(found.axis, of.end)}"
    return f"{better} solves more problems than {worse} at budgets {where}"


def _budgets(found: EqualCost) -> list[float]:
    """The budgets of tables, without the one at which the first problem is solved."""
    return list(dict.fromkeys(_spaced(found.least, found.most, BUDGETS)[1:])) if found.most else []


def _spaced(least: float, most: float, parts: int) -> list[float]:
    """Evenly spaced on a logarithmic scale."""
    return [least * (most / least) ** (place / parts) for place in range(parts + 1)]


def _order(found: EqualCost, letters: Mapping[Key, str], budget: float) -> OrderRow:
    solved = {curve.key: curve.share[curve.step(budget)] for curve in found.curves.curves}
    order = sorted(solved, key=lambda key: -solved[key])
    supported = [
        f"{letters[of.better]} > {letters[of.worse]}"
        for of in found.supported
        if of.start <= budget * (1 + 1e-9) < of.end
    ]
    named = ", ".join(f"{letters[key]} {percent(solved[key])}" for key in order)
    return OrderRow(amount(found.axis, budget), named, ", ".join(supported) or "none")


def _covered(of: Breadth, budget: float) -> str | None:
    solved = of.at(budget)
    return None if solved is None else rate(solved)


def _full(of: Breadth, axis: Axis) -> str:
    return f"{percent(of.share[-1])} for {amount(axis, of.spent[-1])}"


def _breadth(comparison: Comparison, found: EqualCost) -> Iterator[BreadthRow]:
    for key, breadth in found.breadth.items():
        for attempts, (spent, solved) in enumerate(zip(breadth.spent, breadth.share, strict=True)):
            yield BreadthRow(comparison.of(key), attempts, spent, solved)
