"""Selected: whom it asks by what is recalled, and whom next."""

from __future__ import annotations

import pytest
from stage import Stage

from koderz_core.errors import PlanError
from koderz_core.records import Memory, Query
from koderz_core.strategies import create
from koderz_core.strategies.selected import Selected


def recommended(*members: int) -> list[Memory]:
    return [Memory("solved more", f"scripted/{item}", {"member": str(item)}) for item in members]


def test_whoever_is_recommended_is_asked_once_and_nothing_is_tested() -> None:
    stage = Stage(coders=3, remembered=recommended(2, 0, 1))
    assert Selected(policy="cost").solve(stage) == "def f(x):\n    return 1"
    assert (stage.members_asked, stage.tested) == ([2], 0)
    assert stage.queries == [Query("statistics", {"policy": "cost", "role": "coder"}, limit=3)]


def test_a_reply_without_a_program_passes_the_problem_on_to_the_next() -> None:
    stage = Stage(coders=3, programs=[None, None], remembered=recommended(2, 0, 1))
    assert Selected().solve(stage) == "def f(x):\n    return 3"
    assert stage.members_asked == [2, 0, 1]
    assert Selected().solve(Stage(coders=1, programs=[None])) is None


def test_where_nothing_is_recalled_they_are_asked_as_they_are_named() -> None:
    stage = Stage(coders=2, programs=[None])
    Selected().solve(stage)
    assert stage.members_asked == [0, 1]


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(PlanError, match="policy must be one of quality, latency, cost, context, fixed, not 'best'"):
        create("selected", {"policy": "best"})
