"""Policies that were replayed on recorded attempts, as tables, remarks and rows for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from koderz_core.records.attempts import Mixture, Source
from koderz_core.records.trials import id_in_dataset
from koderz_core.report.columns import Numbers, json_row
from koderz_core.report.formats import (
    NONE,
    TextTable,
    duration,
    listed,
    money_of,
    numbered,
    percent,
    points_of,
    rate,
)

if TYPE_CHECKING:  # numpy is slow to import
    from koderz_core.analysis.rates import Interval
    from koderz_core.analysis.tuning import Tuned
    from koderz_core.analysis.what_if import Simulated

SIMULATED, RECORDED = "simulated", "as recorded"
SOLVED = (
    "",
    "policy",
    "evaluation",
    "solved [95 %]",
    "percentage points above policy 1 [95 %]",
    "wrong program accepted",
    "problems",
)
SPENT = ("", "evaluation", "$ per problem [95 %]", "$ per solved [95 %]", "attempts", "time")
ABOUT = (
    "Simulated: computed from recorded attempts, without new calls to models. Each 95 % interval applies to one "
    "policy, not to all policies together, and treats the problems as a random sample of all problems of this kind. "
    "If you choose the best of several policies, its result on the same problems is too optimistic."
)
HINDSIGHT = (
    "In hindsight: this policy was chosen and evaluated on the same problems, so its result is too optimistic. Use the "
    "row 'simulated, on other folds' instead: its policy was evaluated on problems that were not used to choose it."
)
_NAMED = 8  # problems in a remark


def policies_tables(found: Sequence[Simulated], tuned: Tuned | None = None) -> tuple[TextTable, TextTable]:
    """What policies solve, and what that costs; one line per policy, with the same number in both tables."""
    lines: list[tuple[Simulated, str, Simulated | None]]
    lines = [(item, kind_of(item), found[0] if place else None) for place, item in enumerate(found)]
    if tuned:
        lines.append((tuned.honest, f"{SIMULATED}, on other folds", None))
        lines.append((tuned.hindsight, f"{SIMULATED}, in hindsight", None))
    priced = any(item.wrong_usd for item in found)
    solved = [_solved(place, *line) for place, line in enumerate(lines, 1)]
    spent = [_spent(place, item, kind, priced=priced) for place, (item, kind, _) in enumerate(lines, 1)]
    of_wrong = ("$ per problem, with the price of wrong answers [95 %]",) if priced else ()
    return (
        TextTable("Success of the policies", SOLVED, tuple(solved)),
        TextTable("Cost of the policies", (*SPENT[:3], *of_wrong, *SPENT[3:]), tuple(spent)),
    )


def sources_table(sources: Mapping[str, Source], aliases: Mapping[str, str]) -> TextTable:
    """What a policy may name, and how many attempts of it are recorded."""
    letters = {name: alias for alias, name in aliases.items() if not alias.startswith("conf_")}
    rows = [
        (
            letters.get(name, ""),
            name,
            str(len(source.problems)),
            str(len(source.attempts)),
            "one answer per problem (greedy)"
            if source.greedy
            else f"not independent draws: {source.why}"
            if source.why
            else "independent draws",
        )
        for name, source in sources.items()
    ]
    return TextTable(
        "Recorded attempts", ("", "model or configuration", "problems", "attempts", "kind of attempts"), tuple(rows)
    )


def remarks(found: Sequence[Simulated], tuned: Tuned | None = None) -> Iterator[str]:
    """What a reader must know about these figures."""
    yield ABOUT
    for why in dict.fromkeys(item.why for item in found if item.why and item.simulated):
        names = listed([item.policy.name for item in found if item.why == why and item.simulated])
        yield (
            f"The attempts of these policies are not independent draws: {names}. Reason: {why}. koderz replayed these "
            "attempts only in the recorded order, up to the recorded number of attempts."
        )
    for item in found:
        if item.left_out:
            first = [id_in_dataset(problem) for problem in item.left_out[:_NAMED]]
            named = listed(first) + (" and others" if len(item.left_out) > _NAMED else "")
            number = numbered(len(item.left_out), "problem")
            yield (
                f"{item.policy.name}: {number} omitted ({named}), because fewer attempts have a result than the policy "
                "needs. Either fewer attempts were planned, or some experiments failed, were cancelled or have not "
                "ended."
            )
    if stopping := [item.policy.name for item in found[1:] if item.untested & found[0].keys]:
        yield (
            f"No interval is shown for the difference between policy 1 and these policies: {listed(stopping)}. Their "
            "attempts decide when a sequential benchmark stops, so an interval for a fixed number of problems is not "
            "valid."
        )
    if any(item.usd is None for item in found):
        yield "The costs of a policy are unknown if the price of any of its attempts is unknown."
    if tuned:
        chosen = listed([f"{name} ({numbered(times, 'fold')})" for name, times in tuned.chosen.items()])
        yield (
            "For each fold, koderz chose the policy whose cost, including the price of wrong answers, was lowest on "
            f"the other folds. Chosen policies: {chosen}. {HINDSIGHT}"
        )


def numbers(found: Sequence[Simulated], tuned: Tuned | None = None) -> list[Numbers]:
    """A row per policy, safe for JSON."""
    rows = [_numbers(item, kind_of(item), found[0] if place else None) for place, item in enumerate(found)]
    if tuned:
        rows.append(_numbers(tuned.honest, "simulated on other folds", None) | {"chosen": dict(tuned.chosen)})
        rows.append(_numbers(tuned.hindsight, "simulated in hindsight", None))
    return rows


def kind_of(one: Simulated) -> str:
    """Whether a figure is simulated or recorded."""
    return SIMULATED if one.simulated else RECORDED


def _solved(place: int, one: Simulated, kind: str, first: Simulated | None) -> tuple[str, ...]:
    return (
        str(place),
        one.policy.name,
        kind,
        rate(one.solved),
        _points(one, first),
        percent(one.accepted_wrong),
        str(len(one.problems)),
    )


def _spent(place: int, one: Simulated, kind: str, *, priced: bool) -> tuple[str, ...]:
    with_wrong = (money_of(one.loss),) if priced else ()
    return (
        str(place),
        kind,
        money_of(one.usd),
        *with_wrong,
        money_of(one.usd_per_solved),
        f"{one.attempts:.2f}",
        duration(one.seconds),
    )


def _points(one: Simulated, first: Simulated | None) -> str:
    """The difference to the first; no interval is known for that of a tuned policy."""
    found = _difference(one, first)
    return NONE if found is None else points_of(found[1])


def _difference(one: Simulated, first: Simulated | None) -> tuple[int, Interval] | None:
    from koderz_core.analysis.what_if import difference  # noqa: PLC0415 (numpy is slow to import)

    return difference(one, first) if first else None


def _numbers(one: Simulated, kind: str, first: Simulated | None) -> Numbers:
    apart = _difference(one, first)
    row: dict[str, object] = {
        "policy": one.policy.name,
        "kind": kind,
        "problems": len(one.problems),
        "left_out": [id_in_dataset(problem) for problem in one.left_out],
        "independent": one.independent,
        "why": one.why,
        "mixed": isinstance(one.policy, Mixture),
        "accepted_wrong": one.accepted_wrong,
        "attempts": one.attempts,
        "seconds": one.seconds,
        "tokens": one.tokens,
        "wrong_usd": one.wrong_usd,
        "shared_with_first": None if apart is None else apart[0],
    }
    intervals = {
        "solved": one.solved,
        "usd": one.usd,
        "usd_per_solved": one.usd_per_solved,
        "loss_usd": one.loss,
        "difference": None if apart is None else apart[1],
    }
    for name, interval in intervals.items():
        ends = (None,) * 3 if interval is None else (interval.value, interval.low, interval.high)
        row |= dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))
    return json_row(row)
