"""The self-test passes where the sandbox holds, fails where it does not, and a failed one judges nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from confined import needs_linux
from small_problem import BWRAP, best_tier, judge_of

from koderz_core.errors import SandboxError
from koderz_core.records import Isolation, Problem, TestSet, Verdict
from koderz_core.sandbox import local_judge
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.local_judge import Sandbox
from koderz_core.sandbox.selftest import full, quick
from koderz_core.sandbox.selftest_programs import ATTACKS, CHEATS, PROBLEMS, WRONG, Attack, planted

UNSURE = {"reserves eight gigabytes", "opens thousands of files", "creates Linux namespaces"}
"""What the system itself may refuse, a sandbox or not."""


class Credulous(BoxedJudge):
    """A judge that spoils some verdicts."""

    spoil: Callable[[str, Verdict], Verdict]

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        return self.spoil(code, super().check(problem, code, tests))


def credulous(spoil: Callable[[str, Verdict], Verdict]) -> Credulous:
    judge = Credulous(best_tier(), BWRAP)
    judge.spoil = spoil
    return judge


PASSED = Verdict("PPP", (), True, None, "", 0.0, "strong")
FAILED = Verdict("F", (), True, "assertion", "it was wrong", 0.0, "strong")


def test_every_check_passes_at_every_tier_that_holds(tier: Isolation) -> None:
    found = quick(judge_of(tier))
    assert found.failures == ()
    groups = {"correct programs", "cheats", "attacks", "correct program after the attacks"}
    assert {check.group for check in found.checks} >= groups


def test_the_long_form_has_twenty_cheats_fifteen_attacks_and_all_canonical_solutions() -> None:
    problems = [PROBLEMS["double"]] * 3
    found = full(judge_of(best_tier()), problems)
    groups = [check.group for check in found.checks]
    assert found.failures == ()
    assert groups.count("correct programs") == len(PROBLEMS) + 3
    assert (groups.count("cheats"), groups.count("attacks")) == (len(CHEATS), len(ATTACKS))
    assert len(CHEATS) >= 20
    assert len(ATTACKS) >= 15


def test_limited_is_tested_for_what_it_promises_only() -> None:
    attacks = [check.name for check in quick(judge_of("limited")).checks if check.group == "attacks"]
    assert attacks == ["reserves eight gigabytes"]


@needs_linux
def test_the_short_form_takes_a_moment_on_a_warm_judge() -> None:
    judge = judge_of(best_tier())
    quick(judge)
    seconds = []
    for _ in range(5):
        started = time.monotonic()
        quick(judge)
        seconds.append(time.monotonic() - started)
    assert min(seconds) < 1  # 0.1 s on an idle machine


def test_a_judge_that_passes_a_cheat_fails_and_the_cheat_is_named() -> None:
    judge = credulous(lambda code, verdict: PASSED if "__eq__" in code else verdict)
    found = quick(judge)
    judge.close()
    assert {check.name for check in found.failures} == {
        "returns an object that equals everything",
        "returns a number that equals everything",
    }


def test_a_judge_that_fails_right_programs_fails() -> None:
    judge = credulous(lambda code, verdict: FAILED)
    failed = {check.group: check.seen for check in quick(judge).failures}
    judge.close()
    assert failed == dict.fromkeys(("correct programs", "attacks", "correct program after the attacks"), "it was wrong")


@pytest.mark.parametrize(
    ("lines", "seen"),
    [
        ("open(FOLDER + '/new', 'w').close()", "the test folder outside the sandbox now contains kept, new, secret"),
        ("socket.create_connection(('127.0.0.1', PORT)).close()", "the program connected to the server"),
    ],
)
def test_what_an_attack_leaves_is_seen_from_outside_whatever_its_program_says(lines: str, seen: str) -> None:
    with planted() as ground:
        exec(ground.program(Attack("is not blocked", lines)), scope := {})
        scope["attack"](0)
        assert ground.traces() == seen


@needs_linux
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_gets_through_where_nothing_defends(attack: Attack) -> None:
    if attack.name in UNSURE:
        pytest.skip("the system itself may refuse it")
    with planted() as ground:
        program = ground.program(attack) + "\nprint(attack(0), flush=True)\n"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("got through") or (attack.name == "executes another program" and not done.stdout)


@pytest.mark.parametrize("program", [*WRONG, *CHEATS], ids=lambda program: program.name)
def test_a_wrong_program_fails_at_the_least_defended_tier_too(program) -> None:
    problem = PROBLEMS[program.problem]
    assert not judge_of("limited").check(problem, program.code, problem.tests).passed


def test_a_sandbox_that_fails_its_self_test_judges_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_judge, "BoxedJudge", lambda *given, **named: credulous(lambda code, verdict: PASSED))
    sandbox = Sandbox("auto", shutil.which("bwrap"), 10.0)
    with pytest.raises(SandboxError, match=r"gives another number.*wrong programs.*koderz doctor --grader"):
        sandbox.judge()
    tested = sandbox.examine().self_test
    assert tested
    assert not tested.passed


def test_a_tier_that_is_wanted_and_does_not_hold_is_told_with_its_cure() -> None:
    examined = Sandbox("hardened", None, 10.0).examine()
    assert (examined.used, examined.self_test) == (None, None)
    assert "apt install bubblewrap" in examined.trouble
