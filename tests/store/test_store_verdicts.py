"""What is stored of how programs were graded: tier, self-test, whether tests were shared, how long each took."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koderz_core.events import CandidateScored, CodeTested
from koderz_core.journal import read_all
from koderz_core.records import Verdict
from koderz_core.store.results import Results

SHARED = Verdict("PF", (), True, "assertion", "no", 0.3, "strong", shared=True, test_seconds=(0.1, 0.2))


@pytest.fixture
def results(store):
    return Results(store, lambda experiments, now: None)


@pytest.mark.parametrize("shared", [True, False])
def test_an_iteration_keeps_whether_its_tests_were_shared_and_how_long_each_took(results, journal, plan, shared):
    one = plan.experiments()[0]
    code = journal.text("def f(): pass")
    journal.say(CodeTested(1, "hash", code, "fence", replace(SHARED, shared=shared)), one.id, 2)
    (row,) = results.experiment(one.id).iterations
    assert (row.shared, row.test_seconds) == (shared, (0.1, 0.2))


@pytest.mark.parametrize(
    ("gate", "held_out", "shared"), [(SHARED, None, True), (None, SHARED, True), (None, None, False)]
)
def test_an_experiment_says_whether_the_tests_of_its_program_were_shared(
    results, journal, plan, gate, held_out, shared
):
    one = plan.experiments()[0]
    journal.tell(one)
    code = results.experiment(one.id).experiment.code
    journal.say(CandidateScored(code, True, gate, held_out), one.id)
    assert results.experiment(one.id).experiment.shared is shared
    assert results.frame("experiments").set_index("id").loc[one.id, "shared"] == shared


def test_a_benchmark_and_its_experiments_say_what_programs_ran_in_and_what_that_was_tested_by(results, journal, plan):
    opened = next(iter(read_all(journal.path))).event
    assert (results.benchmark(plan.id).isolation, results.benchmark(plan.id).self_test) == ("limited", "")
    journal.say(replace(opened, isolation="hardened", self_test="17/17"))
    assert (results.benchmark(plan.id).isolation, results.benchmark(plan.id).self_test) == ("hardened", "17/17")
    frame = results.frame("experiments")
    assert set(zip(frame["isolation"], frame["self_test"], strict=True)) == {("hardened", "17/17")}
