"""Problems × configurations as a matrix of experiments: its cells for the pages, and its finding in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple, TypeVar

from koderz_core.analysis.configurations import letter
from koderz_core.analysis.difficulty import Difficulty
from koderz_core.records import Outcome
from koderz_core.records.progress import SummaryRow
from koderz_core.records.rows import ExperimentRow, State
from koderz_core.report.formats import LOOKS, count, numbered

Key = TypeVar("Key")
SCORED = frozenset({"solved", "unsolved"})


class Spot(NamedTuple):  # a dataclass takes three times as long to create, and there may be 70,000
    """One experiment in the matrix. ``attempts``: programs that it has tested or submitted so far. Hostile names."""

    problem: str
    shown: Outcome | State
    attempts: int
    experiment: str


@dataclass(frozen=True, slots=True)
class Line:
    """One configuration. ``spots``: ``repeats`` places for each problem, None where no experiment is planned.

    ``shown``: how many of them show each outcome or state.
    """

    letter: str
    label: str  # hostile text
    spots: tuple[Spot | None, ...]
    shown: Counter[Outcome | State]

    @property
    def solved(self) -> int:
        return self.shown["solved"]

    @property
    def scored(self) -> int:
        """The number of experiments with a result."""
        return self.shown["solved"] + self.shown["unsolved"]


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
    trials = [(key, trial) for problem in problems for key, cell in problem.cells.items() for trial in cell.trials]
    spots = (
        (key, trial.repeat, Spot(trial.problem, trial.outcome or "planned", trial.attempts, trial.experiment))
        for key, trial in trials
    )
    repeats = 1 + max((trial.repeat for _, trial in trials), default=0)
    names = tuple(problem.problem for problem in problems)
    lines = _lines({row.key: row.label for row in rows}, names, repeats, spots)
    return Matrix(names, repeats, lines, hardest_first=True)


def matrix_of_experiments(rows: Sequence[ExperimentRow]) -> Matrix:
    """The matrix of the experiments of a benchmark, in its order of problems; configurations by label, as elsewhere.

    The order of difficulty changes with each result, and this matrix is on a page that follows a running benchmark.
    """
    spots = (
        (
            row.configuration,
            row.repeat,
            Spot(row.problem, shown := row.shown, row.iterations or int(shown in SCORED), row.id),
        )
        for row in rows
    )
    repeats = 1 + max((row.repeat for row in rows), default=0)
    problems = tuple(dict.fromkeys(row.problem for row in rows))
    labels = dict(sorted({row.configuration: row.label for row in rows}.items(), key=itemgetter(1)))
    lines = _lines(labels, problems, repeats, spots)
    return Matrix(problems, repeats, lines, hardest_first=False)


def _lines(
    labels: Mapping[Key, str], problems: Sequence[str], repeats: int, spots: Iterable[tuple[Key, int, Spot]]
) -> tuple[Line, ...]:
    """A line for each configuration. ``spots``: each with its configuration and repeat."""
    places = {problem: repeats * place for place, problem in enumerate(problems)}
    cells: dict[Key, list[Spot | None]] = {key: [None] * (repeats * len(problems)) for key in labels}
    for key, repeat, spot in spots:
        if key in cells:
            cells[key][places[spot.problem] + repeat] = spot
    return tuple(_line(letter(place), labels[key], cells[key]) for place, key in enumerate(labels))


def _line(name: str, label: str, spots: Sequence[Spot | None]) -> Line:
    return Line(name, label, tuple(spots), Counter(spot.shown for spot in spots if spot))


def matrix_finding(matrix: Matrix) -> str:
    """The size of the matrix, and its result. Hostile text."""
    columns = [{spot.shown for spot in column} for column in matrix.columns()]
    ended = [shown for shown in columns if shown and shown <= SCORED]
    size = f"{numbered(len(columns), 'problem')} × {numbered(len(matrix.lines), 'configuration')}"
    parts = [f"{size}, hardest problems first" if matrix.hardest_first else size, *_extremes(matrix)]
    if ended:
        none = sum("solved" not in shown for shown in ended)
        every = sum(shown == {"solved"} for shown in ended)
        parts.append(f"problems solved by no configuration: {count(none)}, solved in every experiment: {count(every)}")
    lacking = {
        look.word: sum(line.shown[state] for line in matrix.lines)
        for state, look in LOOKS.items()
        if state not in SCORED
    }
    parts += [f"{word}: {count(number)}" for word, number in lacking.items() if number]
    return "; ".join(parts) + "."


def _extremes(matrix: Matrix) -> Iterator[str]:
    """The configurations with the highest and the lowest share solved."""
    known = sorted((line for line in matrix.lines if line.scored), key=lambda line: -line.solved / line.scored)
    names = ("highest success rate", "lowest") if len(known) > 1 else ("success rate",)
    for name, line in zip(names, (known[0], known[-1]) if known else (), strict=False):
        yield f"{name}: {line.label} ({count(line.solved)} of {count(line.scored)} solved)"
