"""Specs in words, the same for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from koderz_core.analysis.specs import Built, ComparedSpecs
from koderz_core.export.formats import count, duration, marked_rate, money
from koderz_core.export.worded import NONE, Table
from koderz_core.records.notes import SpecRow

SCRIPTED = "SCRIPTED: these answers come from a script, not from a model."
CAUTION = (
    "Each line is of one coder with one strategy, but its problems, reviewers and settings need not be those of the "
    "next, and what is reused was not drawn anew. To tell spec models apart, run configurations that differ in nothing "
    "else and use `koderz compare`."
)
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
    day = datetime.fromtimestamp(spec.at, UTC).date()
    took = f"{count(spec.output_tokens)} tokens, {_seconds(spec.seconds)}"
    asked = f"{spec.model or 'an unknown model'} ({version(spec.prompt, spec.wording)})"
    if spec.origin:
        price = f"for nothing: writing it cost {money(spec.cost_usd)}"
        return f"{spec.words} words by {asked}, reused from {spec.origin} on {day} {price}, {took}"
    return f"{spec.words} words by {asked}, written in {spec.experiment} on {day} for {money(spec.cost_usd)}, {took}"


def built_on(one: Built) -> str:
    """``solved 3 of 4 experiments built on it``."""
    return (
        f"solved {one.solved} of {one.n} experiments built on it" if one.n else "nothing built on it has a result yet"
    )


def specs_table(found: Sequence[ComparedSpecs]) -> Table:
    """One line per coder, strategy, spec model and version of its prompt."""
    return Table("Specs by model", COLUMNS, tuple(_line(one) for one in found))


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
