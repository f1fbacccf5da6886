"""Variants of datasets: the same ids, deterministic rules, and a solution that passes exactly where it should."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

import pytest

from koderz_core import open_workspace
from koderz_core.datasets.variant_names import renamed
from koderz_core.datasets.variant_tests import impossible
from koderz_core.datasets.variant_texts import rephrased
from koderz_core.datasets.variants import varied
from koderz_core.errors import UnknownNameError, UsageError
from koderz_core.grading.testsets import Outside, Split, TestPolicy
from koderz_core.records import VARIANTS, LeftOut, Problem, PublicProblem, TestSet
from koderz_core.workspace.workspace import Workspace

PROMPT = '''def find_n(n, lst):
    """ Return n'th element of each list. The number "n" is not lst.
    >>> find_n(1, ['n', 'lst'])
    'n'
    """
'''
PROBLEM = Problem(
    PublicProblem("mine/1", PROMPT, "find_n"),
    TestSet(
        "def check(candidate):\n    assert candidate(1, ['n', 'lst']) == 'n'\n    assert find_n(2, [3, 4]) == 4\n"
        "    assert candidate(1, [True]) == True\n"
    ),
    f"{PROMPT}    # find_n of lst\n    return [n for n in lst][n - 1] if lst else find_n(n=n, lst=lst)\n",
)


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with open_workspace() as opened:
        yield opened


def test_names_change_in_code_and_where_the_text_means_them() -> None:
    made = renamed(PROBLEM)
    assert isinstance(made, Problem)
    assert made.public.entry_point == "solve_n_find"
    assert made.public.prompt.splitlines()[:3] == [
        "def solve_n_find(o, given_lst):",
        '    """ Return o\'th element of each list. The number "n" is not lst.',
        "    >>> solve_n_find(1, ['n', 'lst'])",
    ]
    assert made.canonical_solution.endswith(
        "    # solve_n_find of lst\n    return [o for o in given_lst][o - 1] "
        "if given_lst else solve_n_find(o=o, given_lst=given_lst)\n"
    )
    assert "assert solve_n_find(2, [3, 4]) == 4" in made.tests.source
    check = replace(PROBLEM, public=PublicProblem("mine/2", "def check(n):\n    pass\n", "check"))
    made = renamed(replace(check, canonical_solution="def check(n):\n    return n\n"))
    assert isinstance(made, Problem)
    assert (made.public.entry_point, made.tests) == ("solve_check", PROBLEM.tests)
    taken = replace(PROBLEM, canonical_solution=PROBLEM.canonical_solution + "solve_n_find = 1\n")
    assert isinstance(renamed(taken), LeftOut)


def test_examples_come_first_and_words_change_outside_of_quotes() -> None:
    made = rephrased(PROBLEM)
    assert isinstance(made, Problem)
    assert made.public.prompt == (
        "def find_n(n, lst):\n    '''\n    >>> find_n(1, ['n', 'lst'])\n    'n'\n\n"
        "    Give back n'th item of every list. The number \"n\" is not lst.\n    '''\n"
    )
    assert (made.tests, made.canonical_solution) == (PROBLEM.tests, PROBLEM.canonical_solution)


def test_one_hidden_assert_becomes_false_preferably_not_one_of_two_values() -> None:
    made = impossible(PROBLEM)
    assert isinstance(made, Problem)
    assert made.tests.source == PROBLEM.tests.source.replace("== 4", "== 1013")
    shown = TestSet("def check(candidate):\n    assert candidate(1, ['n', 'lst']) == 'n'\n    assert True\n")
    assert isinstance(impossible(replace(PROBLEM, tests=shown)), LeftOut)


@pytest.mark.parametrize("variant", VARIANTS)
def test_problems_keep_their_ids_and_the_dataset_gets_another_hash(workspace: Workspace, variant: str) -> None:
    original = workspace.datasets.load("humaneval")
    made = workspace.datasets.load(f"humaneval, variant {variant}")
    varied.cache_clear()
    assert workspace.datasets.load(f"humaneval, variant {variant}") == made
    assert made.origin.name == f"humaneval, variant {variant}"
    assert made.origin.sha256 != original.origin.sha256
    known = {problem.id for problem in original.problems}
    assert {problem.id for problem in made.problems} | {omitted.id for omitted in made.left_out} == known
    assert len(made.left_out) < 15
    for problem in made.problems:
        ast.parse(problem.public.prompt)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_solution_passes_or_fails_exactly_one_test(workspace: Workspace, variant: str) -> None:
    policy = TestPolicy()
    problems = workspace.datasets.load(f"humaneval, variant {variant}").problems[::8]
    assert all(isinstance(workspace.grading.gate(problem, policy), Split) for problem in problems)
    wrong = "def wrong(*_):\n    return None\n"
    for problem in problems[:2]:
        broken = replace(problem, canonical_solution=wrong.replace("wrong", problem.public.entry_point))
        assert isinstance(workspace.grading.gate(broken, policy), Outside)


def test_only_datasets_of_functions_with_asserts_have_variants(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match=r"The dataset bigcodebench has no variants\. Only humaneval,"):
        workspace.datasets.load("bigcodebench, variant renamed")
    with pytest.raises(UnknownNameError):
        workspace.datasets.load("humaneval, variant translated")
