"""``ladder``: fresh programs one after the other, told nothing of those before: what feedback is held against.

Calls: one per attempt until a program passes. As retry, warming and escalation in Kapoor et al., "AI Agents That
Matter" (arXiv 2407.01502): warming went through temperatures 0, 0.3, 0.3, 0.5, 0.5, escalation through four models.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from typing import ClassVar

from koderz_core.errors import PlanError
from koderz_core.prompts import coding
from koderz_core.prompts.extraction import candidate
from koderz_core.protocols import Context
from koderz_core.records import Sampling
from koderz_core.strategies.course import Best
from koderz_core.strategies.parameters import parameter
from koderz_core.strategies.reminders import Reminded, with_reminders

HOTTEST = 2.0  # the highest that any provider takes
MOST = 1000
_STEP = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(?:\*(\d{1,4}))?", re.ASCII)


def temperatures(text: str) -> tuple[float, ...]:
    """One per attempt, none for an empty text. Raises PlanError, which names the step that is none."""
    found: list[float] = []
    for step in text.split(",") if text.strip() else ():
        read = _STEP.fullmatch(step.strip())
        temperature, times = (float(read[1]), int(read[2] or 1)) if read else (0.0, 0)
        if not times or temperature > HOTTEST:
            raise PlanError(
                f"{step.strip()!r} in {text!r} is no step: write temperatures from 0 to {HOTTEST:g} with commas "
                "between them, and how many attempts where there are several, as in 0,0.3*2,0.5*2."
            )
        found += [temperature] * times
    if len(found) > MOST:
        raise PlanError(f"{text!r} are {len(found)} steps: write at most {MOST}.")
    return tuple(found)


def written(steps: tuple[float, ...]) -> str:
    """The one text that stands for these temperatures, however they were written."""
    counted = ((temperature, len(list(same))) for temperature, same in groupby(steps))
    return ",".join(f"{temperature:g}" + (f"*{times}" if times > 1 else "") for temperature, times in counted)


USUAL = 0.8
ONCE = "0"
"""The steps of a ladder that asks each model once, as greedy as it can be had."""


@dataclass(frozen=True, slots=True)
class Ladder(Reminded):
    """Ask the coder the same again, at most ``max_iterations`` times, until a program passes the gate tests.

    Every call has a seed of its own, so a sample at a temperature above 0 is a fresh one. ``steps``: the temperatures
    of the attempts, such as "0,0.3*2", instead of always ``temperature``. Of several coders each goes through all
    steps before the next is asked; without steps they share the iterations.
    """

    several: ClassVar = ("coder",)
    shows_attempts: ClassVar = False
    draws_samples: ClassVar = True

    max_iterations: int = 50
    chain_of_thought: bool = True
    temperature: float = USUAL
    max_tokens: int = 1024
    steps: str = parameter("", "The temperature of each attempt, such as 0,0.3*2,0.5*2, instead of always the same.")

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", written(temperatures(self.steps)))  # one schedule, one configuration
        if self.steps and self.temperature != USUAL:
            raise PlanError(f"The steps {self.steps} say every temperature: leave temperature={self.temperature} out.")

    def roles(self) -> tuple[str, ...]:
        return ("coder",)

    def solve(self, ctx: Context) -> str | None:
        best = Best()
        brief = with_reminders(ctx, self, coding.Brief(ctx.problem, chain_of_thought=self.chain_of_thought))
        messages = coding.first_attempt(brief)
        for member, temperature in islice(self._rungs(ctx.members("coder")), self.max_iterations):
            reply = ctx.ask("coder", messages, Sampling(temperature, max_tokens=self.max_tokens), member)
            tried = candidate(reply, ctx.problem)
            if best.keep(tried, ctx.test(tried)).passed:
                break
        return best.code

    def _rungs(self, members: int) -> Iterator[tuple[int, float]]:
        """Member and temperature of each attempt, bottom up."""
        steps, (each, rest) = temperatures(self.steps), divmod(self.max_iterations, members)
        for member in range(members):
            shared = each + (member < rest)
            yield from ((member, temperature) for temperature in steps or (self.temperature,) * shared)
