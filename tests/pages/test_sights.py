"""What a person sees at a glance: names, what can be taken up again, what each part asks for."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import chain, repeat

import pytest
from chat_server import sends, serving_chat, streams
from menu import PAGES
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.config import Settings
from koderz_core.records import Plan, TestFailure, Verdict
from koderz_core.report.charts_costs import cost_by_role
from koderz_core.store.frames import Tables
from koderz_core.store.results import Results
from pages.ui.tables import verdict_table

Visit = Callable[..., AppTest]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_asks_for_the_benchmarks_once(
    visit: Visit, recorded: Plan, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, asked, ask = visit(page), [], Results.benchmarks

    def counted(results: Results) -> object:
        asked.append(results)  # the workbench has results of its own
        return ask(results)

    monkeypatch.setattr(Results, "benchmarks", counted)
    app.run()
    assert asked
    assert len(asked) == len({id(results) for results in asked})


def test_export_builds_no_whole_table_before_it_is_asked_for_one(
    visit: Visit, recorded: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(Tables, "copy")
    monkeypatch.delattr(Results, "frame")
    app = visit("export")
    assert not app.error
    assert "6 lines, " in said(app)


def test_a_benchmark_is_listed_by_its_name_first(visit: Visit, recorded: Plan) -> None:
    with open_workspace() as workspace:
        plan = replace(recorded, name="mine")
        workspace.runs.run(plan)
    assert f"mine · {plan.id}" in visit("live").sidebar.multiselect[0].options


def test_what_ended_as_error_is_not_resumed_but_can_be_retried_and_the_command_is_said(visit: Visit) -> None:
    plan = erring(answers=0)
    assert not [link for link in visit("overview").get("page_link") if "left" in link.proto.label]
    app = visit("live")
    assert [button.label for button in app.button if plan.id in str(button.key)] == ["Retry errors"]
    assert f"koderz resume {plan.id} --retry-errors" in app.button(key=f"retry errors live {plan.id}").help


def test_an_experiment_that_broke_off_opens_with_the_last_program_that_was_tried(visit: Visit) -> None:
    plan = erring(answers=1)
    app = visit("experiment", experiment=plan.experiments()[0].id)
    assert "The experiment has no result" in said(app)
    assert "def nothing()" in said(app)


def erring(answers: int) -> Plan:
    """One experiment whose model is right never, and refuses everything after so many answers."""
    wrong = streams({"content": "```python\ndef nothing(): return 1\n```"})
    with serving_chat() as chat, open_workspace(vllm_base_url=chat.url) as workspace:
        replies = chain([wrong] * answers, repeat(sends(400, {})))
        chat.answer = lambda handler: next(replies)(handler)  # noqa: PLW0108 (another one each time)
        wanted = Wanted("supervised", {"coder": "vllm/it"}, {"spec": False, "checkpoints": False, "max_iterations": 3})
        plan = workspace.plans.plan(Order([wanted], "0:1"))
        workspace.runs.run(plan)
    return plan


def test_each_test_is_shown_with_what_was_expected_what_came_and_how_long_it_took() -> None:
    failure = TestFailure(1, "assert f(1) == 2", "2", "3")
    verdict = Verdict("PF-", (failure,), False, "assertion", "", 0.3, "strong", test_seconds=(0.1, 0.2, 0.0))
    shown = verdict_table(verdict).to_dict("list")
    assert shown == {
        "test": [1, 2],
        "": ["✓", "✗"],
        "seconds": [0.1, 0.2],
        "source": ["", "assert f(1) == 2"],
        "expected": ["", "2"],
        "actual": ["", "3"],
    }


def test_every_page_of_a_benchmark_says_what_its_programs_ran_in(visit: Visit, recorded: Plan) -> None:
    experiment = recorded.experiments()[0].id
    pages = [visit("overview"), visit("live"), visit("experiment", experiment=experiment), visit("launch")]
    assert all(re.search("Isolation of programs: [a-z]+.*, self-test [0-9]+/", said(page)) for page in pages)


def test_an_experiment_whose_tests_were_shared_is_marked(visit: Visit, recorded: Plan, settings: Settings) -> None:
    (journal,) = settings.journals_dir.glob("*.jsonl")
    journal.write_bytes(journal.read_bytes().replace(b'"shared":false', b'"shared":true'))
    app = visit("experiment", experiment=recorded.experiments()[0].id)
    assert "could in principle fake the results" in said(app)


def test_configurations_of_the_same_label_have_a_lane_each(recorded: Plan) -> None:
    with open_workspace() as workspace:
        again = replace(recorded, seed=1)
        workspace.runs.run(again)
        comparisons = workspace.comparisons
        comparison = comparisons.compare(comparisons.named([recorded.id, again.id]))
    assert len({row.label for row in comparison.configurations}) == 2
    assert len(set(cost_by_role(comparison).layout.yaxis.categoryarray)) == 4
