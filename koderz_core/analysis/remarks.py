"""What a reader must know before comparing configurations, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from koderz_core.analysis.rates import Rate, wilson
from koderz_core.records.summaries import SummaryRow, scripted


def rate_of(row: SummaryRow) -> Rate | None:
    """The rate with Wilson's interval, which is for independent trials: None where problems are repeated."""
    return wilson(row.solved, row.solved + row.unsolved) if row.planned == row.problems else None


def remarks(rows: Sequence[SummaryRow]) -> tuple[str, ...]:
    """The sentences that apply to these configurations."""
    return (*_kinds(rows), *_trials(rows), *_missing(rows), *_across(rows), *_scripted(rows))


def _kinds(rows: Sequence[SummaryRow]) -> Iterator[str]:
    if any(row.score_kind == "oracle" for row in rows):
        yield "* stopped on the very tests that score it: an oracle's rate, not pass@1."
        if any(row.score_kind == "held_out" for row in rows):
            yield "  Rates with and without * are of two kinds: their difference is not the strategy's alone."


def _trials(rows: Sequence[SummaryRow]) -> Iterator[str]:
    if any(row.planned > row.problems for row in rows):
        yield "Repeats of one problem are no independent trials, so rates with repeats have no interval yet."
    if any(_comparable(one, other) and _overlap(rate_of(one), rate_of(other)) for one, other in combinations(rows, 2)):
        yield "Rates whose intervals overlap do not show a difference; that is not to show that there is none."


def _missing(rows: Sequence[SummaryRow]) -> Iterator[str]:
    without = sum(row.errors + row.cancelled for row in rows)
    planned = sum(row.planned for row in rows)
    left = planned - without - sum(row.solved + row.unsolved for row in rows)
    if left:
        yield f"Partial: {left} of {planned} experiments have not ended, and those that ended may be the easy ones."
    if without:
        yield f"{without} experiments ended without a result (error or cancelled); no rate counts them."
    unpriced = sum(row.unpriced for row in rows)
    if unpriced:
        yield f"{unpriced} calls have no known price, so their costs are left open."


def _across(rows: Sequence[SummaryRow]) -> Iterator[str]:
    datasets = sorted({row.dataset for row in rows})
    if len(datasets) > 1:
        yield f"These are of different datasets ({', '.join(datasets)}): their rates say nothing about each other."
    elif len({row.problem_set for row in rows}) > 1:
        yield "These are of different problems: a difference may be theirs and not the configurations'."


def _scripted(rows: Sequence[SummaryRow]) -> Iterator[str]:
    if any(scripted(model for members in row.models.values() for model in members) for row in rows):
        yield "SCRIPTED: some of these answers come from a script, not from a model."


def _comparable(one: SummaryRow, other: SummaryRow) -> bool:
    """Whether nothing said elsewhere makes the comparison idle: rates of one kind, of the same problems."""
    return (one.problem_set, one.score_kind) == (other.problem_set, other.score_kind)


def _overlap(one: Rate | None, other: Rate | None) -> bool:
    if one is None or other is None or one.low is None or one.high is None or other.low is None or other.high is None:
        return False
    return one.low <= other.high and other.low <= one.high
