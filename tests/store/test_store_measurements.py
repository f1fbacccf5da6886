"""What selections go by: results of each model in a role, without those that a script had a part in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koderz_core.store.measurements import measurements

REAL, SCRIPT = "ollama/it", "scripted/weak"


@pytest.mark.parametrize(
    ("coder", "reviewer", "counted"),
    [(REAL, REAL, {REAL}), (REAL, SCRIPT, set()), (SCRIPT, REAL, {SCRIPT}), (SCRIPT, SCRIPT, {SCRIPT})],
)
def test_what_a_real_model_did_beside_a_scripted_one_does_not_count(store, write, plan, coder, reviewer, counted):
    configuration = replace(plan.configurations[0], models={"coder": (coder,), "reviewer": (reviewer,)})
    journal = write(replace(plan, configurations=(configuration,)))
    for experiment in journal.plan.experiments():
        journal.tell(experiment)
    assert {measurement.model for measurement in measurements(store, configuration.strategy, "coder", ())} == counted


def test_results_with_web_searches_do_not_count(store, write, plan):
    configuration = replace(plan.configurations[0], parameters={"search": "github"})
    journal = write(replace(plan, configurations=(configuration,)))
    for experiment in journal.plan.experiments():
        journal.tell(experiment)
    assert measurements(store, configuration.strategy, "coder", ()) == []
