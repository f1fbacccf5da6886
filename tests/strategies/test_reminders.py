"""Lessons and examples reach the coder of every strategy that is asked for them, and of no other."""

from __future__ import annotations

from typing import get_args

import pytest
from stage import WRITERS, Stage

from koderz_core.prompts.coding import EXAMPLES_LIMIT, LIMITS, example
from koderz_core.records import Memory, Query
from koderz_core.records.steps import QueryKind
from koderz_core.strategies import ADDED, STRATEGIES, complete, create, facts_of, recorded

TOLD = (Memory("Mind the MARK.", "3 other problems", {"member": "0"}),)
ONE_BY_ONE = {"beam": {"width": 1, "branches": 1}}
ALL_ON: dict[str, bool | str | float] = {
    "lessons": True,
    "examples": True,
    "search": "github",
    "turn_timeout": 9.0,
    "repository_tokens": 500,
}


def played(name: str, **parameters: bool | str) -> Stage:
    """A strategy on a stage where two programs fail and then one passes."""
    stage = Stage([0, 0, 3, 3, 3, 3], remembered=TOLD, selects=True)
    create(name, {**ONE_BY_ONE.get(name, {}), **parameters}).solve(stage)
    return stage


def reminders(stage: Stage) -> list[Query]:
    """What was asked for by a coder, and not of models."""
    return [item for item in stage.queries if item.kind not in ("statistics", "selector")]


@pytest.mark.parametrize("name", STRATEGIES)
def test_examples_stand_in_every_prompt_of_every_coder_and_nowhere_else(name: str) -> None:
    stage = played(name, examples=True)
    shown = {role for role, prompt, _ in stage.asked if "Example 1:\nMind the MARK." in prompt}
    assert shown == WRITERS & {role for role, _, _ in stage.asked}
    assert all("MARK" in prompt for role in shown for prompt in stage.prompts(role))
    assert [(item.kind, item.limit) for item in reminders(stage)] == [("solved", 2)]


@pytest.mark.parametrize("name", STRATEGIES)
def test_search_results_are_in_every_prompt_of_every_coder_and_nowhere_else(name: str) -> None:
    stage = played(name, search="github")
    shown = {role for role, prompt, _ in stage.asked if "Result 1:\n```\nMind the MARK." in prompt}
    assert shown == WRITERS & {role for role, _, _ in stage.asked}
    assert all("MARK" in prompt for role in shown for prompt in stage.prompts(role))
    assert [(item.kind, dict(item.tags), item.limit) for item in reminders(stage)] == [("web", {"site": "github"}, 3)]


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_coder_is_told_lessons_on_its_failures_or_the_commonest_where_it_is_told_of_none(name: str) -> None:
    stage = played(name, lessons=True)
    told = [prompt for role, prompt, _ in stage.asked if role in WRITERS]
    first, last = told[0], told[-1]
    untold = not facts_of(name).shows_attempts
    assert ("- Mind the MARK." in first) is untold
    assert "- Mind the MARK." in last
    assert [dict(memory.tags) for memory in reminders(stage)] == [{} if untold else {"error": "assertion"}]


@pytest.mark.parametrize("name", STRATEGIES)
def test_off_by_default_nothing_is_recalled_and_no_configuration_changes(name: str) -> None:
    assert reminders(played(name)) == []
    assert ADDED == {"lessons": False, "examples": False, "search": "off"} | {
        "turn_timeout": 0.0,
        "repository_tokens": 2000,
    }
    assert LIMITS.keys() == ADDED.keys() - {"turn_timeout", "repository_tokens"}
    assert not ADDED.keys() & recorded(name, {}).keys()
    assert recorded(name, ALL_ON) == {**recorded(name, {}), **ALL_ON}


def test_each_kind_that_can_be_recalled_is_asked_for_by_somebody() -> None:
    stages = [played(name, **ALL_ON) for name in STRATEGIES] + [played("supervised", reuse_spec=True)]
    assert {item.kind for stage in stages for item in stage.queries} == set(get_args(QueryKind))


def test_examples_take_no_more_of_a_prompt_than_is_theirs_and_close_their_blocks() -> None:
    long = example("def g(x):\n" + "    word = 1\n" * 900, "def g(x):\n    return word")
    stage = Stage([3], remembered=[Memory(long, "exp_1")] * 2)
    create("direct", {"examples": True}).solve(stage)
    (prompt,) = stage.prompts("coder")
    assert prompt.count("word") * len("word = 1") < EXAMPLES_LIMIT
    assert prompt.count("```") % 2 == 0
    assert complete("direct", {})["examples"] is False
