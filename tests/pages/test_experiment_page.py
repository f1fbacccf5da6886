"""The Experiments page: its timeline, another experiment beside it, its commands, and what has no result."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core import open_workspace
from koderz_core.config import load_settings
from koderz_core.records import Plan

Visit = Callable[..., AppTest]


def of_both(plan: Plan, problem: str = "HumanEval/0") -> tuple[str, str]:
    """The experiments of both configurations on a problem."""
    direct, supervised = (experiment.id for experiment in plan.experiments() if experiment.problem == problem)
    return direct, supervised


def journal(plan: Plan) -> Path:
    return load_settings().journals_dir / f"{plan.id}.jsonl"


def cut(plan: Plan, *kinds: bytes) -> str:
    """Leave of the journal what came before the first event of these kinds; the id of the experiment it was of."""
    lines = journal(plan).read_bytes().splitlines(keepends=True)
    places = [place for place, line in enumerate(lines) if any(b'"%s"' % kind in line for kind in kinds)]
    journal(plan).write_bytes(b"".join(lines[: places[0]]))
    return str(json.loads(lines[places[0]])["experiment"])


def ended_as(plan: Plan, outcome: str, error: str = "") -> str:
    """Let the journal say that the first experiment that ended had ended so; its id."""
    lines = journal(plan).read_text().splitlines(keepends=True)
    place = next(place for place, line in enumerate(lines) if '"experiment_finished"' in line)
    told = json.loads(lines[place])
    told["event"] |= {"outcome": outcome, "error": error}
    lines[place] = json.dumps(told) + "\n"
    journal(plan).write_text("".join(lines))
    return str(told["experiment"])


def button(app: AppTest, key: str) -> None:
    app.button(key=key).click().run()
    assert not app.exception
    assert not app.error


def test_the_timeline_names_every_step_and_what_it_came_to_and_took(visit: Visit, recorded: Plan) -> None:
    app = visit("experiment", experiment=of_both(recorded)[1])
    timeline = app.radio(key="choice of step")
    assert timeline.options[0] == "spec"
    assert timeline.options[1] in ("✗ iteration 1", "✓ iteration 1")
    assert "/7 tests · " in timeline.proto.captions[1]
    assert r"\$0.00" in timeline.proto.captions[0]


def test_steps_are_gone_through_by_buttons_that_have_keys_and_stay_in_the_address(visit: Visit, recorded: Plan) -> None:
    app = visit("experiment", experiment=of_both(recorded)[1], step="1")
    assert app.button(key="step up").disabled
    assert [app.button(key=f"step {way}").proto.shortcut.lower() for way in ("up", "down")] == ["alt+up", "alt+down"]
    button(app, "step down")
    assert app.radio(key="choice of step").value == "2"
    assert "iteration 1 · " in said(app)


def test_the_next_experiment_keeps_the_view_and_begins_at_its_own_steps(visit: Visit, recorded: Plan) -> None:
    first, second = of_both(recorded)
    app = visit("experiment", experiment=first, step="1", view="Tests", beside=second)
    button(app, "Next")
    assert second in said(app)
    assert {name: name in app.query_params for name in ("step", "beside", "view")} == {
        "step": False,
        "beside": False,
        "view": True,
    }


def test_a_review_shows_what_the_reviewer_was_told_and_what_it_said(visit: Visit, recorded: Plan) -> None:
    with open_workspace() as workspace:
        found = [workspace.results.experiment(experiment.id) for experiment in recorded.experiments()]
    steps = [
        (details, place)
        for details in found
        for place, step in enumerate(details.steps, 1)
        if step.kind == "checkpoint"
    ]
    details, place = steps[0]
    app = visit("experiment", experiment=details.experiment.id, step=str(place))
    assert "reviewer · user" in said(app)
    assert "all failures look alike" in said(app)


def test_a_prompt_folds_the_part_that_the_previous_call_also_had(visit: Visit, recorded: Plan) -> None:
    with open_workspace() as workspace:
        found = [workspace.results.experiment(experiment.id) for experiment in recorded.experiments()]
    details = next(details for details in found if len(details.iterations) > 1)
    steps = [place for place, step in enumerate(details.steps, 1) if step.kind == "iteration"]
    first, second = (
        visit("experiment", experiment=details.experiment.id, step=str(place), view="Prompt") for place in steps[:2]
    )
    assert [folded.label for folded in first.expander if "previous call" in folded.label] == []
    assert [folded.label for folded in second.expander if "previous call" in folded.label]


def test_another_experiment_of_the_problem_stands_beside_it_with_what_sets_them_apart(
    visit: Visit, recorded: Plan
) -> None:
    direct, supervised = of_both(recorded)
    app = visit("experiment", experiment=supervised)
    assert not [table for table in app.dataframe if "setting" in table.value]
    offered = app.selectbox(key="choice of beside").options
    assert [option for option in offered if direct in option]
    assert not [option for option in offered if supervised in option or of_both(recorded, "HumanEval/1")[0] in option]
    app.selectbox(key="choice of beside").set_value(direct).run()
    assert not app.exception
    differing, steps = (table.value for table in app.dataframe[-2:])
    assert ["strategy", "supervised", "direct"] in differing.to_numpy().tolist()
    assert list(steps["step"])[:3] == ["returned", "spec", "iteration 1"]
    assert app.query_params["beside"] in (direct, [direct])
    assert any(element.value.startswith(("--- A\n+++ B\n", "def ", "from ", "\n")) for element in app.code)


def test_a_line_of_both_shows_the_programs_of_that_step(visit: Visit, recorded: Plan) -> None:
    direct, supervised = of_both(recorded)
    compared = f"{recorded.id}/{recorded.configurations[1].id}"  # on the Summary, whose tabs share this choice
    app = visit("experiment", experiment=supervised, beside=direct, line="1", pair=compared)
    assert said(app).count("This step has no program") == 2  # a spec, and nothing beside it
    assert "unknown value" not in said(app)
    assert app.query_params["pair"] == compared


def test_the_commands_are_worked_out_only_when_somebody_opens_them(visit: Visit, recorded: Plan) -> None:
    experiment = of_both(recorded)[1]
    app = visit("experiment", experiment=experiment)
    assert "koderz run" not in said(app)
    app.session_state["terminal"] = True
    app.run()
    assert f"koderz analyze {experiment} --dump files" in said(app)
    assert "koderz run --problem-id HumanEval/0 --configuration 'supervised coder=scripted/weak" in said(app)
    assert "koderz benchmark --problems 0:3 " in said(app)


def test_what_was_interrupted_says_so_keeps_its_steps_and_can_be_resumed(visit: Visit, recorded: Plan) -> None:
    app = visit("experiment", experiment=cut(recorded, b"candidate_scored", b"experiment_finished"))
    assert "The process of the experiment ended before the experiment had a result" in said(app)
    assert app.radio(key="choice of step").options
    button(app, "resume here")


def test_what_was_stopped_says_so_and_can_be_resumed(visit: Visit, recorded: Plan) -> None:
    app = visit("experiment", experiment=ended_as(recorded, "cancelled"))
    assert "The experiment was stopped" in said(app)
    assert app.button(key="resume here")


def test_what_never_began_says_so_and_can_be_resumed(visit: Visit, recorded: Plan) -> None:
    cut(recorded, b"experiment_started")
    app = visit("experiment", experiment=of_both(recorded)[0])
    assert "The experiment has not started" in said(app)
    assert "No call or test of this experiment" in said(app)
    assert app.button(key="resume here")


def test_a_recorded_error_is_told_as_ours_with_the_way_on_and_its_words_stay_text(visit: Visit, recorded: Plan) -> None:
    hostile = "<img src=x> $a$ **b**"
    app = visit("experiment", experiment=ended_as(recorded, "error", hostile))
    assert "The model is not the cause" in app.error[0].value
    shown = [element.value for element in app.code]
    assert shown[:2] == [hostile, f"koderz resume {recorded.id} --retry-errors"]
    assert not [button for button in app.button if button.key == "resume here"]
