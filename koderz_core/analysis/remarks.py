"""What a reader must know before comparing configurations, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from koderz_core.analysis.energy import flips
from koderz_core.analysis.rates import Rate, wilson
from koderz_core.records.marks import ORACLE, SAW_BASE_TESTS, Marks
from koderz_core.records.summaries import SummaryRow, scripted


def rate_of(row: SummaryRow) -> Rate | None:
    """The rate with Wilson's interval, which is for independent trials: None where problems are repeated."""
    return wilson(row.solved, row.solved + row.unsolved) if row.planned == row.problems else None


def remarks(rows: Sequence[SummaryRow]) -> tuple[str, ...]:
    """The sentences that apply to these configurations, however they are compared."""
    found = (_origins, _limits, _kinds, _missing, _across, flips, _graded, _scripted)
    return tuple(sentence for tell in found for sentence in tell(rows))


def untested(rows: Sequence[SummaryRow]) -> tuple[str, ...]:
    """What must be said besides where only summaries are shown, and no trial was held against another."""
    said = []
    if any(row.planned > row.problems for row in rows):
        said.append("Repeats of one problem are no independent trials: koderz compare gives such rates an interval.")
    if _overlap(rows):
        said.append(
            "Intervals that overlap do not settle it either way: koderz compare tests the configurations on the same "
            "problems."
        )
    return tuple(said)


def _origins(rows: Sequence[SummaryRow]) -> Iterator[str]:
    for said in sorted({row.origin.said for row in rows}):
        yield f"Problems of {said}."


def footnotes(marks: Iterable[Marks]) -> tuple[str, ...]:
    """What the signs of these rates mean."""
    return tuple(_footnotes([one for one in marks if one.kind]))


def _limits(rows: Sequence[SummaryRow]) -> Iterator[str]:
    """How many of a configuration's unsolved experiments its own limits ended; they stay in the denominator."""
    for row in rows:
        said = [
            f"{ended} {cause}"
            for ended, cause in (
                (row.context_ends, "because a prompt did not fit the context of its model"),
                (row.budget_ends, "because the budget per experiment was used up"),
            )
            if ended
        ]
        if said:
            yield f"{row.label}: of {row.unsolved} unsolved, {' and '.join(said)}."


def _kinds(rows: Sequence[SummaryRow]) -> Iterator[str]:
    yield from footnotes(row.marks for row in rows)


def _footnotes(marks: Sequence[Marks]) -> Iterator[str]:
    kinds = {one.kind for one in marks}
    if kinds & {"oracle", "mixed"}:
        yield f"{ORACLE} stopping used the scoring tests: an oracle's rate, not pass@1."
    for partial in sorted({one.partial for one in marks if one.partial}):
        only = partial.replace("/", " of ")
        yield f"  {ORACLE}({partial}): only on {only} problems; the others are scored by tests that it did not see."
    if "oracle" in kinds and len(kinds) > 1:
        yield f"  Rates with and without {ORACLE} are of two kinds: their difference is not the strategy's alone."
    if any(SAW_BASE_TESTS in one.signs for one in marks):
        yield (
            f"{SAW_BASE_TESTS} The loop shows its models base tests with their expected values: though the score "
            "counts tests that they did not see, it is not pass@1 as EvalPlus measures it."
        )


def _missing(rows: Sequence[SummaryRow]) -> Iterator[str]:
    without = sum(row.errors + row.cancelled for row in rows)
    planned = sum(row.planned for row in rows)
    left = planned - without - sum(row.solved + row.unsolved for row in rows)
    if left:
        yield f"Partial: {left} of {planned} experiments have not ended, and those that ended may be the easy ones."
    if without:
        yield f"{without} of {planned} experiments ended without a result (error or cancelled); no rate counts them."
    if left or without:
        yield (
            f"Worst–best: the share solved if none or all of these {left + without} were solved. Two configurations "
            "are told apart only if the test says so in the worst case too."
        )
    unpriced = sum(row.unpriced for row in rows)
    if unpriced:
        yield f"{unpriced} calls have no known price, so their costs are left open."


def across(rows: Sequence[SummaryRow]) -> str | None:
    """Why figures of these cannot be held against each other, if they are not of the same problems."""
    names, versions = sorted({row.dataset for row in rows}), {row.dataset_sha256 for row in rows}
    if len(names) > 1 or len(versions) > 1:
        said = ", ".join(names) if len(names) > 1 else f"{len(versions)} versions of {names[0]}"
        return f"These are of different datasets ({said}): their rates say nothing about each other."
    if len({row.problem_set for row in rows}) > 1:
        return (
            "These are of different problems: a difference may be theirs and not the configurations'. koderz compare "
            "tests pairs on what both were given; with --same-problems (on its page: Problems) every figure is of what "
            "all were given."
        )
    return None


def _across(rows: Sequence[SummaryRow]) -> Iterator[str]:
    if said := across(rows):
        yield said
    elif any(row.only for row in rows):
        yield f"About the {rows[0].problems} problems that all of these were given, though some were given more."


def _graded(rows: Sequence[SummaryRow]) -> Iterator[str]:
    if any(row.isolation == "limited" for row in rows):
        yield "limited: programs here could read your files and use your network."
    if shared := sum(row.shared for row in rows):
        yield f"shared: in {shared} of the experiments tests ran in the program's own process, which could fake a pass."


def _scripted(rows: Sequence[SummaryRow]) -> Iterator[str]:
    if any(scripted(model for members in row.models.values() for model in members) for row in rows):
        yield "SCRIPTED: some of these answers come from a script, not from a model."


def _overlap(rows: Sequence[SummaryRow]) -> bool:
    """Whether two intervals do, of those that can be compared: rates of one kind, of the same problems."""
    kin: dict[tuple[str, bool], list[tuple[float, float]]] = {}
    for row in rows:
        rate = rate_of(row)
        if rate is not None and rate.low is not None and rate.high is not None:
            kin.setdefault((row.problem_set, row.marks.kind == "oracle"), []).append((rate.low, rate.high))
    # If any two overlap, two that stand side by side in the order of their lower ends do.
    return any(low <= high for intervals in kin.values() for (_, high), (low, _) in pairwise(sorted(intervals)))
