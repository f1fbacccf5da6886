"""A problem's tests under a policy: true examples only, limits by the canonical solution, each made once."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest

from koderz_core.errors import DataError, PlanError, SandboxError, UnknownNameError
from koderz_core.grading.canonical import MOST_SECONDS, Canonical, Expectations
from koderz_core.grading.gates import gate_of
from koderz_core.grading.problem_tests import Divider
from koderz_core.grading.suites import base_and_plus, joined
from koderz_core.grading.testsets import Outside, Split, TestPolicy, score_kind, unseen
from koderz_core.records import Cases, Observed, PlusTests, Problem, PublicProblem, TestSet, Verdict
from koderz_core.sandbox.reference import Answers
from koderz_core.sandbox.tiers import count_tests

TEXT = "double(1) == 2\n    double(2) == 5\n    double(3) => 6"
PROBLEM = Problem(
    PublicProblem("p/0", f'def double(x):\n    """{TEXT}\n    """\n', "double"),
    TestSet("def check(candidate):\n    assert candidate(4) == 8\n    assert candidate(5) == 10\n"),
    "def double(x): return 2 * x",
    PlusTests("[[6], [7]]"),
)


@dataclass
class Judge:
    """Judges by plain ``exec``, assert by assert; knows how often, and says that each took so many seconds."""

    seconds: float = 0.1
    checks: int = 0
    lost: bool = False

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        if self.lost:
            raise SandboxError("The worker was lost.")
        self.checks += 1
        assert tests.seconds == MOST_SECONDS
        scope: dict[str, object] = {}
        exec(code, scope)
        lines = [line.strip().removeprefix("assert ") for line in tests.source.splitlines() if "    assert " in line]
        marks = "".join("P" if eval(line, {"candidate": scope["double"]}) else "F" for line in lines)
        return Verdict(marks, (), True, "assertion" if "F" in marks else None, "", self.seconds, "none")

    def probe(self, problem: PublicProblem, code: str, calls: Sequence[str]) -> tuple[Observed, ...]:
        scope: dict[str, object] = {}
        exec(code, scope)
        return tuple(Observed(call, _value(call, scope)) for call in calls)


def _value(call: str, scope: dict[str, object]) -> str | None:
    try:
        return repr(eval(call, scope))
    except IndexError:
        return None


def divider(folder: Path, judge: Judge, seconds: float = 0.5) -> Divider:
    answers = Answers(("12", "14"), (seconds, 0.0))
    return Divider(Canonical(folder / "c", lambda: judge), lambda: Expectations(folder / "e", lambda *_: answers))


def test_examples_that_the_canonical_solution_fails_are_no_part_of_the_gate(tmp_path: Path) -> None:
    made = divider(tmp_path, Judge())
    found = made.divide(PROBLEM, TestPolicy("examples"))
    assert isinstance(found, Split)
    assert "candidate(1) == 2" in found.gate.source
    assert "candidate(2)" not in found.gate.source
    assert (found.rest, found.within_base) == (PROBLEM.tests, False)
    assert [str(example) for example in made.untrue(PROBLEM)] == ["candidate(2) == 5"]


@pytest.mark.parametrize(
    ("tests", "shown", "rest", "kind"),
    [
        (("candidate(4) == 8",), "", "candidate(4)", "held_out"),
        (("candidate(x = 1) == 2", "candidate(4) == 8"), "candidate(x = 1)", "candidate(4)", "held_out"),
        (("candidate(2) == 4",), "", "candidate(2)", "held_out"),  # its example is not true: no gate shows it
        (("candidate( 3) == 6", "candidate(1) < 3"), "candidate( 3)", "", "oracle"),
    ],
)
def test_a_base_test_that_calls_as_a_true_example_does_is_not_held_out(
    tmp_path: Path, tests: tuple[str, ...], shown: str, rest: str, kind: str
) -> None:
    lines = "".join(f"    assert {test}\n" for test in tests)
    problem = replace(PROBLEM, tests=TestSet(f"def check(candidate):\n{lines}"))
    found = divider(tmp_path, Judge()).divide(problem, TestPolicy("examples", seconds=7.0))
    assert isinstance(found, Split)
    assert (shown in found.shown.source, bool(found.shown)) == (True, bool(shown))
    assert (rest in found.rest.source, bool(found.rest)) == (True, bool(rest))
    assert count_tests(found.shown.source) + count_tests(found.rest.source) == len(tests)
    assert score_kind(unseen(found, gate_was_seen=True)) == kind
    assert (score_kind(unseen(found, gate_was_seen=False)), found.shown.seconds) == ("held_out", 7.0)


def test_an_example_that_cannot_be_run_spoils_no_other(tmp_path: Path) -> None:
    judge = Judge()
    check = judge.check

    def breaking(problem: Problem, code: str, tests: TestSet) -> Verdict:
        if "candidate(2)" in tests.source:
            raise DataError("These tests are broken.")
        return check(problem, code, tests)

    judge.check = breaking  # type: ignore[method-assign]
    found = divider(tmp_path, judge).divide(PROBLEM, TestPolicy("examples"))
    assert isinstance(found, Split)
    assert found.gate.source.count("assert") == 2


@pytest.mark.parametrize("text", ["No example.", "double(1) == 3"])
def test_a_problem_without_a_true_example_is_outside(tmp_path: Path, text: str) -> None:
    problem = replace(PROBLEM, public=PublicProblem("p/0", f'def double(x):\n    """{text}"""\n', "double"))
    assert isinstance(divider(tmp_path, Judge()).divide(problem, TestPolicy("examples")), Outside)


def test_limits_are_four_times_what_the_canonical_solution_took(tmp_path: Path) -> None:
    policy = TestPolicy("examples", by_canonical=True, plus=True)
    found = divider(tmp_path, Judge(seconds=3.0), seconds=2.5).divide(PROBLEM, policy)
    assert isinstance(found, Split)
    assert [tests.seconds for tests in (found.gate, found.base, found.rest, found.plus)] == [12.0, 12.0, 12.0, 10.0]
    quick = divider(tmp_path / "other", Judge()).divide(PROBLEM, policy)
    assert isinstance(quick, Split)
    assert [tests.seconds for tests in (quick.gate, quick.base, quick.plus)] == [4.0, 4.0, 4.0]


def test_each_plus_test_has_the_limit_of_its_own_input(tmp_path: Path) -> None:
    """``max(1 s, 4 x the canonical solution's time)``, as EvalPlus 0.3.1 has it."""
    policy = TestPolicy(by_canonical=True, plus=True, each_limited=True)
    found = divider(tmp_path, Judge(), seconds=0.5).divide(replace(PROBLEM, plus=PlusTests("[[4], [7]]")), policy)
    assert isinstance(found, Split)
    parts = [tests.cases and tests.cases.limits for tests in (found.plus, found.plus_shown, found.plus_rest)]
    assert (parts, found.plus.seconds) == (["2\n1", "2", "1"], 4.0)


def test_what_took_long_is_measured_again_and_the_least_counts(tmp_path: Path) -> None:
    judge, seconds = Judge(), iter((9.0, 2.0, 3.0))
    check = judge.check
    judge.check = lambda *order: replace(check(*order), seconds=next(seconds))  # type: ignore[method-assign]
    found = divider(tmp_path, judge).divide(PROBLEM, TestPolicy(by_canonical=True))
    assert isinstance(found, Split)
    assert (found.base.seconds, judge.checks) == (8.0, 3)


def test_a_limit_that_somebody_set_wins(tmp_path: Path) -> None:
    found = divider(tmp_path, Judge(seconds=9.0)).divide(PROBLEM, TestPolicy("split:0.5", seconds=7.0, plus=True))
    assert isinstance(found, Split)
    assert {tests.seconds for tests in (found.gate, found.base, found.rest, found.plus)} == {7.0}
    assert found.plus.cases
    assert found.plus.cases.limits == ""


def test_a_solution_that_fails_its_tests_measures_nothing(tmp_path: Path) -> None:
    wrong = replace(PROBLEM, canonical_solution="def double(x): return x")
    found = divider(tmp_path, Judge()).divide(wrong, TestPolicy(by_canonical=True))
    assert isinstance(found, Split)
    assert found.gate.seconds is None


def test_what_several_need_is_made_once_and_kept(tmp_path: Path) -> None:
    judge, policy, all_here = Judge(), TestPolicy("examples", by_canonical=True), Barrier(2)
    check = judge.check

    def slow_check(*order: Any) -> Verdict:
        with suppress(BrokenBarrierError):
            all_here.wait(0.1)  # gives another the time to come here as well
        return check(*order)

    judge.check = slow_check  # type: ignore[method-assign]
    made = divider(tmp_path, judge)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: made.divide(PROBLEM, policy), range(8)))
    assert all(split is found[0] for split in found)
    assert judge.checks == 3  # all examples, the true ones, base tests
    assert divider(tmp_path, Judge(lost=True)).divide(PROBLEM, policy) == found[0]


