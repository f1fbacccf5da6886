"""An experiment step by step."""

from __future__ import annotations

import pytest

from koderz_core.analysis.timing import seconds_left
from koderz_core.events import (
    CallFailed,
    CallStarted,
    CandidateScored,
    CheckpointReviewed,
    CodeTested,
    ExperimentFinished,
    ExperimentStarted,
    SpecWritten,
)
from koderz_core.records import Sampling, Verdict
from koderz_core.store.results import Results

WRONG = Verdict("PF", (), True, "assertion", "", 0.5, "limited")
FRONTIER = "anthropic/claude-opus-4-5"


@pytest.fixture
def steps(store):
    results = Results(store, seconds_left)
    return lambda experiment: results.experiment(experiment.id).steps


@pytest.fixture
def supervised(journal, plan):
    experiment = next(item for item in plan.experiments() if item.configuration == plan.configurations[1].id)
    journal.say(ExperimentStarted(experiment), experiment.id)
    return experiment


@pytest.fixture
def direct(journal, plan):
    experiment = next(item for item in plan.experiments() if item.configuration == plan.configurations[0].id)
    journal.say(ExperimentStarted(experiment), experiment.id)
    return experiment


@pytest.fixture
def iterate(journal):
    """One iteration: a call, then a test of the program that was asked for, None if the reply contained no program."""

    def iterated(experiment, number: int, ordinal: int, program: str | None, usd: float | None = 0.25) -> str | None:
        code = None if program is None else journal.text(program)
        journal.ask(experiment, ordinal)
        journal.answer(experiment, ordinal, "reply", usd)
        journal.say(CodeTested(number, "hash", code, "fence", WRONG), experiment.id, ordinal + 1)
        return code

    return iterated


def test_spec_iterations_and_checkpoints_follow_each_other(journal, steps, supervised, iterate):
    journal.ask(supervised, 1)
    journal.answer(supervised, 1, "Add.")
    journal.say(SpecWritten("Add."), supervised.id, 2)
    iterate(supervised, 1, 3, "a = 1")
    journal.ask(supervised, 5, FRONTIER)
    journal.answer(supervised, 5, "Use sets.")
    journal.say(CheckpointReviewed(1, 1, "Use sets."), supervised.id, 6)
    iterate(supervised, 2, 7, "a = 2")
    told = steps(supervised)
    assert [(step.kind, step.number) for step in told] == [
        ("spec", 1),
        ("iteration", 1),
        ("checkpoint", 1),
        ("iteration", 2),
    ]
    assert [[call.ordinal for call in step.calls] for step in told] == [[1], [3], [5], [7]]
    assert (told[0].note.text, told[1].iteration.iteration, told[2].note.text) == ("Add.", 1, "Use sets.")


def test_a_step_names_its_program_and_the_latest_before_it(steps, supervised, iterate):
    first = iterate(supervised, 1, 1, "a = 1")
    iterate(supervised, 2, 3, None)
    third = iterate(supervised, 3, 5, "a = 3")
    told = steps(supervised)
    assert [(step.program, step.previous) for step in told] == [(first, None), (None, first), (third, first)]


def test_failed_attempts_belong_to_the_step_they_delayed(journal, steps, supervised, iterate):
    journal.ask(supervised, 1)
    journal.say(CallFailed("overloaded", 2.0, True), supervised.id, 1)
    journal.ask(supervised, 1, attempt=2)
    journal.answer(supervised, 1, "reply")
    journal.say(CodeTested(1, "hash", None, "none", WRONG), supervised.id, 2)
    (step,) = steps(supervised)
    assert [call.state for call in step.calls] == ["failed", "finished"]
    assert (step.seconds, step.cost_usd) == (2.0 + 1.5 + 0.5, 0.25)


def test_a_call_without_a_price_leaves_the_cost_of_its_step_open(steps, supervised, iterate):
    iterate(supervised, 1, 1, "a = 1", usd=None)
    iterate(supervised, 2, 3, "a = 2")
    assert [step.cost_usd for step in steps(supervised)] == [None, 0.25]


def test_a_step_under_way_is_there_already(journal, steps, supervised, iterate):
    first = iterate(supervised, 1, 1, "a = 1")
    journal.ask(supervised, 3)
    step = steps(supervised)[-1]
    assert (step.kind, step.number, step.iteration, step.program, step.previous) == ("iteration", 2, None, None, first)
    assert ([call.state for call in step.calls], step.cost_usd) == (["started"], 0.0)


@pytest.mark.parametrize(("role", "kind"), [("spec", "spec"), ("reviewer", "checkpoint"), ("coder", "iteration")])
def test_what_is_under_way_is_told_by_its_role(journal, steps, supervised, role, kind):
    asked = CallStarted(role, 0, FRONTIER, "hash", (), Sampling(), 7, 1)
    journal.say(asked, supervised.id, 1)
    assert [step.kind for step in steps(supervised)] == [kind]


def test_an_answer_that_was_handed_in_untested_is_a_step_with_its_program(journal, steps, direct):
    journal.ask(direct, 1)
    journal.answer(direct, 1, "reply")
    other, code = journal.text("a = 0"), journal.text("a = 1")
    journal.say(CandidateScored(other, False, WRONG, None), direct.id)
    journal.say(CandidateScored(code, True, WRONG, None), direct.id)
    journal.say(ExperimentFinished("unsolved", "iterations", "held_out", code, 2.0), direct.id)
    assert [(step.kind, step.number, step.program) for step in steps(direct)] == [("answer", 1, code)]


def test_an_answer_without_a_program_is_an_answer_too(journal, steps, direct):
    journal.ask(direct, 1)
    journal.answer(direct, 1, "I cannot.")
    journal.say(ExperimentFinished("unsolved", "gave_up", "held_out", None, 2.0, "extraction"), direct.id)
    assert [(step.kind, step.program) for step in steps(direct)] == [("answer", None)]


def test_whatever_the_strategy_a_program_that_was_tried_is_no_untested_answer(journal, steps, direct, iterate):
    code = iterate(direct, 1, 1, "a = 1")
    journal.ask(direct, 3)
    journal.say(ExperimentFinished("unsolved", "iterations", "oracle", code, 2.0), direct.id)
    assert [(step.kind, step.program) for step in steps(direct)] == [("iteration", code), ("iteration", None)]


def test_an_experiment_that_has_not_begun_has_no_steps(steps, journal, plan):
    assert steps(plan.experiments()[-1]) == ()


def test_texts_are_given_by_hash_and_unknown_ones_left_out(store, journal):
    known = {journal.text(text): text for text in ("one", "two")}
    assert Results(store, seconds_left).texts([*known, "f" * 64]) == known
