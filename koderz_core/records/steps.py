"""Requests of a strategy to its context and their results; past failures and programs that strategies learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from koderz_core.records.completions import Message, Sampling
from koderz_core.records.problems import DatasetOrigin
from koderz_core.records.verdicts import ErrorClass, TestFailure

QueryKind = Literal["spec", "lesson", "solved", "statistics", "web", "selector"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One of several requests that are sent at the same time: the arguments of ``Context.ask``."""

    role: str
    messages: Sequence[Message]
    sampling: Sampling | None = None
    member: int = 0


@dataclass(frozen=True, slots=True)
class Observed:
    """The result of one call of a program: a value or an error, never both. Bounded, hostile texts.

    ``value`` is its ``repr`` with sets and dictionaries in sorted order, so equal values of equal types have equal
    texts. A long one keeps its ends and a hash of the whole. An object that is not plain data shows only its type.
    """

    call: str
    value: str | None
    error: ErrorClass | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Remaining:
    """What an experiment may still use; None: no limit. ``seconds`` currently has no limit."""

    iterations: int | None
    cost_usd: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A request for the best ``limit`` memories that have all of these tags."""

    kind: QueryKind
    tags: Mapping[str, str] = field(default_factory=dict)
    limit: int = 5


@dataclass(frozen=True, slots=True)
class Asker:
    """The experiment that a query comes from, with its problem, its dataset and the models of its roles."""

    experiment: str
    problem: str
    dataset: DatasetOrigin
    models: Mapping[str, tuple[str, ...]]  # role -> ids


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory. ``origin`` names its source, such as an experiment. Hostile texts."""

    text: str
    origin: str
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MemoryRef:
    """A memory whose text is named by the SHA-256 (hex) of a stored text."""

    text: str
    origin: str
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lapse:
    """An iteration that failed. ``fixed_by``: the next program of the same experiment, if that one passed.

    ``failures``: the first failed test, if one is known. ``scripted``: a scripted model wrote it. Hostile texts.
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


@dataclass(frozen=True, slots=True)
class Considered:
    """A candidate for a consensus: of the model at place ``member``, tested in ``iteration``.

    ``similarity``: its mean similarity to the other candidates with the most gate tests passed, from 0 to 1; None if it
    was not computed. ``excluded``: why the candidate could not be chosen, empty if it could.
    """

    member: int
    iteration: int | None
    tests_passed: int
    tests_total: int
    similarity: float | None = None
    excluded: str = ""
