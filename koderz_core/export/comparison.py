"""A comparison in words: its tables, and what is the same for all."""

from __future__ import annotations

from collections.abc import Mapping
from math import isinf

from koderz_core.analysis.compared import Compared
from koderz_core.analysis.comparison import Comparison, Measured
from koderz_core.analysis.curves import BreakEven
from koderz_core.analysis.pairs import Key, Pair
from koderz_core.export.comparison_details import ceilings_table, margins_table, tiers_table
from koderz_core.export.formats import (
    bounded,
    chance,
    duration,
    money,
    money_span,
    percent,
    point_cases,
    points,
    share,
)
from koderz_core.export.supervision import Helped, reviews_table, supervision_table
from koderz_core.export.worded import CASES, NONE, Table, columns, with_column, worded

SETTING = "setting"


def tables(comparison: Comparison) -> tuple[Table, ...]:
    """Every table that has something to say; curves and frontier are for charts."""
    made = (
        configurations_table,
        pairs_table,
        tiers_table,
        ceilings_table,
        _supervision,
        _reviews,
        margins_table,
        settings_table,
    )
    return tuple(table for make in made if (table := make(comparison)).rows)


def configurations_table(comparison: Comparison) -> Table:
    """One line per configuration; the letter stands for it everywhere else."""
    groups = group_of(comparison)
    placed = {point.key: point.probability for point in comparison.tradeoff.points}
    rows = tuple(
        (
            row.letter,
            row.label,
            share(row),
            f"{row.n}/{row.planned}",
            groups.get(row.key, NONE),
            _price(comparison.measured[row.key]),
            money(row.cost_per_experiment_usd),
            chance(placed.get(row.key)),
            NONE if row.mean_iterations is None else f"{row.mean_iterations:.1f}",
            duration(row.seconds_per_experiment),
        )
        for row in comparison.configurations
    )
    names = (
        "letter | configuration | solved [95 %] | n | group | $ per solved [95 %] | $ each | P(frontier) | "
        "iterations | time each"
    )
    table = Table("Configurations", columns(names), rows)
    return with_column(table, "n", CASES, [bounded(row) for row in comparison.configurations])


def pairs_table(comparison: Comparison) -> Table:
    """Every configuration against the baseline."""
    named = {row.key: row for row in comparison.configurations}
    base = named[comparison.baseline].letter if comparison.baseline else NONE
    names = (
        f"letter | configuration | points [95 %] | p (Holm) | told apart | only it | only {base} | both | n | "
        f"reaches {base} at | P(never) | × $ per solved | saved"
    )
    rows = tuple(_pair(pair, named[pair.key]) for pair in comparison.pairs)
    table = Table(f"Against {base} on the same problems{at_once(comparison)}", columns(names), rows)
    worst = [pair.worst for pair in comparison.pairs]
    differences = [point_cases(one.difference) if one and one.missing and one.difference else None for one in worst]
    table = with_column(table, "p (Holm)", "p worst", [chance(one.p) if one else None for one in worst])
    return with_column(table, "points [95 %]", CASES, differences)


def at_once(comparison: Comparison) -> str:
    """What intervals of pairs hold for, where there are several."""
    pairs = max((pair.test.at_once for pair in comparison.pairs), default=1)
    return f" (intervals at 95 % for all {pairs} pairs at once)" if pairs > 1 else ""


def settings_table(comparison: Comparison) -> Table:
    """Only what differs: a line per configuration, a column per setting."""
    settings = comparison.differences.differing
    rows = tuple(
        (row.letter, *(worded(one.values[place]) for one in settings))
        for place, row in enumerate(comparison.configurations)
    )
    return Table("What differs", ("", *(one.name for one in settings)), rows if settings else ())


def settings_by_row(table: Table) -> Table:
    """``settings_table`` with a line per setting, so that names of settings have room; as it was if that is wider."""
    if len(table.columns) <= len(table.rows) + 1:
        return table
    rows = tuple((name, *(row[place] for row in table.rows)) for place, name in enumerate(table.columns) if name)
    return Table(table.title, (SETTING, *(row[0] for row in table.rows)), rows)


def helped(comparison: Comparison) -> Helped:
    """The configurations of which a stronger model reviewed something."""
    told = {(row.letter, row.label): comparison.measured[row.key].supervision for row in comparison.configurations}
    return {named: one for named, one in told.items() if one}


def common(comparison: Comparison) -> str:
    """What is the same for all, in one sentence."""
    said = ", ".join(f"{name} {worded(value)}" for name, value in comparison.differences.common.items())
    return f"The same for all: {said}." if said else "Nothing is the same for all."


def break_even_price(found: BreakEven | None) -> str:
    """The dollars per problem, ``never``, or ``nothing to reach`` if the baseline solved nothing."""
    if found is None:
        return NONE
    if found.usd is None:
        return "nothing to reach"
    return "never" if isinf(found.usd) else money(found.usd)


def group_of(comparison: Comparison) -> Mapping[Key, str]:
    """The numbers of the groups that a configuration is in, 1 the best: inside a group nobody can be told apart."""
    found: dict[Key, list[str]] = {}
    for number, group in enumerate(comparison.groups, start=1):
        for key in group:
            found.setdefault(key, []).append(str(number))
    return {key: " ".join(numbers) for key, numbers in found.items()}


def _supervision(comparison: Comparison) -> Table:
    return supervision_table(helped(comparison))


def _reviews(comparison: Comparison) -> Table:
    return reviews_table(helped(comparison))


def _price(told: Measured) -> str:
    return money_span(told.price.value, told.price.low, told.price.high) if told.price else money(None)


def _pair(pair: Pair, row: Compared) -> tuple[str, ...]:
    test, saved = pair.test, pair.savings
    return (
        row.letter,
        row.label,
        points(test.difference, test.low, test.high, pair.seems_apart),
        chance(pair.p_adjusted),
        worded(pair.told_apart if test.n else None),
        *map(str, (test.only_a, test.only_b, test.both, test.n)),
        break_even_price(pair.break_even),
        chance(pair.break_even.never) if pair.break_even else NONE,
        NONE if pair.price is None else f"{pair.price.value:.2g}",
        percent(saved.share.value) if saved and saved.share else NONE,
    )
