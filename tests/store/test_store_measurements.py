"""What selections go by: results of each model in a role, without those that a script had a part in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koderz_core.records import Asker
from koderz_core.store.measurements import measurements, solved

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


def test_what_another_shard_of_the_same_benchmark_did_counts_neither_as_an_example_nor_for_a_selection(
    store, write, plan
):
    study, other = (replace(plan, name=name) for name in ("study", "other"))
    done = write(study.part(1, 2))
    for experiment in done.plan.experiments():
        done.tell(experiment)

    def found(of):
        experiment = write(of).plan.experiments()[0].id
        asker = Asker(experiment, "HumanEval/99", plan.dataset, {})
        return len(solved(store, asker, scripted=False)), len(measurements(store, "direct", "coder", (), experiment))

    assert found(study.part(2, 2)) == (0, 0)
    assert found(other) == (3, 2)  # of three solved problems, two with this strategy
