"""Every table and figure of the study, from the journals in the folder ``journals``.

Run: ``python docs/study/rebuild.py`` after ``pip install -e '.[study]'``. It verifies the journals, then writes
``results.md`` and the figures. The same journals give the same files, byte for byte. With ``--check``, it writes
nothing and exits with 1 if anything would change.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import tempfile
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

try:
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator
except ModuleNotFoundError:
    sys.exit("The figures are drawn by matplotlib, which is not installed. Run: pip install -e '.[study]'")

import question

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.incidence import Axis
from koderz_core.config import load_settings
from koderz_core.report.attempts import attempts_section
from koderz_core.report.benchmark_report import escaped, markdown_tables
from koderz_core.report.benchmark_report_html import LOOKS
from koderz_core.report.charts_curves import TITLES, corners, extent, heights, least_shown, treads
from koderz_core.workspace import Workspace, open_workspace

HERE = Path(__file__).parent
COLOURS: Sequence[str] = LOOKS["light"]["colours"]  # type: ignore[assignment]  # a tuple of colours
FIXED = {"svg.hashsalt": "koderz", "svg.fonttype": "none"}  # otherwise these differ from run to run
TOGETHER = "strategies"
TITLED = {TOGETHER: f": {' and '.join(question.STRATEGIES)} on their common problems"}
MOST_BANDS = 4  # in one picture; the intervals of all are in the tables
AXES: tuple[Axis, ...] = ("attempts", "usd")
MADE = "Made by `python docs/study/rebuild.py`; do not edit."


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if anything would change")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        journals = Path(folder) / "journals"
        journals.mkdir()
        for packed in sorted((HERE / "journals").glob("*.jsonl.gz")):
            (journals / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
        with open_workspace(home=Path(folder), datasets_dir=load_settings().published_dir) as opened:
            if missing := opened.datasets.missing(row.dataset for row in opened.results.benchmarks()):
                sys.exit(f"Commands in results.md name problems of a dataset. First run: {', '.join(missing)}")
            changed = [one for one in _results(opened) if _differs(*one)]
    for path, text in changed:
        print(f"{path.name} {'would change' if check else 'written'}")
        if not check:
            path.write_text(text, encoding="utf-8")
    return int(check and bool(changed))


def _differs(path: Path, text: str) -> bool:
    return not path.exists() or path.read_text(encoding="utf-8") != text


def _results(opened: Workspace) -> Iterator[tuple[Path, str]]:
    """Each file of results, and its content."""
    pages = [f"<!-- {MADE} -->", "# Results", f"## Primary comparisons in {question.BENCHMARK}"]
    asked = question.compared(opened)
    pages += [*markdown_tables(list(question.tables(opened, asked))), escaped(question.ABOUT_PRICES)]
    pages += [_picture(axis, "question") for axis in AXES]
    yield from ((_path(axis, "question"), _curves(asked, axis)) for axis in AXES)
    benchmarks = sorted(opened.results.benchmarks(), key=lambda one: one.name)
    for one in benchmarks:
        if not opened.bundles.verify(one.id).holds:
            sys.exit(
                f"The journal of {one.id} does not verify, so nothing was written. For details, unpack it into the "
                f"folder journals of a data folder and run there: koderz verify {one.id}"
            )
    for name, of in {TOGETHER: question.STRATEGIES, **{one.name: (one.id,) for one in benchmarks}}.items():
        report = opened.exports.report(of, same_problems=name == TOGETHER)
        pages += [f"## {name}{TITLED.get(name, '')}", *map(escaped, report.comparison.findings)]
        pages += [_picture(axis, name) for axis in AXES]
        yield from ((_path(axis, name), _curves(report.comparison, axis)) for axis in AXES)
        pages += markdown_tables(report.tables)
        rows = opened.comparisons.named(of, same_problems=name == TOGETHER)
        if name == TOGETHER:
            spent = question.spent_table(opened, rows, report.comparison)
            pages += markdown_tables([spent, question.choice_table(opened)])
        attempts = attempts_section(report.comparison.configurations, opened.comparisons.attempts(rows))
        pages += markdown_tables(attempts.tables)
        remarks = (*report.remarks, *attempts.remarks, *report.origins())
        pages.append("\n".join(f"- {escaped(one)}" for one in remarks))
    yield HERE / "results.md", "\n\n".join(pages) + "\n"


def _path(axis: Axis, name: str) -> Path:
    return HERE / f"{name}-{axis}.svg"


def _picture(axis: Axis, name: str) -> str:
    return f"![Share of problems solved against {TITLES[axis]}]({_path(axis, name).name})"


def _curves(comparison: Comparison, axis: Axis) -> str:
    """The share solved against the amount used, as an SVG; few configurations are drawn with their bands.

    A dotted line continues the level of a configuration that has no further attempts.
    """
    with mpl.rc_context(FIXED):
        rows = {row.key: (place, row) for place, row in enumerate(comparison.configurations)}
        figure = Figure(figsize=(8, 4 + 0.2 * len(rows)), layout="constrained")
        axes = figure.subplots()
        found = comparison.curves[axis]
        floor = least_shown(found)
        left, right = extent(found, floor)
        for curve in found.curves:
            place, row = rows[curve.key]
            colour = COLOURS[place % len(COLOURS)]
            levels = treads(curve, axis, floor)
            low, share, high = (heights(levels, values) for values in (curve.low, curve.share, curve.high))
            if len(rows) <= MOST_BANDS:
                axes.fill_between(corners(levels), low, high, color=colour, alpha=0.12, linewidth=0)
            dashes = "--" if place >= len(COLOURS) else "-"
            axes.plot(corners(levels), share, dashes, color=colour, label=f"{row.letter}  {row.label}")
            if curve.end < found.end:  # no further attempts
                axes.plot([levels[-1].right, right], share[-1:] * 2, ":", color=colour, linewidth=0.9)
                axes.plot(levels[-1].right, share[-1], ".", color=colour)
        axes.set(xlabel=TITLES[axis], ylabel="solved (%)", ylim=(0, 100), xlim=(left, right))
        if floor:
            axes.set_xscale("log")
        elif axis == "attempts":
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        figure.legend(frameon=False, fontsize="small", loc="outside lower left")
        axes.spines[["top", "right"]].set_visible(False)
        drawn = StringIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()


if __name__ == "__main__":
    raise SystemExit(main())
