"""Ranking models by what they have done: on the same problems, and what is not known comes last."""

from __future__ import annotations

import pytest

from koderz_core.analysis.model_selection import ranked
from koderz_core.errors import UnknownNameError
from koderz_core.records.plans import Measurement, Ranked

BOTH = ("a", "b")


def tried(model: str, problem: str, solved: int, seconds: float | None = 2.0, usd: float | None = 0.1) -> Measurement:
    """Twice, on a problem of one dataset."""
    return Measurement(model, "0", problem, 2, solved, seconds, usd)


def order(policy: str, *measured: Measurement, models: tuple[str, ...] = BOTH) -> list[str]:
    return [model.model for model in ranked(policy, models, measured)]


def test_quality_prefers_whoever_solved_more_and_says_how_much() -> None:
    rows = ranked("quality", BOTH, [tried("a", "1", 1), tried("b", "1", 2), tried("a", "2", 0), tried("b", "2", 1)])
    assert rows == (Ranked("b", 0.75, "solved 75.0% on 2 problems"), Ranked("a", 0.25, "solved 25.0% on 2 problems"))


def test_only_problems_count_that_all_were_tried_on() -> None:
    easy = [tried("a", str(number), 2) for number in range(2, 9)]
    rows = ranked("quality", BOTH, [tried("a", "1", 0), tried("b", "1", 1), *easy])
    assert rows == (Ranked("b", 0.5, "solved 50.0% on 1 problem"), Ranked("a", 0.0, "solved 0.0% on 1 problem"))
    apart = ranked("quality", BOTH, [*easy, tried("b", "1", 0)])
    assert {(model.score, model.reason) for model in apart} == {
        (None, "no problem has a result from every measured model")
    }


def test_the_same_id_in_another_dataset_is_another_problem() -> None:
    elsewhere = Measurement("b", "1", "1", 2, 2, 1.0, 0.0)
    assert [model.score for model in ranked("quality", BOTH, [tried("a", "1", 0), elsewhere])] == [None, None]


def test_whoever_was_never_tried_comes_last_and_takes_no_problem_from_the_others() -> None:
    rows = ranked("quality", ("c", *BOTH), [tried("a", "1", 1), tried("b", "1", 2)])
    assert [(row.model, row.score, row.reason) for row in rows][2] == ("c", None, "no results")
    assert [row.model for row in rows] == ["b", "a", "c"]


def test_latency_and_cost_prefer_less_and_know_what_is_not_known() -> None:
    slow, quick = tried("a", "1", 2, seconds=9.0, usd=0.0), tried("b", "1", 0, seconds=1.0, usd=0.2)
    assert (order("latency", slow, quick), order("cost", slow, quick)) == (["b", "a"], ["a", "b"])
    assert (
        ranked("cost", ("a",), [tried("a", "1", 2, usd=0.5)])[0].reason
        == "calls cost $0.25 per experiment on 1 problem"
    )
    free = tried("a", "1", 2, usd=None)
    assert ranked("cost", BOTH, [free, quick])[1] == Ranked("a", None, "its cost is unknown")


def test_context_prefers_room_and_fixed_and_ties_the_order_of_names() -> None:
    contexts = {"a": 8192, "b": 32768, "c": None}
    assert [model.model for model in ranked("context", ("c", *BOTH), contexts=contexts)] == ["b", "a", "c"]
    assert order("fixed", tried("b", "1", 2)) == ["a", "b"]
    assert order("quality", tried("a", "1", 1), tried("b", "1", 1), models=("b", "a")) == ["b", "a"]


def test_an_unknown_policy_is_an_error() -> None:
    with pytest.raises(UnknownNameError, match=r"Unknown selection policy: 'qualty'\. Did you mean: quality"):
        ranked("qualty", BOTH)
