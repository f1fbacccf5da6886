"""A report in one HTML file: what stands in it from outside is characters, never markup."""

from __future__ import annotations

from koderz_core import Order, Wanted, open_workspace
from koderz_core.report.export_request import ExportOrder

HOSTILE = "<img src=x onerror=alert(1)></li><script>alert(1)</script>"


def test_a_name_is_text_in_a_report_and_never_markup() -> None:
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/strong"})], "0:1", name=HOSTILE))
        workspace.runs.run(plan)
        with workspace.exports.file(ExportOrder("comparison", "html", (plan.id,))) as made:
            report = made.read().decode()
    assert "&lt;img src=x onerror=alert(1)&gt;" in report
    assert "<img src=x" not in report
    assert "<script>alert(1)" not in report
