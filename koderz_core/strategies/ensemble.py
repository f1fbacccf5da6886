"""``ensemble``: programs of several models; the consensus is by gate tests, then by CodeBLEU.

Calls: ``samples`` of each coder, all at once; every different program is tested once. Of programs that no test tells
apart the one most like the others is likeliest right: minimum Bayes risk, as Shi et al. (arXiv 2204.11454) choose by
what programs do, here by what they say, which needs no inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar

from koderz_core.errors import PlanError
from koderz_core.events import ConsensusReached, Considered
from koderz_core.prompts import coding
from koderz_core.prompts.extraction import candidate
from koderz_core.prompts.programs import shape
from koderz_core.protocols import Context
from koderz_core.records import Ask, Sampling, Verdict
from koderz_core.similarity import Weights, normalised, require_package, similarities
from koderz_core.strategies.parameters import parameter
from koderz_core.strategies.reminders import Reminded, with_reminders

MOST = 16
"""Samples of one model: the programs are compared each with each."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a reply of the ``member``-th model held; without a program there is nothing to test."""

    member: int
    code: str | None
    iteration: int | None = None
    verdict: Verdict | None = None

    @property
    def rank(self) -> tuple[bool, int]:
        return (self.verdict.passed, self.verdict.tests_passed) if self.verdict else (False, -1)


@dataclass(frozen=True, slots=True)
class Ensemble(Reminded):
    """Ask each coder for some programs; of those best by gate tests hand in the one most like the others.

    ``samples``: how many of each coder. ``weights``: what CodeBLEU's parts count, which are runs of words, those with
    keywords, syntax and data flow. ``normalise``: programs are compared in one layout, without comments and docstrings.
    Replies without a program, and programs that do not parse, have no say.
    """

    several: ClassVar = ("coder",)
    takes_all_coders: ClassVar = True
    shows_attempts: ClassVar = False
    require_packages: ClassVar = staticmethod(require_package)

    samples: int = 3
    weights: str = parameter(
        "0.25,0.25,0.25,0.25",
        "What the parts of CodeBLEU count: runs of words, those with keywords, syntax, data flow.",
    )
    normalise: bool = parameter(True, "Programs are compared in one layout, without comments and docstrings.")
    chain_of_thought: bool = True
    temperature: float = 0.8
    max_tokens: int = 1024

    def __post_init__(self) -> None:
        if self.samples > MOST:
            raise PlanError(f"samples must be at most {MOST}, not {self.samples}.")
        object.__setattr__(self, "weights", str(Weights.read(self.weights)))  # in any proportion the same weights

    def roles(self) -> tuple[str, ...]:
        return ("coder",)

    def solve(self, ctx: Context) -> str | None:
        candidates = self._tested(ctx)
        texts = {place: text for place, one in enumerate(candidates) if (text := self._comparable(one))}
        top = max(one.rank for one in candidates)
        best = {place: one.code for place, one in enumerate(candidates) if one.code is not None and one.rank == top}
        told_apart = len(set(map(shape, best.values()))) < 2
        scores = {} if told_apart else self._scores(texts, [place for place in best if place in texts])
        chosen = max(best, key=lambda place: (place in texts, scores.get(place, 0.0), place), default=None)
        ctx.note(
            ConsensusReached(
                None if chosen is None else chosen + 1,
                "gate" if told_apart else "codebleu",
                tuple(_considered(one, scores.get(place), place in texts) for place, one in enumerate(candidates)),
                Weights.read(self.weights).shares,
            )
        )
        return None if chosen is None else best[chosen]

    def _tested(self, ctx: Context) -> list[Candidate]:
        brief = with_reminders(ctx, self, coding.Brief(ctx.problem, chain_of_thought=self.chain_of_thought))
        sampling, messages = Sampling(self.temperature, max_tokens=self.max_tokens), coding.first_attempt(brief)
        asks = [
            Ask("coder", messages, sampling, one) for one in range(ctx.members("coder")) for _ in range(self.samples)
        ]
        tested: dict[str, tuple[int, Verdict]] = {}
        candidates: list[Candidate] = []
        for ask, reply in zip(asks, ctx.ask_many(asks), strict=True):
            found = candidate(reply, ctx.problem)
            if found.code is None:
                candidates.append(Candidate(ask.member, None))
                continue
            form = shape(found.code)
            if form not in tested:
                tested[form] = (len(tested) + 1, ctx.test(found))
            candidates.append(Candidate(ask.member, found.code, *tested[form]))
        return candidates

    def _comparable(self, one: Candidate) -> str | None:
        text = normalised(one.code) if one.code is not None else None
        return text if self.normalise or text is None else one.code

    def _scores(self, texts: Mapping[int, str], best: Sequence[int]) -> dict[int, float]:
        """By place: the mean of how alike a program is to the others among the best."""
        rows = similarities(list(texts.values()), Weights.read(self.weights)) if len(best) > 1 else ()
        alike = {place: dict(zip(texts, row, strict=True)) for place, row in zip(texts, rows, strict=False)}
        return {place: round(fmean(row[one] for one in best if one != place), 6) for place, row in alike.items()}


def _considered(one: Candidate, score: float | None, comparable: bool) -> Considered:
    why = "" if comparable else "no program" if one.code is None else "cannot be compared"
    verdict = one.verdict
    passed, total = (verdict.tests_passed, verdict.tests_total) if verdict else (0, 0)
    return Considered(one.member, one.iteration, passed, total, score, why)
