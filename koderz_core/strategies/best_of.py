"""``best_of``: many programs at once, the best by gate tests, then by a vote on their behaviour, then by a judge.

Calls: ``samples``; one more to the tester if different programs are equally good, and one to the judge if the vote is
a tie too. Repeated sampling follows Brown et al., "Large Language Monkeys" (arXiv 2407.21787). The vote on the results
of calls is the clustering of AlphaCode (Li et al., arXiv 2203.07814).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from koderz_core.errors import PlanError
from koderz_core.prompts import coding, judging, testing
from koderz_core.prompts.extraction import candidate
from koderz_core.prompts.judging import Contender
from koderz_core.prompts.programs import shape
from koderz_core.protocols import Context
from koderz_core.records import Ask, Sampling
from koderz_core.strategies.parameters import parameter
from koderz_core.strategies.reminders import Reminded, with_reminders

MOST = 256


@dataclass(frozen=True, slots=True)
class BestOf(Reminded):
    """Test several programs and choose among the best by a vote on their behaviour; a judge decides ties.

    The vote compares the results of these programs for the same function calls, which come from the problem's text and
    from the tester. Programs with the same results form a group, and the largest group wins. If several groups share
    the largest size, the judge chooses one of them; without ``judge``, the one with the latest program wins.
    ``tests``: the maximum number of calls that the tester writes. If there are no calls, only identical programs form
    a group.
    """

    shows_attempts: ClassVar = False
    draws_samples: ClassVar = True
    independent_samples: ClassVar = True
    calls_functions: ClassVar = True

    samples: int = 5
    tests: int = 10
    judge: bool = parameter(
        True,
        "If the vote on the programs' behaviour is a tie, let a judge choose.",
        label="Judge decides ties",
        group="Review",
        needs="samples",
    )
    chain_of_thought: bool = True
    temperature: float = 0.8
    max_tokens: int = 1024

    def __post_init__(self) -> None:
        for name, value, most in (("samples", self.samples, MOST), ("tests", self.tests, testing.MOST)):
            if value > most:
                raise PlanError(f"The parameter `{name}` must be at most {most}, not {value}.")

    @property
    def max_iterations(self) -> int:
        """Every sample is tested once."""
        return self.samples

    def roles(self) -> tuple[str, ...]:
        return ("coder", "tester") + ("judge",) * self.judge

    def solve(self, ctx: Context) -> str | None:
        tied = self._tested(ctx)
        if len(set(map(shape, tied))) < 2:
            return tied[-1] if tied else None
        groups = self._voted(ctx, tied)
        return self._judged(ctx, groups) if self.judge and len(groups) > 1 else groups[0].code

    def _tested(self, ctx: Context) -> list[str]:
        """The programs that passed the most gate tests, in the order of the samples."""
        brief = with_reminders(ctx, self, coding.Brief(ctx.problem, chain_of_thought=self.chain_of_thought))
        ask = Ask("coder", coding.first_attempt(brief), Sampling(self.temperature, max_tokens=self.max_tokens))
        ranked: dict[tuple[bool, int], list[str]] = defaultdict(list)
        for reply in ctx.ask_many([ask] * self.samples):
            program = candidate(reply, ctx.problem)
            verdict = ctx.test(program)
            if program.code is not None:
                ranked[verdict.passed, verdict.tests_passed].append(program.code)
        return ranked[max(ranked)] if ranked else []

    def _voted(self, ctx: Context, programs: Sequence[str]) -> list[Contender]:
        """The latest program of each of the largest groups, the overall latest first."""
        calls = self._calls(ctx)
        latest = {shape(code): code for code in programs}
        seen = {form: tuple(ctx.probe(code, calls)) if calls else () for form, code in latest.items()}
        groups: dict[object, list[Contender]] = defaultdict(list)
        for form, code in ((shape(code), code) for code in reversed(programs)):
            behaviour = tuple((step.value, step.error) for step in seen[form])
            groups[behaviour or form].append(Contender(code, seen[form]))
        largest = max(map(len, groups.values()))
        return [group[0] for group in groups.values() if len(group) == largest]

    def _calls(self, ctx: Context) -> list[str]:
        prompt = testing.write(ctx.problem, self.tests)
        reply = ctx.ask("tester", prompt, Sampling(0.0, max_tokens=self.max_tokens))
        written = testing.asserts_in(reply.text, ctx.problem, self.tests)
        return list(dict.fromkeys([*testing.calls_in(ctx.problem), *(test.call for test in written)]))

    def _judged(self, ctx: Context, groups: Sequence[Contender]) -> str:
        """The judge's choice; the samples have no meaningful order, so their positions favour none."""
        prompt = judging.choose(ctx.problem, groups)
        reply = ctx.ask("judge", prompt, Sampling(0.0, max_tokens=self.max_tokens))
        return groups[judging.chosen(reply.text, len(groups)) or 0].code