def test_a_failure_is_not_kept(tmp_path: Path) -> None:
    judge = Judge(lost=True)
    made = divider(tmp_path, judge)
    with pytest.raises(SandboxError):
        made.divide(PROBLEM, TestPolicy("examples"))
    judge.lost = False
    assert isinstance(made.divide(PROBLEM, TestPolicy("examples")), Split)


def test_plus_tests_are_held_out_where_the_policy_has_them(tmp_path: Path) -> None:
    made = divider(tmp_path, Judge())
    with_plus, without = (made.divide(PROBLEM, TestPolicy(plus=plus)) for plus in (True, False))
    assert isinstance(with_plus, Split)
    assert isinstance(without, Split)
    kinds = [score_kind(unseen(split, gate_was_seen=True)) for split in (with_plus, without)]
    assert (kinds, with_plus.plus.cases) == (["held_out", "oracle"], Cases("[6]\n[7]", "12\n14"))


@pytest.mark.parametrize(
    ("gate", "called_by", "inputs", "held_out"),
    [
        ("tests", "candidate", ("[4]", "[6]"), "[6]"),
        ("tests", "double", ("[4]", "[6]"), "[6]"),  # as MBPP's asserts do
        ("tests", "candidate", ("[4.0]", "[true]"), "[true]"),
        ("tests", "candidate", ("[4]", "[5]"), None),
        ("examples", "candidate", ("[4]", "[3]"), "[4]"),
        ("examples", "candidate", ("[1]", "[3]"), None),
    ],
)
def test_a_plus_test_that_makes_a_call_of_the_gate_is_held_out_only_for_who_never_ran_it(
    tmp_path: Path, gate: str, called_by: str, inputs: tuple[str, ...], held_out: str | None
) -> None:
    tests = replace(PROBLEM.tests, source=PROBLEM.tests.source.replace(" candidate", f" {called_by}"))
    problem = replace(PROBLEM, tests=tests, plus=PlusTests(f"[{', '.join(inputs)}]"))
    found = divider(tmp_path, Judge()).divide(problem, TestPolicy(gate, plus=True))
    assert isinstance(found, Split)
    seen, never_seen = (unseen(found, gate_was_seen=was).plus.cases for was in (True, False))
    assert (seen and seen.calls, never_seen and never_seen.calls) == (held_out, "\n".join(inputs))


