"""Which problems are hard, for whom, and which of them tell configurations apart."""

from __future__ import annotations

from made_trials import trials

from koderz_core.analysis.difficulty import Difficulty, difficulties, only_solved, problems_of_kind

A, B = ("bench", "a"), ("bench", "b")


def problems(a: dict[str, str], b: dict[str, str]) -> tuple[Difficulty, ...]:
    return difficulties([A, B], [*trials("a", a), *trials("b", b)])


def ids(found: tuple[Difficulty, ...]) -> list[str]:
    return [result.problem for result in found]


def test_the_hardest_comes_first_and_what_nobody_finished_last():
    found = problems({"p/10": "0", "p/9": "0", "p/1": "1", "p/2": "1", "p/3": "e"}, {"p/1": "1", "p/2": "0"})
    assert ids(found) == ["p/9", "p/10", "p/2", "p/1", "p/3"]
    assert [result.share for result in found] == [0, 0, 0.5, 1, None]


def test_each_configuration_weighs_the_same_however_often_it_tried():
    (found,) = problems({"p": "0000"}, {"p": "1"})
    assert found.share == 0.5


def test_repeats_that_disagree_are_flaky_and_those_without_a_result_do_not_disagree():
    found = problems({"p": "10", "q": "1e", "r": "00"}, {"p": "0", "q": "1", "r": "1"})
    assert ids(problems_of_kind(found, "flaky")) == ["p"]


def test_nothing_is_said_of_all_while_one_lacks_a_result():
    found = problems({"p": "0", "q": "0", "r": "1", "s": "1"}, {"p": "0", "q": "e", "r": "-", "s": "0"})
    assert ids(problems_of_kind(found, "unsolved")) == ["p"]
    assert ids(problems_of_kind(found, "only", A)) == ["s"]
    assert only_solved(found) == {A: 1}


def test_one_solution_in_any_repeat_takes_a_problem_from_who_alone_solved_it():
    found = problems({"p": "11", "q": "10"}, {"p": "01", "q": "00"})
    assert ids(problems_of_kind(found, "only", A)) == ["q"]


def test_who_was_not_given_a_problem_says_nothing_about_it():
    found = problems({"p": "0", "q": "1"}, {"q": "0"})
    assert ids(problems_of_kind(found, "unsolved")) == ["p"]
    assert ids(problems_of_kind(found, "differ", A, B)) == ["q"]


def test_one_configuration_is_never_the_only_one_of_several():
    assert not only_solved(difficulties([A], trials("a", {"p": "1"})))


def test_a_problem_is_split_where_any_two_configurations_with_a_result_differ():
    found = problems({"p": "11", "q": "10", "r": "1", "s": "1"}, {"p": "1", "q": "0", "r": "0", "s": "e"})
    assert ids(problems_of_kind(found, "split")) == ["q", "r"]


def test_two_differ_where_one_solved_it_in_more_of_its_repeats():
    found = problems({"p": "10", "q": "10", "r": "e"}, {"p": "01", "q": "11", "r": "1"})
    assert ids(problems_of_kind(found, "differ", A, B)) == ["q"]
