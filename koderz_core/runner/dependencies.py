"""The dependencies of the runner: everything from outside that an experiment needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from koderz_core.events import CallStarted
from koderz_core.grading.problem_tests import Divide
from koderz_core.grading.testsets import split
from koderz_core.models.answer_cache import Draw
from koderz_core.protocols import Judge, Model
from koderz_core.records import Asker, Completion, Cost, Memory, Query, Request, Usage
from koderz_core.runner.budget import Ledger, WorstCase
from koderz_core.runner.live_text import LiveText
from koderz_core.runner.memory_watch import MemoryWatch
from koderz_core.runner.provider_limits import Endpoints, Policy
from koderz_core.runner.recorder import NO_KEYS, Redactor, Voice
from koderz_core.runner.reuse import Reuse
from koderz_core.runner.scheduler import Boundless, Room, Slot

Price = Callable[[str, Usage, float], Cost]
"""Maps model id, tokens and seconds of one call to its cost."""

ContextTokens = Callable[[str], int | None]
"""Maps a model id to the tokens that prompt and answer may have together; None: unknown."""

Recollection = Callable[[Query, Asker], Sequence[Memory]]
"""Answers a query with memories from other experiments, the best first. Called from several threads.

Raises InfrastructureError if memory is unavailable: the experiment continues without it, and its journal records why.
"""


class Asks(Protocol):
    """Makes the calls of an experiment: ``Calls``, or a connection to the process that makes them."""

    def ask(self, started: CallStarted, request: Request, ordinal: int) -> Completion:
        """As ``Calls.ask``."""


MakeCalls = Callable[["Dependencies", Voice, Slot, Draw], Asks]
"""Returns what makes the calls of an experiment; its place, a draw without the ordinal, names it in all benchmarks."""


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The models, the judge, prices, limits and memory that all experiments of a benchmark share.

    ``local``: the models that run on this machine; their answers are streamed, so that they can be stopped.
    ``benchmark``: its id, for the log of outbound connections.
    """

    models: Mapping[str, Model]
    local: frozenset[str]
    judge: Judge
    price: Price
    clock: Callable[[], float]  # seconds since 1970 (UTC)
    redact: Redactor = NO_KEYS
    policy: Policy = field(default_factory=Policy)
    endpoints: Endpoints = field(default_factory=Endpoints)  # shared by all benchmarks that ask the same providers
    context_tokens: ContextTokens = lambda _model: None
    live: LiveText = field(default_factory=LiveText)  # streamed answers that can be watched
    recall: Recollection = lambda _query, _asker: ()
    worst_case: WorstCase = lambda _model, _request: None
    divide: Divide = split  # divides a problem's tests into gate tests and held-out tests
    reuse: Reuse | None = None  # answers of earlier benchmarks; None: every answer is a call
    room: Room = field(default_factory=Boundless)  # shared by all benchmarks whose models share this memory
    memory: MemoryWatch | None = None
    ledger: Ledger = field(default_factory=Ledger)  # replaced by the runner's, which knows the plan's budget
    benchmark: str = ""
    calls: MakeCalls | None = None  # None: ``Calls``