def test_what_a_canonical_solution_fails_is_told(tmp_path: Path) -> None:
    def failing(*_: object) -> Answers:
        raise DataError("It fails.")

    made = Divider(Canonical(tmp_path, Judge), lambda: Expectations(tmp_path, failing))
    with pytest.raises(DataError, match="It fails"):
        made.divide(PROBLEM, TestPolicy(plus=True))


@pytest.mark.parametrize(
    ("text", "name"), [(" split:.50", "split:0.5"), ("split:0.25", "split:0.25"), ("examples", "examples")]
)
def test_a_gate_has_one_name(text: str, name: str) -> None:
    assert gate_of(text).name == name


@pytest.mark.parametrize("text", ["split:0", "split:1", "split:nan", "split:x", "split:", "split:-1", "split:1e-9"])
def test_a_fraction_lies_between_nothing_and_all(text: str) -> None:
    with pytest.raises(PlanError, match=r"split:0\.5"):
        gate_of(text)


@pytest.mark.parametrize("text", ["", "half", "split", "tests:1", "EXAMPLES"])
def test_an_unknown_gate_is_named(text: str) -> None:
    with pytest.raises(UnknownNameError, match="Unknown gate"):
        gate_of(text)


@pytest.mark.parametrize(("base", "reached", "marks"), [("P", True, "PPP"), ("F", True, "F--"), ("P", False, "P--")])
def test_plus_tests_are_run_for_who_passed_all_others(base: str, reached: bool, marks: str) -> None:
    plus = TestSet("def check(candidate):\n    assert candidate(1)\n    assert candidate(2)\n")

    def check(tests: TestSet) -> Verdict:
        given = "PP" if tests == plus else base
        return Verdict(given, (), True, None if "F" not in given else "assertion", "", 0.1, "none")

    found = base_and_plus(PROBLEM.tests, plus, check, reached=reached)
    assert joined(found).marks == marks


@pytest.mark.parametrize(
    ("tests", "inputs", "kind"),
    [
        ("assert add(*[4, 5]) == 9", "[[4, 5]]", "oracle"),
        ("assert add(4) == 4", "[[4, 0]]", "oracle"),
        ("assert add(4, 0) == 4", "[[4]]", "oracle"),
        ("assert list(map(candidate, [1, 2])) == [1, 2]", "[[1], [2]]", "oracle"),
        ("for x, y, z in [(1, 2, 3), (4, 5, 9)]:\n        assert add(x, y) == z", "[[1, 2], [4, 5]]", "oracle"),
        ("assert add((1,), (2,)) == (1, 2)", "[[[1], [2]]]", "oracle"),
        ("assert add(1, 2) == 3", "[[1.0, 2.0]]", "oracle"),
        ("assert add(1, 2) == 3", "[[1, 3]]", "held_out"),
        ("assert add(4, 5, more=1) == 10", "[[4, 5]]", "held_out"),
    ],
)
def test_plus_inputs_that_the_base_tests_pass_however_it_is_written_are_not_held_out(
    tmp_path: Path, tests: str, inputs: str, kind: str
) -> None:
    public = PublicProblem("p/0", "def add(a, b=0, *, more=0):\n", "add")
    source = TestSet(f"def check(candidate):\n    {tests}\n")
    solution = f"{public.prompt}    return a + (b or type(a)()) + (more or type(a)())\n"
    problem = Problem(public, source, solution, PlusTests(inputs))
    kept = Expectations(tmp_path / "e", lambda _, calls: Answers(("0",) * len(calls), (0.1,) * len(calls)))
    found = Divider(Canonical(tmp_path / "c", Judge), lambda: kept).divide(problem, TestPolicy(plus=True))
    assert isinstance(found, Split)
    assert score_kind(unseen(found, gate_was_seen=True)) == kind
