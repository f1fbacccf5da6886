"""A comparison as numbers for programs: rows for CSV, and all of it for JSON, without anything JSON cannot say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isfinite, isnan

from koderz_core.analysis.bounds import Cases
from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.curves import BreakEven
from koderz_core.analysis.incidence import Axis
from koderz_core.analysis.pairs import Key, Pair
from koderz_core.analysis.rates import ClusteredRate, Interval, Rate
from koderz_core.analysis.supervision import Supervision

Row = dict[str, object]
_COUNTS = ("planned", "n", "solved", "unsolved", "errors", "cancelled", "running", "not_ended")


def comparison_numbers(comparison: Comparison) -> Row:
    """All of it. Beside a number that is none (null) stands why: ``..._is`` ``unbounded`` or ``undefined``.

    Beside break-evens, always, ``reached``, ``never``, ``no_target`` or ``unknown``. Intervals of pairs hold for
    ``pairs_at_once``.
    """
    return sayable(
        {
            "findings": comparison.findings,
            "remarks": comparison.remarks,
            "scripted": comparison.scripted,
            "score_kinds_mixed": comparison.mixed,
            "score_kinds_mixed_problems": comparison.mixed_problems,
            "baseline": _name(comparison.baseline),
            "configurations": list(_configurations(comparison)),
            "tiers": list(_tiers(comparison)),
            "pairs": [
                {**row, "finding": pair.finding, "partings": [asdict(one) for one in pair.partings]}
                for row, pair in zip(_pairs(comparison), comparison.pairs, strict=True)
            ],
            "groups": [[_name(key) for key in group] for group in comparison.groups],
            "margins": [
                {**asdict(one), "cheaper": _name(one.cheaper), "dearer": _name(one.dearer)}
                for one in comparison.margins
            ],
            "reviews": list(_reviews(comparison)),
            "curves": {axis: list(_curves(comparison, axis)) for axis in comparison.curves},
            "differing": [asdict(one) for one in comparison.differences.differing],
            "common": dict(comparison.differences.common),
        }
    )


def configuration_rows(comparison: Comparison) -> list[Row]:
    """One flat row per configuration."""
    return [sayable(row) for row in _configurations(comparison)]


def pair_rows(comparison: Comparison) -> list[Row]:
    """One flat row per configuration but the baseline."""
    return [sayable(row) for row in _pairs(comparison)]


def tier_rows(comparison: Comparison) -> list[Row]:
    """One flat row per configuration and tier that was paid."""
    return [sayable(row) for row in _tiers(comparison)]


def review_rows(told: Supervision) -> Iterator[Row]:
    """One flat row per checkpoint of a configuration."""
    for one in told.reviews:
        counts: Row = {"checkpoint": one.checkpoint, "trials": one.trials, "before": one.before, "after": one.after}
        yield counts | spread("change", one.change)


def curve_rows(comparison: Comparison, axis: Axis) -> list[Row]:
    """One flat row per configuration and step of its curve."""
    return [sayable(row) for row in _curves(comparison, axis)]


def _configurations(comparison: Comparison) -> Iterator[Row]:
    placed = {point.key: point for point in comparison.tradeoff.points}
    for one in comparison.configurations:
        told, point = comparison.measured[one.key], placed.get(one.key)
        groups = [number for number, group in enumerate(comparison.groups, start=1) if one.key in group]
        ceiling, helped = told.ceiling, told.supervision
        yield {
            "letter": one.letter,
            "benchmark": one.benchmark,
            "configuration": one.configuration,
            "label": one.label,
            "strategy": one.strategy,
            "tier": one.tier,
            "scripted": one.scripted,
            "score_kind": one.marks.kind,
            "oracle_problems": one.marks.oracle_problems if one.n else None,
            "saw_base_tests": one.marks.saw_base_tests,
            **{name: getattr(one, name) for name in _COUNTS},
            **spread("share", one.rate),
            **_cases("share", one.cases),
            "groups": " ".join(map(str, groups)),
            **spread("usd_per_solved", told.price),
            "usd_per_experiment": one.cost_per_experiment_usd,
            "cost_usd": one.cost_usd,
            "rental_usd": one.rental_usd,
            "seconds_per_experiment": one.seconds_per_experiment,
            "mean_iterations": one.mean_iterations,
            "usd_per_problem": point.usd if point else None,
            "usd_per_problem_low": point.usd_low if point else None,
            "usd_per_problem_high": point.usd_high if point else None,
            "on_frontier": point.on_frontier if point else None,
            "frontier_probability": point.probability if point else None,
            **spread("ceiling", ceiling.rate if ceiling else None),
            **spread("false_positives", ceiling.false_positives if ceiling else None),
            "solved_before_help": helped.before if helped else None,
            "solved_after_help": helped.after if helped else None,
            "never_solved": helped.never if helped else None,
            "frontier_share_of_usd": told.frontier.usd,
            "frontier_share_of_tokens": told.frontier.tokens,
        }


def _pairs(comparison: Comparison) -> Iterator[Row]:
    for pair in comparison.pairs:
        test, even, saved = pair.test, pair.break_even, pair.savings
        yield {
            "letter": comparison.of(pair.key).letter,
            "configuration": _name(pair.key),
            "baseline": _name(pair.baseline),
            **{name: getattr(test, name) for name in ("n", "unpaired", "both", "only_a", "only_b", "neither")},
            **{name: getattr(test, name) for name in ("difference", "low", "high", "p", "method")},
            "p_adjusted": pair.p_adjusted,
            **_worst(pair),
            "told_apart": pair.told_apart if test.n else None,
            **spread("price_ratio", pair.price),
            "pairs_at_once": test.at_once,
            **_reached("break_even", even, even.usd if even else None),
            **_reached("break_even_low", even, even.low if even else None),
            **_reached("break_even_high", even, even.high if even else None),
            "break_even_never": even.never if even else None,
            "saved_problems": saved.problems if saved else None,
            **spread("saved_usd", saved.saved_usd if saved else None),
            **spread("saved_share", saved.share if saved else None),
        }


def _worst(pair: Pair) -> Row:
    """What missing results could change; as it is where nothing is missing."""
    if pair.worst:
        return {"missing": pair.worst.missing, "p_worst": pair.worst.p} | _cases("difference", pair.worst.difference)
    known = pair.test.difference
    return {"missing": 0, "p_worst": pair.p_adjusted} | _cases(
        "difference", None if known is None else Cases(known, known)
    )


def _cases(name: str, found: Cases | None) -> Row:
    return {f"{name}_worst": found.worst if found else None, f"{name}_best": found.best if found else None}


def _reached(name: str, even: BreakEven | None, usd: float | None) -> Row:
    """Dollars, and beside them ``..._is``, since a number alone cannot say why it is none."""
    number = usd if usd is not None and isfinite(usd) else None
    missing = "no_target" if even and even.usd is None else "unknown"
    said = missing if usd is None else "never" if number is None else "reached"
    return {f"{name}_usd" if name == "break_even" else name: number, f"{name}_is": said}


def _tiers(comparison: Comparison) -> Iterator[Row]:
    for row in comparison.configurations:
        for one in row.tiers:
            each = comparison.measured[row.key].parts.get(one.tier) if one.tier else None
            named: Row = {"letter": row.letter, "configuration": _name(row.key), "label": row.label}
            yield named | asdict(one) | {"usd_per_solved": each}


def _reviews(comparison: Comparison) -> Iterator[Row]:
    for row in comparison.configurations:
        helped = comparison.measured[row.key].supervision
        for one in review_rows(helped) if helped else ():
            yield {"letter": row.letter, "configuration": _name(row.key)} | one


def _curves(comparison: Comparison, axis: Axis) -> Iterator[Row]:
    for curve in comparison.curves[axis].curves:
        row = comparison.of(curve.key)
        for at, share, low, high in zip(curve.at, curve.share, curve.low, curve.high, strict=True):
            named: Row = {"letter": row.letter, "configuration": _name(row.key), "label": row.label}
            yield named | {axis: at, "share": share, "low": low, "high": high}


def spread(name: str, value: Rate | ClusteredRate | Interval | None) -> Row:
    """A number with its bounds as three columns."""
    held = (value.value, value.low, value.high) if value else (None, None, None)
    return dict(zip((name, f"{name}_low", f"{name}_high"), held, strict=True))


def _name(key: Key | None) -> str | None:
    return None if key is None else "/".join(key)


def sayable(row: Mapping[str, object]) -> Row:
    """A row as JSON can say it: what is no number is null, and beside it ``..._is`` says what it is."""
    found: Row = {}
    for name, value in row.items():
        found[name] = _plain(value)
        if isinstance(value, float) and not isfinite(value):
            found[f"{name}_is"] = "undefined" if isnan(value) else "unbounded"
    return found


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return sayable(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value
