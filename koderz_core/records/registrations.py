"""Registrations: what was decided about a benchmark before its first call, and the hash to publish beforehand."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from koderz_core.records.plans import Plan

WRONG_PAIR = "the primary comparison must be between two different configurations of the plan"
StoppingRule = Literal["fixed", "sequential"]
"""When a benchmark ends: after all planned experiments, or as soon as its primary comparison is decided or hopeless."""


Decision = Literal["matches", "falls short", "hopeless"]
"""How a sequential benchmark ends early; ``hopeless``: the remaining problems would probably not decide it."""


@dataclass(frozen=True, slots=True)
class Registration:
    """The primary comparison of a plan: whether ``a`` solves at most ``margin`` (a share of problems) less than ``b``.

    ``a``, ``b``: places in the configurations of the plan, from 0. ``exclusions``: which results will not count, in the
    words of a person; empty if none was named. All other comparisons of the benchmark are exploratory.
    """

    a: int
    b: int
    margin: float
    stopping: StoppingRule = "fixed"
    exclusions: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError, so that a changed header is a fault of its line: no statistic is computed from it."""
        if not 0 < self.margin < 1:
            raise ValueError(f"the registered margin must be above 0 and below 1, not {self.margin:g}")
        if self.a == self.b or min(self.a, self.b) < 0:
            raise ValueError(WRONG_PAIR)


def primary_pair(plan: Plan, registration: Registration) -> tuple[str, str]:
    """The ids of the configurations of the primary comparison of a plan, the baseline second."""
    a, b = (plan.configurations[place].id for place in (registration.a, registration.b))
    return a, b


def document(plan: Plan) -> dict[str, object]:
    """Everything that the hash covers: the registration and the plan, with its problems in their order.

    Of a shard, the registration and the plan of the whole benchmark.
    """
    return {
        "name": plan.name,
        "dataset": plan.dataset,
        "problems": plan.problems,
        "configurations": plan.configurations,
        "repeats": plan.repeats,
        "seed": plan.seed,
        "conditions": plan.conditions,
        "budget": plan.whole.budget,
        "registration": plan.registration or None,
    }


def registration_hash(plan: Plan) -> str:
    """SHA-256 (hex) of the ``document`` as JSON with sorted keys and without spaces."""
    return hashlib.sha256(msgspec.json.encode(document(plan), order="sorted")).hexdigest()


@dataclass(frozen=True, slots=True)
class RecordedPlan:
    """The plan of a benchmark from a time on (seconds since 1970): as registered, or as changed later."""

    benchmark: str
    at: float
    plan: Plan
