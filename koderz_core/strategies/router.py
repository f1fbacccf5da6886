"""``router``: a fitted selector chooses the coder of each problem, and optionally the next one after a probable error.

Calls: one, and one more for each coder without a program in its answer; with ``checks``, up to one per coder.
Choosing a model per problem before the call is routing, as in Ong et al., "RouteLLM" (arXiv 2406.18665). Deciding after
the answer is a cascade, as in Chen et al., "FrugalGPT" (arXiv 2305.05176). The cascade uses a calibrated probability
and a threshold that follows from the price of an error, as in UCCI (arXiv 2605.18796).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from koderz_core.errors import InfrastructureError
from koderz_core.prompts import coding
from koderz_core.prompts.extraction import candidate
from koderz_core.protocols import Context
from koderz_core.records import Extracted, Memory, Query, Sampling, Usage
from koderz_core.strategies.parameters import parameter
from koderz_core.strategies.reminders import Reminded, with_reminders
from koderz_core.sums import known_sum


@dataclass(frozen=True, slots=True)
class _Coder:
    """A coder as the selector ranks it. ``propensity``: the probability with which it is asked first."""

    member: int
    probability: float
    propensity: float
    usd: float

    def loss(self, error_usd: float) -> float:
        return self.usd + (1 - self.probability) * error_usd


@dataclass(slots=True)
class _Best:
    """The program that is most probably right, and all programs so far, for votes."""

    code: str | None = None
    probability: float = -1.0
    codes: list[str | None] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Router(Reminded):
    """Ask the coder that a fitted selector predicts to be the best. The prediction uses only the problem's text.

    For each coder, the journal records the prediction and the probability that this coder is chosen. With ``checks``,
    each program is tested on the gate tests. The next coder is called if this call lowers the expected cost of a
    wrong answer by more than its own cost. The program that is most probably right is submitted.
    """

    several: ClassVar = ("coder",)
    takes_all_coders: ClassVar = True
    needs_several_coders: ClassVar = True
    shows_attempts: ClassVar = False

    selector: str = parameter(
        "", "Name of a selector that `koderz selector fit` has made. coder=select:learned sets this parameter."
    )
    error_usd: float = parameter(
        0.0,
        "Price of a wrong answer in dollars. With 0, the router considers only the probability of success.",
        label="Price of a wrong answer",
    )
    checks: bool = parameter(
        False,
        "Test each program. Call the next coder if the call lowers the expected cost of a wrong answer by more than it "
        "costs.",
        needs="error_usd",
    )
    explore: bool = parameter(
        False,
        "Choose the first coder by Thompson sampling, so that you can evaluate other selection rules on the results.",
    )
    chain_of_thought: bool = True
    temperature: float = 0.0
    max_tokens: int = 1024

    def roles(self) -> tuple[str, ...]:
        return ("coder",)

    def solve(self, ctx: Context) -> str | None:
        brief = with_reminders(ctx, self, coding.Brief(ctx.problem, chain_of_thought=self.chain_of_thought))
        messages, sampling = coding.first_attempt(brief), Sampling(self.temperature, max_tokens=self.max_tokens)
        best = _Best()
        order = self._order(ctx)
        for place, coder in enumerate(order):
            answer = ctx.ask("coder", messages, sampling, coder.member)
            program = candidate(answer, ctx.problem)
            if self.checks:
                self._check(ctx, best, program, answer.usage)
                rest = order[place + 1 :]
                if not rest or (1 - max(0.0, best.probability)) * self.error_usd <= rest[0].loss(self.error_usd):
                    return best.code
            elif program.code is not None:
                return program.code
        return best.code

    def _order(self, ctx: Context) -> list[_Coder]:
        """The coders in the order in which they are asked. Raises InfrastructureError without a prediction."""
        tags = {
            "selector": self.selector,
            "error_usd": repr(self.error_usd),
            "seed": str(ctx.random.getrandbits(32)) if self.explore else "",
        }
        ranked = [_read(memory) for memory in ctx.recall(Query("selector", tags, limit=ctx.members("coder")))]
        if len(ranked) != ctx.members("coder"):
            raise InfrastructureError(
                f"The selector {self.selector} made no prediction for {ctx.problem.id}. `koderz selector show` lists "
                "the selectors of this data folder."
            )
        if self.explore:
            (first,) = ctx.random.choices(ranked, [coder.propensity for coder in ranked])
            ranked = [first, *(coder for coder in ranked if coder is not first)]
        return ranked

    def _check(self, ctx: Context, best: _Best, program: Extracted, usage: Usage) -> None:
        """Test a program and keep it if it is more probably right than the ones before."""
        verdict = ctx.test(program)
        best.codes.append(program.code)
        tokens = known_sum((usage.input_tokens, usage.output_tokens))
        tags = {
            "selector": self.selector,
            "passed": str(verdict.tests_passed),
            "total": str(verdict.tests_total),
            "error": verdict.error or "",
            "tokens": "" if tokens is None else str(tokens),
            "iteration": str(len(best.codes)),
            "votes": repr(best.codes.count(program.code) / len(best.codes)),
        }
        found: Sequence[Memory] = ctx.recall(Query("selector", tags, limit=1))
        if not found:
            raise InfrastructureError(f"The selector {self.selector} could not judge a program for {ctx.problem.id}.")
        probability = float(found[0].tags["probability"])
        if program.code is not None and probability > best.probability:
            best.code, best.probability = program.code, probability


def _read(memory: Memory) -> _Coder:
    tags = memory.tags
    return _Coder(int(tags["member"]), float(tags["probability"]), float(tags["propensity"]), float(tags["usd"] or 0))
