"""How hard each problem is for some configurations, and the problems on which they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from koderz_core.records.plans import natural
from koderz_core.records.trials import Trial
from koderz_core.sums import known_sum

Key = tuple[str, str]
"""Benchmark and configuration."""

Kind = Literal["all", "unsolved", "split", "flaky", "only", "differ"]


@dataclass(frozen=True, slots=True)
class Cell:
    """The results of one configuration on one problem: ``solved`` of its ``n`` trials with a result.

    ``trials``: all, in the order of repeats. Cancelled trials, errors and trials that have not ended have no result.
    """

    trials: tuple[Trial, ...]
    solved: int
    n: int

    @property
    def planned(self) -> int:
        """How many trials there are, with and without a result."""
        return len(self.trials)

    @property
    def iterations(self) -> int:
        """How many programs the loop tested in all trials."""
        return sum(trial.iterations for trial in self.trials)

    @property
    def experiments(self) -> str:
        """The ids of its experiments, separated by spaces."""
        return " ".join(trial.experiment for trial in self.trials)

    @property
    def usd(self) -> float | None:
        """The dollars of all trials so far; None if one of their prices is unknown."""
        return known_sum(trial.usd for trial in self.trials)

    @property
    def share(self) -> float | None:
        """The share solved; None without a result."""
        return self.solved / self.n if self.n else None

    @property
    def flaky(self) -> bool:
        """Whether its repeats have different results."""
        return 0 < self.solved < self.n


@dataclass(frozen=True, slots=True)
class Difficulty:
    """One problem with a cell for each configuration that was given it.

    ``share``: the mean over configurations of the share solved, so that each weighs the same; None without a result.
    ``complete``: whether each configuration has a result.
    """

    problem: str
    cells: Mapping[Key, Cell]
    share: float | None
    complete: bool

    @property
    def iterations(self) -> int:
        """How many programs were tested on it."""
        return sum(cell.iterations for cell in self.cells.values())

    @property
    def usd(self) -> float | None:
        """The dollars spent on it so far; None if a price is unknown."""
        return known_sum(cell.usd for cell in self.cells.values())

    @property
    def unsolved(self) -> bool:
        """Whether every configuration has a result and none solved it."""
        return self.complete and not self.share

    @property
    def split(self) -> bool:
        """Whether the configurations with a result solved it in different shares of their repeats."""
        return len({cell.share for cell in self.cells.values()} - {None}) > 1

    @property
    def flaky(self) -> bool:
        """Whether the repeats of some configuration have different results."""
        return any(cell.flaky for cell in self.cells.values())

    @property
    def only(self) -> Key | None:
        """The only one of several configurations that solved it at least once."""
        solvers = [key for key, cell in self.cells.items() if cell.solved]
        return solvers[0] if self.complete and len(solvers) == 1 < len(self.cells) else None

    def separates(self, a: Key, b: Key) -> bool:
        """Whether one of two configurations solved it in a larger share of its repeats, as in ``Paired``."""
        shares = [self.cells[key].share if key in self.cells else None for key in (a, b)]
        return None not in shares and shares[0] != shares[1]


def difficulties(keys: Collection[Key], trials: Iterable[Trial]) -> tuple[Difficulty, ...]:
    """Every problem that these configurations were given, the hardest first; problems without a result are last."""
    by_id: dict[str, dict[Key, list[Trial]]] = {}
    for trial in trials:
        if trial.key in keys:
            by_id.setdefault(trial.problem, {}).setdefault(trial.key, []).append(trial)
    every = [_difficulty(problem, trials_by_key) for problem, trials_by_key in by_id.items()]
    return tuple(sorted(every, key=lambda it: (2.0 if it.share is None else it.share, natural(it.problem))))


def problems_of_kind(
    problems: Sequence[Difficulty], kind: Kind, a: Key | None = None, b: Key | None = None
) -> tuple[Difficulty, ...]:
    """The problems of a kind; or all.

    Unsolved by all, different for any two (split), flaky, solved only by ``a``, different for ``a`` and ``b``.
    """
    fits: Mapping[Kind, Callable[[Difficulty], bool]] = {
        "all": lambda _: True,
        "unsolved": lambda problem: problem.unsolved,
        "split": lambda problem: problem.split,
        "flaky": lambda problem: problem.flaky,
        "only": lambda problem: a is not None and problem.only == a,
        "differ": lambda problem: a is not None and b is not None and problem.separates(a, b),
    }
    return tuple(filter(fits[kind], problems))


def only_solved(problems: Iterable[Difficulty]) -> Mapping[Key, int]:
    """How many problems each configuration alone solved; configurations without any are omitted."""
    return Counter(problem.only for problem in problems if problem.only is not None)


def _difficulty(problem: str, trials_by_key: Mapping[Key, Sequence[Trial]]) -> Difficulty:
    cells = {key: _cell(trials) for key, trials in trials_by_key.items()}
    shares = [cell.share for cell in cells.values() if cell.share is not None]
    return Difficulty(problem, cells, fmean(shares) if shares else None, len(shares) == len(cells))


def _cell(trials: Sequence[Trial]) -> Cell:
    ordered = tuple(sorted(trials, key=lambda trial: trial.repeat))
    return Cell(ordered, sum(trial.solved for trial in ordered), sum(trial.scored for trial in ordered))
