"""The two figures of the second study, as SVG, in the colours of the dashboard."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

import matplotlib as mpl
import numpy as np
import pandas as pd
from analysis import LARGE, MARGIN, SMALL, t_interval, tries
from described import DRAWN, MOST, bank, by_problem
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from koderz_core.report.benchmark_report_html import LOOKS

LOOK = LOOKS["light"]
COLOURS: Sequence[str] = LOOK["colours"]  # type: ignore[assignment]  # a tuple of colours
TEXT, QUIET, GROUND, LINE = (str(LOOK[name]) for name in ("text", "quiet", "ground", "line"))
FIXED = {  # everything else is the same in every run
    "svg.hashsalt": "koderz",
    "svg.fonttype": "none",
    "text.color": TEXT,
    "axes.labelcolor": TEXT,
    "axes.edgecolor": LINE,
    "xtick.color": QUIET,
    "ytick.color": TEXT,
    "font.size": 9,
}
NAMES = {SMALL: "0.5B", LARGE: "1.5B"}
LINES = {
    "0.5B, 1 attempt": (COLOURS[0], "--"),
    "0.5B, 5 attempts": (COLOURS[0], "-"),
    "1.5B, 1 attempt": (COLOURS[1], "--"),
}
"""The lines of the ladder: colours and dashes by the configuration of ``tiers.places``."""


def answer(frame: pd.DataFrame, results: pd.DataFrame) -> str:
    """Success against tokens, and next to it the registered comparisons with the margin."""
    with mpl.rc_context(FIXED):
        figure = Figure(figsize=(9.5, 3.6), layout="constrained", facecolor=GROUND)
        left, right = figure.subplots(1, 2, width_ratios=(5, 4))
        _curve(left, bank(frame))
        _forest(right, results)
        return _svg(figure)


def _curve(axes: Axes, drawn: pd.DataFrame) -> None:
    """The share solved by the small model with up to five tries, and by the large model with up to two."""
    for (model, most), colour in zip(DRAWN.items(), COLOURS, strict=False):
        curves = [tries(group, most) for group in by_problem(drawn, model)]
        tokens = [np.mean([curve["tokens"][k] for curve in curves]) for k in range(1, most + 1)]
        shares = [
            t_interval(100 * np.array([curve["solved"][k] for curve in curves], float)) for k in range(1, most + 1)
        ]
        means, low, high = (np.array([share[place] for share in shares]) for place in range(3))
        if most > 1:
            axes.fill_between(tokens, low, high, color=colour, alpha=0.12, linewidth=0)
        axes.errorbar(tokens, means, [means - low, high - means], fmt="o-", color=colour, capsize=3, linewidth=1.5)
        for k, (x, y) in enumerate(zip(tokens, means, strict=True), 1):
            text = f"{NAMES[model]}, {k} {'attempt' if k == 1 else 'attempts'}" if k in (1, most) else str(k)
            if k == MOST:  # beside its point, the text would leave the picture
                axes.annotate(text, (x, high[-1]), (8, 6), textcoords="offset points", color=colour, ha="right")
            else:
                axes.annotate(text, (x, y), (7, 4 if k == most else -5), textcoords="offset points", color=colour)
    axes.set(xlabel="tokens per problem, sent and received", ylabel="problems solved (%)", facecolor=GROUND)
    axes.margins(x=0.2, y=0.1)
    axes.set_title("Problems solved, with 95 % intervals", loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


def _forest(axes: Axes, results: pd.DataFrame) -> None:
    """Each registered difference with its interval. The region below the margin of the first one is shaded."""
    points = 100 * results[["difference", "low", "high"]]
    places = np.arange(len(points))[::-1]
    least, most = points["low"].min(), points["high"].max()
    start = min(least, -100 * MARGIN) - 5
    axes.axvspan(start, -100 * MARGIN, color=COLOURS[1], alpha=0.08, linewidth=0)
    axes.axvline(0, color=QUIET, linewidth=0.8)
    for place, (name, row) in zip(places, points.iterrows(), strict=True):
        colour = COLOURS[0] if str(name).startswith("primary") else QUIET
        reach = [[row["difference"] - row["low"]], [row["high"] - row["difference"]]]
        axes.errorbar([row["difference"]], [place], xerr=reach, fmt="o", color=colour, capsize=3)
    axes.text(-100 * MARGIN - 0.5, places[0] - 0.5, "below\nthe margin", color=COLOURS[1], ha="right", va="center")
    names = [str(name).removeprefix("primary: ").replace("tries", "attempts") for name in points.index]
    counts = results["problems"]
    parts = ["" if count == counts.max() else f"\n({count} problems)" for count in counts]
    axes.set_yticks(places, [name.replace(" - ", " minus ") + part for name, part in zip(names, parts, strict=True)])
    axes.get_yticklabels()[0].set_fontweight("bold")
    axes.set(xlabel="difference (percentage points)", facecolor=GROUND)
    axes.set_xlim(start, max(most, 0) + 3)
    axes.set_title("Registered comparisons", loc="left", fontsize=10)
    axes.spines[["top", "right", "left"]].set_visible(False)


def ladder(tiers: pd.DataFrame, places: pd.DataFrame) -> str:
    """Every published model at its share, and the models of this study between them, one column per dataset."""
    with mpl.rc_context(FIXED):
        names = sorted(tiers["dataset"].unique())
        figure = Figure(figsize=(9.5, 6.5), layout="constrained", facecolor=GROUND)
        for axes, dataset in zip(np.ravel(figure.subplots(1, len(names))), names, strict=True):
            _rungs(axes, tiers[tiers["dataset"] == dataset], places[places["dataset"] == dataset])
            axes.set_title(f"{dataset}: one answer of published models", loc="left", fontsize=10)
        return _svg(figure)


def _rungs(axes: Axes, theirs: pd.DataFrame, ours: pd.DataFrame) -> None:
    ordered = theirs.sort_values("solved (%)")
    heights = np.arange(len(ordered))
    axes.plot(ordered["solved (%)"], heights, "o", color=QUIET, markersize=3)
    axes.set_yticks(heights, [name.rpartition("--")[2] for name in ordered["model"]], fontsize=5)
    shares = ours.set_index("configuration")["solved (%)"]
    for name, (colour, dashes) in LINES.items():
        axes.axvline(shares[name], color=colour, linestyle=dashes, linewidth=1.2, label=name)
    axes.set(xlabel="problems solved (%)", ylim=(-1, len(ordered)), facecolor=GROUND)
    axes.legend(frameon=False, loc="upper left", fontsize=8)
    axes.grid(axis="y", color=LINE, linewidth=0.4)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _svg(figure: Figure) -> str:
    drawn = StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()
