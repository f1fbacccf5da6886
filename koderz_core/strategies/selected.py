"""``selected``: one call of the coder that is the best by recorded results on other problems.

Calls: one, and one more for each coder without a program in its answer. Choosing one model per problem is routing, as
in Ong et al., "RouteLLM" (arXiv 2406.18665). ``selected`` chooses by recorded results alone, without a learned model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from koderz_core.prompts import coding
from koderz_core.prompts.extraction import candidate
from koderz_core.protocols import Context
from koderz_core.records import Query, Sampling
from koderz_core.records.plans import POLICIES, QUALITY
from koderz_core.strategies.parameters import parameter
from koderz_core.strategies.reminders import Reminded, with_reminders

DIRECT = "direct"
"""The strategy whose results rank the coders: it asks each coder alone and once."""


@dataclass(frozen=True, slots=True)
class Selected(Reminded):
    """Ask the coder with the best results on other problems; if its answer contains no program, ask the next coder.

    ``policy``: the measure by which coders are ranked. The journal records the ranking with scores and reasons.
    If there are no results, the coders are asked in the given order.
    """

    several: ClassVar = ("coder",)
    takes_all_coders: ClassVar = True
    needs_several_coders: ClassVar = True
    tests_programs: ClassVar = False
    shows_attempts: ClassVar = False

    policy: str = parameter(
        QUALITY,
        "Ranking of the coders: by success rate, time of model calls, cost, context size, or in the given order.",
        POLICIES,
        label="Ranking of coders",
    )
    chain_of_thought: bool = True
    temperature: float = 0.0
    max_tokens: int = 1024

    def roles(self) -> tuple[str, ...]:
        return ("coder",)

    def solve(self, ctx: Context) -> str | None:
        brief = with_reminders(ctx, self, coding.Brief(ctx.problem, chain_of_thought=self.chain_of_thought))
        messages, sampling = coding.first_attempt(brief), Sampling(self.temperature, max_tokens=self.max_tokens)
        for member in self._order(ctx):
            code = candidate(ctx.ask("coder", messages, sampling, member), ctx.problem).code
            if code is not None:
                return code
        return None

    def _order(self, ctx: Context) -> list[int]:
        members = range(ctx.members("coder"))
        ranking = ctx.recall(Query("statistics", {"policy": self.policy, "role": "coder"}, limit=len(members)))
        ranked = [int(memory.tags["member"]) for memory in ranking]
        return list(dict.fromkeys([*ranked, *members]))
