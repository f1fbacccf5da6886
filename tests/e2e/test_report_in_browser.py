"""A report opened from a disk, without koderz and without a network: its charts, its colours, a stranger's words."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from sample import only_whole

import koderz_core
from koderz_core import Order, Wanted, open_workspace
from koderz_core.report.benchmark_report_html import LOOKS
from koderz_core.report.export_request import ExportOrder

THEME = Path(koderz_core.__file__).parents[1] / ".streamlit" / "config.toml"
HOSTILE = "</script><img src=x onerror=document.title='obeyed'><b>bold</b>"


@pytest.fixture
def report(tmp_path: Path) -> Path:
    models = ({"coder": "scripted/strong"}, {"coder": "scripted/never"})
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order([Wanted("direct", roles) for roles in models], "0:3", name=HOSTILE))
        workspace.runs.run(plan)
        with workspace.exports.file(ExportOrder("comparison", "html", (plan.id,))) as made:
            path = tmp_path / "report.html"
            path.write_bytes(made.read())
    return path


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=only_whole("long tests"))])
def test_a_report_needs_nothing_but_a_browser(chromium: Browser, report: Path, scheme: str) -> None:
    complaints: list[str] = []
    with chromium.new_context(offline=True, color_scheme=scheme, viewport={"width": 390, "height": 800}) as context:
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.append(request.url))
        page.goto(report.as_uri())
        page.locator("#by-attempts .main-svg").first.wait_for()
        assert complaints == [report.as_uri()]
        assert page.title() == "koderz: comparison of configurations"
        assert page.get_by_role("listitem").get_by_text(HOSTILE).is_visible()
        assert page.get_by_role("heading", name="Citation").is_visible()
        assert page.get_by_text("SCRIPTED").first.is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        strokes = page.locator("#by-attempts .scatterlayer path.js-line").evaluate_all(
            "lines => lines.map(line => getComputedStyle(line).stroke)"
        )
        first = str(LOOKS[scheme]["colours"][0]).lstrip("#")  # type: ignore[index]  # a tuple
        assert f"rgb({', '.join(str(int(first[at : at + 2], 16)) for at in (0, 2, 4))})" in strokes


def test_a_reports_colours_are_the_dashboards() -> None:
    theme = tomllib.loads(THEME.read_text(encoding="utf-8"))["theme"]
    for scheme, look in LOOKS.items():
        assert list(look["colours"]) == theme[scheme]["chartCategoricalColors"]  # type: ignore[call-overload]
        assert (look["text"], look["line"]) == (theme[scheme]["textColor"], theme[scheme]["borderColor"])
