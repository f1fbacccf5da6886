"""``ladder``: fresh programs one after the other, told nothing of those before: what feedback is held against."""

from __future__ import annotations

from dataclasses import dataclass

from koderz_core.prompts import coding
from koderz_core.prompts.extraction import candidate
from koderz_core.protocols import Context
from koderz_core.records import Sampling
from koderz_core.strategies.best import Best


@dataclass(frozen=True, slots=True)
class Ladder:
    """Ask the coder the same again, at most ``max_iterations`` times, until a program passes the gate tests.

    Every call has a seed of its own, so a sample at a temperature above 0 is a fresh one.
    """

    max_iterations: int = 50
    chain_of_thought: bool = True
    temperature: float = 0.8
    max_tokens: int = 1024

    def roles(self) -> tuple[str, ...]:
        return ("coder",)

    def solve(self, ctx: Context) -> str | None:
        best = Best()
        messages = coding.first_attempt(coding.Brief(ctx.problem, chain_of_thought=self.chain_of_thought))
        for _ in range(self.max_iterations):
            reply = ctx.ask("coder", messages, Sampling(self.temperature, max_tokens=self.max_tokens))
            tried = candidate(reply, ctx.problem)
            if best.keep(tried, ctx.test(tried)).passed:
                break
        return best.code
