"""What if: the headroom comes before policies, figures are marked as simulated, and the address holds the choices."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace

Visit = Callable[..., AppTest]


def test_the_headroom_comes_first_and_policies_are_marked_as_simulated(visit: Visit) -> None:
    weak = Wanted("retry", {"coder": "scripted/weak"}, {"max_iterations": 3})
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order([weak, Wanted("direct", {"coder": "scripted/strong"})], "0:12"))
        workspace.runs.run(plan)
    app = visit("what_if", benchmarks=plan.id, tries="2")
    assert not app.exception
    assert [header.value for header in app.header] == [
        "Headroom: largest possible gain from choosing a configuration per problem",
        "Simulated policies",
    ]
    assert any("a perfect choice per problem would gain" in text.value for text in app.markdown)
    table = next(table.value for table in app.dataframe if "evaluation" in table.value and "policy" in table.value)
    assert list(table["evaluation"]) == ["as recorded", "simulated", "simulated"]
    assert table["policy"][2].startswith("retry weak@0.8 k=2")
    assert any(text.value.startswith("Simulated: computed from recorded attempts") for text in app.text)


def test_the_reference_is_the_best_configuration_of_the_chosen_benchmark(visit: Visit) -> None:
    with open_workspace(tiers={"scripted/strong": "frontier"}) as workspace:
        other = workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/strong"})], "0:12"))
        workspace.runs.run(other)  # the page adds it to the comparison as a baseline
        weak = Wanted("supervised", {"coder": "scripted/weak", "reviewer": "scripted/strong"}, {"max_iterations": 1})
        plan = workspace.plans.plan(Order([weak], "0:12"))
        workspace.runs.run(plan)
    app = visit("what_if", benchmarks=plan.id)
    assert not app.exception
    table = next(table.value for table in app.dataframe if "evaluation" in table.value and "policy" in table.value)
    assert table["evaluation"][0] == "as recorded"


def test_as_many_attempts_are_offered_as_experiments_of_one_iteration_were_repeated(visit: Visit) -> None:
    once = Wanted("retry", {"coder": "scripted/weak"}, {"max_iterations": 1})
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order([once], "0:4", repeats=3))
        workspace.runs.run(plan)
    app = visit("what_if", benchmarks=plan.id)
    assert not app.exception
    (attempts,) = [slider.options for slider in app.select_slider if slider.label == "Attempts"]
    assert attempts == ["1", "2", "3"]
