"""``cascade``: the cheapest coder first, and the next one only if its program fails tests that a model wrote.

Calls: one for the tests, then one per coder until a program is accepted; the last coder's program is always accepted.
The strategy follows Chen et al., "Model Cascading for Code" (arXiv 2405.15842). With one program per model, thresholds
of 0.9 to 1.0 were best there. Asking models in order of price until an answer is trusted is the idea of FrugalGPT (Chen
et al., arXiv 2305.05176). The strategy runs no gate tests, so it is scored like ``direct``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from koderz_core.errors import PlanError
from koderz_core.prompts import coding, testing
from koderz_core.prompts.extraction import candidate
from koderz_core.prompts.testing import OwnTest
from koderz_core.protocols import Context
from koderz_core.records import Sampling
from koderz_core.strategies.parameters import parameter
from koderz_core.strategies.reminders import Reminded, with_reminders


@dataclass(frozen=True, slots=True)
class Cascade(Reminded):
    """Ask the coders one after the other, and accept the first program that passes enough of the tester's tests.

    The tester writes its tests from the problem and sees no program. ``threshold``: the share of these tests that a
    program must pass. If none of the tests can be parsed, only the last coder's program is accepted. If the last coder
    writes no program, the program that passed the most tests is submitted.
    """

    several: ClassVar = ("coder",)
    takes_all_coders: ClassVar = True
    needs_several_coders: ClassVar = True
    tests_programs: ClassVar = False
    shows_attempts: ClassVar = False
    calls_functions: ClassVar = True

    threshold: float = parameter(
        0.9,
        "Share of the tester's tests that a program must pass to be accepted.",
        label="Acceptance threshold",
        group="Review",
    )
    tests: int = 10
    chain_of_thought: bool = True
    temperature: float = 0.0
    max_tokens: int = 1024

    def __post_init__(self) -> None:
        if self.threshold > 1:
            raise PlanError(
                f"The parameter `threshold` is a share of tests, so it must be at most 1, not {self.threshold}."
            )
        if self.tests > testing.MOST:
            raise PlanError(f"The parameter `tests` must be at most {testing.MOST}, not {self.tests}.")

    def roles(self) -> tuple[str, ...]:
        return ("coder", "tester")

    def solve(self, ctx: Context) -> str | None:
        brief = with_reminders(ctx, self, coding.Brief(ctx.problem, chain_of_thought=self.chain_of_thought))
        messages, sampling = coding.first_attempt(brief), Sampling(self.temperature, max_tokens=self.max_tokens)
        written = ctx.ask("tester", testing.write(ctx.problem, self.tests), sampling)
        tests, last = testing.asserts_in(written.text, ctx.problem, self.tests), ctx.members("coder") - 1
        best: str | None = None
        most = 0.0
        for member in range(last + 1):
            code = candidate(ctx.ask("coder", messages, sampling, member), ctx.problem).code
            if code is None:
                continue
            if member == last:
                return code
            share = _agreement(ctx, code, tests)
            if tests and share >= self.threshold:
                return code
            best, most = (code, share) if share >= most else (best, most)
        return best


def _agreement(ctx: Context, code: str, tests: tuple[OwnTest, ...]) -> float:
    """The share of tests that a program passes; 0 without tests."""
    if not tests:
        return 0.0
    seen = ctx.probe(code, [test.holds for test in tests])
    return sum(step.value == "True" for step in seen) / len(tests)
