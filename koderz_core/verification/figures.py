"""What is shown and exported, held against what the events come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isclose
from statistics import fmean

from koderz_core.records.progress import SummaryRow
from koderz_core.records.rows import BenchmarkRow, ExperimentRow
from koderz_core.sums import known_sum
from koderz_core.verification.journals import Difference, Verified
from koderz_core.verification.tally import Tallied, Tally, added

Lines = Sequence[Mapping[str, object]]
_CLOSE = 1e-9  # relative: sums of floats depend on their order
_OUTCOMES = {"solved": "solved", "unsolved": "unsolved", "cancelled": "cancelled", "errors": "error"}
_OF_EACH = ("iterations", "calls", "input_tokens", "output_tokens", "cost_usd", "unpriced", "seconds")


@dataclass(frozen=True, slots=True)
class Shown:
    """The same benchmark as the store tells it, and the lines of exported tables by the table's name."""

    benchmark: BenchmarkRow
    summaries: Sequence[SummaryRow]
    experiments: Sequence[ExperimentRow]
    exported: Mapping[str, Lines]


def verify_figures(told: Tally, shown: Shown) -> Verified:
    """Every figure of the benchmark, its configurations and its experiments, and those of the exported tables."""
    stated = list(_stated(told, shown))
    wrong = tuple(
        Difference(what, where, _word(stands), _word(follows))
        for what, where, stands, follows in stated
        if not _same(stands, follows)
    )
    return Verified(shown.benchmark.id, {"figures": len(stated)}, wrong)


_Stated = tuple[str, str, object, object]  # what, of what, as it stands, as it follows; of this file only


def _stated(told: Tally, shown: Shown) -> Iterator[_Stated]:
    of = list(told.experiments.values())
    totals = {**_counts(of), "iterations": sum(tally.iterations for tally in of), "cost_usd": _cost(of)}
    totals |= {"calls": sum(tally.calls for tally in of), "unpriced": sum(tally.unpriced for tally in of)}
    totals |= {"seconds": _seconds(of), "budget_usd": told.budget_usd, "opened_at": told.opened_at}
    yield from _held(shown.benchmark.id, shown.benchmark, totals)
    for row in shown.summaries:
        yield from _held(f"{row.benchmark}/{row.configuration}", row, _summed(_of(told, row.configuration)))
    yield "experiments", "the store", len(shown.experiments), len(of)
    for one in shown.experiments:
        yield from _one(told, one.id, {name: getattr(one, name) for name in (*_OF_EACH, "outcome")}, "")
    yield from _exported(told, shown.exported)


def _exported(told: Tally, tables: Mapping[str, Lines]) -> Iterator[_Stated]:
    for line in tables.get("experiments", ()):
        figures = {name: line[name] for name in (*_OF_EACH, "outcome")}
        yield from _one(told, str(line["id"]), figures, " in the exported table")
    of = told.experiments.values()
    if "iterations" in tables:
        yield "lines", "the exported iterations", len(tables["iterations"]), sum(len(tally.tests) for tally in of)
    if "calls" in tables:
        lines = [line for line in tables["calls"] if line["state"] == "finished"]
        others = [line for line in tables["calls"] if line["state"] != "finished" and _number(line["cost_usd"])]
        paid = added([_number(line["cost_usd"]) for line in (*lines, *others)])
        yield "finished lines", "the exported calls", len(lines), sum(tally.calls for tally in of)
        yield "cost_usd", "the exported calls", paid, _cost(of)
    for line in tables.get("comparison", ()):
        of_one = _of(told, str(line["configuration"]))
        expected = {**_counts(of_one), "share": _share(of_one), "cost_usd": _cost(of_one)}
        where = f"{line['configuration']} in the exported comparison"
        yield from ((name, where, line[name], follows) for name, follows in expected.items() if name in line)


def _one(told: Tally, experiment: str, figures: Mapping[str, object], tail: str) -> Iterator[_Stated]:
    one = told.experiments.get(experiment)
    for name, stands in figures.items():
        if name == "outcome" and one is not None and one.under_way:
            continue  # one column has the outcome of before it was begun again, the other has none
        yield name, f"{experiment}{tail}", stands, getattr(one, name) if one else "no such experiment"


def _held(where: str, row: object, expected: Mapping[str, object]) -> Iterator[_Stated]:
    return ((name, where, getattr(row, name), follows) for name, follows in expected.items())


def _of(told: Tally, configuration: str) -> list[Tallied]:
    return [
        experiment for experiment in told.experiments.values() if experiment.experiment.configuration == configuration
    ]


def _counts(of: Iterable[Tallied]) -> dict[str, int]:
    counted = Counter(tally.outcome for tally in of)
    return {"planned": counted.total()} | {name: counted[one] for name, one in _OUTCOMES.items()}  # type: ignore[index]  # of outcomes


def _summed(of: Sequence[Tallied]) -> dict[str, object]:
    scored = [tally.iterations for tally in of if tally.outcome in ("solved", "unsolved")]
    return {
        **_counts(of),
        "mean_iterations": fmean(scored) if scored else None,
        "input_tokens": known_sum(tally.input_tokens for tally in of),
        "output_tokens": known_sum(tally.output_tokens for tally in of),
        "cost_usd": _cost(of),
        "unpriced": sum(tally.unpriced for tally in of),
        "seconds": _seconds([tally for tally in of if tally.outcome is not None]),
    }


def _share(of: Sequence[Tallied]) -> float | None:
    """The mean over problems of the share solved, of what has a result."""
    by_problem: dict[str, list[bool]] = {}
    for tally in of:
        if tally.outcome in ("solved", "unsolved"):
            by_problem.setdefault(tally.experiment.problem, []).append(tally.outcome == "solved")
    return fmean(map(fmean, by_problem.values())) if by_problem else None


def _cost(of: Iterable[Tallied]) -> float | None:
    return added([tally.cost_usd for tally in of])


def _seconds(of: Iterable[Tallied]) -> float:
    return fsum(tally.seconds or 0.0 for tally in of)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _same(stands: object, follows: object) -> bool:
    if isinstance(stands, int | float) and isinstance(follows, int | float):
        return isclose(stands, follows, rel_tol=_CLOSE, abs_tol=1e-12)
    return stands == follows


def _word(value: object) -> str:
    return "unknown" if value is None else repr(value) if isinstance(value, float) else str(value)
