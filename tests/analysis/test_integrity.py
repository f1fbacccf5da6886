"""The lens on integrity: p-values against full enumeration, and what each kind of evidence flags."""

from __future__ import annotations

from itertools import product
from statistics import fmean

import pytest
from made_trials import once, trials

from koderz_core.analysis.integrity import Evidence, integrity
from koderz_core.analysis.recall import FEWEST_RUNS, Contrast, Recall, Runs, exchanges, recall, runs_of, sign_flips
from koderz_core.records.trials import Trial

KEY = ("bench", "conf")
PROMPT = "def f(numbers):\n    '''Sort.'''\n"
SOLUTION = f"{PROMPT}    # by hand\n    import math\n    first, second = [], []\n    for number in numbers:\n" + (
    "        if number % 2 == 0:\n            first.append(number)\n        else:\n"
    "            second.insert(0, number)\n"
    "    return [math.floor(value) for value in first + second]\n"
)


def test_likeness_ignores_given_code_comments_docstrings_and_imports() -> None:
    runs = runs_of(SOLUTION, PROMPT)
    assert len(runs) >= FEWEST_RUNS
    bare = SOLUTION.replace("    # by hand\n    import math\n", "").replace("'''Sort.'''", "'''Other.'''")
    assert runs_of(bare, PROMPT) == runs
    assert runs_of(SOLUTION.replace("number", "value"), PROMPT) != runs
    assert runs_of("def f(:", PROMPT) == frozenset()


def test_sign_flips_agree_with_all_sign_patterns() -> None:
    values = [0.5, 0.2, -0.1, 0.4, 0.3, -0.3, 0.1, 0.25]
    sums = [
        sum(sign * value for sign, value in zip(signs, values, strict=True)) for signs in product((-1, 1), repeat=8)
    ]
    found = sign_flips(values)
    assert found is not None
    assert found.difference == pytest.approx(fmean(values))
    assert found.p == pytest.approx(fmean(value >= sum(values) - 1e-9 for value in sums), abs=0.02)
    assert sign_flips(values[:4]) is None


def test_exchanges_agree_with_all_assignments() -> None:
    alike = [(0.9, [0.2, 0.4]), (0.5, [0.6]), (1.0, [0.1, 0.3, 0.2]), (0.7, [0.7]), (0.6, [0.1, 0.9])]
    each = [
        [(item, [*of[:at], *of[at + 1 :]]) for at, item in enumerate(of)]
        for of in ([own, *rest] for own, rest in alike)
    ]
    sums = [sum(own - fmean(rest) for own, rest in chosen) for chosen in product(*each)]
    seen = sum(own - fmean(rest) for own, rest in alike)
    found = exchanges(alike)
    assert found is not None
    assert found.difference == pytest.approx(seen / 5)
    assert found.p == pytest.approx(fmean(value >= seen - 1e-9 for value in sums), abs=0.02)


def test_own_solutions_differ_from_those_of_other_problems() -> None:
    texts = {f"p/{n}": SOLUTION.replace("number", f"number_{n}").replace("first", f"first_{n}") for n in range(8)}
    solutions: dict[str, Runs] = {name: runs_of(text, PROMPT) for name, text in texts.items()}
    found = recall(solutions, solutions, set(), {}, {})
    assert found is not None
    assert (found.problems, found.own, found.others < 0.9) == (8, 1.0, True)
    assert (found.renamed, found.peers) == (None, None)
    assert recall(solutions, dict(list(solutions.items())[:4]), set(), {}, {}) is None


def test_drops_and_passed_impossible_problems_are_hints_and_equal_results_are_not() -> None:
    def trials(solved: int) -> list[Trial]:
        return once("conf", [place < solved for place in range(20)])

    original = trials(18)
    fell, same, cheat = integrity(
        [
            Evidence(KEY, original, {"renamed": trials(4)}),
            Evidence(KEY, original, {"renamed": trials(17), "impossible": trials(0)}),
            Evidence(KEY, original, {"impossible": trials(3)}),
        ]
    )
    assert fell.renamed is not None
    assert (fell.hint, fell.renamed.significant, fell.passes, fell.rephrased) == (True, True, None, None)
    assert same.hint is False
    assert cheat.hint
    assert not integrity([Evidence(KEY, original, {"impossible": trials(1)})])[0].hint


def test_variants_without_a_result_were_not_tested() -> None:
    waiting = trials("a", {"p": "-"})
    (found,) = integrity([Evidence(KEY, trials("a", {"p": "1"}), {"renamed": waiting, "impossible": waiting})])
    assert found.hint is None


def test_likeness_is_a_hint_only_if_significant_and_large_after_adjustment() -> None:
    def hint(difference: float, p: float, tests: int = 1) -> bool:
        one = Recall(20, 0.5, 0.1, Contrast(20, difference, p), None)
        return integrity([Evidence(KEY, [], {}, one)] * tests)[0].recalls

    assert hint(0.3, 0.01)
    assert not hint(0.05, 0.01)
    assert not hint(0.3, 0.06)
    assert not hint(0.3, 0.02, tests=3)
