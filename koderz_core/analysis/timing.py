"""Time: how long each phase of experiments took, and forecasts of the time and cost of a benchmark and of its rest."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil, sqrt
from statistics import fmean, variance

from koderz_core.analysis.rates import student
from koderz_core.records import Configuration
from koderz_core.records.forecasts import Forecast, Past, Range
from koderz_core.records.rows import ExperimentRow, Phase, Span
from koderz_core.sums import all_known

PARTS: tuple[Phase, ...] = ("waiting", "calls", "tests", "scoring")
PHASES: tuple[Phase, ...] = (*PARTS, "journal")
FEWEST = 3  # experiments that ended, from which anything is told


@dataclass(frozen=True, slots=True)
class Timing:
    """The seconds that the ended experiments of one configuration took, added up, and how much each phase had of them.

    Calls made at the same time count once. ``journal`` is all that is left: writing it, prompts, reading answers, and
    waiting for a place among tests.
    """

    label: str
    experiments: int
    seconds: float
    phases: Mapping[Phase, float]


def timings(spans: Iterable[Span]) -> tuple[Timing, ...]:
    """One line per configuration, by label."""
    by_label: defaultdict[str, list[Span]] = defaultdict(list)
    for span in spans:
        by_label[span.label].append(span)
    return tuple(_timing(label, by_label[label]) for label in sorted(by_label))


def _timing(label: str, spans: Sequence[Span]) -> Timing:
    by_experiment: defaultdict[str, list[Span]] = defaultdict(list)
    for span in spans:
        by_experiment[span.experiment].append(span)
    whole = [span.seconds for span in spans if span.phase is None]
    phases = {
        phase: sum(_covered(one for one in held if one.phase == phase) for held in by_experiment.values())
        for phase in PARTS
    }
    rest = max(0.0, sum(whole) - sum(phases.values()))  # clocks may differ by a little
    return Timing(label, len(whole), sum(whole), {**phases, "journal": rest})


def _covered(spans: Iterable[Span]) -> float:
    """The seconds that lie in at least one of the spans."""
    edges = sorted(chain.from_iterable(((span.at, 1), (span.at + span.seconds, -1)) for span in spans))
    covered, depth, began = 0.0, 0, 0.0
    for at, step in edges:
        if depth == 0:
            began = at
        depth += step
        if depth == 0:
            covered += at - began
    return covered


def forecast(left: Sequence[tuple[Configuration, int]], past: Sequence[Past], at_once: int) -> Forecast:
    """What so many experiments of each configuration will take, ``at_once`` of them sharing the time, in whole waves.

    Told from past ones of the same configuration or, if these are fewer than ``FEWEST``, of the same strategy with the
    same models. As if problems were drawn alike, and an experiment were no slower beside so many others: harder ones
    than before, and more at once at the same server, take more.
    """
    told = [(times, _like(configuration, past)) for configuration, times in left if times]
    known = all(len(like) >= FEWEST for _, like in told)
    number = sum(times for times, _ in told)
    waves = ceil(number / at_once)  # the last of them may leave places idle

    def total(of: Callable[[Past], float | None], share: float = 1.0) -> Range | None:
        return (
            _total([(times, [of(experiment) for experiment in like]) for times, like in told], share) if known else None
        )

    return Forecast(
        experiments=number,
        calls=total(lambda one: one.calls),
        cost_usd=total(lambda one: one.cost_usd),
        seconds=total(lambda one: one.seconds, number / waves if waves else 1.0),
        past=sum(len(like) for _, like in told),
        unknown=tuple(one.id for one, times in left if times and len(_like(one, past)) < FEWEST),
        unpriced=(),
    )


def _like(configuration: Configuration, past: Sequence[Past]) -> list[Past]:
    wanted = configuration.id  # a fingerprint, which is not to be taken anew for thousands
    same = [experiment for experiment in past if experiment.configuration == wanted]
    if len(same) >= FEWEST:
        return same
    pair = configuration.strategy, dict(configuration.models)
    return [experiment for experiment in past if (experiment.strategy, dict(experiment.models)) == pair]


def _total(parts: Sequence[tuple[int, Sequence[float | None]]], share: float) -> Range | None:
    """The sum of so many further draws from each sample; None if a value of a sample is.

    The mean, and the one-sided 90 % bound of the normal prediction interval for a sum of N draws after n seen, with
    variance s² (N + N²/n), the parts added by Welch and Satterthwaite (Hahn and Meeker, Statistical Intervals, 1991).
    """
    mean = spread = weights = 0.0
    for number, values in parts:
        seen = all_known(values)
        if seen is None:
            return None
        part = variance(seen) * (number + number * number / len(seen))
        mean, spread, weights = mean + number * fmean(seen), spread + part, weights + part * part / (len(seen) - 1)
    above = student(0.9, spread * spread / weights) * sqrt(spread) if spread else 0.0
    return Range(mean / share, (mean + above) / share)


def seconds_left(rows: Sequence[ExperimentRow], now: float) -> float | None:
    """Seconds until all experiments of a benchmark have a result; None while none has. ``now``: seconds since 1970.

    Each that waits takes as long as those of its configuration with a result took on average (or all, if none of it
    has one), each that runs what is left of that; as many as run now share the work. Those that ended without a result
    count as waiting: who goes on with a benchmark takes them up again, and nothing here tells which have had their
    turn. An extrapolation, not a promise: problems differ, and the last ones leave threads idle.
    """
    took: dict[str, list[float]] = {}
    waiting: Counter[str] = Counter()
    running: list[tuple[str, float]] = []
    for row in rows:
        if row.outcome in ("solved", "unsolved"):  # these are final, so no experiment that runs has one
            if row.seconds is not None:
                took.setdefault(row.configuration, []).append(row.seconds)
        elif row.state == "running" and row.started_at is not None:
            running.append((row.configuration, now - row.started_at))
        else:
            waiting[row.configuration] += 1
    if not took:
        return None
    overall = fmean(seconds for ended in took.values() for seconds in ended)
    means = {configuration: fmean(ended) for configuration, ended in took.items()}
    left = sum(number * means.get(configuration, overall) for configuration, number in waiting.items())
    left += sum(max(0.0, means.get(configuration, overall) - elapsed) for configuration, elapsed in running)
    return left / max(1, len(running))
