"""The example: opened by one click from every page that has nothing to show."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core import the_workspace
from koderz_core.examples import EXAMPLE

Visit = Callable[..., AppTest]


@pytest.mark.parametrize("page", ["overview", "compare", "problems", "experiment", "export", "memory", "live"])
def test_every_empty_page_offers_the_example(visit: Visit, page: str) -> None:
    assert "Open the example" in [button.label for button in visit(page).button]


def test_one_click_opens_the_example_which_says_what_it_is_and_how_it_is_removed(visit: Visit) -> None:
    app = visit("export").button(key="example").click().run()
    assert not app.exception
    assert not app.error
    assert app.title[0].value == "Summary"
    app = visit("overview")
    assert [row.name.partition(":")[0] for row in the_workspace().results.benchmarks()] == ["example"]
    assert list(app.dataframe[0].value["solved [95 %]"]) == ["61 % [39, 80]", "61 % [39, 80]†", "67 % [44, 84]"]
    assert f"koderz delete {EXAMPLE}" in said(app)
