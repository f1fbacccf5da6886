"""The self-test of a judge: correct programs pass, wrong ones and cheats do not, attacks on the machine are blocked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, get_args

from koderz_core.errors import KoderzError
from koderz_core.records import Isolation, Problem
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.selftest_programs import (
    ATTACKS,
    BLOCKED,
    CHEATS,
    DOUBLES,
    PROBLEM,
    PROBLEMS,
    WRONG,
    Attack,
    Try,
    planted,
)

Group = Literal["correct programs", "wrong programs", "cheats", "attacks", "correct program after the attacks"]
GROUPS: tuple[Group, ...] = get_args(Group)


@dataclass(frozen=True, slots=True)
class Check:
    """One check. ``seen`` describes in one line what happened. It may quote a program's answer, so it is hostile."""

    group: Group
    name: str
    passed: bool
    seen: str


@dataclass(frozen=True, slots=True)
class SelfTest:
    """The results of all checks at one tier. Attacks that the tier does not promise to block are not among them."""

    isolation: Isolation
    checks: tuple[Check, ...]

    @property
    def failures(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.passed)

    @property
    def passed(self) -> bool:
        return not self.failures

    @property
    def score(self) -> str:
        """The number of passed checks and the number of checks, such as ``14/14``."""
        return f"{len(self.checks) - len(self.failures)}/{len(self.checks)}"


def quick(judge: BoxedJudge) -> SelfTest:
    """The short form, for every start: well under a second. Raises nothing: every error is a failed check."""
    right = [_right(judge, name, problem) for name, problem in PROBLEMS.items() if name in ("double", "order", "count")]
    wrong, cheats = ([program for program in programs if program.quick] for programs in (WRONG, CHEATS))
    return _run(judge, right, wrong, cheats, [attack for attack in ATTACKS if attack.quick])


def full(judge: BoxedJudge, problems: Sequence[Problem]) -> SelfTest:
    """The long form, some seconds, with the canonical solutions of ``problems``. Raises nothing."""
    with ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="self-test") as threads:
        own = [_right(judge, name, problem) for name, problem in PROBLEMS.items()]
        right = [*own, *threads.map(lambda problem: _right(judge, problem.id, problem), problems)]
    return _run(judge, right, WRONG, CHEATS, ATTACKS)


def _run(
    judge: BoxedJudge, right: Sequence[Check], wrong: Sequence[Try], cheats: Sequence[Try], attacks: Sequence[Attack]
) -> SelfTest:
    checks = [
        *right,
        *(_fails(judge, "wrong programs", program) for program in wrong),
        *(_fails(judge, "cheats", cheat) for cheat in cheats),
        *(_blocks(judge, attack) for attack in attacks if attack.limited or judge.isolation != "limited"),
        _right(judge, "double", PROBLEMS["double"], "correct program after the attacks"),
    ]
    return SelfTest(judge.isolation, tuple(checks))


def _right(judge: BoxedJudge, name: str, problem: Problem, group: Group = "correct programs") -> Check:
    return _check(judge, group, name, problem, problem.canonical_solution or DOUBLES)


def _fails(judge: BoxedJudge, group: Group, program: Try) -> Check:
    return _check(judge, group, program.name, PROBLEMS[program.problem], program.code, passes=False)


def _blocks(judge: BoxedJudge, attack: Attack) -> Check:
    """Passes if the attack's program reports that it was blocked, and if it left no traces outside."""
    with planted() as ground:
        check = _check(judge, "attacks", attack.name, PROBLEM, ground.program(attack))
        traces, seen = ground.traces(), BLOCKED if check.passed else check.seen
    return Check("attacks", attack.name, check.passed and not traces, traces or seen)


def _check(judge: BoxedJudge, group: Group, name: str, problem: Problem, code: str, *, passes: bool = True) -> Check:
    """Whether ``code`` passes the tests of ``problem``, or fails them if ``passes`` is false."""
    try:
        verdict = judge.check(problem, code, problem.tests)
    except KoderzError as error:  # a lost worker, or tests that count as broken
        return Check(group, name, False, str(error))
    seen = "it passed" if verdict.passed else verdict.message or "the program did not pass"
    return Check(group, name, verdict.passed is passes, seen)
