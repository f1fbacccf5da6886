"""What the store says of the tests that gave a score, for the marks of a rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from koderz_core.events import ExperimentFinished, ExperimentStarted
from koderz_core.records import Configuration, Plan
from koderz_core.records.marks import Marks
from koderz_core.store.configurations import summaries
from koderz_core.store.experiments import experiments
from koderz_core.store.frames import Part, Tables
from koderz_core.store.index import Index, Writers
from koderz_core.store.store import Store

CODER, REVIEWED = {"coder": ("ollama/small",)}, {"coder": ("ollama/small",), "reviewer": ("ollama/large",)}
Write = Callable[[Plan], Any]  # Any: JournalWriter of conftest.py


@pytest.mark.parametrize(
    ("configuration", "saw"),
    [
        (Configuration("supervised", CODER), True),
        (Configuration("supervised", CODER, gate="split:0.5"), True),
        (Configuration("supervised", CODER, gate="examples"), False),
        *((Configuration("supervised", CODER, feedback=item), False) for item in ("error", "count", "none")),
        (Configuration("supervised", CODER, {"max_iterations": 1}), False),
        (Configuration("beam", CODER, {"depth": 1}), False),
        (Configuration("beam", CODER, {"depth": 2}), True),
        (Configuration("mine.py:Loop", CODER, {"depth": 1}), True),
        (Configuration("supervised", CODER, {"previous_error": False}), False),
        (Configuration("supervised", REVIEWED, {"previous_error": False}), True),
        *((Configuration(item, CODER), False) for item in ("direct", "ladder", "best_of", "cascade")),
        (Configuration("mine.py:Loop", CODER), True),
    ],
    ids=str,
)
def test_a_loop_has_seen_base_tests_if_its_models_are_shown_what_they_expect(
    write: Write, store: Store, plan: Plan, configuration: Configuration, saw: bool
) -> None:
    journal = write(replace(plan, configurations=(configuration,)))
    journal.tell(journal.plan.experiments()[0])
    with store.open() as con:
        index = Index(con, Writers(store.journals_dir))
        (summary,) = summaries(index)
        frame = Tables(con, index.writers).frame(Part("experiments"))
        rows = experiments(index)
    assert {summary.saw_base_tests, *frame["saw_base_tests"], *(row.saw_base_tests for row in rows)} == {saw}


def test_every_configuration_has_seen_base_tests_if_the_text_of_the_problems_shows_them(
    write: Write, store: Store, plan: Plan
) -> None:
    chosen = (Configuration("direct", CODER), Configuration("supervised", CODER, gate="examples"))
    dataset = replace(plan.dataset, name="humanevalfix+tests")
    write(replace(plan, configurations=chosen, dataset=dataset))
    with store.open() as con:
        assert [row.saw_base_tests for row in summaries(Index(con, Writers(store.journals_dir)))] == [True, True]


def test_problems_are_counted_that_are_scored_by_the_tests_the_loop_stopped_on(
    write: Write, store: Store, plan: Plan
) -> None:
    journal = write(replace(plan, configurations=plan.configurations[:1], repeats=2))
    kinds = {"HumanEval/0": "oracle", "HumanEval/1": "held_out"}
    for item in (item for item in journal.plan.experiments() if item.problem in kinds):
        journal.say(ExperimentStarted(item), item.id)
        journal.say(ExperimentFinished("unsolved", "gate", kinds[item.problem], None, 1.0), item.id)
    with store.open() as con:
        (row,) = summaries(Index(con, Writers(store.journals_dir)))
    assert (row.marks, row.score_kind) == (Marks(problems=2, oracle_problems=1), "mixed")
