"""Twins: tests whose expectation was changed, so that a program that computes its answers fails them.

A program in the process of its tests could report that all have passed. It therefore runs several times, in fresh
processes: in some runs with all real tests, in others with twins for a random part of them, under the same names and in
the same order. It cannot tell the runs apart, because the values of twins are those of other real tests where that is
possible. If a twin passes, the report was not computed.
"""

from __future__ import annotations

import ast
import random
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from koderz_core.python_parser import parse
from koderz_core.sandbox.expectations import Expectation, expectations

CHANCE = 0.02
"""A program that guesses which tests of each run are twins passes with at most this probability."""
_MOST_RUNS = 8
_Value = ast.expr | str


@dataclass(frozen=True)
class Unit:
    """Expectations that are changed together, each with its new value: two that are exchanged, or a single one."""

    changes: tuple[tuple[Expectation, _Value], ...]

    @property
    def places(self) -> tuple[int, ...]:
        return tuple(expectation.place for expectation, _ in self.changes)

    @property
    def is_directed(self) -> bool:
        return len(self.changes) == 1 and self.changes[0][0].directed


@dataclass(frozen=True, slots=True)
class Runs:
    """How often a program is run with real tests only, and with twins."""

    real: int
    twins: int


class Twins:
    """The twins of a test set. Safe to use from several threads."""

    def __init__(self, source: str) -> None:
        self._tree = parse(source)
        self._lot = random.Random(sha256(source.encode("utf-8", "surrogatepass")).digest())  # noqa: S311 (the same twins for the same tests)
        self._guard = threading.Lock()  # guards the tree, which is changed and restored
        self.units = _exchanged(expectations(self._tree), self._lot)

    def singles(self, units: Iterable[Unit]) -> tuple[Unit, ...]:
        """Units with the same expectations, one each, with new values."""
        return _singles([expectation for unit in units for expectation, _ in unit.changes], self._lot)

    def source(self, units: Iterable[Unit] = ()) -> str:
        """The source of the tests with the twins of these units, in the same format for any units."""
        with self._guard:
            changes = [change for unit in units for change in unit.changes]
            before = [(expectation, expectation.value) for expectation, _ in changes]
            try:
                for expectation, value in changes:
                    expectation.put(value)
                return ast.unparse(self._tree)
            finally:
                for expectation, value in before:
                    expectation.put(value)


def _exchanged(found: Sequence[Expectation], lot: random.Random) -> tuple[Unit, ...]:
    """Pairs of expectations with one shape and different values; single ones for the rest."""
    rest = lot.sample(found, len(found))
    units: list[Unit] = []
    alone: list[Expectation] = []
    while rest:
        first = rest.pop()
        other = next((other for other in rest if other.shape == first.shape and other.differs(first)), None)
        if other is None:
            alone.append(first)
            continue
        rest.remove(other)
        units.append(Unit(((first, other.value), (other, first.value))))
    return (*units, *_singles(alone, lot))


def _singles(found: Iterable[Expectation], lot: random.Random) -> tuple[Unit, ...]:
    pairs = [(expectation, expectation.other_value(lot)) for expectation in found]
    return tuple(Unit(((expectation, value),)) for expectation, value in pairs if value is not None)


def runs_for(units: Sequence[Unit]) -> Runs:
    """The smallest number of runs so that a program that guesses passes with a probability of at most ``CHANCE``.

    A program that reports with probability q that all tests passed, and otherwise guesses one of the 2^u - 1 sets of
    twins, passes with q^r ((1 - q) / (2^u - 1))^t, which is largest for q = r / (r + t). Units whose direction could be
    guessed do not count, but there is at least one.
    """
    sets = 2.0 ** max(1, min(64, sum(not unit.is_directed for unit in units))) - 1
    for total in range(2, _MOST_RUNS + 1):
        for real in range(1, total // 2 + 1):
            twins, most = total - real, real / total
            if most**real * ((1 - most) / sets) ** twins <= CHANCE:
                return Runs(real, twins)
    return Runs(_MOST_RUNS // 2, _MOST_RUNS // 2)


def random_part(units: Sequence[Unit]) -> tuple[Unit, ...]:
    """A random part of the units, not empty. Every part is equally probable."""
    lot = random.SystemRandom()
    while True:
        part = tuple(unit for unit in units if lot.random() < 0.5)
        if part:
            return part


def order_of(runs: Runs) -> list[bool]:
    """Whether each run has twins, in random order."""
    kinds = [False] * runs.real + [True] * runs.twins
    random.SystemRandom().shuffle(kinds)
    return kinds
