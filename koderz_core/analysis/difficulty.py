"""How hard each problem is for some configurations, and the problems that tell them apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from koderz_core.records.plans import natural
from koderz_core.records.trials import Trial

Key = tuple[str, str]
"""Benchmark and configuration."""

Kind = Literal["all", "unsolved", "flaky", "only", "differ"]


@dataclass(frozen=True, slots=True)
class Cell:
    """What came of one configuration on one problem: ``solved`` of its ``n`` trials with a result.

    ``trials``: all, in the order of repeats. What was cancelled, failed on our side or has not ended has no result.
    """

    trials: tuple[Trial, ...]
    solved: int
    n: int

    @property
    def planned(self) -> int:
        """How many trials there are, with and without a result."""
        return len(self.trials)

    @property
    def share(self) -> float | None:
        """The share solved; None without a result."""
        return self.solved / self.n if self.n else None

    @property
    def flaky(self) -> bool:
        """Whether its repeats disagree."""
        return 0 < self.solved < self.n


@dataclass(frozen=True, slots=True)
class Difficulty:
    """One problem with a cell for each configuration that was given it.

    ``share``: of it solved, the mean over configurations with a result, so that each weighs the same however often it
    tried; None without any. ``complete``: whether each has a result, without which nothing is said of all of them.
    """

    problem: str
    cells: Mapping[Key, Cell]
    share: float | None
    complete: bool

    @property
    def unsolved(self) -> bool:
        """Whether every configuration has a result, and none a solution."""
        return self.complete and not self.share

    @property
    def flaky(self) -> bool:
        """Whether the repeats of some configuration disagree."""
        return any(cell.flaky for cell in self.cells.values())

    @property
    def only(self) -> Key | None:
        """The one of several configurations that solved it at least once, while every other never did."""
        solvers = [key for key, cell in self.cells.items() if cell.solved]
        return solvers[0] if self.complete and len(solvers) == 1 < len(self.cells) else None

    def parts(self, a: Key, b: Key) -> bool:
        """Whether one of two configurations solved it, or solved it in more of its repeats, as in ``Paired``."""
        shares = [self.cells[key].share if key in self.cells else None for key in (a, b)]
        return None not in shares and shares[0] != shares[1]


def difficulties(keys: Collection[Key], trials: Iterable[Trial]) -> tuple[Difficulty, ...]:
    """Every problem that these configurations were given, the hardest first; last those without any result."""
    held: dict[str, dict[Key, list[Trial]]] = {}
    for trial in trials:
        if trial.key in keys:
            held.setdefault(trial.problem, {}).setdefault(trial.key, []).append(trial)
    found = [_difficulty(problem, of) for problem, of in held.items()]
    return tuple(sorted(found, key=lambda one: (2.0 if one.share is None else one.share, natural(one.problem))))


def chosen(
    problems: Sequence[Difficulty], kind: Kind, a: Key | None = None, b: Key | None = None
) -> tuple[Difficulty, ...]:
    """Those that none solved, that are flaky, that only ``a`` solved, or that ``a`` and ``b`` differ on; or all."""
    fits: Mapping[Kind, Callable[[Difficulty], bool]] = {
        "all": lambda _: True,
        "unsolved": lambda one: one.unsolved,
        "flaky": lambda one: one.flaky,
        "only": lambda one: a is not None and one.only == a,
        "differ": lambda one: a is not None and b is not None and one.parts(a, b),
    }
    return tuple(filter(fits[kind], problems))


def only_solved(problems: Iterable[Difficulty]) -> Mapping[Key, int]:
    """How many problems each configuration alone solved; those without any are left out."""
    return Counter(one.only for one in problems if one.only is not None)


def _difficulty(problem: str, trials_by_key: Mapping[Key, Sequence[Trial]]) -> Difficulty:
    cells = {key: _cell(trials) for key, trials in trials_by_key.items()}
    shares = [cell.share for cell in cells.values() if cell.share is not None]
    return Difficulty(problem, cells, fmean(shares) if shares else None, len(shares) == len(cells))


def _cell(trials: Sequence[Trial]) -> Cell:
    ordered = tuple(sorted(trials, key=lambda one: one.repeat))
    return Cell(ordered, sum(trial.solved for trial in ordered), sum(trial.scored for trial in ordered))
