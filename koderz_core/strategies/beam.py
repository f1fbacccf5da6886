"""``beam``: several programs at a time, each mended in several ways; the best go on, none of them twice.

Calls: ``width`` x ``branches`` in each of at most ``depth`` levels, those of a level all at once. Beam search over
whole solutions is ToT-BFS of Yao et al., "Tree of Thoughts" (arXiv 2305.10601); that each is mended from its own failed
tests makes it the repair tree of Olausson et al. (arXiv 2306.09896).
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
    """Keep the ``width`` best programs, have each mended in ``branches`` ways, and again, ``depth`` levels in all.

    The first level are fresh programs, as many as any other can have. A program that says the same as an earlier one,
    whatever its layout and comments, is not tested again and takes no place from another. What is kept are the best
    of all so far by gate tests, of equals the latest, so a program stays until it is outdone; it ends when one passes.
    """

    draws_samples: ClassVar = True

    width: int = parameter(
        3, "How many programs go on from one level to the next: the best by gate tests, none of them twice."
    )
    branches: int = parameter(2, "In how many ways each program that goes on is mended.")
    depth: int = parameter(4, "How many levels there are, that of the first programs among them.")
    chain_of_thought: bool = True
    temperature: float = 0.8
    max_tokens: int = 1024

    def __post_init__(self) -> None:
        if self.max_iterations > MOST:
            raise PlanError(
                f"width x branches x depth may come to at most {MOST} programs, not {self.max_iterations}: lower one."
            )

    @property
    def max_iterations(self) -> int:
        """If no two programs are the same."""
        return self.width * self.branches * self.depth

    def roles(self) -> tuple[str, ...]:
        return ("coder",)

    def solve(self, ctx: Context) -> str | None:
        brief = with_examples(ctx, self, coding.Brief(ctx.problem, chain_of_thought=self.chain_of_thought))
        best, tried, kept, lessons = Best(), dict[str, Attempt](), list[Attempt](), Lessons()
        for _ in range(self.depth):
            for reply in ctx.ask_many(self._asks(ctx, brief, kept, lessons)):
                found = candidate(reply, ctx.problem)
                form = None if found.code is None else shape(found.code)
                if form in tried:
                    continue
                verdict = best.keep(found, ctx.test(found))
                if verdict.passed:
                    return best.code
                if form is not None:
                    tried[form] = Attempt(len(tried) + 1, found, verdict)
            kept = sorted(tried.values(), key=_rank)[-self.width :]
        return best.code

    def _asks(self, ctx: Context, brief: coding.Brief, kept: Sequence[Attempt], lessons: Lessons) -> list[Ask]:
        """The best program's first. Nothing to mend yet: fresh ones."""
        sampling = Sampling(self.temperature, max_tokens=self.max_tokens)
        first = [coding.first_attempt(brief)] * (0 if kept else self.width)
        prompts = first or [
            next_attempt(brief, [attempt], lessons=lessons_on(ctx, self, attempt.verdict, lessons))
            for attempt in reversed(kept)
        ]
        return [Ask("coder", prompt, sampling) for prompt in prompts for _ in range(self.branches)]


def _rank(attempt: Attempt) -> tuple[int, int]:
    return attempt.verdict.tests_passed, attempt.number
