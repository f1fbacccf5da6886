"""Experiments as statistics look at them, asked of a store."""

from __future__ import annotations

import pytest

from koderz_core.events import (
    CallFailed,
    CallFinished,
    CallStarted,
    CandidateScored,
    CheckpointReviewed,
    CodeTested,
    ExperimentFinished,
    ExperimentStarted,
    SpecWritten,
)
from koderz_core.records import Cost, MessageRef, Sampling, Usage, Verdict
from koderz_core.store import trials as asked
from koderz_core.store.index import Index, Writers

LOCAL, FRONTIER = "ollama/qwen2.5-coder:0.5b", "anthropic/claude-opus-4-5"
SMALL = "anthropic/claude-haiku-4-5"
RIGHT = Verdict("PP", (), True, None, "", 0.5, "strong")
WRONG = Verdict("PF", (), True, "assertion", "", 0.5, "strong")


@pytest.fixture
def trials(store, plan):
    def ask():
        store.ingest()
        with store.open() as con:
            index = Index(con, Writers(store.journals_dir))
            return {trial.experiment: trial for trial in asked.trials(index, [plan.id])}

    return ask


@pytest.fixture
def supervised(journal, plan):
    """A program that fails, a review by a stronger model, one that passes the gate and not the held-out tests."""
    experiment = plan.experiments()[1]
    journal.say(ExperimentStarted(experiment), experiment.id)
    journal.say(SpecWritten("sort them"), experiment.id, 0)
    ask(journal, experiment, 0, LOCAL, 0.25)
    first, second = journal.text("first"), journal.text("second")
    journal.say(CodeTested(1, "hash", first, "fence", WRONG), experiment.id, 1)
    ask(journal, experiment, 2, FRONTIER, 4.0)
    journal.say(CheckpointReviewed(1, 1, "mind the empty list"), experiment.id, 3)
    ask(journal, experiment, 4, LOCAL, 0.5)
    journal.say(CodeTested(2, "hash", second, "fence", RIGHT), experiment.id, 5)
    journal.say(CandidateScored(first, False, WRONG, WRONG), experiment.id)
    journal.say(CandidateScored(second, True, RIGHT, WRONG), experiment.id)
    journal.say(ExperimentFinished("unsolved", "gate", "held_out", second, 9.0), experiment.id)
    return experiment


def ask(journal, experiment, ordinal, model, usd):
    journal.ask(experiment, ordinal, model)
    journal.answer(experiment, ordinal, "answer", usd)


def test_each_iteration_knows_what_had_been_used_by_its_end_and_the_reviews_before_it(trials, supervised):
    first, second = trials()[supervised.id].tries
    assert (first.usd, first.seconds, first.checkpoints) == (0.25, 2.0, 0)
    assert (second.usd, second.seconds, second.checkpoints) == (4.75, 5.5, 1)


@pytest.mark.parametrize(("guidance", "helped"), [("mind zero", 1), ("", 0), (" \n", 0)])
def test_an_empty_review_is_no_help(trials, journal, plan, guidance, helped):
    experiment = plan.experiments()[0]
    journal.say(ExperimentStarted(experiment), experiment.id)
    journal.say(CheckpointReviewed(1, 0, guidance), experiment.id, 0)
    journal.say(CodeTested(1, "hash", journal.text("first"), "fence", WRONG), experiment.id, 1)
    assert [item.checkpoints for item in trials()[experiment.id].tries] == [helped]


def test_a_gate_that_was_passed_without_a_right_program_is_told_apart(trials, supervised):
    told = trials()[supervised.id]
    assert (told.outcome, told.gate_passed, told.score_kind) == ("unsolved", True, "held_out")
    assert [(item.gate_passed, item.held_out_passed) for item in told.tries] == [(False, False), (True, False)]


def test_what_stronger_models_cost_is_counted_apart(trials, supervised):
    told = trials()[supervised.id]
    assert (told.usd, told.frontier_usd, told.tokens, told.frontier_tokens) == (4.75, 4.0, 360, 120)


def test_of_what_stronger_models_cost_the_small_ones_are_counted_apart(trials, journal, plan):
    experiment = plan.experiments()[0]
    journal.say(ExperimentStarted(experiment), experiment.id)
    ask(journal, experiment, 0, SMALL, 0.5)
    ask(journal, experiment, 2, FRONTIER, 4.0)
    told = trials()[experiment.id]
    assert (told.usd, told.frontier_usd, told.small_frontier_usd) == (4.5, 4.5, 0.5)


def test_a_failed_local_attempt_costs_its_share_of_the_machine_on_the_way_too(trials, journal, plan):
    experiment = plan.experiments()[0]
    journal.say(ExperimentStarted(experiment), experiment.id)
    journal.ask(experiment, 0, LOCAL)
    journal.say(CallFailed("late", 60.0, True, cost=Cost(0.5, "65 W")), experiment.id, 0)
    journal.ask(experiment, 0, LOCAL, attempt=2)
    journal.answer(experiment, 0, "answer", 0.25)
    journal.say(CodeTested(1, "hash", None, "none", WRONG), experiment.id, 1)
    told = trials()[experiment.id]
    assert (told.usd, told.tries[0].usd, told.tries[0].seconds) == (0.75, 0.75, 2.0)


