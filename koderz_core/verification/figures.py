"""Comparison of every figure that koderz shows or exports with the totals of the journal's events.

The figures come from the index (``store/ingest.py`` and SQL) and the totals from ``events/tally.py``, so a fault in
one of them shows as a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isclose
from statistics import fmean

from koderz_core.events.tally import ExperimentTally, Tally, Totals, added
from koderz_core.records.progress import SummaryRow
from koderz_core.records.rows import BenchmarkRow, ExperimentRow
from koderz_core.sums import known_sum
from koderz_core.verification.journals import Difference, Verified

Lines = Sequence[Mapping[str, object]]
_CLOSE = 1e-9  # relative: sums of floats depend on their order
_OF_EACH = ("iterations", "calls", "input_tokens", "output_tokens", "cost_usd", "unpriced", "cached", "seconds")
_COUNTS = ("planned", "solved", "unsolved", "cancelled", "errors")
_OF_BENCHMARK = (*_COUNTS, "iterations", "calls", "cost_usd", "unpriced", "cached", "seconds")
_OF_CONFIGURATION = (*_COUNTS, "input_tokens", "output_tokens", "cost_usd", "unpriced", "cached")


@dataclass(frozen=True, slots=True)
class Shown:
    """The same benchmark as the index has it, and the lines of exported tables by the name of the table."""

    benchmark: BenchmarkRow
    summaries: Sequence[SummaryRow]
    experiments: Sequence[ExperimentRow]
    exported: Mapping[str, Lines]


def verify_figures(journal: Tally, shown: Shown) -> Verified:
    """Compare every figure of the benchmark, its configurations, its experiments and its exported tables."""
    figures = list(_figures(journal, shown))
    wrong = tuple(
        Difference(what, where, _word(actual), _word(expected))
        for what, where, actual, expected in figures
        if not _same(actual, expected)
    )
    return Verified(shown.benchmark.id, {"figures": len(figures)}, wrong)


_Figure = tuple[str, str, object, object]  # what, of what, as shown, as the events have it; of this file only


def _figures(journal: Tally, shown: Shown) -> Iterator[_Figure]:
    experiments = list(journal.experiments.values())
    of_benchmark = _values(_sum(experiments), _OF_BENCHMARK)
    of_benchmark |= {"budget_usd": journal.budget_usd, "opened_at": journal.opened_at}
    yield from _compared(shown.benchmark.id, shown.benchmark, of_benchmark)
    for row in shown.summaries:
        expected = _summary(_of(journal, row.configuration))
        yield from _compared(f"{row.benchmark}/{row.configuration}", row, expected)
    yield "number of experiments", "the index", len(shown.experiments), len(experiments)
    for experiment in shown.experiments:
        values = {name: getattr(experiment, name) for name in (*_OF_EACH, "outcome")}
        yield from _experiment(journal, experiment.id, values, "")
    yield from _exported(journal, shown.exported)


def _exported(journal: Tally, tables: Mapping[str, Lines]) -> Iterator[_Figure]:
    for line in tables.get("experiments", ()):
        values = {name: line[name] for name in (*_OF_EACH, "outcome")}
        yield from _experiment(journal, str(line["id"]), values, " in the exported table of experiments")
    total = _sum(journal.experiments.values())
    if "iterations" in tables:
        yield "number of lines", "the exported table of iterations", len(tables["iterations"]), total.iterations
    if "calls" in tables:
        answered = [line for line in tables["calls"] if line["state"] == "finished"]
        costs = [_number(line["cost_usd"]) for line in answered]
        others = [_number(line["cost_usd"]) for line in tables["calls"] if line["state"] != "finished"]
        paid = None if None in costs else fsum(cost for cost in (*costs, *others) if cost is not None)
        yield "number of finished calls", "the exported table of calls", len(answered), total.calls
        yield "cost_usd", "the exported table of calls", paid, total.cost_usd
    for line in tables.get("comparison", ()):
        decided = journal.decided.problems if journal.decided else None  # the problems that decided it
        compared = set(journal.plan.problems[:decided])
        experiments = [of for of in _of(journal, str(line["configuration"])) if of.experiment.problem in compared]
        expected = {**_values(_sum(experiments), (*_COUNTS, "cost_usd")), "share": _share(experiments)}
        where = f"{line['configuration']} in the exported comparison"
        yield from ((name, where, line[name], value) for name, value in expected.items() if name in line)


def _experiment(journal: Tally, id_: str, values: Mapping[str, object], place: str) -> Iterator[_Figure]:
    experiment = journal.experiments.get(id_)
    if experiment is None:
        expected: Mapping[str, object] = dict.fromkeys(values, "no such experiment")
    else:
        totals = _values(experiment.totals, _OF_EACH)
        expected = {**totals, "seconds": experiment.seconds, "outcome": experiment.outcome}
    for name, actual in values.items():
        if name == "outcome" and experiment is not None and experiment.running:
            continue  # one column has the outcome from before it started again, the other has none
        yield name, f"{id_}{place}", actual, expected[name]


def _compared(where: str, row: object, expected: Mapping[str, object]) -> Iterator[_Figure]:
    return ((name, where, getattr(row, name), value) for name, value in expected.items())


def _of(journal: Tally, configuration: str) -> list[ExperimentTally]:
    return [tally for tally in journal.experiments.values() if tally.experiment.configuration == configuration]


def _sum(experiments: Iterable[ExperimentTally]) -> Totals:
    return added(experiment.totals for experiment in experiments)


def _values(totals: Totals, names: Iterable[str]) -> dict[str, object]:
    return {name: getattr(totals, name) for name in names}


def _summary(experiments: Sequence[ExperimentTally]) -> dict[str, object]:
    scored = [len(tally.tested) for tally in experiments if tally.outcome in ("solved", "unsolved")]
    return {
        **_values(_sum(experiments), _OF_CONFIGURATION),
        "mean_iterations": fmean(scored) if scored else None,
        "seconds": known_sum(tally.seconds for tally in experiments if tally.outcome is not None),
    }


def _share(experiments: Sequence[ExperimentTally]) -> float | None:
    """The share of solved experiments of those with a result, averaged over problems."""
    by_problem: dict[str, list[bool]] = {}
    for tally in experiments:
        if tally.outcome in ("solved", "unsolved"):
            by_problem.setdefault(tally.experiment.problem, []).append(tally.outcome == "solved")
    return fmean(map(fmean, by_problem.values())) if by_problem else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _same(actual: object, expected: object) -> bool:
    if isinstance(actual, int | float) and isinstance(expected, int | float):
        return isclose(actual, expected, rel_tol=_CLOSE, abs_tol=1e-12)
    return actual == expected


def _word(value: object) -> str:
    return "unknown" if value is None else repr(value) if isinstance(value, float) else str(value)
