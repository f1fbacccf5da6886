"""Two experiments side by side, step by step."""

from __future__ import annotations

from koderz_core.analysis.differences import aligned
from koderz_core.records.rows import Step, StepKind

WORDS: dict[str, StepKind] = {"s": "spec", "i": "iteration", "r": "checkpoint", "t": "turn", "a": "answer"}


def steps(told: str) -> list[Step]:
    """``s1i1``: kind and number of each."""
    pairs = zip(told[::2], told[1::2], strict=True)
    return [Step(WORDS[kind], int(number), (), None, None, None, None, 0.0, None) for kind, number in pairs]


def beside(left: str, right: str) -> list[tuple[str, str]]:
    short = {kind: letter for letter, kind in WORDS.items()}
    return [
        tuple("" if step is None else f"{short[step.kind]}{step.number}" for step in (pair.left, pair.right))
        for pair in aligned(steps(left), steps(right))
    ]


def test_tries_of_the_same_number_stand_beside_each_other_whatever_came_between() -> None:
    assert beside("s1i1i2r1i3", "i1i2i3i4") == [
        ("s1", ""),
        ("i1", "i1"),
        ("i2", "i2"),
        ("r1", ""),
        ("i3", "i3"),
        ("", "i4"),
    ]


def test_an_answer_that_was_handed_in_untested_is_a_first_try() -> None:
    assert beside("a1", "t1t2i1") == [("", "t1"), ("", "t2"), ("a1", "i1")]


def test_what_follows_the_last_try_stands_at_the_end() -> None:
    assert beside("i1r1", "i1") == [("i1", "i1"), ("r1", "")]
    assert beside("i1r1", "i1i2") == [("i1", "i1"), ("r1", ""), ("", "i2")]


def test_every_step_stands_there_once() -> None:
    left, right = "s1t1i1r1i2t2", "t1s1t2r1i1i2r2i3"
    pairs = beside(left, right)
    assert "".join(text for text, _ in pairs) == left
    assert "".join(other for _, other in pairs) == right
