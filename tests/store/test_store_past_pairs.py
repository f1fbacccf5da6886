"""On how many problems the configurations of earlier benchmarks differed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count, islice
from typing import Any

import pytest

from koderz_core.records import Plan
from koderz_core.records.progress import PastPair
from koderz_core.store import measurements
from koderz_core.store.index import Index, Writers
from koderz_core.store.measurements import FEWEST, past_pairs
from koderz_core.store.store import Store

MOST = 4  # benchmarks that are read, here
Solves = Callable[[str, int, int], bool]
"""Whether a strategy solves a problem, by its number, in a repeat."""


@pytest.fixture
def measured(write: Callable[[Plan], Any], plan: Plan, store: Store) -> Callable[..., list[PastPair]]:
    """What is known of past pairs after ``direct`` and ``supervised`` were run."""

    def run(solves: Solves, problems: int = FEWEST, repeats: int = 1) -> list[PastPair]:
        names = tuple(f"HumanEval/{number}" for number in range(problems))
        run_plan = replace(plan, problems=names, repeats=repeats)
        journal, strategies = (
            write(run_plan),
            {configuration.id: configuration.strategy for configuration in plan.configurations},
        )
        for experiment in run_plan.experiments():
            number = int(experiment.problem.partition("/")[2])
            journal.tell(experiment, passed=solves(strategies[experiment.configuration], number, experiment.repeat))
        with store.latest() as latest:
            index = Index(latest.con, Writers(store.journals_dir))
            assert past_pairs(index, "b" * 64, scripted=False) == []
            return past_pairs(index, plan.dataset.sha256, scripted=False)

    return run


def test_a_pair_is_known_with_its_discordant_problems(measured):
    (pair,) = measured(lambda strategy, number, _: strategy == "direct" or number < 15)
    assert sorted(pair.strategies) == ["direct", "supervised"]
    assert {len(models) for models in pair.models} == {1, 2}
    assert (pair.problems, pair.discordant, pair.from_chance) == (20, 5.0, None)


def test_a_pair_with_few_problems_in_common_tells_nothing(measured):
    assert measured(lambda *_: True, problems=FEWEST - 1) == []


def test_repeats_tell_how_much_of_the_variance_is_chance(measured):
    def solves(strategy: str, number: int, repeat: int) -> bool:
        """On 8 problems one always solves; on 8 more, each solves every other time."""
        return strategy == "direct" if number < 8 else number < 16 and (repeat + (strategy == "direct")) % 2 == 0

    (pair,) = measured(solves, repeats=4)
    within = 8 * 2 * 0.25 * 4 / 3 / 20  # of both, by the unbiased variance of four trials
    assert pair.discordant == pytest.approx(8 + 8 * 0.5)
    assert pair.from_chance == pytest.approx(within / (12 / 20 - (8 / 20) ** 2))


def test_repeats_that_are_always_alike_are_no_chance(measured):
    (pair,) = measured(lambda strategy, number, _: strategy == "direct" or number < 15, repeats=2)
    assert pair.from_chance == 0


def test_benchmarks_of_scripted_models_take_no_place_of_others(write, plan, store, monkeypatch):
    """As many with scripted models as are read stand before the one with real ones: all begin at the same time."""
    monkeypatch.setattr(measurements, "MOST_BENCHMARKS", MOST)
    real = replace(plan, problems=tuple(f"HumanEval/{number}" for number in range(FEWEST)))
    coder = {"coder": ("scripted/strong",)}
    scripted = replace(
        real, configurations=tuple(replace(configuration, models=coder) for configuration in plan.configurations)
    )
    before = (replace(scripted, seed=seed) for seed in count())
    plans = [real, *islice((item for item in before if item.id < real.id), MOST)]
    for run_plan in plans:
        journal = write(run_plan)
        for experiment in run_plan.experiments():
            journal.tell(experiment)
    with store.latest() as latest:
        index = Index(latest.con, Writers(store.journals_dir))
        found = [len(past_pairs(index, plan.dataset.sha256, scripted=item)) for item in (False, True)]
    assert found == [1, MOST]
