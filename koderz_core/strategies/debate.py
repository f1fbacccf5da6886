"""``debate``: personas debate the problem, a judge sums up, and the coder writes the program from that.

Calls: ``agents`` x ``rounds`` of the speaker, one of the judge, and one of the coder for each iteration. The rounds
follow Du et al., "Improving Factuality and Reasoning in Language Models through Multiagent Debate" (arXiv 2305.14325):
all personas answer at the same time and see the answers of the previous round. The judge follows Liang et al. (arXiv
2305.19118).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from koderz_core.errors import PlanError
from koderz_core.events import TurnSpoken
from koderz_core.prompts import attempts, coding, debating
from koderz_core.prompts.debating import Position, Speaker, TurnLimits, speakers
from koderz_core.prompts.extraction import candidate
from koderz_core.protocols import Context
from koderz_core.records import QUESTION, Ask, Sampling
from koderz_core.strategies.course import Course
from koderz_core.strategies.parameters import parameter
from koderz_core.strategies.reminders import Reminded, remember, with_examples

USUAL = "architect,coder,reviewer"
MOST_ROUNDS = 10
JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class Debate(Reminded):
    """Let personas debate, and let a judge summarise the debate. Then the coder writes a program and repairs it.

    ``agents``: the names of the personas that debate. If the role speaker has several models, the models take turns.
    ``rounds``: the number of rounds. From the second round on, each persona sees the positions of the previous round,
    shortened to at most ``shown_tokens`` tokens. ``turn_tokens``: the token limit of a turn. ``personas``: YAML with
    your own personas, in addition to the built-in personas. The coder writes at most ``max_iterations`` programs.
    """

    several: ClassVar = ("speaker",)

    agents: str = parameter(USUAL, "Names of the 2 to 8 personas that debate, separated by commas.", label="Personas")
    rounds: int = parameter(
        2,
        "Number of rounds of the debate. From the second round on, each persona sees the positions of the previous "
        "round.",
    )
    max_iterations: int = 3
    turn_tokens: int = parameter(
        512,
        "Maximum number of tokens in one turn of the debate. Longer turns are cut off.",
        label="Maximum tokens per turn",
        group="Prompt",
    )
    shown_tokens: int = parameter(
        3000,
        "Maximum number of tokens that the personas' positions of the previous round may use in a prompt.",
        label="Maximum tokens for the previous round",
        group="Prompt",
        needs="rounds",
    )
    chain_of_thought: bool = True
    temperature: float = 0.0
    retry_temperature: float = 0.8
    max_tokens: int = 1024
    personas: str = parameter(
        "",
        "Your own personas, in a .yaml file or as YAML text, in addition to the built-in personas.",
        label="Your own personas",
        group="Prompt",
    )

    def __post_init__(self) -> None:
        if self.rounds > MOST_ROUNDS:
            raise PlanError(f"The parameter `rounds` must be at most {MOST_ROUNDS}, not {self.rounds}.")
        if (self.agents, self.personas) != (USUAL, ""):  # else the file of personas is not needed
            named = speakers(self.agents, self.personas)
            object.__setattr__(self, "agents", ",".join(speaker.role for speaker in named))  # one canonical text

    def roles(self) -> tuple[str, ...]:
        return ("speaker", JUDGE, "coder")

    def solve(self, ctx: Context) -> str | None:
        debaters, positions = speakers(self.agents, self.personas), tuple[Position, ...]()
        for number in range(1, self.rounds + 1):
            positions = self._round(ctx, debaters, positions, number)
        conclusion = self._judged(ctx, positions)
        return self._written(ctx, conclusion.text)

    def _round(
        self, ctx: Context, debaters: Sequence[Speaker], last: Sequence[Position], number: int
    ) -> tuple[Position, ...]:
        """The positions of a round; all speak at once, so that no speaker has the advantage of the last word."""
        members = ctx.members("speaker")
        asks = [
            Ask("speaker", debating.turn(ctx.problem, speaker, last, self._limits()), self._turn(), place % members)
            for place, speaker in enumerate(debaters)
        ]
        replies = zip(debaters, ctx.ask_many(asks), strict=True)
        positions = tuple(debating.position(speaker.role, reply.text) for speaker, reply in replies)
        for position in positions:
            ctx.note(TurnSpoken(position.speaker, number, position.text))
        return positions

    def _judged(self, ctx: Context, last: Sequence[Position]) -> Position:
        reply = ctx.ask(JUDGE, debating.judge(ctx.problem, last, self._limits()), self._turn())
        conclusion = debating.position(JUDGE, reply.text)
        ctx.note(TurnSpoken(JUDGE, self.rounds, conclusion.text))
        return conclusion

    def _written(self, ctx: Context, conclusion: str) -> str | None:
        course = Course(with_examples(ctx, self, coding.Brief(ctx.problem, conclusion, self.chain_of_thought)))
        for _ in range(self.max_iterations):
            reply = ctx.ask("coder", self._prompt(course), self._sampling(again=bool(course.attempts)))
            program = candidate(reply, ctx.problem)
            if ctx.problem.kind == QUESTION:
                return program.code
            if course.add(program, ctx.test(program)).verdict.passed:
                break
            remember(ctx, self, course)
        return course.best.code

    def _prompt(self, course: Course) -> coding.Prompt:
        return (
            attempts.next_attempt(course.brief, course.attempts, lessons=course.reminders)
            if course.attempts
            else coding.first_attempt(course.brief)
        )

    def _limits(self) -> TurnLimits:
        return TurnLimits(self.turn_tokens, self.shown_tokens)

    def _turn(self) -> Sampling:
        return Sampling(self.temperature, max_tokens=self.turn_tokens)

    def _sampling(self, *, again: bool) -> Sampling:
        return Sampling(self.retry_temperature if again else self.temperature, max_tokens=self.max_tokens)
