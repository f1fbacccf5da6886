"""``supervised``: spec, iterations with feedback, reviews by a stronger model. Koderz's own idea."""

from __future__ import annotations

from dataclasses import dataclass

from koderz_core.events import CheckpointReviewed, SpecWritten
from koderz_core.prompts import coding, review, spec
from koderz_core.prompts.extraction import candidate
from koderz_core.protocols import Context
from koderz_core.records import Sampling
from koderz_core.strategies.best import Best


@dataclass(frozen=True, slots=True)
class Supervised:
    """Ask, test, feed the failure back, at most ``max_iterations`` times; every ``checkpoint_interval`` a review.

    The first attempt is sampled at ``temperature``, the following at ``retry_temperature``: a small model asked again
    at 0 repeats its program (measured: identical in 4-5 tries of 5).
    """

    max_iterations: int = 50
    checkpoint_interval: int = 5
    spec: bool = True
    checkpoints: bool = True
    chain_of_thought: bool = True
    temperature: float = 0.0
    retry_temperature: float = 0.8
    max_tokens: int = 1024

    def roles(self) -> tuple[str, ...]:
        return ("spec",) * self.spec + ("coder",) + ("reviewer",) * self.checkpoints

    def solve(self, ctx: Context) -> str | None:
        best, guidance = Best(), ""
        attempts: list[coding.Attempt] = []
        brief = coding.Brief(ctx.problem, self._specify(ctx), self.chain_of_thought)
        for iteration in range(1, self.max_iterations + 1):
            attempt = self._iterate(ctx, coding.next_attempt(brief, attempts, guidance), first=not attempts)
            attempts.append(attempt)
            if best.keep(attempt.candidate, attempt.verdict).passed:
                break
            if self._checkpoint_due(iteration):
                guidance = self._review(ctx, attempts, guidance)
        return best.code

    def _specify(self, ctx: Context) -> str | None:
        if not self.spec:
            return None
        reply = ctx.ask("spec", spec.write(ctx.problem), Sampling(self.temperature, max_tokens=self.max_tokens))
        text = spec.text_of(reply.text)
        ctx.note(SpecWritten(text))
        return text

    def _iterate(self, ctx: Context, messages: coding.Prompt, *, first: bool) -> coding.Attempt:
        temperature = self.temperature if first else self.retry_temperature
        reply = ctx.ask("coder", messages, Sampling(temperature, max_tokens=self.max_tokens))
        tried = candidate(reply, ctx.problem)
        return coding.Attempt(tried, ctx.test(tried))

    def _checkpoint_due(self, iteration: int) -> bool:
        """Never after the last iteration: nobody would read the guidance."""
        return self.checkpoints and iteration % self.checkpoint_interval == 0 and iteration < self.max_iterations

    def _review(self, ctx: Context, attempts: list[coding.Attempt], earlier: str) -> str:
        messages = review.checkpoint(ctx.problem, attempts[-self.checkpoint_interval :], len(attempts), earlier)
        reply = ctx.ask("reviewer", messages, Sampling(self.temperature, max_tokens=self.max_tokens))
        guidance = review.guidance(reply.text)
        ctx.note(CheckpointReviewed(len(attempts) // self.checkpoint_interval, len(attempts), guidance))
        return guidance
