"""What the steps of a strategy leave behind: calls, tests, probes, recollections, what was read and noted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from koderz_core.records import (
    Cost,
    Finish,
    MemoryRef,
    MessageRef,
    Observed,
    Query,
    Remaining,
    Sampling,
    Usage,
    Verdict,
)

Text = str
"""SHA-256 (hex) of a text that a ``text_stored`` event holds."""

Why = Literal["interval", "plateau", "repeated_error", "repeated_program", "budget"]
"""Why a checkpoint was due."""


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A request is about to be sent: attempt ``attempt`` (from 1) of this ordinal. ``request`` is its hash.

    ``reserved_usd``: the most that it can cost, None if that is not known.
    """

    role: str
    member: int
    model: str
    request: str
    messages: tuple[MessageRef, ...]
    sampling: Sampling
    seed: int
    attempt: int
    reserved_usd: float | None = None


@dataclass(frozen=True, slots=True)
class CallFinished:
    """A model answered."""

    text: Text
    finish: Finish
    usage: Usage
    cost: Cost
    seconds: float
    first_token_seconds: float | None
    honoured: Sampling


@dataclass(frozen=True, slots=True)
class CallFailed:
    """An attempt failed on the provider's or our side.

    ``status``: the HTTP status that said so, None if none did; ``retry_after_seconds``: when the provider said to come
    back; ``wait_seconds``: after which the next attempt was due, None if there was to be none; ``arrived``: whether the
    request may have reached somebody, who may bill it; ``cost``: what it cost all the same, which is known of work on
    this machine (None in journals of before this was recorded: ``events/unanswered.py`` derives it); ``retries``: how
    many times the call may be tried again in all; ``closed_seconds``: for how long the circuit breaker lets no call
    through to the provider, None if it lets calls through. Both are None in older journals.
    """

    message: str
    seconds: float
    retryable: bool
    status: int | None = None
    retry_after_seconds: float | None = None
    wait_seconds: float | None = None
    arrived: bool = True
    cost: Cost | None = None
    retries: int | None = None
    closed_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class CodeTested:
    """One iteration: a candidate ran on the gate tests. ``code`` None: the reply held none."""

    iteration: int
    request: str
    code: Text | None
    how: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ProgramProbed:
    """A program was asked what some calls give: no iteration, and no score hangs on it."""

    request: str
    code: Text
    observed: tuple[Observed, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class MemoryRecalled:
    """What was remembered at that moment, whole: memory may say something else later.

    ``fault``: what kept it from being looked up, empty if nothing did.
    """

    request: str
    query: Query
    memories: tuple[MemoryRef, ...]
    seconds: float
    fault: str = ""


@dataclass(frozen=True, slots=True)
class RemainingRead:
    """A strategy was told what it may still use."""

    remaining: Remaining


@dataclass(frozen=True, slots=True)
class SpecWritten:
    """A specification that the following prompts are built on, asked for by version ``prompt`` of its prompt.

    ``origin``: the experiment that it was recalled from, None: it was written here. ``finish``: how its answer ended;
    "length": it was cut, so ``text`` is a part of it, or nothing.
    """

    text: str
    prompt: str = "minimal"
    origin: str | None = None
    finish: Finish = "stop"


@dataclass(frozen=True, slots=True)
class CheckpointReviewed:
    """A stronger model reviewed the iterations so far; ``guidance`` is what goes into the next prompts.

    ``why`` it was due then; ``sections``: its answer by heading, of which ``passed_on`` make the guidance. If nothing
    was passed on, the answer was empty, and what an earlier review advised still holds.
    """

    checkpoint: int
    after_iteration: int
    guidance: str
    why: Why = "interval"
    sections: Mapping[str, str] = field(default_factory=dict)
    passed_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnSpoken:
    """Somebody spoke in a debate: ``speaker`` in ``round``, from 1; the judge's word comes after the last."""

    speaker: str
    round: int
    text: str


@dataclass(frozen=True, slots=True)
class Considered:
    """A candidate that a consensus was sought among: the ``member``-th model's, tried in ``iteration``.

    ``similarity``: the mean of how alike it is to the others among the best by gate tests, from 0 to 1; None: it was
    not scored. ``excluded``: why not, empty if it could have been.
    """

    member: int
    iteration: int | None
    tests_passed: int
    tests_total: int
    similarity: float | None = None
    excluded: str = ""


@dataclass(frozen=True, slots=True)
class ConsensusReached:
    """Of these candidates the ``chosen``-th, from 1, is handed in; None: no reply held a program.

    ``by``: whether gate tests alone told it from the others. ``weights``: what the parts of CodeBLEU counted, in the
    order of its paper.
    """

    chosen: int | None
    by: Literal["gate", "codebleu"]
    candidates: tuple[Considered, ...]
    weights: tuple[float, ...] = ()


Note = SpecWritten | CheckpointReviewed | TurnSpoken | ConsensusReached
