"""A reviewer's answer by its headings, and what of it the coder is told."""

from __future__ import annotations

import re
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as some

from koderz_core.prompts.review import FAILING_TESTS, GUIDANCE_LIMIT, PASSED_ON, Guidance, guidance

ASKED = "## 1. Failing tests\na\n## 2. Root cause\nb\n## 3. Fix\nc\n## 4. Edge cases\nd\n## 5. Strategy\ne"
SHAPES = (
    ASKED,
    ASKED.replace("## ", "#### ").upper().lower(),
    "**1. Failing test analysis:** a\n**2. Root cause:** b\n**3. Proposed fix**\nc\n**Edge Cases**: d\n**Strategy**\ne",
    "1) Failing tests: a\n2) Root cause: b\n3) Fix: c\n4) Edge cases: d\n5) Strategic guidance: e",
    "## 1 - Failing tests\na\n## 2 - Root cause\nb\n## 3. The Fix\nc\n## 4 \u2013 Edge cases\nd\n## 5: Strategy\ne",
    "**1. Failing tests** - a\n**2. Diagnosis** \u2013 b\n**3. Fix** \u2014 c\n**4. Edge cases** - d\n**Strategy** - e",
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
    "reply",
    [
        "Mind zero.",
        "Fix the loop: it ends too soon.",
        "* Fix: mind zero",
        "So:\n    # Fix the loop",
        "```\n# Fix\n```",
        "~~~\n```\n# Fix\n~~~",
        "````\n```\n# Fix\n````",
        "1. ```python\n# Fix\n   ```",
        "```\n- ```\n# Fix\n```",
        "```\n``` x\n# Fix\n```",
    ],
)
def test_an_answer_without_headings_is_passed_on_whole(reply: str) -> None:
    read = guidance(reply)
    assert (read.text, read.sections, read.passed_on) == (reply, {}, ("whole",))


@pytest.mark.parametrize(
    "reply",
    ["## 2. Root cause\nb\n## 4. Edge cases\nd", "The loop.\n**4. Edge cases**\nd", "# Failing tests\n## Fix\nc"],
)
def test_an_answer_without_a_fix_is_passed_on_whole(reply: str) -> None:
    assert (guidance(reply).text, guidance(reply).passed_on) == (reply, ("whole",))


@pytest.mark.parametrize("reply", ["", " \n", "<think>\nHm, the list", "<think>hm</think>"])
def test_of_an_empty_answer_nothing_is_passed_on(reply: str) -> None:
    assert guidance(reply) == Guidance("", {}, ())


def test_a_heading_that_was_not_asked_for_ends_the_failing_tests_and_is_passed_on() -> None:
    read = guidance("## 1. Failing tests\na\n## 2. Why\nThe loop.\n## 3. Fix\nc")
    assert read.sections == {"failing tests": "a", "other": "## 2. Why\nThe loop.", "fix": "c"}
    assert read.text == "Fix:\nc\n\nOther:\n## 2. Why\nThe loop."


def test_a_deeper_heading_is_a_part_of_its_section_whatever_it_is_called() -> None:
    read = guidance("## 2. Root cause\n\n### Failing tests 1 and 2\nThe loop.\n## 3. Fix\nc")
    assert read.sections == {"root cause": "### Failing tests 1 and 2\nThe loop.", "fix": "c"}


@pytest.mark.parametrize("code", ["```[2,2]``` gives 2", "1. ```python\n   x = 1\n   ```", "~~~\n```\n~~~"])
def test_a_heading_behind_code_is_one(code: str) -> None:
    assert guidance(f"## 2. Root cause\n{code}\n## 3. Fix\nc").sections == {"root cause": code, "fix": "c"}


def test_the_rest_of_a_heading_is_kept() -> None:
    assert guidance("## 3. Fix the loop: it ends\nc").sections == {"fix": "the loop: it ends\nc"}


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


@pytest.mark.parametrize(("fence", "inner"), [("```", "~~~"), ("`````", "```"), ("~~~", "```")])
def test_a_block_that_is_cut_open_is_closed_with_the_mark_that_opened_it(fence: str, inner: str) -> None:
    cut = guidance(f"## 3. Fix\n{fence}python\n{inner}\n{'x = 1' * 2000}").text
    assert cut.endswith(f"\n...\n{fence}")
    assert len(cut) <= GUIDANCE_LIMIT


PIECES = some.sampled_from(["## 2. Root cause\n", "**Fix:**", "```\n", "\n", ":", "x" * 700, "<think>", "Edge cases\n"])


@given(some.lists(PIECES | some.text(max_size=9), max_size=30).map("".join))
def test_whatever_is_answered_guidance_is_bounded_and_says_what_it_is_made_of(reply: str) -> None:
    read = guidance(reply)
    assert len(read.text) <= GUIDANCE_LIMIT
    assert bool(read.text) == bool(read.passed_on)
    assert read.passed_on in (("whole",), ()) or set(read.passed_on) == set(read.sections) & set(PASSED_ON)


LINES = some.sampled_from(
    [
        *(
            "## 1. Failing tests",
            "## 2. Root cause w",
            "### 3 - Fix",
            "**3. The fix** - w",
            "# Notes w",
            "**2. Why** w",
        ),
        *("```", "~~~~", "1. ```python", "```w``` gives w", "    # Fix w", "Edge cases: w", "- w", "w and w", ""),
    ]
)


@given(some.lists(LINES, max_size=20))
def test_no_word_behind_the_first_heading_is_lost(lines: list[str]) -> None:
    reply = "\n".join(["## 1. Failing tests", *lines])
    numbers = count()
    reply = re.sub(r"\bw\b", lambda _: f"word{next(numbers):03}", reply)
    read = guidance(reply)
    kept = f"{read.text}\n{read.sections.get(FAILING_TESTS, '')}"
    assert [word for word in re.findall(r"word\d{3}", reply) if word not in kept] == []
