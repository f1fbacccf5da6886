"""Specs in words, and a forecast beside the actual result: the same for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from koderz_core.analysis.specs import Built, ComparedSpecs
from koderz_core.records.forecasts import Range, Receipt
from koderz_core.records.notes import SpecRow
from koderz_core.report.formats import NONE, TextTable, count, duration, marked_rate, money
from koderz_core.times import day

CAUTION = (
    "Each line is of one coder with one strategy, but its problems, reviewers and settings need not be those of the "
    "next, and what is reused was not drawn anew. To tell spec models apart, run configurations that differ in nothing "
    "else and use `koderz compare`."
)
LAST_RUN = "The last run"
"""What a receipt is called that is shown later: the benchmark may have been resumed, and cost more in total."""
COLUMNS = (
    "coder",
    "strategy",
    "spec model",
    "prompt",
    "specs",
    "words",
    "tokens",
    "cost each",
    "problems",
    "n",
    "solved [95 %]",
)


def version(prompt: str, wording: str | None) -> str:
    """``minimal, text 2``: which spec was asked for, and in which words."""
    return prompt if wording is None else f"{prompt}, text {wording}"


def written(spec: SpecRow) -> str:
    """By whom, when, how, and at what cost."""
    date, took = day(spec.at), f"{count(spec.output_tokens)} tokens, {_seconds(spec.seconds)}"
    asked = f"{spec.model or 'an unknown model'} ({version(spec.prompt, spec.wording)})"
    if spec.origin:
        price = f"for nothing: writing it cost {money(spec.cost_usd)}"
        return f"{spec.words} words by {asked}, reused from {spec.origin} on {date} {price}, {took}"
    return f"{spec.words} words by {asked}, written in {spec.experiment} on {date} for {money(spec.cost_usd)}, {took}"


def built_on(one: Built) -> str:
    """``solved 3 of 4 experiments built on it``."""
    return (
        f"solved {one.solved} of {one.n} experiments built on it" if one.n else "nothing built on it has a result yet"
    )


def specs_table(found: Sequence[ComparedSpecs]) -> TextTable:
    """One line per coder, strategy, spec model and version of its prompt."""
    return TextTable("Specs by model", COLUMNS, tuple(_line(spec) for spec in found))


def _line(one: ComparedSpecs) -> tuple[str, ...]:
    return (
        " + ".join(one.coder),
        one.strategy,
        one.model or NONE,
        version(one.prompt, one.wording),
        count(one.specs),
        f"{one.words:.0f}",
        "?" if one.output_tokens is None else f"{one.output_tokens:.0f}",
        money(one.cost_usd),
        count(one.rate.problems),
        count(one.rate.n),
        marked_rate(one.rate.value, one.rate.low, one.rate.high, one.marks),
    )


def _seconds(seconds: float | None) -> str:
    return "time unknown" if seconds is None else duration(seconds)


def receipt(came_to: Receipt, run: str = "It") -> str:
    """What the last run came to, beside what was told before; the sentence calls it ``run``."""
    cost, took = f"{run} cost {money(came_to.cost_usd)}", duration(came_to.seconds)
    told = came_to.forecast
    if told is None or not told.tells:
        return f"{cost} and took {took}."
    if came_to.seconds is None:
        return f"{cost} (forecast: {between(told.cost_usd, money)}); it rested in between, so no time is told."
    return (
        f"{cost} (forecast: {between(told.cost_usd, money)}) "
        f"and took {took} (forecast: {between(told.seconds, duration)})."
    )


def between(expected: Range | None, shown: Callable[[float], str]) -> str:
    """Both ends of a range, or that it is unknown."""
    if expected is None:
        return "unknown"
    return f"about {shown(expected.p50)}, in 9 of 10 cases at most {shown(expected.p90)}"
