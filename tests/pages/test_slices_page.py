"""Statistics by slice: the table opens by its address, and says how many differences were tested."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import pytest
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.errors import DataError
from koderz_core.workspace.datasets import Datasets

Visit = Callable[..., AppTest]


def test_results_are_divided_by_the_kind_that_the_address_names(visit: Visit) -> None:
    wanted = [Wanted("direct", {"coder": f"scripted/{name}"}) for name in ("strong", "never")]
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order(wanted, "0:3"))
        workspace.runs.run(plan)
    closed = visit("statistics", benchmarks=plan.id)
    assert all("slice" not in table.value for table in closed.dataframe)
    app = visit("statistics", benchmarks=plan.id, by="kind")
    assert not app.exception
    table = next(table.value for table in app.dataframe if "slice" in table.value)
    assert [*zip(table["slice"], table["key"], table["n"], strict=True)] == [
        ("function", "A", "–"),
        ("function", "B", "3"),
    ]
    assert any(text.value.startswith("These slices have too few problems") for text in app.text)


def test_slices_are_shown_as_soon_as_the_dataset_has_been_downloaded(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/strong"})], "0:3"))
        workspace.runs.run(plan)

    def absent(*_given: object) -> NoReturn:
        raise DataError("The file is absent.")

    with monkeypatch.context() as before:
        before.setattr(Datasets, "load", absent)
        before.setattr(Datasets, "how_to_get", lambda *_given: "koderz download-data humaneval")
        app = visit("statistics", benchmarks=plan.id, by="kind")
        assert "kind and year of its problems are unknown" in said(app)
    app.run()
    assert "kind and year of its problems are unknown" not in said(app)
    assert "function" in list(next(table.value for table in app.dataframe if "slice" in table.value)["slice"])
