"""``ensemble``: programs of several models; the consensus is by gate tests, then by CodeBLEU.

Calls: ``samples`` of each coder, all at once; every different program is tested once. Among programs that pass equally
many tests, the one most similar to the others is most likely correct. This is minimum Bayes risk, as in Shi et al.
(arXiv 2204.11454). They compare the behaviour of programs; koderz compares their text, which needs no inputs.
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
from koderz_core.records import QUESTION, Ask, PublicProblem, Sampling, Verdict
from koderz_core.similarity import MOST_CHARS, Weights, normalised, require_package, similarities
from koderz_core.strategies.parameters import parameter
from koderz_core.strategies.reminders import Reminded, with_reminders

WORDS_ONLY = Weights(1.0, 0.0, 0.0, 0.0)
"""Weights for answers in words, which have neither keywords nor a syntax tree: the n-grams alone (BLEU)."""
MOST = 16
"""Samples of one model: all pairs of programs are compared."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The program in a reply of the ``member``-th model; a reply without a program is not tested."""

    member: int
    code: str | None
    iteration: int | None = None
    verdict: Verdict | None = None

    @property
    def rank(self) -> tuple[bool, int]:
        return (self.verdict.passed, self.verdict.tests_passed) if self.verdict else (False, -1)


@dataclass(frozen=True, slots=True)
class Ensemble(Reminded):
    """Ask each coder for several programs. Of the programs that pass the most gate tests, submit the most typical one.

    The most typical program is the one with the highest mean CodeBLEU similarity to the other programs that pass the
    most gate tests. ``samples``: the number of programs that each coder writes. ``weights``: the weights of the four
    parts of CodeBLEU, which are n-grams, keyword-weighted n-grams, syntax and data flow. ``normalise``: remove
    comments and docstrings and normalise the formatting before programs are compared. Replies without a program, and
    programs that do not parse, are ignored.
    """

    several: ClassVar = ("coder",)
    takes_all_coders: ClassVar = True
    shows_attempts: ClassVar = False
    require_packages: ClassVar = staticmethod(require_package)

    samples: int = 3
    weights: str = parameter(
        "0.25,0.25,0.25,0.25",
        "Weights of the parts of CodeBLEU: n-grams, keyword-weighted n-grams, syntax, data flow.",
        label="CodeBLEU weights",
    )
    normalise: bool = parameter(
        True,
        "Remove comments and docstrings and normalise the formatting before programs are compared.",
        label="Normalise programs",
    )
    chain_of_thought: bool = True
    temperature: float = 0.8
    max_tokens: int = 1024

    def __post_init__(self) -> None:
        if self.samples > MOST:
            raise PlanError(f"The parameter `samples` must be at most {MOST}, not {self.samples}.")
        object.__setattr__(self, "weights", str(Weights.read(self.weights)))  # equal proportions, equal weights

    def roles(self) -> tuple[str, ...]:
        return ("coder",)

    def solve(self, ctx: Context) -> str | None:
        samples, weights = self._tested(ctx), self._weights(ctx.problem)
        texts = {place: text for place, sample in enumerate(samples) if (text := self._comparable(sample, ctx.problem))}
        top = max(sample.rank for sample in samples)
        best = {
            place: sample.code for place, sample in enumerate(samples) if sample.code is not None and sample.rank == top
        }
        decided = len(set(map(shape, best.values()))) < 2
        scores = {} if decided else _scores(texts, [place for place in best if place in texts], weights)
        chosen = max(best, key=lambda place: (place in texts, scores.get(place, 0.0), place), default=None)
        ctx.note(
            ConsensusReached(
                None if chosen is None else chosen + 1,
                "words" if ctx.problem.kind == QUESTION else "gate" if decided else "codebleu",
                tuple(_considered(sample, scores.get(place), place in texts) for place, sample in enumerate(samples)),
                weights.shares,
            )
        )
        return None if chosen is None else best[chosen]

    def _tested(self, ctx: Context) -> list[Sample]:
        brief = with_reminders(ctx, self, coding.Brief(ctx.problem, chain_of_thought=self.chain_of_thought))
        sampling, messages = Sampling(self.temperature, max_tokens=self.max_tokens), coding.first_attempt(brief)
        members = [member for member in range(ctx.members("coder")) for _ in range(self.samples)]
        asks = [Ask("coder", messages, sampling, member) for member in members]
        tested: dict[str, tuple[int, Verdict]] = {}
        samples: list[Sample] = []
        for ask, reply in zip(asks, ctx.ask_many(asks), strict=True):
            program = candidate(reply, ctx.problem)
            if program.code is None or ctx.problem.kind == QUESTION:
                samples.append(Sample(ask.member, program.code))
                continue
            form = shape(program.code)
            if form not in tested:
                tested[form] = (len(tested) + 1, ctx.test(program))
            samples.append(Sample(ask.member, program.code, *tested[form]))
        return samples

    def _weights(self, problem: PublicProblem) -> Weights:
        return WORDS_ONLY if problem.kind == QUESTION else Weights.read(self.weights)

    def _comparable(self, sample: Sample, problem: PublicProblem) -> str | None:
        if problem.kind == QUESTION:
            return sample.code and sample.code[:MOST_CHARS]
        text = normalised(sample.code) if sample.code is not None else None
        return text if self.normalise or text is None else sample.code


def _scores(texts: Mapping[int, str], best: Sequence[int], weights: Weights) -> dict[int, float]:
    """By place: the mean similarity of a program to the other programs among the best."""
    rows = similarities(list(texts.values()), weights) if len(best) > 1 else ()
    alike = {place: dict(zip(texts, row, strict=True)) for place, row in zip(texts, rows, strict=False)}
    return {place: round(fmean(row[other] for other in best if other != place), 6) for place, row in alike.items()}


def _considered(sample: Sample, score: float | None, comparable: bool) -> Considered:
    why = "" if comparable else "no program" if sample.code is None else "cannot be compared"
    verdict = sample.verdict
    passed, total = (verdict.tests_passed, verdict.tests_total) if verdict else (0, 0)
    return Considered(sample.member, sample.iteration, passed, total, score, why)
