"""What is compared, and the experiments that compare it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from koderz_core.records.problems import DatasetOrigin

Outcome = Literal["solved", "unsolved", "cancelled", "error"]
StopReason = Literal["gate", "iterations", "budget", "gave_up"]
ScoreKind = Literal["held_out", "oracle"]
Scalar = str | int | float | bool | None


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
