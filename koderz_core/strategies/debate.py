"""``debate``: personas hold their positions against each other, a judge sums up, and the coder writes from that.

Calls: ``agents`` x ``rounds``, one of the judge, and one of the coder for each iteration. The rounds are those of Du et
al., "Improving Factuality and Reasoning in Language Models through Multiagent Debate" (arXiv 2305.14325): all speak at
once and see the others' answers of the round before; the judge is that of Liang et al. (arXiv 2305.19118).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from koderz_core.errors import PlanError
from koderz_core.events import TurnSpoken
from koderz_core.prompts import attempts, coding, debating
from koderz_core.prompts.debating import Limits, Position, Speaker, speakers
from koderz_core.prompts.extraction import candidate
from koderz_core.protocols import Context
from koderz_core.records import Ask, Sampling
from koderz_core.strategies.course import Course
from koderz_core.strategies.parameters import parameter
from koderz_core.strategies.reminders import Reminded, remember, with_examples

USUAL = "architect,coder,reviewer"
MOST_ROUNDS = 10
JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class Debate(Reminded):
    """Personas debate, a judge sums up, the coder writes it and repairs it until ``max_iterations`` programs failed.

    ``agents``: who speaks, by the names of their personas; several models of the role speaker take turns among them.
    After the first of ``rounds`` all see what each said in the one before: whole, while all positions together fit
    into ``shown_tokens``. ``turn_tokens``: the longest turn. ``personas``: YAML with one's own, in addition to
    those that come with koderz. A turn takes no longer than any request may.
    """

    several: ClassVar = ("speaker",)

    agents: str = parameter(USUAL, "The personas that debate, by name, with commas between them.")
    rounds: int = parameter(2, "After the first, every speaker sees what all others said in the round before.")
    max_iterations: int = 3
    turn_tokens: int = parameter(512, "The most tokens of one turn in the debate; what is longer is cut off.")
    shown_tokens: int = parameter(3000, "Room in a prompt for the others' positions, in tokens.")
    chain_of_thought: bool = True
    temperature: float = 0.0
    retry_temperature: float = 0.8
    max_tokens: int = 1024
    personas: str = parameter(
        "", "Personas of your own: a .yaml file or YAML text. They are added to those that come with koderz."
    )

    def __post_init__(self) -> None:
        if self.rounds > MOST_ROUNDS:
            raise PlanError(f"rounds must be at most {MOST_ROUNDS}, not {self.rounds}.")
        if (self.agents, self.personas) != (USUAL, ""):  # else there is nothing to read a file for
            named = speakers(self.agents, self.personas)
            object.__setattr__(self, "agents", ",".join(one.role for one in named))  # one cast, one configuration

    def roles(self) -> tuple[str, ...]:
        return ("speaker", JUDGE, "coder")

    def solve(self, ctx: Context) -> str | None:
        cast, said = speakers(self.agents, self.personas), tuple[Position, ...]()
        for number in range(1, self.rounds + 1):
            said = self._round(ctx, cast, said, number)
        conclusion = self._judged(ctx, said)
        return self._written(ctx, conclusion.text)

    def _round(
        self, ctx: Context, cast: Sequence[Speaker], last: Sequence[Position], number: int
    ) -> tuple[Position, ...]:
        """All speak at once, so that nobody has the advantage of the last word."""
        members = ctx.members("speaker")
        asks = [
            Ask("speaker", debating.turn(ctx.problem, one, last, self._limits()), self._turn(), place % members)
            for place, one in enumerate(cast)
        ]
        replies = zip(cast, ctx.ask_many(asks), strict=True)
        said = tuple(debating.position(one.role, reply.text) for one, reply in replies)
        for one in said:
            ctx.note(TurnSpoken(one.speaker, number, one.text))
        return said

    def _judged(self, ctx: Context, last: Sequence[Position]) -> Position:
        reply = ctx.ask(JUDGE, debating.judge(ctx.problem, last, self._limits()), self._turn())
        conclusion = debating.position(JUDGE, reply.text)
        ctx.note(TurnSpoken(JUDGE, self.rounds, conclusion.text))
        return conclusion

    def _written(self, ctx: Context, conclusion: str) -> str | None:
        course = Course(with_examples(ctx, self, coding.Brief(ctx.problem, conclusion, self.chain_of_thought)))
        for _ in range(self.max_iterations):
            reply = ctx.ask("coder", self._prompt(course), self._sampling(again=bool(course.attempts)))
            tried = candidate(reply, ctx.problem)
            if course.add(tried, ctx.test(tried)).verdict.passed:
                break
            remember(ctx, self, course)
        return course.best.code

    def _prompt(self, course: Course) -> coding.Prompt:
        return (
            attempts.next_attempt(course.brief, course.attempts, lessons=course.reminders)
            if course.attempts
            else coding.first_attempt(course.brief)
        )

    def _limits(self) -> Limits:
        return Limits(self.turn_tokens, self.shown_tokens)

    def _turn(self) -> Sampling:
        return Sampling(self.temperature, max_tokens=self.turn_tokens)

    def _sampling(self, *, again: bool) -> Sampling:
        return Sampling(self.retry_temperature if again else self.temperature, max_tokens=self.max_tokens)
