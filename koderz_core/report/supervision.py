"""Contribution of specs and reviews by its specs and reviews, in words and in numbers, and what that does not show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from koderz_core.records.notes import SpecRow
from koderz_core.report.columns import (
    NAMED,
    Column,
    Numbers,
    Row,
    Shown,
    interval,
    json_row,
    json_rows,
    share,
    shown,
    text,
    text_table,
    whole,
)
from koderz_core.report.formats import TextTable, count, duration, marked_rate, money, percent, points_of, rate
from koderz_core.report.sections import Listing
from koderz_core.times import day

if TYPE_CHECKING:  # numpy is slow to import
    from koderz_core.analysis.configurations import ConfigurationFigures
    from koderz_core.analysis.specs import SpecComparison, SpecResults
    from koderz_core.analysis.supervision import Review, Supervision

SHOWS = (
    'The table "Contribution of specs and reviews" shows how many experiments were solved before the first checkpoint '
    "and how many after it. Before this checkpoint, the coder worked alone. After this checkpoint, reviews guided the "
    "coder. Only experiments that the coder did not solve alone get reviews, and these experiments are usually on "
    "harder problems. Therefore, the success rates before and after the first checkpoint cannot be compared."
)
SHOWS_NOT = (
    "Even if more gate tests pass after a checkpoint than before it, this does not show the effect of a checkpoint. "
    "Only experiments that are still unsolved get a review, and their next attempt is often better even without a "
    "review. To measure the effect, run the same configuration without checkpoints on the same problems."
)


SUPERVISION: Sequence[Column] = (
    whole("n", "experiments with a result", path="of.trials", shown=Shown("n", 3, count)),
    whole(
        "solved_before_help",
        "experiments solved before the first checkpoint",
        path="of.before",
        shown=Shown("solved before review", 3, count),
    ),
    whole(
        "solved_after_help",
        "experiments solved after the first checkpoint",
        path="of.after",
        shown=Shown("solved after review", 3, count),
    ),
    whole("never_solved", "experiments not solved", path="of.never", shown=Shown("never solved", 3, count)),
    *interval(
        share(
            "alone",
            "experiments solved before the first checkpoint, as a share of `n`",
            shown=Shown("alone [95 %]", 3, rate, "of.alone"),
        )
    ),
    *interval(
        share(
            "guided",
            "experiments solved after the first checkpoint, as a share of all experiments that continued after "
            "that checkpoint",
            shown=Shown("guided [95 %]", 3, rate, "of.guided"),
        )
    ),
    share(
        "frontier_share_of_usd",
        "cost of the models of the tiers `frontier` and `small_frontier`, as a share of the cost of all models",
        "the cost is unknown or zero",
        path="of.frontier.usd",
        shown=Shown("frontier $", 3, percent),
    ),
    share(
        "frontier_share_of_tokens",
        "tokens of the models of the tiers `frontier` and `small_frontier`, as a share of the tokens of all models",
        "the number of tokens is unknown or zero",
        path="of.frontier.tokens",
        shown=Shown("frontier tokens", 3, percent),
    ),
)
REVIEW: Sequence[Column] = (
    whole("checkpoint", "number of the checkpoint, starting at 1", shown=Shown("checkpoint", 3)),
    whole("trials", "experiments that continued after the checkpoint", shown=Shown("continued", 3, count)),
    share(
        "before",
        "mean share of gate tests passed by the last iteration before the checkpoint",
        shown=Shown("gate tests passed before review", 3, percent),
    ),
    share(
        "after",
        "mean share of gate tests passed by the first iteration after the checkpoint",
        shown=Shown("gate tests passed after review", 3, percent),
    ),
    *interval(
        share(
            "change",
            "`after` minus `before`, with equal weight for every experiment; the interval takes into account that "
            "repeats of a problem are not independent",
            shown=Shown("change in percentage points [95 %]", 3, points_of, "of.change"),
        )
    ),
)


def supervised(
    configurations: Sequence[ConfigurationFigures], found: Mapping[tuple[str, str], Supervision | None]
) -> list[Row[Supervision]]:
    """A row per configuration in which a stronger model reviewed something."""
    return [Row(row, result) for row in configurations if (result := found.get(row.key))]


def supervision_table(rows: Sequence[Row[Supervision]]) -> TextTable:
    """One line per configuration."""
    return text_table("Contribution of specs and reviews", shown((*NAMED, *SUPERVISION)), rows)


def reviews_listing(rows: Sequence[Row[Supervision]]) -> Listing:
    """One line per checkpoint."""
    title = "Gate tests passed before and after each checkpoint"
    return Listing("reviews", title, (*NAMED[:2], *REVIEW), _reviews(rows))


def supervision_numbers(rows: Sequence[Row[Supervision]]) -> list[Numbers]:
    """All of it for programs, an entry per configuration of one benchmark."""
    identity = text("configuration", "id of the configuration", path="configuration.configuration")
    numbers = zip(rows, json_rows((identity, *SUPERVISION), rows), strict=True)
    return [json_row({**flat, "reviews": json_rows(REVIEW, _reviews([row]))}) for row, flat in numbers]


def _reviews(rows: Sequence[Row[Supervision]]) -> list[Row[Review]]:
    return [Row(row.configuration, review) for row in rows for review in row.of.reviews]


CAUTION = (
    "Each row is one combination of coder, strategy, spec model and spec prompt. Rows may differ in their problems, "
    "reviewers and settings. In the number of specs and in the means of words, tokens and cost, each spec counts "
    "once, even if several experiments used it. To compare spec models, run configurations that differ only in the "
    "spec model and use `koderz compare`."
)


def version(prompt: str, wording: str | None) -> str:
    """``minimal, version 2``: which spec was requested, and in which words."""
    return prompt if wording is None else f"{prompt}, version {wording}"


def spec_origin(spec: SpecRow) -> str:
    """Which model wrote a spec, when, how, and at what cost."""
    date = day(spec.at)
    took = "time unknown" if spec.seconds is None else duration(spec.seconds)
    size = f"output: {count(spec.output_tokens)} tokens, {took}"
    author = f"{spec.words} words by {spec.model or 'an unknown model'} (prompt {version(spec.prompt, spec.wording)})"
    if spec.origin:
        cost = f"at no cost (the original cost was {money(spec.cost_usd)})"
        return f"{author}, reused from {spec.origin} on {date} {cost}; {size}"
    return f"{author}, written in {spec.experiment} on {date} for {money(spec.cost_usd)}; {size}"


def spec_outcome(spec: SpecResults) -> str:
    """``solved: 3 of 4 experiments that used this spec``."""
    if not spec.n:
        return "no experiment that used this spec has a result yet"
    return f"solved: {spec.solved} of {spec.n} experiments that used this spec"


def _spec_version(spec: SpecComparison) -> str:
    return version(spec.prompt, spec.wording)


def _mean(value: float | None) -> str:
    return "?" if value is None else f"{value:.0f}"


def _solved(spec: SpecComparison) -> str:
    return marked_rate(spec.rate.value, spec.rate.low, spec.rate.high, spec.marks)


SPECS = (
    Shown("coder", text=" + ".join, path="coder"),
    Shown("strategy", path="strategy"),
    Shown("spec model", path="model"),
    Shown("prompt", text=_spec_version, path=""),
    Shown("specs", text=count, path="specs"),
    Shown("words", text=_mean, path="words"),
    Shown("tokens", text=_mean, path="output_tokens"),
    Shown("cost per spec", text=money, path="cost_usd"),
    Shown("problems", text=count, path="rate.problems"),
    Shown("n", text=count, path="rate.n"),
    Shown("solved [95 %]", text=_solved, path=""),
)


def specs_table(found: Sequence[SpecComparison]) -> TextTable:
    """One line per coder, strategy, spec model and version of its prompt."""
    return text_table("Specs by model", SPECS, found)
