"""``swarm``: four parts for four models: one writes tests, one a program, one finds fault with it, one refines it.

Calls: one for the tests, one for the first program, and two, of critic and refiner, for each of the others. Tests by
somebody who sees no program are AgentCoder's (Huang et al., arXiv 2312.13010), feedback and refinement as calls of
their own Self-Refine's (Madaan et al., arXiv 2303.17651).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    """The coder writes a program; while it fails, a critic finds fault with it and a refiner corrects it.

    The tester has written at most ``tests`` before, from the problem's text alone; the critic is shown which of them a
    program fails. They may be wrong, so nothing stops at them and no program is preferred for them: gate tests alone
    decide that. Critic and tester answer at temperature 0, the refiner at ``retry_temperature``.
    """

    max_iterations: int = 5
    tests: int = 10
    chain_of_thought: bool = True
    temperature: float = 0.0
    retry_temperature: float = 0.8
    max_tokens: int = 1024
    review_tokens: int = ADVICE_TOKENS

    def __post_init__(self) -> None:
        if self.tests > testing.MOST:
            raise PlanError(f"tests must be at most {testing.MOST}, not {self.tests}.")

    def roles(self) -> tuple[str, ...]:
        return ("coder", "tester", "critic", "refiner")

    def solve(self, ctx: Context) -> str | None:
        tests = self._tests(ctx)
        course = Course(with_examples(ctx, self, coding.Brief(ctx.problem, chain_of_thought=self.chain_of_thought)))
        for _ in range(self.max_iterations):
            reply = self._refined(ctx, course, tests) if course.attempts else self._first(ctx, course)
            tried = candidate(reply, ctx.problem)
            if course.add(tried, ctx.test(tried)).verdict.passed:
                break
            remember(ctx, self, course)
        return course.best.code

    def _tests(self, ctx: Context) -> tuple[OwnTest, ...]:
        reply = ctx.ask("tester", testing.write(ctx.problem, self.tests), self._advising())
        return testing.asserts_in(reply.text, ctx.problem, self.tests)

    def _first(self, ctx: Context, course: Course) -> Completion:
        return ctx.ask("coder", coding.first_attempt(course.brief), self._sampling(self.temperature))

    def _refined(self, ctx: Context, course: Course, tests: Sequence[OwnTest]) -> Completion:
        critique = self._critique(ctx, course.attempts[-1], tests)
        prompt = attempts.next_attempt(course.brief, course.attempts, critique, course.reminders)
        return ctx.ask("refiner", prompt, self._sampling(self.retry_temperature))

    def _critique(self, ctx: Context, latest: attempts.Attempt, tests: Sequence[OwnTest]) -> str:
        """Nobody is asked to find fault with a reply that held no program."""
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
