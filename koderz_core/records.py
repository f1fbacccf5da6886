"""The frozen records that the parts of koderz hand to each other: problems, messages, verdicts, plans."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

Tier = Literal["local", "small_frontier", "frontier"]
Finish = Literal["stop", "length", "refused", "empty"]
Outcome = Literal["solved", "unsolved", "cancelled", "error"]
StopReason = Literal["gate", "iterations", "budget", "gave_up"]
ScoreKind = Literal["held_out", "oracle"]
ErrorClass = Literal[
    "extraction",
    "syntax",
    "import",
    "name",
    "type",
    "assertion",
    "exception",
    "timeout",
    "memory",
    "forbidden",
    "truncated",
    "refused",
]
Scalar = str | int | float | bool | None


# --- problems -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TestSet:
    """Tests as Python source that defines ``check(candidate)``; ``source`` empty: no tests."""

    __test__ = False  # pytest: not a test class
    source: str = ""

    def __bool__(self) -> bool:
        return bool(self.source.strip())


@dataclass(frozen=True, slots=True)
class PublicProblem:
    """What a strategy may know of a problem: no tests, no canonical solution.

    ``preamble`` is the part of ``prompt`` before the function to write: imports and given helper functions.
    It is run before every candidate program, so a program need not repeat it.
    """

    id: str
    prompt: str
    entry_point: str
    preamble: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """One coding task, whole: what is public, what its tests are, and its publisher's solution."""

    public: PublicProblem
    tests: TestSet
    canonical_solution: str  # a whole program, preamble included

    @property
    def id(self) -> str:
        return self.public.id


@dataclass(frozen=True, slots=True)
class DatasetOrigin:
    """Where a dataset came from: its name, the SHA-256 of its unpacked file, its licence."""

    name: str
    sha256: str
    licence: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named list of problems, in the publisher's order."""

    origin: DatasetOrigin
    problems: tuple[Problem, ...]


# --- models -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation with a model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model is asked to sample; None leaves the provider's default."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model, complete: the same request with the same seed may be answered from a journal."""

    messages: tuple[Message, ...]
    sampling: Sampling
    seed: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call; ``input_tokens`` includes those read from and written to a cache. None: not reported."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered, how it ended, and what it took. ``honoured``: the sampling really sent."""

    text: str
    finish: Finish
    usage: Usage
    seconds: float
    honoured: Sampling
    first_token_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """The price of one call in US dollars, and where it comes from; ``usd`` None: unknown, never zero."""

    usd: float | None
    source: str


# --- programs -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Extracted:
    """The program found in a model's reply: ``code`` None if there was none; ``how`` names the rule that found it."""

    code: str | None
    how: str


@dataclass(frozen=True, slots=True)
class TestFailure:
    """One test that did not pass: its place in the test set, its source, and what was seen. Bounded, hostile texts."""

    __test__ = False  # pytest: not a test class
    index: int
    source: str
    expected: str | None = None
    actual: str | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of running one program on one test set.

    ``marks`` has one character per test, in order: ``P`` passed, ``F`` failed, ``-`` not reached. ``completed``: the
    test code ran to its end. ``error`` is the class of the first failure, None if there was none.
    ``isolation`` names the sandbox tier that ran it.
    """

    marks: str
    failures: tuple[TestFailure, ...]
    completed: bool
    error: ErrorClass | None
    message: str
    seconds: float
    isolation: str

    @property
    def tests_passed(self) -> int:
        return self.marks.count("P")

    @property
    def tests_total(self) -> int:
        return len(self.marks)

    @property
    def passed(self) -> bool:
        """Every test passed, there was at least one, and the test code ran to its end."""
        return self.completed and self.error is None and 0 < self.tests_total == self.tests_passed


# --- plans --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Configuration:
    """The thing that is compared: a strategy with its parameters, models per role, and gate policy."""

    strategy: str
    models: Mapping[str, tuple[str, ...]]  # role -> ids of its models
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    gate: str = "tests"

    @property
    def id(self) -> str:
        return f"conf_{fingerprint(self)[:12]}"


@dataclass(frozen=True, slots=True)
class Plan:
    """A set of experiments: every configuration on every problem, ``repeats`` times.

    ``name`` empty: the plan is known by its content, so the same command finds its own benchmark again.
    """

    dataset: DatasetOrigin
    problems: tuple[str, ...]
    configurations: tuple[Configuration, ...]
    seed: int = 0
    repeats: int = 1
    name: str = ""

    @property
    def id(self) -> str:
        identity = (self.name, self.dataset.sha256, self.seed) if self.name else self
        return f"bench_{fingerprint(identity)[:12]}"

    def models(self) -> tuple[str, ...]:
        """Ids of all models that some configuration uses, sorted."""
        return tuple(sorted({name for one in self.configurations for role in one.models.values() for name in role}))

    def experiments(self) -> tuple[Experiment, ...]:
        """All experiments, problem by problem, so that configurations can be compared early."""
        return tuple(
            Experiment.of(self, configuration, problem, repeat)
            for repeat in range(self.repeats)
            for problem in self.problems
            for configuration in self.configurations
        )


@dataclass(frozen=True, slots=True)
class Experiment:
    """One configuration on one problem, one repeat; ``seed`` is the root of all its randomness."""

    id: str
    configuration: str  # id
    problem: str  # id
    repeat: int
    seed: int

    @classmethod
    def of(cls, plan: Plan, configuration: Configuration, problem: str, repeat: int) -> Experiment:
        digest = fingerprint((plan.id, configuration.id, problem, plan.dataset.sha256, repeat))
        seed = int(fingerprint((plan.seed, digest))[:8], 16)
        return cls(f"exp_{digest[:12]}", configuration.id, problem, repeat, seed)


def fingerprint(value: object) -> str:
    """SHA-256 (hex) of a record's or plain value's canonical JSON: equal content, equal fingerprint."""
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()
