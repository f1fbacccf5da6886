"""Twins: tests whose expectation was changed, so that a program that computes its answers fails them.

A program in the process of its tests could report that all have passed. It therefore runs several times, in fresh
processes: once with all real tests, and in ``PAIRS`` pairs of runs with twins for a random part of the tests in the
first run and for all others in the second, under the same names and in the same order. The runs look alike, because the
values of twins are those of other real tests where that is possible. If a twin passes, the report was not computed.
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

PAIRS = 3
"""A program that reports a wrong result as passed in every run is found. A program that guesses in which runs the test
is a twin is right in both runs of a pair with a probability of at most 1/4, so in all pairs with at most 1/64."""
HALF = 0.5
_Value = ast.expr | str


@dataclass(frozen=True)
class Unit:
    """Expectations that are changed together, each with its new value: two that are exchanged, or a single one."""

    changes: tuple[tuple[Expectation, _Value], ...]

    @property
    def places(self) -> tuple[int, ...]:
        return tuple(expectation.place for expectation, _ in self.changes)

    @property
    def is_made(self) -> bool:
        """Whether the program may make one of the expected values."""
        return any(expectation.is_made for expectation, _ in self.changes)


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
        other = next((other for other in rest if first.can_be_exchanged(other)), None)
        if other is None:
            alone.append(first)
            continue
        rest.remove(other)
        units.append(Unit(((first, other.value), (other, first.value))))
    return (*units, *_singles(alone, lot))


def _singles(found: Iterable[Expectation], lot: random.Random) -> tuple[Unit, ...]:
    pairs = [(expectation, expectation.other_value(lot)) for expectation in found]
    return tuple(Unit(((expectation, value),)) for expectation, value in pairs if value is not None)


def guarded(units: Iterable[Unit]) -> set[int]:
    """The tests whose twins a program cannot tell by their direction, as it could if all tests were ``assertTrue``."""
    found = [expectation for unit in units for expectation, _ in unit.changes]
    directions = {
        (item.shape, ast.dump(item.value) if isinstance(item.value, ast.expr) else item.value) for item in found
    }
    both = {
        shape for shape, _ in directions if shape != "raises" and sum(shape == other for other, _ in directions) > 1
    }
    return {expectation.place for expectation in found if not expectation.is_directed or expectation.shape in both}


def runs_of(units: Sequence[Unit]) -> list[tuple[Unit, ...]]:
    """The units that are twins in each run, in random order; empty in the run with real tests only."""
    if not units:
        return [()]
    lot = random.SystemRandom()
    runs: list[tuple[Unit, ...]] = [()]
    for _ in range(PAIRS):
        chosen = [lot.random() < HALF for _ in units]
        runs += [tuple(unit for unit, own in zip(units, chosen, strict=True) if own is side) for side in (True, False)]
    lot.shuffle(runs)
    return runs
