"""A report as one HTML file with its charts, which opens without koderz and without a network."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from pathlib import Path

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types
from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]  # as above

from koderz_core.analysis.comparison import AXES, Comparison
from koderz_core.analysis.pairs import leading_pair
from koderz_core.report import captions, formats
from koderz_core.report.benchmark_report import TITLE, TO_CITE, Report, bibtex
from koderz_core.report.charts import file_subject
from koderz_core.report.charts_costs import cost_by_role, costs_alt, has_role_costs
from koderz_core.report.charts_curves import TITLES, curves_alt, success_by
from koderz_core.report.charts_frontier import View, chart_title, cost_against_success, frontier_alt, has_costs
from koderz_core.report.charts_success import ranked, success_alone, success_alt
from koderz_core.report.formats import TextTable, plain
from koderz_core.times import day

LOOKS: Mapping[str, Mapping[str, object]] = {
    "light": {
        "text": "#0E161E",
        "quiet": "#56606B",
        "ground": "#FCFCFA",
        "line": "#D5DCDE",
        "colours": ("#0A5C94", "#E23D00", "#0E8F62", "#B868AC", "#2E2200", "#1492FE", "#6A5048", "#3B2A78"),
    },
    "dark": {
        "text": "#E4EAF0",
        "quiet": "#A3AFBB",
        "ground": "#10161D",
        "line": "#33404D",
        "colours": ("#84C5FC", "#F39A40", "#168955", "#C084BC", "#F0EC6A", "#7C8CFF", "#C9CCC4", "#8A57ED"),
    },
}
"""The dashboard's colours, by their places in a figure."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure with its name (unique in a report), title, alternative text and caption."""

    name: str
    title: str
    alt: str
    caption: str
    figure: go.Figure


def html(report: Report) -> str:
    """The whole report. Hostile texts are escaped; only the scripts named in its policy run."""
    charts = tuple(charts_of(report.comparison, _about(report)))
    data = _data(charts, file_subject(report.comparison))
    scripts = (get_plotlyjs(), _beside("report.js"))
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{TITLE}</title>\n<style>\n{_beside('report.css')}</style>\n</head>\n<body>\n<main>",
            *_lead(report),
            *map(_drawn, charts),
            "<noscript><p>Charts need JavaScript. The tables below contain the same numbers.</p></noscript>",
            *map(_tabled, report.tables),
            *_foot(report),
            f'</main>\n<script type="application/json" id="charts">{data}</script>',
            *(f"<script>{script}</script>" for script in scripts),
            "</body>\n</html>\n",
        )
    )


def charts_of(comparison: Comparison, about: str = "") -> Iterator[Chart]:
    """The charts of the Summary page that have data. ``about``: dataset, problems and date, hostile text."""
    pair = leading_pair(comparison.pairs)
    looked_at = (pair.baseline, pair.key) if pair else ()
    view = View(about, chosen=looked_at)
    if has_costs(comparison):
        caption, figure = captions.frontier(comparison.tradeoff), cost_against_success(comparison, view)
        yield Chart("frontier", "Success against cost", frontier_alt(comparison), caption, figure)
    elif ranked(comparison):
        figure = success_alone(comparison, view)
        yield Chart("success", "Success", success_alt(comparison), captions.success_alone(comparison), figure)
    drawn = [axis for axis in AXES if comparison.curves[axis].curves]
    for axis in drawn:
        common = (captions.CURVES,) if axis == drawn[0] else ()
        title, caption = f"Success against {TITLES[axis]}", " ".join((*common, *captions.about_axis(comparison, axis)))
        figure = success_by(comparison, axis, view)
        yield Chart(f"by-{axis}", title, curves_alt(comparison, axis), caption, figure)
    if has_role_costs(comparison):
        figure = cost_by_role(comparison, about)
        yield Chart("costs", "Cost per solved problem", costs_alt(comparison), formats.COSTS, figure)


def _about(report: Report) -> str:
    sources = report.sources
    days = [day(source.opened_at) for source in sources]
    return chart_title([source.origin.name for source in sources], report.comparison.tradeoff.problems, days)


def _lead(report: Report) -> Iterator[str]:
    yield f"<h1>{TITLE}</h1>"
    yield f'<p class="quiet">{_text(report.made)}</p>'
    yield from (
        f'<p class="warning"><span aria-hidden="true">⚠</span> {_text(warning)}</p>' for warning in report.warnings
    )
    yield from (f"<p>{_text(sentence)}</p>" for sentence in report.sentences)


def _drawn(chart: Chart) -> str:
    return (
        f'<figure><h2>{_text(chart.title)}</h2><div class="chart" id="{chart.name}" role="img" '
        f'aria-label="{_text(chart.alt)}"></div><figcaption class="quiet">{_text(chart.caption)}</figcaption></figure>'
    )


def _tabled(table: TextTable) -> str:
    head = "".join(f'<th scope="col">{_text(name)}</th>' for name in table.columns)
    rows = "\n".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in table.rows)
    title = _text(table.title)
    return (
        f'<section><h2>{title}</h2><div class="wide" tabindex="0" role="region" aria-label="{title}"><table>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div></section>"
    )


def _foot(report: Report) -> Iterator[str]:
    """How to read the tables, what a reader must know, the sources, and how to cite them."""
    reading = (formats.GROUPS, formats.PAIRS) if report.comparison.pairs else (formats.GROUPS,)
    for title, notes in (
        ("Remarks", (*report.remarks, *reading)),
        ("Sources", (*report.origins(), report.made)),
    ):
        yield f"<section><h2>{title}</h2><ul>{''.join(f'<li>{_text(note)}</li>' for note in notes)}</ul></section>"
    yield f"<section><h2>{TO_CITE}</h2><pre>{_text(bibtex(report.sources, report.version))}</pre></section>"


def _text(text: str) -> str:
    return escape(plain(text))


def _data(charts: Sequence[Chart], subject: str) -> str:
    """JSON that cannot end its script element. ``subject``: for the names of files."""
    figures = {chart.name: json.loads(chart.figure.update_layout(template=None).to_json()) for chart in charts}
    return json.dumps({"looks": LOOKS, "figures": figures, "subject": subject}).replace("<", "\\u003c")


def _policy(scripts: Sequence[str]) -> str:
    """Only these scripts run, and nothing is fetched; Plotly needs inline styles."""
    known = " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {known}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
        "form-action 'none'"
    )


def _beside(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
