"""What the runner is given: everything from outside that an experiment needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from koderz_core.grading.problem_tests import Divide
from koderz_core.grading.testsets import split
from koderz_core.protocols import Judge, Model
from koderz_core.records import Asker, Cost, Memory, Query, Usage
from koderz_core.runner.budget import Ledger, WorstCase, nothing_known
from koderz_core.runner.calls.provider_limits import Lanes, Policy
from koderz_core.runner.live_text import LiveText
from koderz_core.runner.recorder import NO_KEYS, Redactor

Price = Callable[[str, Usage, float], Cost]
"""Model id, tokens and seconds of one call to its cost."""

ContextTokens = Callable[[str], int | None]
"""Model id to the tokens that prompt and answer may have together; None: not known."""

Recollection = Callable[[Query, Asker], Sequence[Memory]]
"""What is remembered from outside an experiment, the best first. Called from several threads.

Raises InfrastructureError if nothing can be looked up now: the experiment goes on without, and its journal says why.
"""


def unknown_context(_model: str) -> None:
    """The context of a model of which nothing is known."""


def nothing_remembered(_query: Query, _asker: Asker) -> Sequence[Memory]:
    """The recollection of a koderz without memory."""
    return ()


@dataclass(frozen=True, slots=True)
class Parts:
    """``local`` names the models that run on this machine: their answers are streamed, so that they can be stopped."""

    models: Mapping[str, Model]
    local: frozenset[str]
    judge: Judge
    price: Price
    clock: Callable[[], float]  # seconds since 1970 (UTC)
    redact: Redactor = NO_KEYS  # of all that a strategy is given but answers
    policy: Policy = field(default_factory=Policy)
    lanes: Lanes = field(default_factory=Lanes)  # shared by all that ask the same providers
    context_tokens: ContextTokens = unknown_context
    live: LiveText = field(default_factory=LiveText)  # where streamed answers can be watched
    recall: Recollection = nothing_remembered
    worst_case: WorstCase = nothing_known
    divide: Divide = split  # a problem's tests into gate and held-out
    ledger: Ledger = field(default_factory=Ledger)  # the runner's, which knows the plan's budget