def test_a_failed_attempt_of_unknown_cost_adds_none(trials, journal, plan):
    experiment = plan.experiments()[0]
    journal.say(ExperimentStarted(experiment), experiment.id)
    journal.ask(experiment, 0, LOCAL)
    journal.say(CallFailed("busy", 60.0, True), experiment.id, 0)
    journal.ask(experiment, 0, LOCAL, attempt=2)
    journal.answer(experiment, 0, "answer", 0.25)
    journal.say(CodeTested(1, "hash", None, "none", WRONG), experiment.id, 1)
    told = trials()[experiment.id]
    assert (told.usd, told.tries[0].usd, told.tries[0].seconds, told.tries[0].code) == (0.25, 0.25, 2.0, None)


def test_one_call_without_a_price_leaves_all_that_follows_open(trials, journal, plan):
    experiment = plan.experiments()[0]
    journal.say(ExperimentStarted(experiment), experiment.id)
    ask(journal, experiment, 0, LOCAL, 0.25)
    journal.say(CodeTested(1, "hash", None, "none", WRONG), experiment.id, 1)
    ask(journal, experiment, 2, FRONTIER, None)
    journal.say(CodeTested(2, "hash", None, "none", WRONG), experiment.id, 3)
    told = trials()[experiment.id]
    assert [item.usd for item in told.tries] == [0.25, None]
    assert (told.usd, told.frontier_usd) == (None, None)


def test_each_iteration_knows_the_tokens_and_the_energy_so_far_as_long_as_each_call_reports_them(trials, journal, plan):
    experiment = plan.experiments()[0]
    journal.say(ExperimentStarted(experiment), experiment.id)
    for ordinal, (usage, kwh) in enumerate([(Usage(5, 2), 0.5), (Usage(7, 1), 0.25), (Usage(5, None), None)]):
        journal.ask(experiment, 2 * ordinal, LOCAL)
        cost = Cost(0.1, "", kwh=kwh)
        answered = CallFinished(journal.text("a"), "stop", usage, cost, 1.0, None, Sampling())
        journal.say(answered, experiment.id, 2 * ordinal)
        journal.say(CodeTested(ordinal + 1, "hash", None, "none", WRONG), experiment.id, 2 * ordinal + 1)
    told = trials()[experiment.id]
    assert [(item.tokens, item.joules) for item in told.tries] == [(7, 1.8e6), (15, 2.7e6), (None, None)]
    assert (told.tokens, told.joules) == (None, None)


def test_tokens_that_were_not_reported_are_unknown(trials, journal, plan):
    experiment = plan.experiments()[0]
    journal.say(ExperimentStarted(experiment), experiment.id)
    journal.ask(experiment, 0, LOCAL)
    answered = CallFinished(journal.text("a"), "stop", Usage(5, None), Cost(0.1, ""), 1.0, None, Sampling())
    journal.say(answered, experiment.id, 0)
    told = trials()[experiment.id]
    assert (told.tokens, told.frontier_tokens, told.frontier_usd) == (None, 0, 0)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (Sampling(0.8, max_tokens=1024), True),
        (Sampling(0.2, max_tokens=1024), True),
        (Sampling(0.8, max_tokens=512), False),
        (Sampling(0.8, top_p=0.9, max_tokens=1024), False),
        (Sampling(0.8, max_tokens=1024, effort="high"), False),
    ],
)
def test_calls_have_the_same_prompt_if_only_their_temperatures_differ(store, journal, plan, other, same):
    for experiment, sampling in zip(plan.experiments()[:2], (Sampling(0.8, max_tokens=1024), other), strict=True):
        journal.say(ExperimentStarted(experiment), experiment.id)
        message = MessageRef("user", journal.text("the same prompt"))
        journal.say(CallStarted("coder", 0, LOCAL, "hash", (message,), sampling, 7, 1), experiment.id, 0)
        journal.answer(experiment, 0, "answer", 0.5)
    store.ingest()
    with store.open() as con:
        first, second = asked.coder_calls(Index(con, Writers(store.journals_dir)), [plan.id])
    assert (first.prompt == second.prompt) is same


def test_what_has_not_begun_and_what_runs_again_has_no_outcome(trials, journal, plan):
    first, waiting = plan.experiments()[:2]
    journal.tell(first)
    journal.say(ExperimentStarted(first), first.id)
    told = trials()
    assert len(told) == len(plan.experiments())
    assert (told[first.id].outcome, told[waiting.id].outcome, told[waiting.id].tries) == (None, None, ())


def test_a_strategy_that_ran_no_test_saw_no_gate(trials, journal, plan):
    experiment = plan.experiments()[0]
    journal.say(ExperimentStarted(experiment), experiment.id)
    ask(journal, experiment, 0, LOCAL, 0.25)
    journal.say(CandidateScored(journal.text("code"), True, RIGHT, RIGHT), experiment.id)
    journal.say(ExperimentFinished("solved", "iterations", "held_out", journal.text("code"), 2.0), experiment.id)
    told = trials()[experiment.id]
    assert (told.gate_passed, told.iterations, told.attempts, told.tries, told.solved) == (None, 0, 1, (), True)
