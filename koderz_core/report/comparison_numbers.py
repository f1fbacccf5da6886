"""A comparison as numbers for programs: rows for CSV, and all of it for JSON, without anything JSON cannot say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.incidence import Axis
from koderz_core.analysis.pairs import Key
from koderz_core.analysis.rates import ClusteredRate, Interval, Rate
from koderz_core.analysis.supervision import Supervision
from koderz_core.report.columns import Numbers, json_row, json_rows
from koderz_core.report.configuration_columns import CONFIGURATIONS, configurations
from koderz_core.report.pair_columns import PAIRS, pairs


def comparison_numbers(comparison: Comparison) -> Numbers:
    """All of it. Beside a number that is none (null) stands why: ``..._is`` ``unbounded`` or ``undefined``.

    Beside break-evens, always, ``reached``, ``never``, ``no_target`` or ``unknown``. Intervals of pairs hold for
    ``pairs_at_once``.
    """
    return json_row(
        {
            "findings": comparison.findings,
            "remarks": comparison.remarks,
            "scripted": comparison.scripted,
            "score_kinds_mixed": comparison.mixed,
            "score_kinds_mixed_problems": comparison.mixed_problems,
            "baseline": _name(comparison.baseline),
            "configurations": configuration_rows(comparison),
            "tiers": list(_tiers(comparison)),
            "pairs": [
                {**row, "finding": pair.finding, "partings": [asdict(parting) for parting in pair.partings]}
                for row, pair in zip(pair_rows(comparison), comparison.pairs, strict=True)
            ],
            "groups": [[_name(key) for key in group] for group in comparison.groups],
            "margins": [
                {**asdict(margin), "cheaper": _name(margin.cheaper), "dearer": _name(margin.dearer)}
                for margin in comparison.margins
            ],
            "reviews": list(_reviews(comparison)),
            "curves": {axis: list(_curves(comparison, axis)) for axis in comparison.curves},
            "differing": [asdict(setting) for setting in comparison.differences.differing],
            "common": dict(comparison.differences.common),
        }
    )


def configuration_rows(comparison: Comparison) -> list[Numbers]:
    """One flat row per configuration."""
    return json_rows(CONFIGURATIONS, configurations(comparison))


def pair_rows(comparison: Comparison) -> list[Numbers]:
    """One flat row per configuration but the baseline."""
    return json_rows(PAIRS, pairs(comparison))


def tier_rows(comparison: Comparison) -> list[Numbers]:
    """One flat row per configuration and tier that was paid."""
    return [json_row(row) for row in _tiers(comparison)]


def review_rows(told: Supervision) -> Iterator[Numbers]:
    """One flat row per checkpoint of a configuration."""
    for review in told.reviews:
        counts: Numbers = {
            "checkpoint": review.checkpoint,
            "trials": review.trials,
            "before": review.before,
            "after": review.after,
        }
        yield counts | spread("change", review.change)


def curve_rows(comparison: Comparison, axis: Axis) -> list[Numbers]:
    """One flat row per configuration and step of its curve."""
    return [json_row(row) for row in _curves(comparison, axis)]


def _tiers(comparison: Comparison) -> Iterator[Numbers]:
    for row in comparison.configurations:
        for tier in row.tiers:
            each = comparison.measured[row.key].parts.get(tier.tier) if tier.tier else None
            named: Numbers = {"letter": row.letter, "configuration": _name(row.key), "label": row.label}
            yield named | asdict(tier) | {"usd_per_solved": each}


def _reviews(comparison: Comparison) -> Iterator[Numbers]:
    for row in comparison.configurations:
        helped = comparison.measured[row.key].supervision
        for review_row in review_rows(helped) if helped else ():
            yield {"letter": row.letter, "configuration": _name(row.key)} | review_row


def _curves(comparison: Comparison, axis: Axis) -> Iterator[Numbers]:
    for curve in comparison.curves[axis].curves:
        row = comparison.of(curve.key)
        for at, share, low, high in zip(curve.at, curve.share, curve.low, curve.high, strict=True):
            named: Numbers = {"letter": row.letter, "configuration": _name(row.key), "label": row.label}
            yield named | {axis: at, "share": share, "low": low, "high": high}


def spread(name: str, value: Rate | ClusteredRate | Interval | None) -> Numbers:
    """A number with its bounds as three columns."""
    held = (value.value, value.low, value.high) if value else (None, None, None)
    return dict(zip((name, f"{name}_low", f"{name}_high"), held, strict=True))


def _name(key: Key | None) -> str | None:
    return None if key is None else "/".join(key)
