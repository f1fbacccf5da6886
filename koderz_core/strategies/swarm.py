"""``swarm``: four roles: a tester writes tests, a coder a program, a critic criticises it and a refiner corrects it.

Calls: one for the tests, one for the first program, and two (critic and refiner) for each later program. Tests by a
model that sees no program follow AgentCoder (Huang et al., arXiv 2312.13010). Separate calls for feedback and
refinement follow Self-Refine (Madaan et al., arXiv 2303.17651).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from koderz_core.errors import PlanError
from koderz_core.prompts import attempts, coding, testing
from koderz_core.prompts.critique import Tested, ask, remarks
from koderz_core.prompts.extraction import candidate
from koderz_core.prompts.testing import OwnTest
from koderz_core.protocols import Context
from koderz_core.records import Completion, Sampling
from koderz_core.strategies.course import Course
from koderz_core.strategies.reminders import ADVICE_TEMPERATURE, ADVICE_TOKENS, Reminded, remember, with_examples


@dataclass(frozen=True, slots=True)
class Swarm(Reminded):
    """Write a program; as long as it fails, let a critic criticise it and a refiner correct it.

    Before the first program, the tester writes tests and sees only the text of the problem. ``tests``: the maximum
    number of these tests. The critic sees which of these tests a program fails. These tests may be wrong, so only the
    gate tests decide when the loop ends and how the programs are ranked. The critic and the tester are sampled at
    temperature 0, the refiner at ``retry_temperature``.
    """

    calls_functions: ClassVar = True

    max_iterations: int = 5
    tests: int = 10
    chain_of_thought: bool = True
    temperature: float = 0.0
    retry_temperature: float = 0.8
    max_tokens: int = 1024
    review_tokens: int = ADVICE_TOKENS

    def __post_init__(self) -> None:
        if self.tests > testing.MOST:
            raise PlanError(f"The parameter `tests` must be at most {testing.MOST}, not {self.tests}.")

    def roles(self) -> tuple[str, ...]:
        return ("coder", "tester", "critic", "refiner")

    def solve(self, ctx: Context) -> str | None:
        reply = ctx.ask("tester", testing.write(ctx.problem, self.tests), self._advising())
        tests = testing.asserts_in(reply.text, ctx.problem, self.tests)
        course = Course(with_examples(ctx, self, coding.Brief(ctx.problem, chain_of_thought=self.chain_of_thought)))
        for _ in range(self.max_iterations):
            reply = self._refined(ctx, course, tests) if course.attempts else self._first(ctx, course)
            program = candidate(reply, ctx.problem)
            if course.add(program, ctx.test(program)).verdict.passed:
                break
            remember(ctx, self, course)
        return course.best.code

    def _first(self, ctx: Context, course: Course) -> Completion:
        return ctx.ask("coder", coding.first_attempt(course.brief), self._sampling(self.temperature))

    def _refined(self, ctx: Context, course: Course, tests: Sequence[OwnTest]) -> Completion:
        critique = self._critique(ctx, course.attempts[-1], tests)
        prompt = attempts.next_attempt(course.brief, course.attempts, critique, course.reminders)
        return ctx.ask("refiner", prompt, self._sampling(self.retry_temperature))

    def _critique(self, ctx: Context, latest: attempts.Attempt, tests: Sequence[OwnTest]) -> str:
        """The critic's remarks; empty, without a call, for a reply without a program."""
        if latest.candidate.code is None:
            return ""
        own = _tested(ctx, latest.candidate.code, tests)
        messages = ask(ctx.problem, latest.candidate.code, latest.verdict, own)
        return remarks(ctx.ask("critic", messages, self._advising()).text)

    def _advising(self) -> Sampling:
        return Sampling(ADVICE_TEMPERATURE, max_tokens=self.review_tokens)

    def _sampling(self, temperature: float) -> Sampling:
        return Sampling(temperature, max_tokens=self.max_tokens)


def _tested(ctx: Context, code: str, tests: Sequence[OwnTest]) -> tuple[Tested, ...]:
    if not tests:
        return ()
    seen = ctx.probe(code, [*(test.holds for test in tests), *(test.call for test in tests)])
    return tuple(map(Tested, tests, seen[: len(tests)], seen[len(tests) :]))
