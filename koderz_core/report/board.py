"""What changes with the events of a benchmark: its progress, state, spending and the rates of its configurations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from koderz_core.analysis.bounds import Cases
from koderz_core.analysis.configurations import letter
from koderz_core.analysis.rates import clustered
from koderz_core.records.marks import Marks, marks_of
from koderz_core.records.progress import BenchmarkProgress
from koderz_core.records.rows import BenchmarkRow, ExperimentRow
from koderz_core.report.findings import footnotes
from koderz_core.report.formats import count, duration, marked_rate, numbered, share_cases
from koderz_core.report.status import at_work, spent, state


@dataclass(frozen=True, slots=True)
class Bar:
    """The ``share`` of the experiments that have a result; after the end, of those that have ended; and its text."""

    share: float
    text: str


@dataclass(frozen=True, slots=True)
class Board:
    """All figures of one moment. ``figures``: names and values, our words.

    ``rates``: one line per configuration. ``footnotes``: of the rates. Both are hostile text.
    """

    bar: Bar
    figures: tuple[tuple[str, str], ...]
    rates: tuple[str, ...]
    footnotes: tuple[str, ...]


def board(progress: BenchmarkProgress) -> Board:
    """The figures of a benchmark at the moment of its progress."""
    row = progress.benchmark
    running = (("in progress", at_work(row)), ("time left", _left(progress))) if row.under_way else ()
    return Board(bar(row), (*figures(row), *running), *rates(progress.experiments, decided=row.decision is not None))


def bar(row: BenchmarkRow) -> Bar:
    """How many experiments of a benchmark have a result; after its end, how many have ended."""
    done = row.planned - row.left
    without = f" · {row.errors + row.cancelled} without a result" if row.errors + row.cancelled else ""
    if row.state == "finished" and row.errors:
        done, without = done + row.errors, f" · {numbered(row.errors, 'error')}"
    if row.decision and not row.under_way:
        left_out = _left_out(row.planned - row.finished)
        return Bar(1.0, f"{numbered(row.finished, 'experiment')} · {row.solved} solved{without} · {left_out}")
    return Bar(done / row.planned, f"{done} of {row.planned} experiments · {row.solved} solved{without}")


def figures(row: BenchmarkRow) -> tuple[tuple[str, str], ...]:
    """The figures that are known without the experiments."""
    return ("state", state(row)), ("iterations", count(row.iterations)), ("spent in total", spent(row))


def rates(rows: Sequence[ExperimentRow], *, decided: bool = False) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """How many experiments of each configuration are solved, and the footnotes of these rates.

    ``decided``: the benchmark is sequential and decided, so experiments that have not started are not missing.
    """
    found: dict[str, list[ExperimentRow]] = {}
    for row in rows:
        found.setdefault(row.configuration, []).append(row)
    # By label, as comparisons order them: in a shard, the first problem may lack some configurations.
    lanes = [(lane, _marks(lane)) for lane in sorted(found.values(), key=lambda lane: lane[0].label)]
    named = ((f"{letter(place)} {lane[0].label}", lane, marks) for place, (lane, marks) in enumerate(lanes))
    summaries = tuple(f"{name}: {_summary(lane, marks, decided=decided)}" for name, lane, marks in named)
    return summaries, footnotes(marks for _, marks in lanes)


def _left(progress: BenchmarkProgress) -> str:
    if progress.benchmark.state != "running":
        return "–"
    return "not known yet" if progress.seconds_left is None else f"about {duration(progress.seconds_left)}"


def _marks(lane: Sequence[ExperimentRow]) -> Marks:
    kinds = ((row.problem, row.score_kind) for row in lane if row.state == "finished")
    saw, searched = any(row.saw_base_tests for row in lane), any(row.searched for row in lane)
    return marks_of(kinds, saw_base_tests=saw, searched=searched)


def _left_out(experiments: int) -> str:
    return f"{numbered(experiments, 'experiment')} not run because of the stopping rule"


def _summary(lane: Sequence[ExperimentRow], marks: Marks, *, decided: bool) -> str:
    """The rate of a lane, and its missing results."""
    needed = [row for row in lane if row.started_at is not None] if decided else lane
    left_out = f" · {_left_out(len(lane) - len(needed))}" if len(needed) < len(lane) else ""
    ended = Counter((row.problem, row.outcome) for row in lane if row.state == "finished")
    tried = dict.fromkeys(problem for problem, outcome in ended if outcome in ("solved", "unsolved"))
    known = clustered(
        {problem: (solved := ended[problem, "solved"], solved + ended[problem, "unsolved"]) for problem in tried}
    )
    if not known.n:
        errors, planned = sum(row.shown == "error" for row in lane), count(len(lane))
        return (
            f"no result: {count(errors)} of {planned} experiments ended with an error"
            if errors
            else f"no result yet ({numbered(len(lane), 'experiment')} planned)"
        )
    left = len(needed) - known.n
    cases = share_cases(Cases(known.successes / len(needed), (known.successes + left) / len(needed)))
    partial = (
        f" · partial: {count(left)} of {count(len(needed))} experiments without a result (success rate from worst to "
        f"best case: {cases})"
        if left
        else ""
    )
    rate = marked_rate(known.value, known.low, known.high, marks)
    return f"solved {rate} of {numbered(known.n, 'experiment')}{partial}{left_out}"
