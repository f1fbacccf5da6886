"""``direct``: one answer, untested. The baseline of all other strategies.

Calls: one, and one more for a spec. Pass@1 has been measured in this way since Chen et al.
(arXiv 2107.03374).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from koderz_core.prompts import coding
from koderz_core.prompts.coding import MINIMAL
from koderz_core.prompts.extraction import candidate
from koderz_core.protocols import Context
from koderz_core.records import Sampling
from koderz_core.strategies.reminders import Reminded, specification, with_reminders


@dataclass(frozen=True, slots=True)
class Direct(Reminded):
    """Ask the coder once, optionally with a spec or without chain of thought, and submit its program."""

    tests_programs: ClassVar = False
    shows_attempts: ClassVar = False

    spec: bool = False
    chain_of_thought: bool = True
    temperature: float = 0.0
    max_tokens: int = 1024

    def roles(self) -> tuple[str, ...]:
        return ("spec", "coder") if self.spec else ("coder",)

    def solve(self, ctx: Context) -> str | None:
        sampling = Sampling(self.temperature, max_tokens=self.max_tokens)
        text = None
        if self.spec:
            text = specification(ctx, MINIMAL)
        brief = with_reminders(ctx, self, coding.Brief(ctx.problem, text, chain_of_thought=self.chain_of_thought))
        reply = ctx.ask("coder", coding.first_attempt(brief), sampling)
        return candidate(reply, ctx.problem).code
