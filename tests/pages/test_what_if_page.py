"""What if: the headroom comes before policies, figures are marked as simulated, and the address holds the choices."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace

Visit = Callable[..., AppTest]


def ran(problems: str) -> str:
    wanted = [
        Wanted("retry", {"coder": "scripted/weak"}, {"max_iterations": 3}),
        Wanted("direct", {"coder": "scripted/strong"}),
    ]
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order(wanted, problems))
        workspace.runs.run(plan)
    return plan.id


def test_the_headroom_comes_first_and_policies_are_marked_as_simulated(visit: Visit) -> None:
    benchmark = ran("0:12")
    app = visit("what_if", benchmarks=benchmark, tries="2")
    assert not app.exception
    assert [header.value for header in app.header] == ["Headroom of a choice per problem", "Simulated policies"]
    assert any("a perfect choice per problem would gain" in text.value for text in app.markdown)
    table = next(table.value for table in app.dataframe if "figures are" in table.value and "policy" in table.value)
    assert list(table["figures are"]) == ["as recorded", "simulated", "simulated"]
    assert table["policy"][2].startswith("retry weak@0.8 k=2")
    assert any(text.value.startswith("Simulated: computed from recorded attempts") for text in app.text)


def test_too_few_problems_are_refused_and_policies_are_still_simulated(visit: Visit) -> None:
    app = visit("what_if", benchmarks=ran("0:3"))
    assert not app.exception
    assert any("At least 10 problems" in info.value for info in app.info)
    assert any("figures are" in table.value for table in app.dataframe)
