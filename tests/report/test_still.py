"""The still picture shows what Plotly's picture shows, and no text in it is markup."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from test_frontier_chart import STUDY, drawn

from koderz_core.analysis.comparison import Comparison
from koderz_core.report.charts_frontier import View, axis_of, cost_against_success
from koderz_core.report.charts_frontier_labels import located
from koderz_core.report.still import still

SVG = "{http://www.w3.org/2000/svg}"
WIDE = View()
VIEWS = (View("humaneval · 60 problems"), View("humaneval", narrow=True), View(by_tier=True), View(budget=0.00005))
MARKUP = '<script>alert(1)</script> & "quoted" ]]> \x07 </svg>'


def picture(comparison: Comparison, view: View = WIDE, look: str = "light") -> ElementTree.Element:
    return ElementTree.fromstring(still(cost_against_success(comparison, view), look))


def texts(root: ElementTree.Element) -> set[str]:
    return {"".join(text.itertext()) for text in root.iter(f"{SVG}text")}


@pytest.mark.parametrize("view", VIEWS)
def test_the_still_picture_has_all_texts_of_the_chart(view: View) -> None:
    figure, shown = cost_against_success(drawn(STUDY), view), texts(picture(drawn(STUDY), view))
    plain = (note.text.replace("<b>", "").replace("</b>", "") for note in figure.layout.annotations)
    plain = (line.replace("<i>", "").replace("</i>", "") for text in plain for line in text.split("<br>"))
    assert shown >= {line for line in plain if line}
    assert shown >= {*figure.layout.xaxis.ticktext, figure.layout.xaxis.title.text, figure.layout.yaxis.title.text}
    assert shown >= {trace.name for trace in figure.data if trace.name}


def test_the_marks_are_at_their_costs() -> None:
    comparison = drawn(STUDY)
    axis = axis_of(located(comparison))
    places = {part.get("x") for part in picture(comparison).iter(f"{SVG}svg")}
    assert places >= {f"{100 * axis.share(usd):.3f}%" for usd, _, _ in located(comparison)}


def test_a_name_with_markup_stays_text() -> None:
    root = picture(drawn({f"direct {MARKUP}": (0.5, 0.01), "retry": (0.7, 0.02)}), View(about=MARKUP))
    assert {part.tag.removeprefix(SVG) for part in root.iter()} <= {"svg", "g", "path", "line", "text", "tspan"}
    assert any("<script>alert(1)</script>" in text for text in texts(root))


@pytest.mark.parametrize("look", ["light", "dark"])
def test_every_placeholder_of_a_color_is_replaced(look: str) -> None:
    assert "#0000" not in still(cost_against_success(drawn(STUDY), View(by_tier=True)), look)
