"""Problems × configurations as a matrix of experiments: its cells for the pages, and its finding in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from koderz_core.analysis.configurations import letter
from koderz_core.analysis.difficulty import Difficulty, Key
from koderz_core.records import Outcome
from koderz_core.records.progress import SummaryRow
from koderz_core.records.rows import ExperimentRow, State
from koderz_core.report.difficulty import key_of
from koderz_core.report.formats import LOOKS, count, numbered


@dataclass(frozen=True, slots=True)
class Spot:
    """One experiment in the matrix. ``attempts``: programs that it has tested or submitted so far. Hostile names."""

    key: Key
    problem: str
    repeat: int
    shown: Outcome | State
    attempts: int
    experiment: str

    @property
    def scored(self) -> bool:
        return self.shown in ("solved", "unsolved")


@dataclass(frozen=True, slots=True)
class Line:
    """One configuration. ``spots``: ``repeats`` places for each problem, None where no experiment is planned."""

    letter: str
    label: str  # hostile text
    spots: tuple[Spot | None, ...]

    @property
    def solved(self) -> int:
        return sum(spot is not None and spot.shown == "solved" for spot in self.spots)

    @property
    def scored(self) -> int:
        """The number of experiments with a result."""
        return sum(spot is not None and spot.scored for spot in self.spots)


@dataclass(frozen=True, slots=True)
class Matrix:
    """All experiments on some problems. ``hardest_first``: whether the problems are in the order of difficulty."""

    problems: tuple[str, ...]
    repeats: int
    lines: tuple[Line, ...]
    hardest_first: bool

    def spot(self, problem: int, line: int, repeat: int) -> Spot | None:
        """The experiment at a place; None if there is none or the place is outside of the matrix."""
        inside = 0 <= problem < len(self.problems) and 0 <= line < len(self.lines) and 0 <= repeat < self.repeats
        return self.lines[line].spots[problem * self.repeats + repeat] if inside else None

    def columns(self) -> Iterator[tuple[Spot, ...]]:
        """The experiments on each problem."""
        for start in range(0, len(self.problems) * self.repeats, self.repeats):
            yield tuple(spot for line in self.lines for spot in line.spots[start : start + self.repeats] if spot)


def matrix_of_problems(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> Matrix:
    """The matrix of problems that are in the order of difficulty."""
    spots = (
        Spot(key, trial.problem, trial.repeat, trial.outcome or "planned", trial.attempts, trial.experiment)
        for problem in problems
        for key, cell in problem.cells.items()
        for trial in cell.trials
    )
    names = [problem.problem for problem in problems]
    return _matrix({key_of(row): row.label for row in rows}, names, spots, hardest_first=True)


def matrix_of_experiments(rows: Sequence[ExperimentRow], *, hardest_first: bool = False) -> Matrix:
    """The matrix of the experiments of a benchmark, in its order of problems or in their order of difficulty.

    The order of difficulty changes with each result, so a page that follows a running benchmark keeps the other order.
    """
    labels = {(row.benchmark, row.configuration): row.label for row in rows}
    spots = [
        Spot(
            (row.benchmark, row.configuration),
            row.problem,
            row.repeat,
            row.shown,
            row.iterations or int(row.shown in ("solved", "unsolved")),
            row.id,
        )
        for row in rows
    ]
    matrix = _matrix(labels, list(dict.fromkeys(row.problem for row in rows)), spots, hardest_first=False)
    if not hardest_first:
        return matrix
    hardness = dict(zip(matrix.problems, map(_share, matrix.columns()), strict=True))
    return _matrix(labels, sorted(matrix.problems, key=hardness.__getitem__), spots, hardest_first=True)


def _share(column: Sequence[Spot]) -> float:
    """The share solved of the experiments with a result; 1 without a result."""
    scored = [spot for spot in column if spot.scored]
    return sum(spot.shown == "solved" for spot in scored) / len(scored) if scored else 1.0


def _matrix(
    labels: Mapping[Key, str], problems: Sequence[str], spots: Iterable[Spot], *, hardest_first: bool
) -> Matrix:
    known = list(spots)
    repeats = 1 + max((spot.repeat for spot in known), default=0)
    places = {problem: repeats * place for place, problem in enumerate(problems)}
    cells: dict[Key, list[Spot | None]] = {key: [None] * (repeats * len(problems)) for key in labels}
    for spot in known:
        if spot.key in cells:
            cells[spot.key][places[spot.problem] + spot.repeat] = spot
    lines = (Line(letter(place), labels[key], tuple(cells[key])) for place, key in enumerate(labels))
    return Matrix(tuple(problems), repeats, tuple(lines), hardest_first)


def matrix_finding(matrix: Matrix) -> str:
    """The size of the matrix, and its result. Hostile text."""
    columns = list(matrix.columns())
    ended = [column for column in columns if column and all(spot.scored for spot in column)]
    size = f"{numbered(len(columns), 'problem')} × {numbered(len(matrix.lines), 'configuration')}"
    parts = [f"{size}, hardest problems first" if matrix.hardest_first else size, *_extremes(matrix)]
    if ended:
        none = sum(not any(spot.shown == "solved" for spot in column) for column in ended)
        every = sum(all(spot.shown == "solved" for spot in column) for column in ended)
        parts.append(f"problems solved by no configuration: {count(none)}, solved in every experiment: {count(every)}")
    shown = [spot.shown for column in columns for spot in column]
    lacking = {look.word: shown.count(state) for state, look in LOOKS.items() if state not in ("solved", "unsolved")}
    parts += [f"{word}: {count(number)}" for word, number in lacking.items() if number]
    return "; ".join(parts) + "."


def _extremes(matrix: Matrix) -> Iterator[str]:
    """The configurations with the highest and the lowest share solved."""
    known = sorted((line for line in matrix.lines if line.scored), key=lambda line: -line.solved / line.scored)
    names = ("highest success rate", "lowest") if len(known) > 1 else ("success rate",)
    for name, line in zip(names, (known[0], known[-1]) if known else (), strict=False):
        yield f"{name}: {line.label} ({count(line.solved)} of {count(line.scored)} solved)"
