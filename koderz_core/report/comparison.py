"""A comparison as tables and curves, and all of it for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.configurations import figures_of
from koderz_core.analysis.curves import Curve
from koderz_core.analysis.incidence import Axis
from koderz_core.analysis.pairs import Key
from koderz_core.analysis.supervision import Supervision
from koderz_core.records.progress import SummaryRow
from koderz_core.report.columns import (
    NAMED,
    Numbers,
    Row,
    Shown,
    if_known,
    json_row,
    json_rows,
    shown,
    text_table,
)
from koderz_core.report.compositions import compositions_table
from koderz_core.report.configuration_columns import (
    CEILINGS,
    CONFIGURATIONS,
    FRONTIER,
    GLANCE,
    configuration_rows,
    configurations,
    curve_columns,
)
from koderz_core.report.equal_cost import curve_steps
from koderz_core.report.formats import (
    NONE,
    TextTable,
    amount,
    marked_rate,
    numbered,
    percent,
    value_text,
)
from koderz_core.report.pair_columns import PAIRS, pair_rows, pairs
from koderz_core.report.registration import registration_numbers, registration_tables
from koderz_core.report.spending import margins_listing, roles_listing, tier_margins_table, tiers_listing
from koderz_core.report.supervision import reviews_listing, supervised, supervision_table

MOST_PLACES = 12  # of a curve in a table
PARTS = 7
HELD = "‡"
AMOUNTS = {
    "attempts": "number of attempts",
    "usd": "dollars per problem",
    "seconds": "seconds per problem",
    "tokens": "tokens per problem",
    "joules": "joules per problem",
}
SETTING = "setting"


def tables(comparison: Comparison) -> tuple[TextTable, ...]:
    """Every table that has lines, except curves and frontier, which belong to charts."""
    reviewed = with_reviews(comparison)
    made = (
        configurations_table(comparison),
        pairs_table(comparison),
        *registration_tables(comparison.registered),
        roles_listing(comparison).table,
        tiers_listing(comparison).table,
        ceilings_table(comparison),
        supervision_table(reviewed),
        reviews_listing(reviewed).table,
        margins_listing(comparison).table,
        compositions_table(comparison),
        tier_margins_table(comparison),
        settings_table(comparison),
    )
    return tuple(table for table in made if table.rows)


def configurations_table(comparison: Comparison) -> TextTable:
    """One line per configuration; other tables and charts refer to it by its letter."""
    return text_table("Configurations", shown(CONFIGURATIONS), configurations(comparison))


def pairs_table(comparison: Comparison) -> TextTable:
    """Every configuration against the baseline."""
    base = comparison.of(comparison.baseline).letter if comparison.baseline else NONE
    title = f"Comparison with {base} on the same problems{at_once(comparison)}"
    return text_table(title, shown(PAIRS), pairs(comparison), base)


def at_once(comparison: Comparison) -> str:
    """The level of the intervals of pairs, if there are several."""
    pairs = max((pair.test.at_once for pair in comparison.pairs), default=1)
    return f" (simultaneous 95 % intervals for all {pairs} pairs)" if pairs > 1 else ""


def frontier_table(comparison: Comparison) -> TextTable:
    """Cost and success of each configuration, on the problems with a result of all."""
    rows = [row for row in configurations(comparison) if row.point]
    return text_table(f"Cost and success on {numbered(comparison.tradeoff.problems, 'problem')}", FRONTIER, rows)


def ceilings_table(comparison: Comparison) -> TextTable:
    """How far trying until the gate passes can go, if gate and held-out tests differ."""
    rows = [row for row in configurations(comparison) if row.measured.ceiling]
    return text_table("Verifier precision and false-pass rate", CEILINGS, rows)


def settings_table(comparison: Comparison) -> TextTable:
    """Only the settings that differ: a line per configuration, a column per setting."""
    settings = comparison.differences.differing
    rows = tuple(
        (row.letter, *(value_text(setting.values[place]) for setting in settings))
        for place, row in enumerate(comparison.configurations)
    )
    return TextTable("Settings that differ", ("", *(setting.name for setting in settings)), rows if settings else ())


def settings_by_row(table: TextTable) -> TextTable:
    """``settings_table`` with a line per setting, so that their names have room; unchanged if that is wider."""
    if len(table.columns) <= len(table.rows) + 1:
        return table
    rows = tuple((name, *(row[place] for row in table.rows)) for place, name in enumerate(table.columns) if name)
    return TextTable(table.title, (SETTING, *(row[0] for row in table.rows)), rows)


def with_reviews(comparison: Comparison) -> list[Row[Supervision]]:
    """The configurations in which a stronger model reviewed something."""
    found = {key: measured.supervision for key, measured in comparison.measured.items()}
    return supervised(comparison.configurations, found)


def common(comparison: Comparison) -> str:
    """What is the same for all, in one sentence."""
    same = ", ".join(f"{name} {value_text(value)}" for name, value in comparison.differences.common.items())
    return (
        f"Settings that are the same for all configurations: {same}."
        if same
        else "No setting is the same for all configurations."
    )


def glance_table(rows: Sequence[SummaryRow]) -> TextTable:
    """One line per configuration."""
    found = [figures_of(row, place) for place, row in enumerate(rows)]
    return text_table("Success and cost by configuration", GLANCE, found)


_WELL_FORMED = Shown("well formed", text=if_known(percent), path="configuration.well_formed", optional=True)


def curves_table(comparison: Comparison, axis: Axis) -> TextTable:
    """The curves at a few places of their axis: most is solved with little, so each place is half of the next one.

    Places with the same heading are merged, for example if nothing cost anything. ‡ marks the level of a curve after
    its own end.
    """
    found = comparison.curves[axis]
    whole = axis == "attempts" and found.end <= MOST_PLACES
    places = range(1, round(found.end) + 1) if whole else [found.end / 2**part for part in reversed(range(PARTS))]
    headers = {f"by attempt {place:g}" if axis == "attempts" else amount(axis, place): place for place in places}
    columns = (
        *shown(NAMED),
        *(
            Shown(header, text=partial(level_at, place=place, held=f" {HELD}"), path="")
            for header, place in headers.items()
        ),
        Shown("at end of curve", text=partial(_end, axis=axis), path=""),
        Shown("stopped by false passes", text=percent, path="of.false_passes"),
        Shown("interrupted", path="of.censored"),
        *((_WELL_FORMED,) if axis == "attempts" else ()),
    )
    held = any(curve.end < found.end for curve in found.curves)
    title = f"Share of problems solved as a function of the {AMOUNTS[axis]}"
    title += f" ({HELD}: the configuration made no further attempts)" if held else ""
    return text_table(title, columns, [Row(comparison.of(curve.key), curve) for curve in found.curves])


def level_at(line: Row[Curve[Key]], place: float, held: str) -> str:
    """``62 % [49, 73]``: the height of a curve at a place; after its own end without interval, and with ``held``."""
    curve, marks, step = line.of, line.configuration.marks, line.of.step(place)
    if place > curve.end * (1 + 1e-9):
        return f"{marked_rate(curve.share[-1], None, None, marks)}{held}"
    return marked_rate(curve.share[step], curve.low[step], curve.high[step], marks)


def _end(line: Row[Curve[Key]], axis: Axis) -> str:
    curve = line.of
    level = marked_rate(curve.share[-1], curve.low[-1], curve.high[-1], line.configuration.marks)
    return f"{level} by {amount(axis, curve.end)}"


def curve_rows(comparison: Comparison, axis: Axis) -> list[Numbers]:
    """One flat row per configuration and step of its curve."""
    return json_rows(curve_columns(axis), curve_steps(comparison, comparison.curves[axis]))


def comparison_numbers(comparison: Comparison) -> Numbers:
    """All of it for programs. Next to a number that is null, ``..._is`` says ``unbounded`` or ``undefined``.

    Next to break-evens, always: ``reached``, ``never``, ``no_target`` or ``unknown``. Intervals of pairs hold for
    ``pairs_at_once``.
    """
    return json_row(
        {
            "findings": comparison.findings,
            "remarks": comparison.remarks,
            "scripted": comparison.scripted,
            "score_kinds_mixed": comparison.mixed,
            "score_kinds_mixed_problems": comparison.mixed_problems,
            "baseline": None if comparison.baseline is None else comparison.of(comparison.baseline).full_id,
            "configurations": configuration_rows(comparison),
            "tiers": tiers_listing(comparison).numbers,
            "roles": roles_listing(comparison).numbers,
            "pairs": [
                {**row, "finding": pair.finding, "partings": [asdict(parting) for parting in pair.partings]}
                for row, pair in zip(pair_rows(comparison), comparison.pairs, strict=True)
            ],
            "registrations": [registration_numbers(found) for found in comparison.registered],
            "groups": [[comparison.of(key).full_id for key in group] for group in comparison.groups],
            "margins": margins_listing(comparison).numbers,
            "reviews": reviews_listing(with_reviews(comparison)).numbers,
            "curves": {axis: curve_rows(comparison, axis) for axis in comparison.curves},
            "differing": [asdict(setting) for setting in comparison.differences.differing],
            "common": dict(comparison.differences.common),
        }
    )
