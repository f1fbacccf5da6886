"""``beam``: a beam search that repairs the best programs of each level in several ways.

Calls: ``width`` x ``branches`` in each of at most ``depth`` levels, concurrently within a level. Beam search over
whole solutions is ToT-BFS of Yao et al., "Tree of Thoughts" (arXiv 2305.10601). Each program is repaired from its own
failed tests, as in the repair tree of Olausson et al. (arXiv 2306.09896).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from koderz_core.errors import PlanError
from koderz_core.prompts import coding
from koderz_core.prompts.attempts import Attempt, next_attempt
from koderz_core.prompts.extraction import candidate
from koderz_core.prompts.programs import shape
from koderz_core.protocols import Context
from koderz_core.records import Ask, Sampling
from koderz_core.strategies.course import Best
from koderz_core.strategies.parameters import parameter
from koderz_core.strategies.reminders import Lessons, Reminded, lessons_on, with_examples

MOST = 256


@dataclass(frozen=True, slots=True)
class Beam(Reminded):
    """Keep the best programs of each level and repair each of them in several ways.

    The first of ``depth`` levels consists of ``width`` x ``branches`` new programs. After each level, the strategy
    compares the programs from all levels so far and keeps the ``width`` programs that passed the most gate tests. Of
    two programs that passed the same number of tests, the later one is preferred. The next level repairs each kept
    program ``branches`` times. A program that differs from an earlier one only in layout and comments is not tested
    and does not count as an iteration. The search ends when a program passes all gate tests.
    """

    draws_samples: ClassVar = True

    width: int = parameter(
        3,
        "Number of distinct programs kept after each level. The programs that passed the most gate tests are kept.",
        label="Beam width",
    )
    branches: int = parameter(2, "Number of repairs of each program that is kept.", label="Repairs per program")
    depth: int = parameter(4, "Number of levels, including the first level of new programs.", label="Levels")
    chain_of_thought: bool = True
    temperature: float = 0.8
    max_tokens: int = 1024

    def __post_init__(self) -> None:
        if self.max_iterations > MOST:
            raise PlanError(
                f"width x branches x depth must be at most {MOST} programs, not {self.max_iterations}. Lower one of "
                "the three values."
            )

    @property
    def max_iterations(self) -> int:
        """The largest number of programs, reached if no two programs are the same."""
        return self.width * self.branches * self.depth

    def roles(self) -> tuple[str, ...]:
        return ("coder",)

    def solve(self, ctx: Context) -> str | None:
        brief = with_examples(ctx, self, coding.Brief(ctx.problem, chain_of_thought=self.chain_of_thought))
        best, tried, kept, lessons = Best(), dict[str, Attempt](), list[Attempt](), Lessons()
        for _ in range(self.depth):
            for reply in ctx.ask_many(self._asks(ctx, brief, kept, lessons)):
                program = candidate(reply, ctx.problem)
                form = None if program.code is None else shape(program.code)
                if form in tried:
                    continue
                verdict = best.keep(program, ctx.test(program))
                if verdict.passed:
                    return best.code
                if form is not None:
                    tried[form] = Attempt(len(tried) + 1, program, verdict)
            kept = sorted(tried.values(), key=_rank)[-self.width :]
        return best.code

    def _asks(self, ctx: Context, brief: coding.Brief, kept: Sequence[Attempt], lessons: Lessons) -> list[Ask]:
        """The calls of a level, for the best program first; calls for fresh programs in the first level."""
        sampling = Sampling(self.temperature, max_tokens=self.max_tokens)
        first = [coding.first_attempt(brief)] * (0 if kept else self.width)
        prompts = first or [
            next_attempt(brief, [attempt], lessons=lessons_on(ctx, self, attempt.verdict, lessons))
            for attempt in reversed(kept)
        ]
        return [Ask("coder", prompt, sampling) for prompt in prompts for _ in range(self.branches)]


def _rank(attempt: Attempt) -> tuple[int, int]:
    return attempt.verdict.tests_passed, attempt.number
