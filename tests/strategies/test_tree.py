"""Tree: what is asked where it grows, what a program is worth, when it ends."""

from __future__ import annotations

import re
from random import Random

from stage import Stage

from koderz_core.records import Extracted, Verdict
from koderz_core.strategies.tree import Branching, Tree


class Rigged(Stage):
    """A stage on which the second coder's programs pass two tests of three, and the first one's none."""

    def test(self, candidate: Extracted) -> Verdict:
        self.passes = [2 * member for member in self.members_asked]
        return super().test(candidate)


class Silent(Stage):
    """A stage that tells nothing of a failed program but that it failed."""

    def test(self, candidate: Extracted) -> Verdict:
        return Verdict("", (), False, None, "", 0.0, "none")


def mended(stage: Stage) -> list[int]:
    """The number of the program that each prompt asks to mend; 0: a fresh one is asked for."""
    shown = (re.search(r"previous attempt:\n.*\n.*\n    return (\d+)", item) for item in stage.prompts("coder"))
    return [int(item[1]) if item else 0 for item in shown]


def test_the_first_program_is_a_fresh_one_and_others_mend_an_earlier_one_or_are_fresh() -> None:
    stage = Stage(passes=[1] * 30, random=Random(7))
    Tree(max_iterations=30).solve(stage)
    parents = mended(stage)
    assert parents[0] == 0
    assert 0 in parents[1:]
    assert any(parents)
    assert all(parent < number for number, parent in enumerate(parents, 1))


def test_it_grows_where_the_search_does_when_told_the_share_of_tests_that_passed() -> None:
    passes = [number * 5 % 3 for number in range(40)]
    search, parents = Branching[int](Random(7)), []
    for number, passed in enumerate(passes, 1):
        node, member = search.choose()
        parents.append(node.state or 0)
        search.grow(node, member, number, passed / 3)
    stage = Stage(passes=passes, random=Random(7))
    Tree(max_iterations=40).solve(stage)
    assert mended(stage) == parents


def test_it_ends_at_the_first_program_that_passes_or_after_its_iterations_with_the_best() -> None:
    assert Tree().solve(Stage(passes=[0, 1, 3])) == "def f(x):\n    return 3"
    stage = Stage(passes=[1, 2, 2, 0])
    assert Tree(max_iterations=4).solve(stage) == "def f(x):\n    return 3"
    assert (stage.roles, stage.tested) == (["coder"] * 4, 4)


def test_the_same_seed_grows_the_same_tree_and_another_one_another() -> None:
    def grown(seed: int) -> list[int]:
        stage = Stage(passes=[1] * 20, random=Random(seed))
        Tree(max_iterations=20).solve(stage)
        return mended(stage)

    assert grown(1) == grown(1) != grown(2)


def test_of_several_coders_the_one_whose_programs_pass_more_tests_is_asked_more_often() -> None:
    asked = [0, 0]
    for seed in range(20):
        stage = Rigged(random=Random(seed), coders=2)
        Tree(max_iterations=12).solve(stage)
        asked = [count + stage.members_asked.count(member) for member, count in enumerate(asked)]
    assert asked[1] > 2 * asked[0] > 0


def test_where_the_feedback_tells_no_counts_it_still_searches() -> None:
    stage = Silent(random=Random(7))
    assert Tree(max_iterations=12).solve(stage) == "def f(x):\n    return 12"
    assert any(mended(stage))
