"""HumanEval and MBPP+: published solutions pass, and every program one change away has a plain run's verdict."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from mutants import changed, plain_verdicts
from sample import thinned
from small_problem import best_tier, judge_of

from koderz_core.config import load_settings
from koderz_core.datasets import load
from koderz_core.sandbox.tiers import count_tests

SIZES = {"humaneval": 164, "mbpp+": 378}


@pytest.fixture(params=SIZES)
def problems(request):
    """Of a dataset; MBPP+ is a file of its own."""
    folder = request.getfixturevalue("test_data") if request.param != "humaneval" else None
    found = load(request.param, load_settings(datasets_dir=folder)).problems
    assert len(found) == SIZES[request.param]
    return thinned(found, f"published problems of {request.param}", share=4)  # a small one has no error of each kind


def test_every_solution_of_the_publisher_passes(problems):
    verdicts = judged(problems, [problem.canonical_solution for problem in problems])
    assert [problem.id for problem, verdict in zip(problems, verdicts, strict=True) if not verdict.passed] == []
    assert [len(verdict.marks) for verdict in verdicts] == [count_tests(problem.tests.source) for problem in problems]
    assert not any(verdict.shared for verdict in verdicts)


@pytest.mark.filterwarnings("ignore:invalid escape sequence")  # of a publisher
def test_a_solution_with_a_change_passes_if_it_does_in_a_plain_interpreter(problems):
    few = problems if len(problems) < 50 else ()
    some = thinned(problems, "published problems whose solution is changed", always=few, share=4)
    pairs = [(problem, code) for problem in some for code in changed(problem, 2)]
    mutated, codes = zip(*pairs, strict=True)
    verdicts, plain = judged(mutated, codes), plain_verdicts(mutated, codes)
    seen = zip(mutated, codes, verdicts, plain, strict=True)
    differing = [
        (item.id, code, verdict) for item, code, verdict, passed in seen if passed not in (None, verdict.passed)
    ]
    assert differing == []
    assert plain.count(False) > len(some)
    assert plain.count(True) > 0
    assert {verdict.error for verdict in verdicts} >= {"assertion", "exception", "type"}


def judged(problems, codes):
    judge = judge_of(best_tier(), 20.0)
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda problem, code: judge.check(problem, code, problem.tests), problems, codes))
