"""Problems by difficulty as tables in words and as rows of numbers, the same for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from koderz_core.analysis.configurations import letter
from koderz_core.analysis.difficulty import Cell, Difficulty, Key, only_solved
from koderz_core.records.progress import SummaryRow
from koderz_core.records.trials import Trial
from koderz_core.report.formats import MARKS, TextTable, count, duration, money, percent
from koderz_core.sums import known_sum

MEANING = "✓ solved, ✗ unsolved, 2/3 solved in two of three repeats, ! error or cancelled, · not ended"


def key_of(row: SummaryRow) -> Key:
    """What tells it from all others, as in ``Trial``."""
    return row.benchmark, row.configuration


def problems_table(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> TextTable:
    """One line per problem, a sign for each configuration."""
    lines = [
        (
            problem.problem,
            percent(problem.share),
            *_taken(problem),
            *(sign(problem.cells.get(key_of(row))) for row in rows),
        )
        for problem in problems
    ]
    letters = (letter(place) for place in range(len(rows)))
    return TextTable("Problems, the hardest first", ("problem", "solved", "iterations", "cost", *letters), tuple(lines))


def solvers_table(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> TextTable:
    """One line per configuration: what its letter stands for, and how many of the problems it alone solved."""
    alone = only_solved(problems)
    lines = [
        (
            letter(place),
            row.label,
            f"{row.solved}/{row.solved + row.unsolved}",
            str(sum(cell.flaky for problem in problems if (cell := problem.cells.get(key_of(row))))),
            str(alone.get(key_of(row), 0)),
            row.benchmark,
        )
        for place, row in enumerate(rows)
    ]
    columns = ("", "configuration", "solved", "flaky", "only it", "benchmark")
    return TextTable("Configurations", columns, tuple(lines))


def trials_table(rows: Sequence[SummaryRow], problem: Difficulty) -> TextTable:
    """One line per experiment on a problem."""
    lines = [
        (
            letter(place),
            MARKS[trial.outcome] if trial.outcome else "· not ended",
            count(trial.iterations),
            money(trial.usd),
            "" if trial.seconds is None else duration(trial.seconds),
            str(trial.repeat + 1),
            trial.experiment,
        )
        for place, row in enumerate(rows)
        for trial in _trials(problem, key_of(row))
    ]
    columns = ("", "outcome", "iterations", "cost", "time", "repeat", "experiment")
    return TextTable("Experiments on it", columns, tuple(lines))


def problem_rows(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> list[dict[str, object]]:
    """One flat row per problem and configuration, with every number in full; None: unknown."""
    return [found for problem in problems for found in _numbers(rows, problem)]


def sign(cell: Cell | None) -> str:
    """What came of it in at most a few characters; nothing where the problem was not given to it."""
    if cell is None:
        return ""
    ended = all(trial.outcome for trial in cell.trials)
    lacking = "" if cell.n == len(cell.trials) else "!" if ended else "·"
    if not cell.n:
        return lacking
    if lacking or cell.flaky:
        return f"{cell.solved}/{cell.n}{lacking}"
    return "✓" if cell.solved else "✗"


def taken_usd(trials: Sequence[Trial]) -> float | None:
    """What experiments have cost so far; None if the price of one of them is not known."""
    return known_sum(trial.usd for trial in trials)


def _taken(problem: Difficulty) -> tuple[str, str]:
    trials = [trial for cell in problem.cells.values() for trial in cell.trials]
    return count(sum(trial.iterations for trial in trials)), money(taken_usd(trials))


def _trials(problem: Difficulty, key: Key) -> Sequence[Trial]:
    return problem.cells[key].trials if key in problem.cells else ()


def _numbers(rows: Sequence[SummaryRow], problem: Difficulty) -> Iterator[dict[str, object]]:
    for place, row in enumerate(rows):
        cell = problem.cells.get(key_of(row))
        if cell is not None:
            yield {
                "problem": problem.problem,
                "share_solved": problem.share,
                "letter": letter(place),
                "benchmark": row.benchmark,
                "configuration": row.configuration,
                "label": row.label,
                "solved": cell.solved,
                "n": cell.n,
                "planned": len(cell.trials),
                "flaky": cell.flaky,
                "iterations": sum(trial.iterations for trial in cell.trials),
                "cost_usd": taken_usd(cell.trials),
                "experiments": " ".join(trial.experiment for trial in cell.trials),
            }
