"""New run registers a benchmark, and Statistics shows what was planned and what was done."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.records import Plan
from koderz_core.workspace.drafts import RegistrationOrder

Visit = Callable[..., AppTest]


def registering(visit: Visit) -> AppTest:
    app = visit("launch")
    app.toggle(key="register 1").set_value(True).run()
    assert not app.exception
    return app


def test_the_switch_shows_the_hash_and_the_command(visit: Visit) -> None:
    app = registering(visit)
    assert app.code[-1].value.endswith("--register")
    (before,) = re.findall(r"Publish this SHA-256 of the registration before the first call: ([0-9a-f]{64})", said(app))
    app.number_input(key="registered margin 1").set_value(5.0).run()
    assert app.code[-1].value.endswith("--margin 5 --register")
    assert before not in said(app)


def test_a_primary_comparison_that_is_not_in_the_plan_is_refused_with_the_choices(visit: Visit) -> None:
    app = registering(visit)
    app.text_input(key="primary 1").set_value("A,Z").run()
    assert not app.exception
    assert "A = direct SCRIPTED weak" in said(app)


@pytest.fixture
def registered() -> Plan:
    """A registered benchmark that has run. The labels of its configurations contain commas."""
    pair = [
        Wanted("supervised", {"coder": "scripted/weak"}, {"max_iterations": number, "checkpoint_interval": number})
        for number in (2, 3)
    ]
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order(pair, "0:1", name="study", registration=RegistrationOrder(("A", "B"))))
        workspace.runs.run(plan)
    return plan


def test_a_primary_comparison_may_name_labels_that_contain_commas(visit: Visit, registered: Plan) -> None:
    app = visit("launch", clone=registered.id)
    typed = "supervised SCRIPTED weak (checkpoint_interval=3, max_iterations=3),A"
    app.text_input(key="primary 1").set_value(typed).run()
    assert f"--primary '{typed}'" in app.code[-1].value


def test_after_the_first_call_no_hash_is_offered_for_publication(visit: Visit, registered: Plan) -> None:
    app = visit("launch", clone=registered.id)
    assert "Registered: whether" in said(app)
    assert "before the first call" not in said(app)
    app.text_input(key="name 1").set_value("another").run()
    assert "Publish this SHA-256 of the registration before the first call" in said(app)


def test_a_deviation_is_announced_before_the_start(visit: Visit, registered: Plan) -> None:
    app = visit("launch", clone=registered.id)
    assert "deviates" not in said(app)
    app.number_input(key="repeats 1").set_value(2)
    app.number_input(key="budget 1").set_value(5.0).run()
    changed = "repeats changed from 1 to 2; budget changed from no limit to $5.00."
    assert f"reports will show this deviation: {changed}" in said(app)


def test_statistics_shows_the_registration_and_the_summary_its_result(visit: Visit) -> None:
    pair = [Wanted("retry", {"coder": "scripted/weak"}), Wanted("direct", {"coder": "scripted/weak"})]
    order = Order(pair, "0:2", registration=RegistrationOrder(exclusions="none **foreseen**"))
    with open_workspace() as workspace:
        workspace.runs.run(workspace.plans.plan(order))
    statistics = visit("statistics")
    assert "Planned: whether retry SCRIPTED weak matches direct SCRIPTED weak" in said(statistics)
    assert "Planned: none **foreseen**" in [text.value for text in statistics.text]  # never as markup
    assert "Registered before the first call: whether" in said(visit("compare"))


def test_overview_and_problems_show_only_the_problems_that_decided_a_sequential_benchmark(visit: Visit) -> None:
    pair = [Wanted("retry", {"coder": "scripted/strong"}), Wanted("direct", {"coder": "scripted/strong"})]
    order = Order(pair, "all", registration=RegistrationOrder(stopping="sequential"))
    with open_workspace() as workspace:
        plan = workspace.plans.plan(order)
        workspace.runs.run(plan)
        decided = workspace.results.benchmark(plan.id).decided_by
    assert decided is not None
    assert {row["n"] for _, row in visit("overview").dataframe[0].value.iterrows()} == {f"{decided}/{decided}"}
    app = visit("problems")
    app.session_state["tables"] = True
    assert len(app.run().dataframe[0].value) == decided


def test_a_decided_sequential_benchmark_does_not_narrow_the_reports_of_the_summary(visit: Visit) -> None:
    pair = [Wanted("retry", {"coder": "scripted/strong"}), Wanted("direct", {"coder": "scripted/strong"})]
    order = Order(pair, "all", registration=RegistrationOrder(stopping="sequential"))
    with open_workspace() as workspace:
        plans = [
            workspace.plans.plan(order),
            workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/weak"})], "0:4")),
        ]
        for plan in plans:
            workspace.runs.run(plan)
        assert workspace.results.benchmark(plans[0].id).decided_by is not None
    for chosen in (plans[:1], plans):
        links = visit("compare", benchmarks=",".join(plan.id for plan in chosen)).get("link_button")
        assert ["same_problems=yes" in link.proto.url for link in links] == [False, False, False]
