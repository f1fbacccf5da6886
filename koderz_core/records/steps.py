"""Records of what a strategy asks its context for and receives, and of past failures and programs to learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from koderz_core.records.completions import Message, Sampling
from koderz_core.records.problems import DatasetOrigin
from koderz_core.records.verdicts import ErrorClass, TestFailure

QueryKind = Literal["spec", "lesson", "solved", "statistics"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One of several questions that are asked at once: the arguments of ``Context.ask``."""

    role: str
    messages: Sequence[Message]
    sampling: Sampling | None = None
    member: int = 0


@dataclass(frozen=True, slots=True)
class Observed:
    """What one call of a program gave: a value or an error, never both. Bounded, hostile texts.

    ``value`` is its ``repr``, sets and dictionaries in sorted order, so that equal values of equal types have equal
    texts; a long one keeps its ends and a hash of all of it. What is not plain data shows only its type.
    """

    call: str
    value: str | None
    error: ErrorClass | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Remaining:
    """What an experiment may still use; None: there is no limit, as there never is on its ``seconds`` so far."""

    iterations: int | None
    cost_usd: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """What is wanted from outside the experiment: only what bears all of these tags, the best ``limit`` of them."""

    kind: QueryKind
    tags: Mapping[str, str] = field(default_factory=dict)
    limit: int = 5


@dataclass(frozen=True, slots=True)
class Asker:
    """Who wants something from outside: an experiment on a problem of a dataset, with the models of its roles."""

    experiment: str
    problem: str
    dataset: DatasetOrigin
    models: Mapping[str, tuple[str, ...]]  # role -> ids


@dataclass(frozen=True, slots=True)
class Memory:
    """Something remembered. ``origin`` names what it was learnt from, such as an experiment. Hostile texts."""

    text: str
    origin: str
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MemoryRef:
    """A memory, its text by the SHA-256 (hex) of a stored text."""

    text: str
    origin: str
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lapse:
    """An iteration that failed. ``fixed_by``: the next program of the same experiment, if that one passed.

    ``failures``: the first test that failed, if any was seen. ``scripted``: a scripted model wrote it. Hostile texts.
    """

    experiment: str
    problem: str
    dataset: str
    error: str
    message: str
    failures: tuple[TestFailure, ...]
    code: str | None
    fixed_by: str | None
    scripted: bool


@dataclass(frozen=True, slots=True)
class Solved:
    """A program that solved its problem, and the experiment that wrote it. Hostile text."""

    experiment: str
    problem: str
    dataset: str
    code: str
