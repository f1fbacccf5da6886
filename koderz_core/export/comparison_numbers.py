"""A comparison as numbers for programs: rows for CSV, and all of it for JSON, without anything JSON cannot say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isfinite, isnan

from koderz_core.analysis.bootstrap import Interval
from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.incidence import Axis
from koderz_core.analysis.pairs import Key
from koderz_core.analysis.rates import ClusteredRate, Rate

Row = dict[str, object]


def comparison_numbers(comparison: Comparison) -> Row:
    """All of it. Beside a number that is none (null) stands why: ``..._is`` ``unbounded`` or ``undefined``."""
    return _sayable(
        {
            "findings": comparison.findings,
            "remarks": comparison.remarks,
            "scripted": comparison.scripted,
            "score_kinds_mixed": comparison.mixed,
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
    return [_sayable(row) for row in _configurations(comparison)]


def pair_rows(comparison: Comparison) -> list[Row]:
    """One flat row per configuration but the baseline."""
    return [_sayable(row) for row in _pairs(comparison)]


def tier_rows(comparison: Comparison) -> list[Row]:
    """One flat row per configuration and tier that was paid."""
    return [_sayable(row) for row in _tiers(comparison)]


def curve_rows(comparison: Comparison, axis: Axis) -> list[Row]:
    """One flat row per configuration and step of its curve."""
    return [_sayable(row) for row in _curves(comparison, axis)]


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
            "score_kind": ("oracle" if one.oracle else "held_out") if one.n else None,
            **{name: getattr(one, name) for name in ("planned", "n", "solved", "unsolved", "errors", "cancelled")},
            "running": one.running,
            **_spread("share", one.rate),
            "groups": " ".join(map(str, groups)),
            **_spread("usd_per_solved", told.price),
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
            **_spread("ceiling", ceiling.rate if ceiling else None),
            **_spread("false_positives", ceiling.false_positives if ceiling else None),
            "solved_before_help": helped.before if helped else None,
            "solved_after_help": helped.after if helped else None,
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
            "told_apart": pair.told_apart if test.n else None,
            **_spread("price_ratio", pair.price),
            "break_even_usd": even.usd if even else None,
            "break_even_low": even.low if even else None,
            "break_even_high": even.high if even else None,
            "break_even_never": even.never if even else None,
            "break_even_is": _break_even(even is not None, even.usd if even else None),
            "saved_problems": saved.problems if saved else None,
            **_spread("saved_usd", saved.saved_usd if saved else None),
            **_spread("saved_share", saved.share if saved else None),
        }


def _break_even(known: bool, usd: float | None) -> str:
    return "unknown" if not known else "never" if usd is None else "reached"


def _tiers(comparison: Comparison) -> Iterator[Row]:
    for row in comparison.configurations:
        for one in row.tiers:
            each = None if one.cost_usd is None or not row.solved else one.cost_usd / row.solved
            named: Row = {"letter": row.letter, "configuration": _name(row.key), "label": row.label}
            yield named | asdict(one) | {"usd_per_solved": each}


def _reviews(comparison: Comparison) -> Iterator[Row]:
    for row in comparison.configurations:
        helped = comparison.measured[row.key].supervision
        for one in helped.reviews if helped else ():
            counts: Row = {"checkpoint": one.checkpoint, "trials": one.trials, "before": one.before, "after": one.after}
            yield {"letter": row.letter, "configuration": _name(row.key)} | counts | _spread("change", one.change)


def _curves(comparison: Comparison, axis: Axis) -> Iterator[Row]:
    for curve in comparison.curves[axis].curves:
        row = comparison.of(curve.key)
        for at, share, low, high in zip(curve.at, curve.share, curve.low, curve.high, strict=True):
            named: Row = {"letter": row.letter, "configuration": _name(row.key), "label": row.label}
            yield named | {axis: at, "share": share, "low": low, "high": high}


def _spread(name: str, value: Rate | ClusteredRate | Interval | None) -> Row:
    """A number with its bounds as three columns."""
    held = (value.value, value.low, value.high) if value else (None, None, None)
    return dict(zip((name, f"{name}_low", f"{name}_high"), held, strict=True))


def _name(key: Key | None) -> str | None:
    return None if key is None else "/".join(key)


def _sayable(row: Mapping[str, object]) -> Row:
    found: Row = {}
    for name, value in row.items():
        found[name] = _plain(value)
        if isinstance(value, float) and not isfinite(value):
            found[f"{name}_is"] = "undefined" if isnan(value) else "unbounded"
    return found


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return _sayable(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value
