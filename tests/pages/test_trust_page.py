"""The section Trust on the page Statistics, and variants on the page New run."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace
from pages.ui.slow_results import WORKERS

Visit = Callable[..., AppTest]


def test_an_address_opens_the_checks_with_what_was_not_checked(visit: Visit) -> None:
    wanted = [Wanted("direct", {"coder": f"scripted/{name}"}) for name in ("strong", "never")]
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order(wanted, "0:8"))
        workspace.runs.run(plan)
        workspace.runs.run(workspace.plans.plan(Order(wanted, "0:8"), "humaneval, variant renamed"))
    closed = visit("statistics", benchmarks=plan.id)
    assert all("drop if renamed" not in table.value for table in closed.dataframe)
    app = visit("statistics", benchmarks=plan.id, trust="open")
    WORKERS.submit(int).result()  # the checks run in the same thread before
    app.run()
    assert not app.exception
    table = next(table.value for table in app.dataframe if "drop if renamed" in table.value)
    assert list(zip(table["key"], table["hint"], table["impossible passed [95 %]"], strict=True)) == [
        ("A", "no", "–"),
        ("B", "no", "–"),
    ]
    said = [text.value for text in app.text]
    assert any("Programs scanned for signs of gaming: 32" in text for text in said)
    assert any(text.startswith("To run the variant impossible: koderz benchmark --problems") for text in said)


def test_new_run_offers_the_variants_of_a_dataset(visit: Visit) -> None:
    app = visit("launch")
    variant = next(box for box in app.selectbox if box.label == "Variant")
    variant.select("impossible").run()
    assert not app.exception
    assert any("--variant impossible" in code.value for code in app.code)
    assert any("humaneval, variant impossible" in text.value for text in app.text)
