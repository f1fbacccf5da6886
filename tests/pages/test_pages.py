"""Each page with nothing to show, with results, and when something is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from reading import PAGES, said
from streamlit.testing.v1 import AppTest

from koderz_core.config import load_settings
from koderz_core.records import Plan

Visit = Callable[..., AppTest]


@pytest.mark.parametrize("page", PAGES)
def test_without_results_each_page_says_what_to_do_next(visit: Visit, page: str) -> None:
    app = visit(page)
    assert not app.exception
    assert not app.error
    links = [link.proto.page for link in app.get("page_link")]
    assert "launch" in links or page == "launch", links


@pytest.mark.parametrize("page", PAGES)
def test_with_results_each_page_shows_some_without_error(visit: Visit, recorded: Plan, page: str) -> None:
    app = visit(page)
    assert not app.exception
    assert not app.error
    assert len(app.dataframe) >= 1


@pytest.mark.parametrize("page", PAGES)
def test_a_page_whose_ground_is_broken_says_what_and_what_to_do(visit: Visit, page: str) -> None:
    home = load_settings().home
    home.mkdir(parents=True)
    (home / "settings.toml").write_text("timeout = 'soon'\n")
    app = visit(page)
    assert not app.exception
    assert app.error
    assert "timeout" in said(app)


def test_a_journal_that_cannot_be_read_is_named_and_the_others_are_shown(visit: Visit, recorded: Plan) -> None:
    (load_settings().journals_dir / "bench_000000000000.jsonl").write_bytes(b"no journal\n")
    app = visit("overview")
    assert "bench_000000000000.jsonl" in said(app)
    assert recorded.id in list(app.dataframe[0].value["benchmark"])


def test_the_overview_marks_scripted_results_and_counts_experiments(visit: Visit, recorded: Plan) -> None:
    app = visit("overview")
    assert "SCRIPTED" in app.dataframe[0].value["name"][0]
    assert "experiments with a result 6" in said(app)


def test_live_shows_the_newest_benchmark_with_a_cell_per_experiment(visit: Visit, recorded: Plan) -> None:
    app = visit("live")
    cells = "".join(str(one.value) for one in app.markdown)
    assert cells.count("experiment?experiment=exp_") == 6
    assert "state finished" in said(app)


def test_an_experiment_shows_program_tests_prompt_answer_and_calls(visit: Visit, recorded: Plan) -> None:
    tried = next(one for one in recorded.experiments() if one.configuration == recorded.configurations[1].id)
    for view, sign in (("Program", "def "), ("Tests", "gate tests passed"), ("Prompt", "user"), ("Answer", "SCRIPTED")):
        app = visit("experiment", experiment=tried.id, step="2", view=view)
        assert not app.exception
        assert not app.error
        assert sign in said(app), view
    app = visit("experiment", experiment=tried.id, step="2", view="Calls")
    assert "scripted/weak" in set(app.dataframe[0].value["model"])


def test_an_experiment_is_found_by_the_beginning_of_its_id(visit: Visit, recorded: Plan) -> None:
    experiment = recorded.experiments()[0]
    assert experiment.id in said(visit("experiment", experiment=experiment.id[:10]))


def test_an_address_with_an_unknown_experiment_says_so(visit: Visit, recorded: Plan) -> None:
    app = visit("experiment", experiment="exp_nothing")
    assert app.error
    assert "exp_nothing" in said(app)


def test_compare_shows_intervals_and_warns_of_two_kinds_of_rates(visit: Visit, recorded: Plan) -> None:
    app = visit("compare", benchmarks=recorded.id)
    table = app.dataframe[0].value
    assert len(table) == 2
    assert all("[" in one for one in table["solved [95 %]"])
    assert "oracle" in said(app)
    assert len(app.get("plotly_chart")) == 3


def test_launch_shows_the_equal_command_and_counts_experiments(visit: Visit) -> None:
    app = visit("launch")
    assert "koderz benchmark" in said(app)
    assert "experiments 6" in said(app)


def test_launch_says_what_is_wrong_and_offers_no_start(visit: Visit) -> None:
    app = visit("launch")
    app.segmented_control(key="way").set_value("list").run()
    app.text_input(key="listed").set_value("HumanEval/999").run()
    assert "HumanEval/999" in said(app)
    assert not [button for button in app.button if button.key == "start"]


def test_a_typed_problem_can_be_launched_and_its_fault_is_named(visit: Visit) -> None:
    app = visit("launch")
    app.segmented_control(key="way").set_value("my own").run()
    app.button(key="own used").click().run()
    assert "--dataset typed-" in said(app)
    app.text_area(key="own tests").set_value("print(1)")
    app.button(key="own used").click().run()
    assert "assert" in said(app)
    assert not [button for button in app.button if button.key == "start"]


def test_start_runs_in_the_background_and_leads_to_live(visit: Visit, tmp_path: Path) -> None:
    app = visit("launch")
    app.button(key="start").click().run()
    assert not app.exception
    assert app.title[0].value == "Live"
