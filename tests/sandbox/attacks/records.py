"""What an attack is: a cheat on the verdict, or an attack on the host, with the conditions that its twin needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Plain = Literal["script", "warm", "split"]
"""Graders that defend nothing: a script whose exit code counts, one warm process for all, a naive fork server."""
Aim = Literal["pass", "poison", "legacy"]
"""To pass; to spoil the verdicts on the honest and the wrong program after it; to leave ``then`` what it passes by."""
Tier = Literal["limited", "strong", "hardened"]
TIERS: tuple[Tier, ...] = ("limited", "strong", "hardened")  # from weak to strong


@dataclass(frozen=True, slots=True)
class Exercise:
    """A small problem: its tests, a program that passes them and one that does not."""

    entry_point: str
    tests: str
    honest: str
    wrong: str


@dataclass(frozen=True, slots=True)
class Cheat:
    """Wrong code. ``holds_from``: the weakest tier that promises to catch it. ``needs``: e.g. ``x86_64``."""

    name: str
    exercise: Exercise
    code: str
    plain: Plain = "script"
    aim: Aim = "pass"
    then: str = ""
    holds_from: Tier = "limited"
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Host:
    """Code with a function ``attack(x)`` that leaves a trace outside, or returns the secret, or ``REACHED``.

    It finds the names of ``ground.Ground.names`` defined. ``REACHED`` is said of kernel interfaces that answered.
    ``settle_seconds``: how long after its end it may still strike.
    """

    name: str
    code: str
    holds_from: Tier = "strong"
    needs: str = ""
    settle_seconds: float = 0.0


def named(attack: Cheat | Host | Tier) -> str:
    return attack if isinstance(attack, str) else attack.name
