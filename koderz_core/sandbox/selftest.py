"""The self-test of a judge: right programs pass, wrong ones and cheats do not, attacks on the machine are blocked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, get_args

from koderz_core.errors import KoderzError
from koderz_core.records import Isolation, Problem, Verdict
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
    Ground,
    Try,
    planted,
)

Group = Literal["right programs", "wrong programs", "cheats", "attacks", "right after all that"]
GROUPS: tuple[Group, ...] = get_args(Group)


@dataclass(frozen=True, slots=True)
class Check:
    """One of them. ``seen``: what happened, one line; hostile text, as it may quote a program's answer."""

    group: Group
    name: str
    passed: bool
    seen: str


@dataclass(frozen=True, slots=True)
class SelfTest:
    """What came of all checks at one tier; what that tier does not promise is not among them."""

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
        """``14/14``: how many of the checks passed."""
        return f"{len(self.checks) - len(self.failures)}/{len(self.checks)}"


def quick(judge: BoxedJudge) -> SelfTest:
    """The short form, for every start: well under a second. Raises nothing: whatever goes wrong is a failed check."""
    right = [_right(judge, name, problem) for name, problem in PROBLEMS.items() if name in ("double", "order", "count")]
    wrong = [one for one in WRONG if one.quick]
    cheats = [one for one in CHEATS if one.quick]
    attacks = [one for one in ATTACKS if one.quick]
    return _tested(judge, right, (wrong, cheats), attacks)


def full(judge: BoxedJudge, problems: Sequence[Problem]) -> SelfTest:
    """The long form, some seconds: every canonical solution of ``problems`` has to pass as well. Raises nothing."""
    with ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="self-test") as threads:
        own = [_right(judge, name, problem) for name, problem in PROBLEMS.items()]
        right = [*own, *threads.map(lambda problem: _right(judge, problem.id, problem), problems)]
    return _tested(judge, right, (WRONG, CHEATS), ATTACKS)


def _tested(
    judge: BoxedJudge, right: Sequence[Check], tries: tuple[Sequence[Try], Sequence[Try]], attacks: Sequence[Attack]
) -> SelfTest:
    wrong, cheats = tries
    checks = [
        *right,
        *(_fails(judge, "wrong programs", program) for program in wrong),
        *(_fails(judge, "cheats", cheat) for cheat in cheats),
        *_attacked(judge, [attack for attack in attacks if attack.limited or judge.isolation != "limited"]),
        _passes(judge, "right after all that", "double", PROBLEMS["double"]),
    ]
    return SelfTest(judge.isolation, tuple(checks))


def _right(judge: BoxedJudge, name: str, problem: Problem) -> Check:
    return _passes(judge, "right programs", name, problem)


def _passes(judge: BoxedJudge, group: Group, name: str, problem: Problem) -> Check:
    code = problem.canonical_solution or DOUBLES
    return _check(group, name, lambda: judge.check(problem, code, problem.tests), lambda verdict: verdict.passed)


def _fails(judge: BoxedJudge, group: Group, one: Try) -> Check:
    problem = PROBLEMS[one.problem]
    judged = lambda: judge.check(problem, one.code, problem.tests)  # noqa: E731 (called once, where errors are caught)
    return _check(group, one.name, judged, lambda verdict: not verdict.passed)


def _attacked(judge: BoxedJudge, attacks: Sequence[Attack]) -> Iterator[Check]:
    for attack in attacks:
        with planted() as ground:
            yield _attack(judge, attack, ground)


def _attack(judge: BoxedJudge, attack: Attack, ground: Ground) -> Check:
    """Its tests pass if it says itself that it was blocked; what it did is also looked for from outside."""
    program = ground.program(attack)
    said = _check(
        "attacks", attack.name, lambda: judge.check(PROBLEM, program, PROBLEM.tests), lambda verdict: verdict.passed
    )
    traces = ground.traces()
    return Check("attacks", attack.name, said.passed and not traces, traces or (BLOCKED if said.passed else said.seen))


def _check(group: Group, name: str, judged: Callable[[], Verdict], wanted: Callable[[Verdict], bool]) -> Check:
    try:
        verdict = judged()
    except KoderzError as error:  # a lost worker, or tests that are said to be broken
        return Check(group, name, False, str(error))
    return Check(group, name, wanted(verdict), "it passed" if verdict.passed else verdict.message or "it did not pass")
