"""Personas and the prompts of a debate: what a text of one's own may hold, and what fits into a prompt."""

from __future__ import annotations

import pytest

from koderz_core.errors import PlanError
from koderz_core.prompts.debating import POSITION_LIMIT, Position, TurnLimits, judge, position, speakers, turn
from koderz_core.records import PublicProblem

PROBLEM = PublicProblem("t/0", 'def f(x):\n    """Double x."""\n', "f")
PACK = (
    *("architect", "coder", "reviewer", "tester", "bug_hunter"),
    *("perf_tweaker", "security_auditor", "sql_sage", "api_wrangler", "refactorist"),
)


@pytest.mark.parametrize("role", PACK)
def test_the_pack_has_a_persona_that_is_shown_whole(role: str) -> None:
    speaker = speakers(f"{role},{'coder' if role != 'coder' else 'tester'}")[0]
    system = turn(PROBLEM, speaker, (), TurnLimits(512, 3000))[0].content
    assert f"You are the {role.replace('_', ' ')}. {speaker.persona.style}\n" in system
    assert all(f"- {rule}\n" in system for rule in speaker.persona.rules)


@pytest.mark.parametrize(
    "text",
    [
        *("poet", "[]", "poet: {style: a}", "poet: {style: a, rules: []}", "poet: {style: '', rules: [b]}"),
        *("poet: {style: a, rules: [b], model: c}", "Poet: {style: a, rules: [b]}", "poet: {style: no, rules: [b]}"),
        *('poet: {style: "a\\nb", rules: [b]}', "poet: !!python/object/apply:os.getcwd []", "a: b: c", "[" * 9999),
        "#" * 20_001,
    ],
)
def test_a_text_that_holds_no_personas_is_refused(text: str) -> None:
    with pytest.raises(PlanError, match=r"^The personas cannot be read: [^$]*$"):
        speakers("poet,coder", text)


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        (
            "style: a, rules: [b], model: c",
            "role 'poet' has an unknown field 'model'; the fields are style, rules. Write",
        ),
        ("style: a", "role 'poet' has no field 'rules'"),
        ("style: a, rules: []", "field 'rules' of role 'poet' must be a list of 1 to 12 lines"),
        ("style: no, rules: [b]", "field 'style' of role 'poet' must be one line"),
    ],
)
def test_a_wrong_field_of_a_persona_is_named_with_its_role(fields: str, fault: str) -> None:
    with pytest.raises(PlanError) as refused:
        speakers("poet,coder", f"poet: {{{fields}}}")
    assert str(refused.value).startswith(f"The personas cannot be read: {fault}")


def test_positions_are_whole_while_there_is_room_and_else_cut_to_fair_shares_that_say_so() -> None:
    said = [Position("coder", "a" * 100), Position("tester", "b" * 900), Position("reviewer", "c" * 900)]
    assert "cut" not in judge(PROBLEM, said, TurnLimits(512, 700))[0].content
    (cut,) = judge(PROBLEM, said, TurnLimits(512, 300))
    assert "### The coder:\n" + "a" * 100 in cut.content
    assert [cut.content.count(letter * 300) for letter in "bc"] == [1, 1]
    assert [f"### The {who} (cut to fit):" in cut.content for who in ("coder", "tester", "reviewer")] == [
        False,
        True,
        True,
    ]


def test_a_position_is_what_was_said_without_its_thinking_and_bounded() -> None:
    assert position("coder", "<think>hm</think>\nUse a set.\n") == Position("coder", "Use a set.")
    assert len(position("coder", "x" * 100_000).text) <= POSITION_LIMIT
    assert (
        "### The coder:\n(said nothing)" in judge(PROBLEM, [position("coder", "<think>")], TurnLimits(9, 9))[0].content
    )
