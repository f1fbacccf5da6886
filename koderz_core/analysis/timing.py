"""The time of each phase of experiments, and estimates of the time and cost of a benchmark and of its rest."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil, sqrt
from statistics import fmean, variance

from koderz_core.analysis.rates import student
from koderz_core.records import Configuration
from koderz_core.records.progress import Forecast, Past, Range
from koderz_core.records.rows import ExperimentRow, Phase, Span
from koderz_core.sums import all_known

PARTS: tuple[Phase, ...] = ("waiting", "calls", "tests", "scoring")
PHASES: tuple[Phase, ...] = (*PARTS, "journal")
FEWEST = 3  # ended experiments that an estimate needs


@dataclass(frozen=True, slots=True)
class Timing:
    """The total seconds of the ended experiments of one configuration, and the part of each phase.

    Concurrent calls count once. ``journal`` is the rest: writing the journal, prompts, reading answers, and waiting for
    tests to start.
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
        phase: sum(
            _covered(span for span in of_experiment if span.phase == phase) for of_experiment in by_experiment.values()
        )
        for phase in PARTS
    }
    rest = max(0.0, sum(whole) - sum(phases.values()))  # clocks can differ slightly
    return Timing(label, len(whole), sum(whole), {**phases, "journal": rest})


def _covered(spans: Iterable[Span]) -> float:
    """The seconds covered by at least one of the spans."""
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
    """An estimate for the remaining experiments of each configuration, ``at_once`` of them at a time, in whole waves.

    It uses past experiments of the same configuration or, if there are fewer than ``FEWEST``, of the same strategy with
    the same models. It assumes problems of the same difficulty and no slow-down by concurrency: harder problems, and
    more experiments at the same server, take longer.
    """
    samples = [(configuration.id, number, _like(configuration, past)) for configuration, number in left if number]
    known = all(len(like) >= FEWEST for _, _, like in samples)
    experiments = sum(number for _, number, _ in samples)
    waves = ceil(experiments / at_once)  # the last wave may be smaller

    def total(of: Callable[[Past], float | None], share: float = 1.0) -> Range | None:
        parts = [(number, [of(experiment) for experiment in like]) for _, number, like in samples]
        return _total(parts, share) if known else None

    return Forecast(
        experiments=experiments,
        calls=total(lambda experiment: experiment.calls),
        cost_usd=total(lambda experiment: experiment.cost_usd),
        seconds=total(lambda experiment: experiment.seconds, experiments / waves if waves else 1.0),
        past=sum(len(like) for _, _, like in samples),
        unknown=tuple(configuration for configuration, _, like in samples if len(like) < FEWEST),
        unpriced=(),
    )


def _like(configuration: Configuration, past: Sequence[Past]) -> list[Past]:
    wanted = configuration.id  # a fingerprint, which is computed once and not per experiment
    same = [experiment for experiment in past if experiment.configuration == wanted]
    if len(same) >= FEWEST:
        return same
    pair = configuration.strategy, dict(configuration.models)
    return [experiment for experiment in past if (experiment.strategy, dict(experiment.models)) == pair]


def _total(parts: Sequence[tuple[int, Sequence[float | None]]], share: float) -> Range | None:
    """The sum of a number of further draws from each sample; None if a value of a sample is unknown.

    The mean, and the one-sided 90 % bound of the normal prediction interval for a sum of N draws after n observed ones,
    with variance s² (N + N²/n), the parts added by Welch and Satterthwaite (Hahn and Meeker, Statistical Intervals,
    1991).
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

    Each waiting experiment takes the mean time of its configuration's experiments with a result (or of all, if it has
    none), each running one the rest of that; the number that runs now shares the work. Experiments that ended without a
    result count as waiting, because resuming runs them again, and the rows do not show which have been retried. This is
    an extrapolation: problems differ, and the last ones leave threads idle.
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
