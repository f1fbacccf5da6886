"""Specs: which of them another experiment may be built on, and what is told of each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koderz_core.events import (
    SCHEMA_VERSION,
    BenchmarkOpened,
    CallFinished,
    CallStarted,
    CheckpointReviewed,
    ExperimentFinished,
    MemoryRecalled,
    SpecWritten,
)
from koderz_core.records import Asker, Configuration, Cost, DatasetOrigin, Memory, MemoryRef, Query, Sampling, Usage
from koderz_core.store.index import Index, Writers
from koderz_core.store.measurements import recalled, specs
from koderz_core.store.results import Results

SPEC_MODEL = "anthropic/claude-opus-4-5"
MODELS = {"spec": (SPEC_MODEL, "other/second"), "coder": ("ollama/qwen2.5-coder:0.5b",)}


@pytest.fixture
def plan(plan):
    supervised = Configuration("supervised", MODELS, {"iterations": 5})
    return replace(plan, configurations=(supervised,), repeats=3)


@pytest.fixture
def begin(write):
    """A journal whose prompts have versions."""

    def begun(plan, wording="1"):
        made = write(plan)
        made.say(BenchmarkOpened(SCHEMA_VERSION, "0", plan.id, plan, {"spec": wording}, "prices 1", "limited", {}))
        return made

    return begun


def tell(journal, text, experiment, finish="stop", temperature=0.0, **of_it):
    """A spec with the call that wrote it, ended by ``finish``."""
    sampling = Sampling(temperature, max_tokens=1024)
    journal.say(CallStarted("spec", 0, SPEC_MODEL, "hash", (), sampling, 7, 1), experiment, 1)
    said = CallFinished(journal.text(text), finish, Usage(), Cost(0.0, "prices 1"), 1.0, None, Sampling())
    journal.say(said, experiment, 1)
    journal.say(SpecWritten(text, **of_it), experiment, 2)


def asker(plan, **changed):
    return Asker(
        **{"experiment": "exp_me", "problem": "HumanEval/0", "dataset": plan.dataset, "models": MODELS} | changed
    )


def found(store, asked, prompt="minimal", wording="1", limit=5):
    return [(item.text, item.origin) for item in recalled(store, asked, prompt, wording, 0.0, limit)]


def test_the_newest_specs_come_first_from_any_benchmark_with_whoever_wrote_them(store, begin, plan):
    first, second, _ = (experiment.id for experiment in plan.experiments() if experiment.problem == "HumanEval/0")
    journal, other = begin(plan), begin(replace(plan, seed=1))
    tell(journal, "old", first)
    tell(journal, "newer", second)
    last = next(experiment.id for experiment in other.plan.experiments() if experiment.problem == "HumanEval/0")
    other.at = journal.at
    tell(other, "newest", last)
    assert found(store, asker(plan)) == [("newest", last), ("newer", second), ("old", first)]
    assert found(store, asker(plan), limit=1) == [("newest", last)]


def test_a_spec_of_anything_else_is_not_recalled(store, begin, plan):
    tell(begin(plan), "it", plan.experiments()[0].id)
    assert found(store, asker(plan))
    others = {
        "experiment": plan.experiments()[0].id,  # its own
        "problem": "HumanEval/1",
        "dataset": DatasetOrigin("humaneval", "b" * 64, "MIT"),
        "models": {**MODELS, "spec": MODELS["spec"][::-1]},
    }
    assert [found(store, asker(plan, **{name: value})) for name, value in others.items()] == [[]] * 4
    assert found(store, asker(plan), prompt="detailed") == found(store, asker(plan), wording="2") == []
    assert found(store, asker(plan, models={"coder": MODELS["coder"]})) == []


def test_a_reused_an_empty_and_a_failed_experiments_spec_are_no_sources(store, begin, plan):
    reusing, empty, failed = (experiment.id for experiment in plan.experiments() if experiment.problem == "HumanEval/0")
    journal = begin(plan)
    tell(journal, "taken over", reusing, origin="exp_other")
    tell(journal, " \n", empty)
    tell(journal, "of an error", failed)
    assert found(store, asker(plan)) == [("of an error", failed)]
    journal.say(ExperimentFinished("error", None, None, None, 1.0, error="no answer"), failed)
    assert found(store, asker(plan)) == []


@pytest.mark.parametrize("finish", ["length", "refused", "empty"])
def test_a_spec_that_was_not_written_to_its_end_is_no_source(store, begin, plan, finish):
    cut, whole, _ = (experiment.id for experiment in plan.experiments() if experiment.problem == "HumanEval/0")
    journal = begin(plan)
    tell(journal, "whole", whole)
    tell(journal, "half of", cut, finish)
    assert found(store, asker(plan)) == [("whole", whole)]


@pytest.mark.parametrize("temperature", [0.8, None])
def test_a_spec_that_was_sampled_at_another_temperature_is_not_recalled(store, begin, plan, temperature):
    tell(begin(plan), "it", plan.experiments()[0].id, temperature=temperature)
    assert found(store, asker(plan)) == []


def test_a_reused_spec_tells_what_writing_it_took_where_it_was_written(store, begin, plan):
    writer, reuser, _ = (experiment for experiment in plan.experiments() if experiment.problem == "HumanEval/0")
    journal = begin(plan)
    journal.say(CallStarted("spec", 0, SPEC_MODEL, "hash", (), Sampling(), 7, 1), writer.id, 1)
    journal.answer(writer, 1, "Add both.")
    journal.say(SpecWritten("Add both."), writer.id, 2)
    journal.say(SpecWritten("Add both.", origin=writer.id), reuser.id, 2)
    store.ingest()
    with store.open() as con:
        index = Index(con, Writers(store.journals_dir))
        reused, written = specs(index, problem="HumanEval/0")
        assert specs(index, experiment=writer.id) == specs(index, benchmark=plan.id)[1:] == [written]
    assert (reused.origin, reused.source, written.source, written.model) == (
        writer.id,
        writer.id,
        writer.id,
        SPEC_MODEL,
    )
    assert (reused.cost_usd, reused.output_tokens, reused.words) == (written.cost_usd, 20, 2) == (0.25, 20, 2)
    assert (written.prompt, written.wording, written.dataset_origin) == ("minimal", "1", plan.dataset)


def test_notes_keep_all_that_was_said_of_them_and_that_nothing_could_be_recalled(store, journal, plan):
    experiment = plan.experiments()[0].id
    answer = {"Root cause": "signs", "Fix": "abs"}
    journal.say(MemoryRecalled("hash", Query("spec"), (), 0.1, "The store is locked."), experiment, 1)
    journal.say(SpecWritten("Add.", "detailed", "exp_other"), experiment, 2)
    journal.say(CheckpointReviewed(1, 3, "abs", "plateau", answer, ("Fix",)), experiment, 3)
    store.ingest()
    details = Results(store, lambda *_: None).experiment(experiment)
    failed, spec, review = details.notes
    assert [step.note for step in details.steps] == [spec, review]
    assert (failed.kind, failed.text) == ("recall_failed", "The store is locked.")
    assert (spec.prompt, spec.origin, spec.why) == ("detailed", "exp_other", None)
    assert (review.why, review.sections, review.passed_on, review.iteration) == ("plateau", answer, ("Fix",), 3)


def test_a_small_probability_of_a_selector_keeps_its_power_of_ten(store, journal, plan):
    experiment = plan.experiments()[0].id
    tags = {"probability": "8.1e-05", "propensity": "9.998e-05"}, {"probability": "0.98765"}, {"probability": "unknown"}
    memories = tuple(MemoryRef("", f"it/{at}", of) for at, of in enumerate(tags))
    journal.say(MemoryRecalled("hash", Query("selector"), memories, 0.1), experiment, 1)
    store.ingest()
    (note,) = Results(store, lambda *_: None).experiment(experiment).notes
    assert note.text.split("\n") == [
        "it/0: P(right) 8.1e-05, propensity 0.0001",
        "it/1: P(right) 0.988",
        "it/2: P(right) unkno",
    ]


def test_what_is_recalled_is_a_memory_without_more(store, begin, plan):
    tell(begin(plan), "it", plan.experiments()[0].id)
    assert recalled(store, asker(plan), "minimal", "1", 0.0, 1) == [Memory("it", plan.experiments()[0].id)]
