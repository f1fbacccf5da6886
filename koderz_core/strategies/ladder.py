"""``ladder``: fresh programs one after the other without feedback, the baseline of strategies with feedback.

Calls: one per attempt until a program passes. Covers retry, warming and escalation of Kapoor et al., "AI Agents That
Matter" (arXiv 2407.01502): warming used temperatures 0, 0.3, 0.3, 0.5, 0.5, and escalation used four models.
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
from koderz_core.records.completions import EFFORTS
from koderz_core.strategies.course import Best
from koderz_core.strategies.parameters import WARMEST, parameter
from koderz_core.strategies.reminders import Reminded, with_reminders

MOST = 1000
_STEP = re.compile(
    rf"(?:(?P<warm>\d+(?:\.\d*)?|\.\d+)|(?P<effort>{'|'.join(EFFORTS)}))(?:\*(?P<times>\d{{1,4}}))?", re.ASCII
)


Step = float | str
"""The temperature of an attempt, or its reasoning effort, with the provider's default temperature."""


def steps_of(text: str) -> tuple[Step, ...]:
    """One temperature or effort per attempt; none for an empty text. Raises PlanError, which names the invalid step."""
    steps: list[Step] = []
    for step in text.split(",") if text.strip() else ():
        match = _STEP.fullmatch(step.strip())
        times = int(match["times"] or 1) if match else 0
        if match is None or not times or (match["warm"] and float(match["warm"]) > WARMEST):
            raise PlanError(
                f"{step.strip()!r} in {text!r} is not a valid temperature or effort. Write numbers from 0 to "
                f"{WARMEST} or efforts ({', '.join(EFFORTS)}), separated by commas. To use a value for N attempts, "
                "append *N to it, as in 0,0.3*2 or low*2,high."
            )
        steps += [match["effort"] or float(match["warm"])] * times
    if len(steps) > MOST:
        raise PlanError(f"{text!r} specifies {len(steps)} attempts. Write at most {MOST} attempts.")
    return tuple(steps)


def canonical(steps: tuple[Step, ...]) -> str:
    """The canonical text of these steps, so that one schedule is one configuration."""
    counted = ((step, len(list(same))) for step, same in groupby(steps))
    return ",".join(
        (step if isinstance(step, str) else f"{step:g}") + (f"*{times}" if times > 1 else "") for step, times in counted
    )


USUAL = 0.8
ONCE = "0"
"""The steps of a ladder that asks each model once, greedily."""


@dataclass(frozen=True, slots=True)
class Ladder(Reminded):
    """Repeat the same prompt, at most ``max_iterations`` times, until a program passes the gate tests.

    Every call has its own seed, so each sample at a temperature above 0 is independent. ``steps`` sets the temperature
    of each attempt and replaces ``temperature``: "0,0.3*2" means one attempt at temperature 0 and two attempts at
    temperature 0.3. ``steps`` may also contain reasoning efforts, such as "low*2,high". With several coders, each coder
    makes all these attempts before the next coder makes its first attempt. Without ``steps``, the coders share the
    iterations equally.
    """

    several: ClassVar = ("coder",)
    shows_attempts: ClassVar = False
    draws_samples: ClassVar = True

    max_iterations: int = 50
    chain_of_thought: bool = True
    temperature: float = USUAL
    max_tokens: int = 1024
    steps: str = parameter(
        "",
        "Temperature or reasoning effort of each attempt, such as 0,0.3*2 (0 once, 0.3 twice) or low*2,high. "
        "Replaces temperature.",
        label="Temperature or effort per attempt",
        group="Prompt",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", canonical(steps_of(self.steps)))
        if self.steps and self.temperature != USUAL:
            raise PlanError(
                f"steps={self.steps} sets the temperature or effort of every attempt. Omit "
                f"temperature={self.temperature}."
            )

    def roles(self) -> tuple[str, ...]:
        return ("coder",)

    def solve(self, ctx: Context) -> str | None:
        best = Best()
        brief = with_reminders(ctx, self, coding.Brief(ctx.problem, chain_of_thought=self.chain_of_thought))
        messages = coding.first_attempt(brief)
        for member, step in islice(self._rungs(ctx.members("coder")), self.max_iterations):
            reply = ctx.ask("coder", messages, self._sampling(step), member)
            program = candidate(reply, ctx.problem)
            if best.keep(program, ctx.test(program)).passed:
                break
        return best.code

    def _sampling(self, step: Step) -> Sampling:
        if isinstance(step, str):
            return Sampling(max_tokens=self.max_tokens, effort=step)
        return Sampling(step, max_tokens=self.max_tokens)

    def _rungs(self, members: int) -> Iterator[tuple[int, Step]]:
        """Coder and step of each attempt, in order."""
        steps, (each, rest) = steps_of(self.steps), divmod(self.max_iterations, members)
        for member in range(members):
            shared = each + (member < rest)
            yield from ((member, step) for step in steps or (self.temperature,) * shared)
