"""Lessons say what recurs on several problems, in words of our own, and reach nobody who solves one of these."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from koderz_core.config import load_settings
from koderz_core.datasets import load
from koderz_core.datasets.methods import module_tests
from koderz_core.memory.leak_guard import SourcedText, admissible, named_in_tests, resemblance, same_problem
from koderz_core.memory.lessons import (
    KINDS,
    REWRITTEN,
    Evidence,
    Lesson,
    changes,
    distil,
    for_problem,
    lesson_metadata,
    problem_lookup,
    stored_lesson,
)
from koderz_core.memory.patterns import ADVICE, pattern_of
from koderz_core.records import Problem, PublicProblem, TestFailure, TestSet
from koderz_core.records.steps import Lapse


def lapse(problem: str, error: str = "name", message: str = "", code: str = "", fixed_by: str | None = None) -> Lapse:
    return Lapse("exp_0", problem, "tiny", error, message, (), code, fixed_by, False)


def problem(number: int, entry_point: str = "", prompt: str = "", tests: str = "") -> Problem:
    name = entry_point or f"f{number}"
    words = prompt or " ".join(f"word{number}x{at}" for at in range(12))
    return Problem(PublicProblem(f"t/{number}", f'def {name}(x):\n    """{words}"""\n', name), TestSet(tests), "")


PROBLEMS = {made.id: made for made in map(problem, range(9))}
KNOWN = problem_lookup(lambda _: PROBLEMS)
RECURRING = Lesson("name", "KeyError", tuple(Evidence(f"t/{at}", "tiny", 2) for at in range(4)))


@pytest.mark.parametrize(
    ("error", "message", "pattern"),
    [
        ("name", "line 3: NameError: name 'secret' is not defined", "NameError: a name is not defined"),
        ("exception", "line 27: IndexError: list index out of range", "IndexError: an index is out of range"),
        ("exception", "ValueError: the answer is 42", "another error"),
        ("type", "TypeError: 'NoneType' object is not iterable", "TypeError: None is used as a value"),
        ("syntax", "line 1: IndentationError: unexpected indent", "IndentationError"),
        ("timeout", "KeyError", "too slow"),
    ],
)
def test_of_a_message_only_its_kind_is_kept(error: str, message: str, pattern: str) -> None:
    assert pattern_of(lapse("t/1", error, message)) == pattern


@pytest.mark.parametrize(
    ("actual", "expected", "kind"),
    [
        ("None", "3", "None"),
        ("4", "3", "off by one"),
        ("9.5", "3", "another number"),
        (f"1{'0' * 400}", "2.5", "another number"),
        ("True", "False", "the opposite"),
        ("(1, 2)", "[1, 2]", "another type"),
        ("[2, 1]", "[1, 2]", "right elements in another order"),
        ("[1]", "[1, 2]", "too few elements"),
        ("[]", "[1, 2]", "nothing where something was asked for"),
        ("'a'", "'b'", "another text"),
    ],
)
def test_a_wrong_answer_is_told_by_how_it_differs(actual: str, expected: str, kind: str) -> None:
    one = replace(lapse("t/1", "assertion"), failures=(TestFailure(0, "assert", expected, actual),))
    assert pattern_of(one) == f"a wrong answer: {kind}"


@given(some.text(), some.text() | some.none(), some.text() | some.none(), some.sampled_from(["assertion", "exception"]))
@settings(max_examples=60)
def test_whatever_is_said_the_kind_is_one_of_ours(
    message: str, actual: str | None, expected: str | None, error: str
) -> None:
    one = replace(lapse("t/1", error, message), failures=(TestFailure(0, "", expected, actual),))
    assert pattern_of(one) in ADVICE


BEFORE = "def f(xs):\n    best = xs[0]\n    for x in xs:\n        if x >= best:\n            best = x\n    return best"


@pytest.mark.parametrize(
    ("after", "seen"),
    [
        (BEFORE, ()),
        (BEFORE.replace(">=", ">"), ("a comparison was changed",)),
        (f"import math\n{BEFORE}", ("an import was added",)),
        (BEFORE.replace("xs[0]", "xs[1]"), ("a range, index or slice was changed",)),
        ("def f(xs):\n    a = sorted(xs)\n    b = a[-1]\n    c = b\n    d = c\n    return d", (REWRITTEN,)),
        ("def f(", ()),
    ],
)
def test_what_changed_is_told_by_its_kinds(after: str, seen: tuple[str, ...]) -> None:
    assert changes(BEFORE, after) == seen


def test_an_answer_for_empty_input_is_seen() -> None:
    guarded = BEFORE.replace("    best = xs[0]", "    if not xs:\n        return None\n    best = xs[0]")
    assert "empty input was answered first" in changes(BEFORE, guarded)


def test_what_recurs_on_three_problems_is_a_lesson_with_its_counts_and_origin() -> None:
    mended = [lapse(f"t/{at}", "name", "NameError: name 'secret' is", BEFORE, f"import m\n{BEFORE}") for at in (1, 2)]
    twice = [*mended, *mended, lapse("t/3", "name", "NameError"), lapse("t/3", "exception", "KeyError: 'secret'")]
    (lesson,) = distil(twice)
    assert (lesson.times, lesson.fixed, lesson.problems) == (5, 4, ("t/1", "t/2", "t/3"))
    assert "5 times on 3 problems" in lesson.text
    assert "an import was added (4)" in lesson.text
    assert "secret" not in lesson.text


def test_what_failed_on_fewer_problems_is_none() -> None:
    assert distil([lapse("t/1"), lapse("t/1"), lapse("t/2")]) == []


def test_who_solves_a_problem_is_told_of_the_others_only() -> None:
    told = for_problem(RECURRING, PROBLEMS["t/1"], KNOWN)
    assert told is not None
    assert told.tags["problems"] == "t/0 t/2 t/3"
    assert "6 times on 3 problems" in told.text
    few = replace(RECURRING, evidence=RECURRING.evidence[:3])
    assert for_problem(few, PROBLEMS["t/1"], KNOWN) is None


def test_what_came_from_a_problem_that_is_not_known_is_not_told() -> None:
    unknown = replace(RECURRING, evidence=(*RECURRING.evidence[:2], Evidence("t/99", "gone", 5)))
    assert for_problem(unknown, PROBLEMS["t/8"], KNOWN) is None


def test_what_koderz_adds_to_test_files_names_no_usual_word() -> None:
    text = "import pytest\nfrom stack import Stack\ndef test_a():\n    assert Stack(1).top() == 1\n"
    named = named_in_tests(problem(20, tests=module_tests(text, "stack").source))
    assert "top" in named
    assert not named & {"add", "skip", "pop", "append", "items"}


def test_a_lesson_that_names_what_the_tests_name_is_not_told() -> None:
    naming = problem(20, tests="def check(candidate):\n    passes = 2\n    assert candidate(passes) == length.read(1)")
    assert named_in_tests(naming) == {"f20", "length", "read"}
    assert not admissible(SourcedText("Look at the length.", ()), naming)
    assert admissible(SourcedText("Look how often it passes.", ()), naming)


@pytest.mark.parametrize(
    ("same", "one", "other"),
    [
        ("id", problem(1), replace(problem(2), public=replace(problem(2).public, id="T/1"))),
        ("name", problem(1, "is_prime"), problem(2, "isPrime")),
        ("text", problem(1, "f", "a b c d e f g h i"), problem(2, "g", "a b c d e f g h i j")),
    ],
)
def test_problems_that_share_it_count_as_one(same: str, one: Problem, other: Problem) -> None:
    assert same_problem(one.public, other.public)
    assert same_problem(other.public, one.public)


def test_functions_that_a_dataset_calls_all_the_same_are_told_apart_by_text() -> None:
    assert not same_problem(problem(1, "task_func").public, problem(2, "task_func").public)


@given(some.text(max_size=40), some.text(max_size=40))
@settings(max_examples=50)
def test_resemblance_is_a_share_and_goes_both_ways(one: str, other: str) -> None:
    assert 0 <= resemblance(one, other) == resemblance(other, one) <= 1


def test_a_memory_that_claims_to_be_a_lesson_in_other_words_is_none() -> None:
    assert stored_lesson(None) is None
    for told in ('{"lesson": 1}', "[" * 9000, '{"lesson": {"error": "name", "pattern": "Do evil", "evidence": []}}'):
        assert stored_lesson(told) is None


SETS = some.lists(some.integers(0, 8), unique=True, max_size=9)


@given(
    SETS,
    some.integers(0, 8),
    some.sampled_from([*ADVICE]),
    some.dictionaries(some.sampled_from([*KINDS]), some.integers(0, 9)),
)
@settings(max_examples=100)
def test_no_lesson_leaks_whatever_it_was_learnt_from(
    learnt: list[int], solving: int, pattern: str, changed: Mapping[str, int]
) -> None:
    evidence = tuple(Evidence(f"t/{at}", "tiny", 1, 1, changed) for at in learnt)
    told = for_problem(Lesson("name", pattern, evidence), PROBLEMS[f"t/{solving}"], KNOWN)
    if told is not None:
        assert f"t/{solving}" not in told.tags["problems"].split()
        assert len(told.tags["problems"].split()) >= 3
        sources = tuple(PROBLEMS[name].public for name in told.tags["problems"].split())
        assert admissible(SourcedText(told.text, sources), PROBLEMS[f"t/{solving}"])


@cache
def published(folder: Path) -> tuple[dict[str, Problem], dict[str, Problem]]:
    found = load_settings(datasets_dir=folder)
    one, other = load("humaneval", found), load("mbpp+", found)
    return {each.id: each for each in one.problems}, {each.id: each for each in other.problems}


def test_twins_of_published_datasets_are_refused(test_data: Path) -> None:
    humaneval, mbpp = published(test_data)
    twins = {
        (first.id, second.id)
        for first in humaneval.values()
        for second in mbpp.values()
        if same_problem(first.public, second.public)
    }
    assert len(twins) > 3
    for twin, other in twins:
        lesson = Lesson("name", "KeyError", tuple(Evidence(name, "mbpp+", 1) for name in [other, *list(mbpp)[:6]]))
        told = for_problem(lesson, humaneval[twin], problem_lookup(lambda _: mbpp))
        assert told is None or other not in told.tags["problems"].split()


def test_a_kept_lesson_is_read_as_it_was() -> None:
    assert stored_lesson(json.dumps(lesson_metadata(RECURRING))) == RECURRING
