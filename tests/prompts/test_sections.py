"""A reviewer's answer by its headings, and what of it the coder is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from koderz_core.prompts.sections import GUIDANCE_LIMIT, PASSED_ON, guidance

ASKED = "## 1. Failing tests\na\n## 2. Root cause\nb\n## 3. Fix\nc\n## 4. Edge cases\nd\n## 5. Strategy\ne"
SHAPES = (
    ASKED,
    ASKED.replace("## ", "#### ").upper().lower(),
    "**1. Failing test analysis:** a\n**2. Root cause:** b\n**3. Proposed fix**\nc\n**Edge Cases**: d\n**Strategy**\ne",
    "1) Failing tests: a\n2) Root cause: b\n3) Fix: c\n4) Edge cases: d\n5) Strategic guidance: e",
    "Here it is.\n\n# FAILING TESTS\na\n# ROOT CAUSE ANALYSIS\nb\n# FIX\nc\n# EDGE CASES TO HANDLE\nd\n# STRATEGY\ne",
)


@pytest.mark.parametrize("reply", SHAPES)
def test_sections_are_found_under_headings_of_any_shape(reply: str) -> None:
    expected = {"failing tests": "a", "root cause": "b", "fix": "c", "edge cases": "d", "strategy": "e"}
    assert guidance(reply).sections == expected


def test_all_but_the_analysis_of_the_tests_is_passed_on() -> None:
    read = guidance(f"<think>\n## 3. Fix\nno\n</think>\n{ASKED}")
    assert read.text == "Root cause:\nb\n\nFix:\nc\n\nEdge cases:\nd\n\nStrategy:\ne"
    assert read.passed_on == ("root cause", "fix", "edge cases", "strategy")


@pytest.mark.parametrize(
    "reply", ["Mind zero.", "Fix the loop: it ends too soon.", "* Fix: mind zero", "```\n# Fix\n```"]
)
def test_an_answer_without_headings_is_passed_on_whole(reply: str) -> None:
    read = guidance(reply)
    assert (read.text, read.sections, read.passed_on) == (reply, {}, ("whole",))


def test_an_answer_with_nothing_but_the_tests_is_passed_on_whole() -> None:
    assert guidance("## 1. Failing tests\nall").passed_on == ("whole",)


def test_a_comment_in_a_program_is_no_heading() -> None:
    fix = "```python\n# Edge cases\nreturn 0\n```"
    assert guidance(f"## 3. Fix\n{fix}").sections == {"fix": fix}


def test_a_long_section_leaves_the_others_their_share() -> None:
    read = guidance(f"## 2. Root cause\n{'b' * 9000}\n## 3. Fix\n{'c' * 900}\n## 4. Edge cases\nd")
    assert len(read.text) <= GUIDANCE_LIMIT
    assert "c" * 900 in read.text
    assert read.text.count("b") > 1500


def test_a_block_that_is_cut_open_is_closed() -> None:
    assert guidance("## 3. Fix\n```python\n" + "x = 1\n" * 2000).text.count("```") == 2


PIECES = some.sampled_from(["## 2. Root cause\n", "**Fix:**", "```\n", "\n", ":", "x" * 700, "<think>", "Edge cases\n"])


@given(some.lists(PIECES | some.text(max_size=9), max_size=30).map("".join))
def test_whatever_is_answered_guidance_is_bounded_and_says_what_it_is_made_of(reply: str) -> None:
    read = guidance(reply)
    assert len(read.text) <= GUIDANCE_LIMIT
    assert read.passed_on == ("whole",) or set(read.passed_on) == set(read.sections) & set(PASSED_ON)
