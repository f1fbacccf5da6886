"""``tree``: each program is a fresh one or mends an earlier one, as their tests suggest: a search wider or deeper.

Calls: one for each of at most ``max_iterations`` programs, one after the other. AB-MCTS-A of Inoue et al., "Wider or
Deeper?" (arXiv 2503.04412): Thompson sampling decides at every program whether to go on from it or to begin beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

from koderz_core.prompts import coding
from koderz_core.prompts.attempts import Attempt, next_attempt
from koderz_core.prompts.coding import Prompt
from koderz_core.prompts.extraction import candidate
from koderz_core.protocols import Context
from koderz_core.records import Sampling, Verdict
from koderz_core.strategies.best import Best
from koderz_core.strategies.branching import Branching
from koderz_core.strategies.reminding import Lessons, Reminded, lessons_on, with_examples


@dataclass(frozen=True, slots=True)
class Tree(Reminded):
    """Grow a tree of programs where the tests promise most: a fresh one, or one that mends an earlier one's failures.

    A program's reward is the share of gate tests that it passes; where the feedback tells no counts, that is none until
    one passes all, and then it ends. Of several coders each is asked as often as it is believed to be the best so far.
    """

    max_iterations: int = 50
    chain_of_thought: bool = True
    temperature: float = 0.8
    max_tokens: int = 1024

    def roles(self) -> tuple[str, ...]:
        return ("coder",)

    def solve(self, ctx: Context) -> str | None:
        brief = with_examples(ctx, self, coding.Brief(ctx.problem, chain_of_thought=self.chain_of_thought))
        best, lessons, tree = Best(), Lessons(), Branching[Attempt](ctx.random, ctx.members("coder"))
        for number in range(1, self.max_iterations + 1):
            node, member = tree.choose()
            prompt = self._mending(ctx, brief, node.state, lessons) if node.state else coding.first_attempt(brief)
            reply = ctx.ask("coder", prompt, Sampling(self.temperature, max_tokens=self.max_tokens), member)
            tried = candidate(reply, ctx.problem)
            verdict = best.keep(tried, ctx.test(tried))
            if verdict.passed:
                break
            tree.grow(node, member, Attempt(number, tried, verdict), _reward(verdict))
        return best.code

    def _mending(self, ctx: Context, brief: coding.Brief, attempt: Attempt, lessons: Lessons) -> Prompt:
        return next_attempt(brief, [attempt], lessons=lessons_on(ctx, self, attempt.verdict, lessons))


def _reward(verdict: Verdict) -> float:
    return verdict.tests_passed / verdict.tests_total if verdict.tests_total else 0.0
