"""Examples of solved problems: whatever is stored, none gives away the problem that is to be solved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from koderz_core.config import load_settings
from koderz_core.datasets import load
from koderz_core.datasets.programs import output_tests
from koderz_core.memory.leak_guard import containment, gives_away, named_in_tests, renamed_programs, same_problem
from koderz_core.memory.lessons import examples, problem_lookup
from koderz_core.prompts.coding import Brief, first_attempt
from koderz_core.records import Memory, Problem, PublicProblem, TestSet
from koderz_core.records.steps import Solved

DOUBLE = "def {}(number):\n    found = []\n    while number > 1:\n        found.append(number % 2)\n    return found\n"
WORDS = ("one two three four five six seven eight nine ten", "one two three four five six seven eight nine eleven")
Problems = Mapping[str, Problem]


def problem(place: int, name: str, text: str, solution: str = "") -> Problem:
    public = PublicProblem(f"t/{place}", f'def {name}(number):\n    """{text}"""\n', name)
    return Problem(public, TestSet(f"def check(candidate):\n    assert candidate({place})\n"), solution)


def own(place: int) -> str:
    """A program like no other of these."""
    lines = "".join(f"    number += {100 * place + line}\n" for line in range(9))
    return f"def p{place}(number):\n{lines}    return number\n"


# 0 and 1 share a name, 2 and 3 nearly their text, 4 and 5 their solution under other names; 6 to 9 share nothing.
NAMES = ("is_prime", "isPrime", "ones", "twos", "halves", "parts", "hexa", "hepta", "okta", "ennea")
TEXTS = ("Tell.", "Say whether.", *WORDS, "Cut.", "Divide them.", "A", "B", "C", "D")
SOLUTIONS = [DOUBLE.format(NAMES[at]) if at in (4, 5) else own(at) for at in range(10)]
TINY = {f"t/{at}": problem(at, NAMES[at], TEXTS[at], SOLUTIONS[at]) for at in range(10)}
TWINS = ({0, 1}, {2, 3}, {4, 5})
PLUS = {"t/8": problem(8, "plus", "Words of its own.", own(11))}  # shares the id only
KNOWN = problem_lookup(lambda dataset: {"tiny": TINY, "tiny+": PLUS}.get(dataset, {}))


def solved(place: int, dataset: str = "tiny") -> Solved:
    """With a mark by which a prompt shows that it holds it."""
    code = PLUS[f"t/{place}"].canonical_solution if dataset == "tiny+" else SOLUTIONS[place]
    return Solved(f"exp_{place}", f"t/{place}", dataset, f"{code}# mark{place}.\n")


def never(_problem: Problem, _program: str) -> bool:
    """No program solves a problem that is not its own."""
    return False


def recalled(stored: list[Solved], solving: int, limit: int = 10) -> list[Memory]:
    return examples(stored, TINY[f"t/{solving}"], KNOWN, never, limit)


@given(some.lists(some.integers(0, 9), max_size=12), some.integers(0, 9), some.integers(0, 5))
@settings(max_examples=100)
def test_whatever_is_stored_no_prompt_holds_anything_of_the_problem_or_its_twins(
    stored: list[int], solving: int, limit: int
) -> None:
    found = recalled([solved(8, "tiny+"), *(solved(at) for at in stored)], solving, limit)
    brief = Brief(TINY[f"t/{solving}"].public, examples=tuple(memory.text for memory in found))
    prompt = "\n".join(message.content for message in first_attempt(brief))
    shown = {at for at in range(10) if f"mark{at}." in prompt}
    near = next((twins for twins in TWINS if solving in twins), {solving})
    assert not shown & near
    assert len(shown) == len(found) <= limit
    assert limit < 5 or shown or not {8, *stored} - near  # the guard leaves something


@given(some.text(max_size=60), some.integers(0, 9))
@settings(max_examples=50)
def test_whatever_a_program_says_a_prompt_holds_no_name_of_the_tests_and_no_text_of_the_problem(
    said: str, solving: int
) -> None:
    wanted = TINY[f"t/{solving}"]
    for code in (f"# {said}", f"# {wanted.public.entry_point.upper()} {said}", f"# {TEXTS[solving]} {said}"):
        for memory in examples([Solved("exp_1", "t/6", "tiny", SOLUTIONS[6] + code)], wanted, KNOWN, never, 1):
            assert containment(wanted.public.prompt, memory.text) < 0.2
            assert wanted.public.entry_point not in memory.text.casefold()


def test_what_cannot_be_looked_up_is_no_example() -> None:
    assert recalled([solved(6, "lost"), Solved("exp_1", "t/77", "tiny", "pass")], 9) == []


def test_of_two_problems_that_count_as_one_only_one_is_shown() -> None:
    assert len(recalled([solved(0), solved(1), solved(0)], 9)) == 1


def test_the_examples_most_like_the_problem_come_first() -> None:
    like = replace(TINY["t/6"], public=replace(TINY["t/6"].public, prompt="cut a list of numbers into halves"))
    known = problem_lookup(lambda _: {**TINY, "t/9": problem(9, "nine", "cut a word into halves")})
    found = examples([solved(7), solved(8), solved(9)], like, known, never, 1)
    assert [memory.tags["problem"] for memory in found] == ["t/9"]


@pytest.mark.parametrize(
    "program",
    [
        DOUBLE.format("other").replace("found", "bits").replace("number", "n"),
        "import math\n\ndef g(x):\n    '''What.'''\n    # why\n    return h(x)\n\n" + DOUBLE.format("h") + own(5),
        "def broken(",
    ],
)
def test_a_program_under_other_names_or_within_a_longer_one_gives_a_solution_away(program: str) -> None:
    assert gives_away(program, SOLUTIONS[4])
    assert not gives_away(own(7), SOLUTIONS[4])


def test_each_function_of_a_program_is_tried_under_the_name_that_the_tests_call() -> None:
    source = PublicProblem("t/1", "", "even", "from math import floor")
    program = "from __future__ import annotations\ndef half(n):\n    return floor(n / 2)\n"
    program += "def even(n):\n    return half(n) * 2\n"
    answers = []
    for text in renamed_programs("wanted", source, program):
        names: dict[str, Any] = {}
        exec(text, names)
        answers.append(names["wanted"](5))
    assert answers == [4, 2]


def test_programs_are_tried_in_the_order_of_their_rank_until_enough_may_be_shown() -> None:
    tried: dict[str, None] = {}  # marks, in order

    def may_solve(_problem: Problem, program: str) -> bool:
        tried.setdefault(next(mark for mark in ("mark6", "mark7", "mark8", "mark0") if f"{mark}." in program))
        return "mark7." in program

    found = examples([solved(at) for at in (6, 7, 8, 0)], TINY["t/9"], KNOWN, may_solve, 2)
    assert [memory.tags["problem"] for memory in found] == ["t/6", "t/8"]
    assert list(tried) == ["mark6", "mark7", "mark8"]


def test_functions_that_a_dataset_calls_all_the_same_do_not_refuse_each_other() -> None:
    assert "task_func" not in named_in_tests(problem(1, "task_func", "Do."))
    first, second = (
        replace(problem(at, "run", text), tests=output_tests([("1", "2")])) for at, text in enumerate(("Add.", "Cut."))
    )
    assert named_in_tests(first) == set()
    assert not same_problem(first.public, second.public)


def test_published_twins_in_other_words_are_never_shown(test_data: Any) -> None:
    problems = {problem.id: problem for problem in load("mbpp+", load_settings(datasets_dir=test_data)).problems}
    known = problem_lookup(lambda _: problems)
    for name, other in (("Mbpp/394", "Mbpp/281"), ("Mbpp/629", "Mbpp/412"), ("Mbpp/800", "Mbpp/451")):
        assert not same_problem(problems[name].public, problems[other].public)
        row = Solved("exp_1", other, "mbpp+", problems[other].canonical_solution)
        assert examples([row], problems[name], known, never, 1) == []
