"""Real questions to models: a tiny one to each, or a few that measure the speed of one."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

from koderz_core.config import Settings
from koderz_core.diagnosis.findings import Finding
from koderz_core.errors import InfrastructureError
from koderz_core.models.availability import Availability
from koderz_core.models.worst_case import WorstCases
from koderz_core.records import Completion, Message, Request, Sampling
from koderz_core.records.plans import scripted
from koderz_core.sums import all_known, known_sum

Ask = Callable[[str, str, int], Completion]
"""Asks a model (by name) a prompt, with a limit of the answer's tokens. Raises InfrastructureError."""

TINY_QUESTION = "Reply with the one word: ready"
TINY_TOKENS = 16
SPEED_TOKENS = 256
SPEED_PROMPTS = (
    "Write a Python function that merges two sorted lists into one sorted list.",
    "Write a Python class for a queue with methods push, pop and peek, with docstrings.",
    "Explain in ten sentences how a hash table resolves collisions.",
)


def ask_each(ask: Ask, surveyed: Iterable[Availability], settings: Settings) -> Iterator[Finding]:
    """Ask a tiny question to each local model that is ready, and to the cheapest model of each paid provider.

    Scripted models are left out. A model that does not answer is missing. Raises ConfigError.
    """
    ready = [row for row in surveyed if row.ready and not scripted([row.id])]
    local = [row.id for row in ready if row.tier == "local"]
    paid = [row.id for row in ready if row.tier != "local"]
    for model in (*local, *_cheapest(paid, settings)):
        yield _probe(ask, model)


def _cheapest(models: Iterable[str], settings: Settings) -> Iterable[str]:
    """The model of each provider with the lowest maximum cost of the question; models without a price come last."""
    question = Request((Message("user", TINY_QUESTION),), Sampling(max_tokens=TINY_TOKENS), seed=0)
    cases = WorstCases(settings)
    cheapest: dict[str, tuple[float, str]] = {}
    for model in models:
        usd, provider = cases.of(model, question), model.partition("/")[0]
        priced = inf if usd is None else usd, model
        cheapest[provider] = min(priced, cheapest.get(provider, priced))
    return [model for _, model in cheapest.values()]


def _probe(ask: Ask, model: str) -> Finding:
    try:
        answer = ask(model, TINY_QUESTION, TINY_TOKENS)
    except InfrastructureError as error:
        lead, _, cure = str(error).partition(". ")
        return Finding("answers", model, "missing", lead, cure or f"koderz models test {model}")
    counts = (answer.usage.input_tokens, answer.usage.output_tokens)
    used = " + ".join("?" if count is None else str(count) for count in counts)
    return Finding(
        "answers",
        model,
        "ready",
        f"answered in {answer.seconds:.2f} s; input + output: {used} tokens; finish reason: {answer.finish}",
    )


@dataclass(frozen=True, slots=True)
class Speed:
    """The speed of a model: medians over the prompts after a warm-up. None: its server does not report it.

    ``tokens_per_second`` starts at the first token of a streamed answer, otherwise at the question.
    ``warm_up_seconds``: the time of the warm-up, which may include loading; None without one. ``fault``: why the model
    did not answer.
    """

    model: str
    tokens_per_second: float | None = None
    first_token_seconds: float | None = None
    seconds: float | None = None
    output_tokens: int | None = None
    warm_up_seconds: float | None = None
    fault: str = ""


def speed(ask: Ask, model: str, *, warm: bool = True) -> Speed:
    """Ask a model the prompts in turn, after a warm-up unless ``warm`` is False, and measure its speed."""
    try:
        warm_up = ask(model, TINY_QUESTION, TINY_TOKENS) if warm else None
        answers = [ask(model, prompt, SPEED_TOKENS) for prompt in SPEED_PROMPTS]
    except InfrastructureError as error:
        return Speed(model, fault=str(error))
    return Speed(
        model,
        tokens_per_second=_median([_tokens_per_second(answer) for answer in answers]),
        first_token_seconds=_median([answer.first_token_seconds for answer in answers]),
        seconds=statistics.median(answer.seconds for answer in answers),
        output_tokens=known_sum(answer.usage.output_tokens for answer in answers),
        warm_up_seconds=warm_up.seconds if warm_up else None,
    )


def _tokens_per_second(answer: Completion) -> float | None:
    """The rate of an answer. The first token ends the wait, so it does not count among the tokens after it."""
    tokens, first = answer.usage.output_tokens, answer.first_token_seconds
    if tokens is None:
        return None
    if first is not None and tokens > 1 and answer.seconds > first:
        return (tokens - 1) / (answer.seconds - first)
    return tokens / answer.seconds if answer.seconds > 0 else None


def _median(values: Sequence[float | None]) -> float | None:
    known = all_known(values)
    return statistics.median(known) if known else None
