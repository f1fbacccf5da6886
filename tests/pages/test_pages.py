"""Each page with nothing to show, with results, and when something is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from chat_server import sends, serving_chat, streams
from menu import PAGES
from reading import components, said
from sample import thinned
from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.config import load_settings
from koderz_core.records import Plan

Visit = Callable[..., AppTest]


@pytest.mark.parametrize("page", [page for page in PAGES if page != "settings"])  # it has no results at any time
def test_without_results_each_page_says_what_to_do_next(visit: Visit, page: str) -> None:
    app = visit(page)
    assert not app.exception
    assert not app.error
    ways = [link.proto.page for link in app.get("page_link")] + [button.key for button in app.button]
    assert {"launch", "to launch"} & {*ways, page}


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page not in ("memory", "network", "repository", "settings", "search", "workbench")],
)  # no test's memory is on, no words are searched
def test_with_results_each_page_shows_some_without_error(visit: Visit, recorded: Plan, page: str) -> None:
    app = visit(page)
    assert not app.exception
    assert not app.error
    assert "SCRIPTED" in said(app) + "".join(table.value.to_csv() for table in app.dataframe)


@pytest.mark.parametrize("page", thinned(PAGES, "pages whose ground is broken"))
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
    assert recorded.id in list(app.dataframe[-1].value["benchmark"])


def test_the_overview_marks_scripted_results_and_counts_them_only_on_demand(visit: Visit, recorded: Plan) -> None:
    app = visit("overview")
    assert "SCRIPTED" in app.dataframe[-1].value["name"][0]
    assert "experiments with a result 0" in said(app)
    assert "All benchmarks in this data folder use scripted models" in said(app)
    app.toggle(key="with scripted").set_value(True).run()
    assert "experiments with a result 6" in said(app)


def test_live_shows_the_newest_benchmark_with_a_cell_per_experiment(visit: Visit, recorded: Plan) -> None:
    app = visit("live")
    (matrix,) = [data for data in components(app) if "finding" in data]
    assert sum(cell >= 0 for line in matrix["lines"] for cell in line["cells"]) == 6
    assert "state finished" in said(app)


def test_an_experiment_shows_program_tests_prompt_answer_and_calls(visit: Visit, recorded: Plan) -> None:
    tried = next(
        experiment for experiment in recorded.experiments() if experiment.configuration == recorded.configurations[1].id
    )
    for view, sign in (("Program", "def "), ("Tests", "gate tests passed"), ("Prompt", "user"), ("Answer", "SCRIPTED")):
        app = visit("experiment", experiment=tried.id, step="2", view=view)
        assert not app.exception
        assert not app.error
        assert sign in said(app), view
    app = visit("experiment", experiment=tried.id, step="2", view="Calls")
    assert "scripted/weak" in set(app.dataframe[0].value["model"])


@pytest.mark.parametrize("page", ["overview", "live"])
def test_the_isolation_that_a_journal_states_is_never_markup(visit: Visit, recorded: Plan, page: str) -> None:
    (journal,) = load_settings().journals_dir.glob("*.jsonl")
    opened, rest = journal.read_text(encoding="utf-8").split("\n", 1)
    opened = re.sub('"isolation":"[a-z]+"', '"isolation":"**strong**"', opened, count=1)
    journal.write_text(f"{opened}\n{rest}", encoding="utf-8")
    app = visit(page)
    assert any(element.value.startswith("Isolation of programs: **strong**") for element in app.text)
    assert not any("**strong**" in str(element.value) for element in (*app.caption, *app.markdown))


def test_an_experiment_is_found_by_the_beginning_of_its_id(visit: Visit, recorded: Plan) -> None:
    experiment = recorded.experiments()[0]
    assert experiment.id in said(visit("experiment", experiment=experiment.id[:10]))


def test_an_address_with_an_unknown_experiment_says_so(visit: Visit, recorded: Plan) -> None:
    app = visit("experiment", experiment="exp_nothing")
    assert "exp_nothing" in said(app)
    assert recorded.experiments()[0].id in list(app.dataframe[0].value["experiment"])  # the way on


def test_launch_shows_the_equal_command_and_counts_experiments(visit: Visit) -> None:
    app = visit("launch")
    assert "koderz benchmark" in said(app)
    assert "experiments 6" in said(app)


def test_launch_says_what_is_wrong_and_offers_no_start(visit: Visit) -> None:
    app = visit("launch")
    app.segmented_control(key="way 1").set_value("list").run()
    app.text_input(key="listed 1").set_value("HumanEval/999").run()
    assert "HumanEval/999" in said(app)
    assert not [button for button in app.button if button.key == "start"]


def test_a_typed_problem_can_be_launched_and_its_fault_is_named(visit: Visit) -> None:
    app = visit("launch")
    app.segmented_control(key="way 1").set_value("own").run()
    app.button(key="own used").click().run()
    assert "--dataset typed-" in said(app)
    app.text_area(key="own tests 1").set_value("print(1)")
    app.button(key="own used").click().run()
    assert "assert" in said(app)
    assert not [button for button in app.button if button.key == "start"]


def test_a_dataset_that_is_not_here_is_shown_with_the_command_that_fetches_it(visit: Visit) -> None:
    app = visit("launch")
    app.selectbox(key="dataset 1").set_value("mbpp+").run()
    assert not app.exception
    assert "koderz download-data mbpp+" in {block.value for block in app.code}
    assert not [button for button in app.button if button.key == "start"]


@pytest.mark.parametrize("page", ["overview", "live", "experiment", "compare"])
def test_every_page_of_results_says_which_problems_they_are_of(visit: Visit, recorded: Plan, page: str) -> None:
    names = {"experiment": {"experiment": recorded.experiments()[0].id}, "compare": {"benchmarks": recorded.id}}
    app = visit(page, **names.get(page, {"benchmark": recorded.id}))
    if page == "overview":
        app.toggle(key="with scripted").set_value(True).run()
    assert f"Dataset: {recorded.dataset.said}" in said(app)


def test_start_runs_in_the_background_and_leads_to_live(visit: Visit, tmp_path: Path) -> None:
    app = visit("launch")
    app.button(key="start").click().run()
    assert not app.exception
    assert app.title[0].value == "Live"


def test_a_problem_that_was_changed_after_it_was_used_cannot_be_started(visit: Visit) -> None:
    app = visit("launch")
    app.segmented_control(key="way 1").set_value("own").run()
    app.button(key="own used").click().run()
    assert [button for button in app.button if button.key == "start"]
    app.text_area(key="own tests 1").set_value("assert double(5) == 999").run()
    assert not [button for button in app.button if button.key == "start"]


def test_launch_says_what_is_recorded_already(visit: Visit) -> None:
    app = visit("launch")
    with open_workspace() as workspace:
        models = {"spec": "scripted/weak", "coder": "scripted/weak", "reviewer": "scripted/weak"}
        few = {"max_iterations": 3, "checkpoint_interval": 2}
        quick = [Wanted("direct", {"coder": "scripted/weak"}), Wanted("supervised", models, few)]
        workspace.runs.run(workspace.plans.plan(Order(quick, "0:3")))
    assert "Already recorded: 6 of 6 experiments" in said(app.run())


def test_what_a_dead_process_left_is_shown_as_interrupted(visit: Visit, recorded: Plan) -> None:
    journal = load_settings().journals_dir / f"{recorded.id}.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    started = [place for place, line in enumerate(lines) if b'"experiment_started"' in line]
    left = lines[: started[-1] + 1]
    journal.write_bytes(b"".join(left))
    ended = sum(b'"experiment_finished"' in line for line in left)
    app = visit("live")
    assert "state interrupted" in said(app)
    (matrix,) = [data for data in components(app) if "finding" in data]
    assert f"interrupted: {len(started) - ended}" in matrix["finding"]
    (way_on, *_) = visit("overview").get("page_link")
    assert "interrupted with" in way_on.proto.label


def test_a_benchmark_is_found_by_the_beginning_of_its_id(visit: Visit, recorded: Plan) -> None:
    app = visit("live", benchmark=recorded.id[6:12])
    assert app.query_params["benchmarks"] == recorded.id
    assert "benchmark" not in app.query_params


def test_a_view_stays_chosen_in_a_step_that_has_none(visit: Visit, recorded: Plan) -> None:
    tried = next(
        experiment for experiment in recorded.experiments() if experiment.configuration == recorded.configurations[1].id
    )
    app = visit("experiment", experiment=tried.id, step="1", view="Tests")
    assert "This view has no content for this step" in said(app)
    assert app.query_params["view"] == "Tests"


def test_a_call_that_was_asked_again_with_a_long_prompt_can_be_read(visit: Visit) -> None:
    with serving_chat() as chat, open_workspace(vllm_base_url=chat.url) as workspace:
        answers = iter([sends(503, {}), streams({"content": "```python\ndef f(): return 1\n```"})])
        chat.answer = lambda handler: next(answers)(handler)  # noqa: PLW0108 (another one each time)
        dataset = workspace.grading.keep_problem(f'def f():\n    """{"long " * 6000}"""\n', "assert f() == 1")
        plan = workspace.plans.plan(Order([Wanted("direct", {"coder": "vllm/it"})]), dataset)
        workspace.runs.run(plan)
    app = visit("experiment", experiment=plan.experiments()[0].id, view="Prompt")
    assert not app.error
    assert "attempt 2" in said(app)


@pytest.mark.parametrize("page", ["compare", "problems", "live", "export"])
def test_a_page_finds_a_benchmark_by_its_name_as_the_command_line_does(visit: Visit, recorded: Plan, page: str) -> None:
    with open_workspace() as workspace:
        named = workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/weak"})], "0:1", name="mine"))
        workspace.runs.run(named)
        workspace.runs.run(
            workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/weak"})], "0:1", name="newer"))
        )
    app = visit(page, **{"benchmarks" if page in ("compare", "problems") else "benchmark": "mine"})
    assert not app.exception
    assert "contains an unknown value of the parameter" not in "".join(element.value for element in app.warning)
    chosen = [element.value for element in (*app.multiselect, *app.selectbox)]
    assert named.id in chosen or [named.id] in chosen
