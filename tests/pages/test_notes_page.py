"""What the Experiments page says of specs and reviews."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from koderz_core import open_workspace
from koderz_core.config import load_settings
from koderz_core.events import Entry, MemoryRecalled, TurnSpoken, decode, encode
from koderz_core.records import Plan, Query

Visit = Callable[..., AppTest]


def supervised(plan: Plan) -> str:
    """An experiment that was reviewed."""
    with open_workspace() as workspace:
        chosen = plan.configurations[1].id
        return next(
            experiment.id
            for experiment in plan.experiments()
            if experiment.configuration == chosen and len(workspace.results.experiment(experiment.id).notes) > 1
        )


def texts(app: AppTest) -> list[str]:
    assert not app.exception
    return [element.value for element in app.text]


def test_a_spec_and_a_review_say_what_they_are(visit: Visit, recorded: Plan) -> None:
    experiment = supervised(recorded)
    assert "spec (minimal)" in texts(visit("experiment", experiment=experiment, step="1"))
    assert "checkpoint 1 after iteration 1, because the checkpoint interval was reached" in texts(
        visit("experiment", experiment=experiment, step="3")
    )


def test_what_of_a_review_was_passed_on_and_what_came_of_it_is_told(visit: Visit, recorded: Plan) -> None:
    app = visit("experiment", experiment=supervised(recorded), step="3")
    said = texts(app)
    assert "given to the coder: root cause, fix, edge cases; withheld: failing tests" in said
    assert any(
        line.startswith("gate tests passed by the best program: ") and line.endswith(" after it") for line in said
    )
    assert "Parts of the review withheld from the coder" in [element.label for element in app.expander]
    assert "all failures look alike" in " ".join(element.value for element in app.code)


def test_what_could_not_be_recalled_is_seen(visit: Visit, recorded: Plan) -> None:
    experiment = supervised(recorded)
    journal = load_settings().journals_dir / f"{recorded.id}.jsonl"
    last = decode(journal.read_bytes().splitlines()[-1])
    fault = MemoryRecalled("hash", Query("spec"), (), 0.1, "The store is <b>locked</b>.")
    with journal.open("ab") as file:
        file.write(encode(Entry(last.at, fault, experiment, 99)))
    app = visit("experiment", experiment=experiment)
    assert "The store is <b>locked</b>." in texts(app)
    assert "continued without" in app.warning[-1].value


def test_a_turn_of_a_debate_says_whose_it_was_and_is_shown_as_it_is(visit: Visit, recorded: Plan) -> None:
    experiment = supervised(recorded)
    journal = load_settings().journals_dir / f"{recorded.id}.jsonl"
    last = decode(journal.read_bytes().splitlines()[-1])
    with open_workspace() as workspace:
        steps = len(workspace.results.experiment(experiment).steps)
    with journal.open("ab") as file:
        file.write(encode(Entry(last.at, TurnSpoken("sql_sage", 2, "Use <b>sets</b>."), experiment, 99)))
    app = visit("experiment", experiment=experiment, step=str(steps + 1))
    assert "round 2 of the debate: sql_sage" in texts(app)
    assert "Use <b>sets</b>." in [element.value for element in (*app.text, *app.code)]
