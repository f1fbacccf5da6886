"""The captions of the charts of success: what they cover, and why they can differ from the table of rates."""

from __future__ import annotations

from collections.abc import Mapping

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.incidence import Axis
from koderz_core.analysis.pairs import Key
from koderz_core.analysis.tradeoff import Tradeoff
from koderz_core.report.formats import numbered, percent

CURVES = (
    "Share of problems solved within a given amount, such as 2 attempts or $0.01. A problem is solved if the "
    "submitted program passes all tests that score this program. A line is solid up to the largest amount "
    "that the configuration used on any problem. From there, it continues as a dotted line at the "
    "same level, because there were no further attempts (‡ in the table). An experiment ends when a program passes "
    "the gate tests. If this program is wrong, the experiment counts as unsolved, so a line can stay below 100 % "
    "however many attempts are allowed."
)
ENERGY = (
    "Energy is computed as the power of this machine (KODERZ_LOCAL_WATTS) × the seconds of each call to a local "
    "model, plus the energy of NVIDIA GPUs if koderz could measure it. With KODERZ_MEASURE_CPU, koderz uses the "
    "measured energy of the processors instead of power × seconds."
)
WITHOUT_CURVE: Mapping[Axis, str] = {
    "usd": "dollars (unknown prices)",
    "seconds": "seconds (unknown durations)",
    "tokens": "tokens (not reported)",
    "joules": "joules (known only for local models)",
}
"""Why no configuration has a curve along an axis."""
PARTIAL = (
    "The curves cover only problems that were given to all configurations. The rates in the table cover all problems "
    "of each configuration, so the end of a curve may differ from the rate in the table."
)
CENSORED = (
    "A curve includes an experiment without a result only up to the point on the horizontal axis at which the "
    "experiment stopped. The rate in the table excludes this experiment. The rate in the table is therefore too high "
    "if mostly long experiments are interrupted."
)
SUCCESS_ALONE = (
    "Share of problems solved by each configuration, with 95 % intervals. Costs are not shown, because no "
    "configuration has a known cost above $0."
)
THIN_BARS = (
    " Thin bars: the success rate if all experiments without a result counted as unsolved (lower end) or as solved "
    "(upper end)"
)


def about_curves(comparison: Comparison, axis: Axis) -> str:
    """How to read the curves of an axis, and why some end at another level than the rates in the table."""
    return " ".join((CURVES, *about_axis(comparison, axis)))


def about_axis(comparison: Comparison, axis: Axis) -> tuple[str, ...]:
    """``about_curves`` without what is the same for all axes."""
    return (*([ENERGY] if axis == "joules" else []), *curves_beside_rates(comparison, axis))


def missing_curves(comparison: Comparison) -> str:
    """The axes without a curve, with the reason; empty if every axis has one."""
    missing = [reason for axis, reason in WITHOUT_CURVE.items() if not comparison.curves[axis].curves]
    return f"Quantities without a curve for these configurations: {', '.join(missing)}." if missing else ""


def curves_beside_rates(comparison: Comparison, axis: Axis) -> tuple[str, ...]:
    """Why curves end at another level than the configurations' rates in the table; empty if none does."""
    drawn = [(comparison.of(curve.key), curve) for curve in comparison.curves[axis].curves]
    partial = [curve for row, curve in drawn if row.n > curve.trials - curve.censored]
    apart = [
        row.letter for row, curve in drawn if curve not in partial and percent(curve.share[-1]) != percent(row.share)
    ]
    return (
        *([PARTIAL] if partial else []),
        *([f"{CENSORED} Curves whose end differs from the rate in the table: {', '.join(apart)}."] if apart else []),
    )


def frontier(tradeoff: Tradeoff[Key]) -> str:
    """The caption of the chart of cost against success."""
    caption = (
        f"The chart covers the {numbered(tradeoff.problems, 'problem')} for which every configuration has a result. "
        "Bars: 95 % intervals. The dotted line is the Pareto frontier: no configuration is both cheaper and better "
        "than a configuration on this line. The area of the halo around a mark is proportional to P(frontier), the "
        "share of bootstrap resamples in which the configuration is on the frontier. The thin cross marks the "
        "baseline; configurations in the tinted area are cheaper and better than the baseline. The table contains the "
        "names of all configurations."
    )
    if any(point.cases for point in tradeoff.points):
        caption += f"{THIN_BARS}, on the problems given to all configurations."
    return caption


def success_alone(comparison: Comparison) -> str:
    """The caption of the chart of success without costs."""
    missing = any(row.missing for row in comparison.configurations)
    return f"{SUCCESS_ALONE}{THIN_BARS}." if missing else SUCCESS_ALONE
