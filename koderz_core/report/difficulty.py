"""Problems by difficulty as tables in words and as rows of numbers, the same for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from koderz_core.analysis.configurations import ConfigurationFigures, figures_of, letter
from koderz_core.analysis.difficulty import Cell, Difficulty, Key, only_solved
from koderz_core.records.progress import SummaryRow
from koderz_core.report.columns import Column, Numbers, Shown, json_rows, share, text, text_table, usd, whole, yes
from koderz_core.report.formats import TextTable, count, money, percent

MEANING = "✓: solved, ✗: unsolved, 2/3: solved in two of three repeats, !: error or cancelled, ·: not finished"

SAME_IDS = (
    "These configurations ran on different datasets. Problems with the same id share one row, although they may be "
    "different problems."
)


@dataclass(frozen=True, slots=True)
class ProblemRow:
    """One problem and one configuration that was given it."""

    problem: Difficulty
    configuration: ConfigurationFigures
    cell: Cell


@dataclass(frozen=True, slots=True)
class SolverRow:
    """One configuration. ``flaky``: problems on which its repeats disagree; ``alone``: those that it alone solved."""

    of: ConfigurationFigures
    flaky: int
    alone: int


def _rate(configuration: ConfigurationFigures) -> str:
    return f"{configuration.solved}/{configuration.n}"


def _sign(problem: Difficulty, key: Key) -> str:
    return sign(problem.cells.get(key))


PROBLEMS: Sequence[Column] = (
    text("problem", "id of the problem", path="problem.problem"),
    share(
        "share_solved",
        "share of experiments solved, averaged over the configurations",
        "no result",
        path="problem.share",
    ),
    text("letter", "letter that marks the configuration in tables", path="configuration.letter"),
    text("benchmark", "id of the benchmark", path="configuration.benchmark"),
    text("configuration", "id of the configuration", path="configuration.configuration"),
    text("label", "short name of the configuration", path="configuration.label"),
    whole("solved", "experiments solved", path="cell.solved"),
    whole("n", "experiments with a result", path="cell.n"),
    whole("planned", "experiments that were planned", path="cell.planned"),
    yes("flaky", "whether some repeats solved the problem and others did not", path="cell.flaky"),
    whole("iterations", "number of programs that the loop tested", path="cell.iterations"),
    usd("cost_usd", "dollars spent so far", "a price is unknown", path="cell.usd"),
    text("experiments", "ids of the experiments, separated by spaces", path="cell.experiments"),
)
BY_PROBLEM = (
    Shown("problem", path="problem"),
    Shown("solved", text=percent, path="share"),
    Shown("iterations", text=count, path="iterations"),
    Shown("cost", text=money, path="usd"),
)
SOLVERS = (
    Shown("", path="of.letter"),
    Shown("configuration", path="of.label"),
    Shown("solved", text=_rate, path="of"),
    Shown("flaky", path="flaky"),
    Shown("uniquely solved", path="alone"),
    Shown("benchmark", path="of.benchmark"),
)


def problems_table(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> TextTable:
    """One line per problem, a sign for each configuration."""
    signs = (Shown(letter(place), text=partial(_sign, key=row.key), path="") for place, row in enumerate(rows))
    return text_table("Problems, the hardest first", (*BY_PROBLEM, *signs), problems)


def solvers_table(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> TextTable:
    """One line per configuration: its letter, and how many of the problems it alone solved."""
    alone = only_solved(problems)
    lines = []
    for configuration in _configurations(rows):
        cells = [cell for problem in problems if (cell := problem.cells.get(configuration.key))]
        lines.append(SolverRow(configuration, sum(cell.flaky for cell in cells), alone.get(configuration.key, 0)))
    return text_table("Configurations", SOLVERS, lines)


def shared_rows(rows: Sequence[SummaryRow]) -> tuple[str, ...]:
    """The warning that problems of several datasets share rows, if the configurations ran on several datasets."""
    return (SAME_IDS,) if len({row.dataset_sha256 for row in rows}) > 1 else ()


def problem_rows(rows: Sequence[SummaryRow], problems: Sequence[Difficulty]) -> list[Numbers]:
    """One flat row per problem and configuration, with full precision; None means unknown."""
    configurations = _configurations(rows)
    lines = [
        ProblemRow(problem, configuration, cell)
        for problem in problems
        for configuration in configurations
        if (cell := problem.cells.get(configuration.key))
    ]
    return json_rows(PROBLEMS, lines)


def _configurations(rows: Sequence[SummaryRow]) -> list[ConfigurationFigures]:
    return [figures_of(row, place) for place, row in enumerate(rows)]


def sign(cell: Cell | None) -> str:
    """The results in at most a few characters; empty if the problem was not given to the configuration."""
    if cell is None:
        return ""
    ended = all(trial.outcome for trial in cell.trials)
    lacking = "" if cell.n == cell.planned else "!" if ended else "·"
    if not cell.n:
        return lacking
    if lacking or cell.flaky:
        return f"{cell.solved}/{cell.n}{lacking}"
    return "✓" if cell.solved else "✗"
