"""Sentences about a comparison: its findings, and the remarks that a reader needs before comparing configurations.

A finding states its uncertainty and claims no more than was tested.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, TypeVar

from koderz_core.analysis.bounds import ALPHA
from koderz_core.analysis.configurations import frontier_asked_once
from koderz_core.analysis.energy import flips
from koderz_core.analysis.power import detectable, observed_discordance
from koderz_core.analysis.rates import rate_of
from koderz_core.records.marks import ORACLE, REPORTED, SAW_BASE_TESTS, SEARCHED, Marks
from koderz_core.records.plans import SOME_SCRIPTED, scripted
from koderz_core.records.progress import SummaryRow
from koderz_core.records.shards import shard_in
from koderz_core.report.formats import in_points, listed, money, numbered, p_value, percent
from koderz_core.report.matching import match_sentences
from koderz_core.report.registration import not_valid

if TYPE_CHECKING:  # most commands need no comparison
    from koderz_core.analysis.bounds import WorstCase
    from koderz_core.analysis.comparison import Comparison
    from koderz_core.analysis.configurations import ConfigurationFigures
    from koderz_core.analysis.curves import BreakEven
    from koderz_core.analysis.paired import Paired
    from koderz_core.analysis.pairs import Key, Pair
    from koderz_core.analysis.rates import Interval
    from koderz_core.analysis.tradeoff import Tradeoff

K = TypeVar("K")

NO_BASELINE = (
    "No measured baseline: no frontier model was run on these problems with the strategy direct (one answer, not "
    "tested before it is submitted). The success rate and the cost of such a baseline, and any savings, are "
    "therefore unknown."
)

_FRACTIONS = ("half", "a third", "a quarter", "a fifth", "a sixth", "a seventh", "an eighth", "a ninth", "a tenth")


def finding(pair: Pair, labels: Mapping[Key, str]) -> str:
    """Whether the two differ significantly, by how much, and what the one costs relative to the other."""
    test, label, other = pair.test, labels[pair.key], labels[pair.baseline]
    if pair.sequential:
        return not_valid(label, other)
    if not test.n:
        return f"{label} and {other} have no problem on which both have a result, so they cannot be compared."
    price = _price(label, pair.price, test.at_once)
    parts = [f"{_difference(test, pair.p_adjusted, label, other)}: {_verdict(pair)}; {price}."]
    if matched := match_sentences(pair, label, other):
        parts.append(matched)
    if pair.break_even is not None:
        parts.append(_break_even(label, other, pair.break_even, test.at_once))
    if pair.mixed:
        where = "One" if pair.mixed >= test.n else f"On {pair.mixed} of the {test.n} problems, one"
        parts.append(
            f"{where} configuration is scored by its own gate tests (oracle), and the other configuration by held-out "
            "tests. The difference is therefore not due to the configurations alone."
        )
    if pair.reported:
        parts.append(
            "An imported file states the results of one configuration, and koderz scored the other configuration. "
            "Unless the same tests scored both configurations, the difference is not due to the configurations alone."
        )
    if test.unpaired:
        left_out = numbered(test.unpaired, "problem")
        parts.append(f"Excluded: {left_out} on which at least one of the two configurations has no result.")
    return " ".join(parts)


def with_sentences(comparison: Comparison, rows: Sequence[SummaryRow]) -> Comparison:
    """The comparison of these configurations with its findings and remarks, and each pair with its own finding."""
    names = names_of(comparison.configurations)
    pairs = tuple(replace(pair, finding=finding(pair, names)) for pair in comparison.pairs)
    best = frontier(_starred(comparison.configurations, names), comparison.tradeoff)
    return replace(
        comparison,
        pairs=pairs,
        findings=_findings(rows, pairs, best),
        remarks=remarks(rows),
        across=across(rows),
    )


def selection_note(pairs: int) -> str | None:
    """The caution about a finding that was selected from several pairs; None if there is only one."""
    if pairs < 2:
        return None
    return (
        f"This pair was selected from {pairs} pairs after the results were known. Its p (Holm) and its interval are "
        f"adjusted for all {pairs} pairs. Its point estimates are not adjusted, so they are probably too favourable."
    )


def frontier(labels: Mapping[K, str], found: Tradeoff[K]) -> str | None:
    """The Pareto frontier of cost and success, and how often resamples agree; None if unknown."""
    placed = [(point, point.probability) for point in found.points if point.probability is not None]
    on = [f"{labels[point.key]} ({percent(share)})" for point, share in placed if point.on_frontier]
    near = [
        f"{labels[point.key]} ({percent(share)})" for point, share in placed if not point.on_frontier and share > ALPHA
    ]
    if len(placed) < 2:
        return None
    best = f"Pareto frontier on {numbered(found.problems, 'problem')}: {listed(on)}"
    off = f"; possibly also {listed(near)}" if near else ""
    return f"{best}{off}. Each percentage is the share of resamples in which the configuration is on the frontier."


def _findings(rows: Sequence[SummaryRow], pairs: Sequence[Pair], best: str | None) -> tuple[str, ...]:
    from koderz_core.analysis.pairs import leading_pair  # noqa: PLC0415 (numpy is slow to import)

    first = leading_pair(pairs)
    sentences = (
        first and first.finding,
        first and selection_note(first.test.at_once),
        best if len(pairs) > 1 else None,
        None if frontier_asked_once(rows) else NO_BASELINE,
    )
    return tuple(sentence for sentence in sentences if sentence)


def names_of(configurations: Sequence[ConfigurationFigures]) -> dict[Key, str]:
    """Labels, with the letter if several are the same."""
    labels = [configuration.label for configuration in configurations]
    return {
        configuration.key: configuration.label
        if labels.count(configuration.label) == 1
        else f"{configuration.label} ({configuration.letter})"
        for configuration in configurations
    }


def _starred(configurations: Sequence[ConfigurationFigures], names: Mapping[Key, str]) -> dict[Key, str]:
    """The names with their marks, which the remarks explain."""
    return {configuration.key: names[configuration.key] + configuration.marks.signs for configuration in configurations}


def _difference(test: Paired, p: float | None, label: str, other: str) -> str:
    difference = 100 * (test.difference or 0.0)
    points = f"{abs(difference):.3g} percentage points"
    than = f"{points} {'more' if difference > 0 else 'less'} than" if difference else "the same share as"
    apart = p is not None and p <= ALPHA
    bounds = f"{_level(test.at_once)} {' to '.join(in_points(test.low or 0.0, test.high or 0.0, apart))}"
    return f"On {numbered(test.n, 'problem')}, {label} solved {than} {other} ({bounds}; p {p_value(p)})"


def _verdict(pair: Pair) -> str:
    test = pair.test
    if pair.p_adjusted is None:
        return "not tested"
    if pair.p_adjusted <= ALPHA:
        return _significant(test.n, pair.worst)
    if test.method != "exact McNemar":
        return "no significant difference"
    discordance = observed_discordance(test.only_a + test.only_b, test.n)
    # The strictest step of Holm's adjustment, as in ``visible``.
    unseen = detectable(test.n, discordance, power=0.5, alpha=ALPHA / test.at_once)
    if unseen == inf:
        return "no significant difference; with this number of problems, no difference can be statistically significant"
    below = f"below {100 * unseen:.2g} percentage points"
    return f"no significant difference; with this number of problems, a true difference {below} is usually not detected"


def _significant(n: int, worst: WorstCase | None) -> str:
    """``significant``, with its condition if missing results could change it."""
    if worst is None:
        return "significant"
    missing = f"in the worst case for the {numbered(worst.missing, 'missing result')}"
    if worst.p is not None and worst.p <= ALPHA:
        return f"significant, even {missing}" if worst.missing else "significant"
    on = f"significant on the {numbered(n, 'problem')} with a result of both configurations"
    if not worst.missing:
        others = "the missing results of the other pairs"
        return f"{on}, but not if Holm's adjustment assumes the worst case for {others}"
    return f"{on}, but not {missing}"


def _price(label: str, price: Interval | None, at_once: int) -> str:
    if price is None:
        return "their costs per solved problem cannot be compared"
    if price.value == 0:
        return f"{label} cost nothing"
    cost = f"{label} cost {_times(price.value)} per solved problem"
    if price.low is None or price.high is None:
        return cost
    bounds = f"{_level(at_once)} {price.low:.2g} to {'∞' if price.high == inf else f'{price.high:.2g}'} times"
    return f"{cost} ({bounds}{', so either may be cheaper' if price.low <= 1 <= price.high else ''})"


def _times(value: float) -> str:
    whole = round(1 / value)
    if 2 <= whole <= 10 and abs(1 / value - whole) < 0.25:
        return f"{_FRACTIONS[whole - 2]} as much"
    return f"{value:.2g} times as much" if value >= 0.1 else f"1/{whole} as much"


def _break_even(label: str, other: str, found: BreakEven, at_once: int) -> str:
    if found.usd is None or found.never is None:
        return f"{other} solved nothing, so there is no break-even cost."
    never = f"in {percent(found.never)} of resamples it never reaches that rate"
    known = (bound for bound in (found.low, found.high) if bound is not None)
    bounds = " to ".join("never" if bound == inf else money(bound) for bound in known)
    parts = [never] if found.usd == inf else [f"{_level(at_once)} {bounds}", never]
    sure = f" ({'; '.join(parts)})" if bounds else ""  # one problem does not vary
    if found.usd == inf:
        return f"Even with all its attempts, {label} does not reach the success rate of {other}{sure}."
    paid = "" if found.frontier_usd is None else f"; {other} spent {money(found.frontier_usd)} per problem"
    return f"{label} reaches the success rate of {other} at {money(found.usd)} per problem{sure}{paid}."


def _level(at_once: int) -> str:
    return "95 % interval:" if at_once == 1 else f"95 % interval adjusted for {at_once} pairs:"


def remarks(rows: Sequence[SummaryRow]) -> tuple[str, ...]:
    """The remarks that apply to these configurations in any comparison."""
    some_scripted = any(scripted(model for members in row.models.values() for model in members) for row in rows)
    return (
        *(f"Dataset: {origin}." for origin in sorted({row.origin.said for row in rows})),
        *_limits(rows),
        *footnotes(row.marks for row in rows),
        *_missing(rows),
        *_across(rows),
        *_electricity(rows),
        *_graded(rows),
        *([SOME_SCRIPTED] if some_scripted else []),
    )


def untested(rows: Sequence[SummaryRow]) -> tuple[str, ...]:
    """The further remarks if only summaries are shown and no pair was tested."""
    found = []
    if any(row.planned > row.problems for row in rows):
        found.append(
            "Repeats of a problem are not independent trials, so the rates in this table have no interval. To compute "
            "intervals, run: koderz compare"
        )
    if _overlap(rows):
        found.append(
            "Overlapping intervals do not show whether two rates differ. To test the difference on the same problems, "
            "run: koderz compare"
        )
    return tuple(found)


def footnotes(marks: Iterable[Marks]) -> tuple[str, ...]:
    """The meaning of the marks of these rates."""
    return tuple(_footnotes([mark for mark in marks if mark.kind]))


def _limits(rows: Sequence[SummaryRow]) -> Iterator[str]:
    """How many unsolved experiments a limit of the configuration ended; they stay in the denominator."""
    for row in rows:
        causes = [
            f"{ended} ended {cause}"
            for ended, cause in (
                (row.context_ends, "because a prompt did not fit into the context window of its model"),
                (row.budget_ends, "because the budget per experiment was used up"),
            )
            if ended
        ]
        if causes:
            yield f"{row.label}: of {numbered(row.unsolved, 'unsolved experiment')}, {' and '.join(causes)}."


def _footnotes(marks: Sequence[Marks]) -> Iterator[str]:
    kinds = {mark.kind for mark in marks}
    if kinds & {"oracle", "mixed"}:
        yield f"{ORACLE} the gate tests of the loop also score its program: an oracle rate, not pass@1."
    for partial in sorted({mark.partial for mark in marks if mark.partial}):
        only = partial.replace("/", " of ")
        yield (
            f"  {ORACLE}({partial}): the mark applies to {only} problems; the other problems have tests that the loop "
            "did not see."
        )
    if "oracle" in kinds and len(kinds) > 1:
        yield (
            f"  Rates with and without {ORACLE} come from different kinds of tests, so their difference is not due to "
            "the strategy alone."
        )
    if any(mark.reported_problems for mark in marks):
        yield f"{REPORTED} An imported file states which programs passed. koderz did not run these programs."
    if any(SAW_BASE_TESTS in mark.signs for mark in marks):
        yield (
            f"{SAW_BASE_TESTS} The loop shows base tests with their expected values to its models. The tests that "
            "score the program stay hidden, but the rate is not pass@1 as EvalPlus measures it."
        )
    if any(mark.searched for mark in marks):
        yield (
            f"{SEARCHED} Prompts contained results of a web search. Such results may contain solutions of published "
            "problems, so the rate does not measure the model alone."
        )


def _missing(rows: Sequence[SummaryRow]) -> Iterator[str]:
    if shards := {row.benchmark for row in rows if shard_in(row.benchmark)}:
        yield (
            f"Partial: {numbered(len(shards), 'shard')}, each with a random part of the experiments of a benchmark. "
            "`koderz merge` merges the shards of a benchmark."
        )
    without = sum(row.errors + row.cancelled for row in rows)
    planned = sum(row.planned for row in rows)
    left = planned - without - sum(row.solved + row.unsolved for row in rows)
    if left:
        yield (
            f"Partial: {left} of {planned} experiments {'has' if left == 1 else 'have'} not ended. The experiments "
            "that have not ended may be on harder problems."
        )
    if without:
        yield (
            f"{without} of {planned} experiments ended without a result (error or cancelled); the rates exclude "
            "experiments without a result."
        )
    if left or without:
        yield (
            "Worst–best: the share solved if all experiments without a result were unsolved (worst) or solved (best). "
            f"Experiments without a result: {left + without}. koderz calls a difference significant only if it is "
            "also significant in the worst case."
        )
    unpriced = sum(row.unpriced for row in rows)
    if unpriced:
        verb = "has" if unpriced == 1 else "have"
        calls = numbered(unpriced, "call")
        yield f"{calls} {verb} no known price, so the cost of each configuration with such a call is unknown."
    yield from _reused(rows)


def _reused(rows: Sequence[SummaryRow]) -> Iterator[str]:
    if cached := sum(row.cached for row in rows):
        yield (
            f"{numbered(cached, 'answer')} came from the response cache, at no cost. Answers from the cache are "
            "copies of answers in earlier benchmarks, so they are not new evidence. Their cost and time were not "
            "measured again. In a comparison, the cost and the time of each configuration with such an answer are "
            "therefore unknown. `koderz compare --count-cached` counts the recorded price of the original calls."
        )


def across(rows: Sequence[SummaryRow]) -> str | None:
    """Why the figures of these cannot be compared, if they are not of the same problems."""
    names, versions = sorted({row.dataset for row in rows}), {row.dataset_sha256 for row in rows}
    if len(names) > 1 or len(versions) > 1:
        which = ", ".join(names) if len(names) > 1 else f"{len(versions)} versions of {names[0]}"
        return f"These configurations ran on different datasets ({which}): their rates cannot be compared."
    if len({row.problem_set for row in rows}) > 1:
        return (
            "These configurations ran on different problems, which may explain a difference between their rates. "
            "`koderz compare` tests each pair on the problems that both configurations ran on. With --same-problems "
            "(on the Summary page: the option Problems), all figures cover only the problems that all configurations "
            "ran on."
        )
    return None


def _across(rows: Sequence[SummaryRow]) -> Iterator[str]:
    if reason := across(rows):
        yield reason
    elif any(row.only for row in rows):
        yield (
            f"These figures cover only the {numbered(rows[0].problems, 'problem')} that all configurations ran on. "
            "Results on other problems are omitted."
        )


def _electricity(rows: Sequence[SummaryRow]) -> Iterator[str]:
    for flip in flips(rows):
        yield (
            "The price of electricity decides which configuration is cheaper per solved problem: "
            f"{flip.thirsty.label} below {flip.usd_per_kwh:.2g} USD/kWh, {flip.frugal.label} above that price."
        )


def _graded(rows: Sequence[SummaryRow]) -> Iterator[str]:
    if any(row.isolation == "limited" for row in rows):
        yield "limited: in this sandbox tier, programs could read your files and use your network."
    if shared := sum(row.shared for row in rows):
        yield (
            f"shared: in {numbered(shared, 'experiment')}, the tests ran in the process of the program, so the program "
            "could fake a pass."
        )


def _overlap(rows: Sequence[SummaryRow]) -> bool:
    """Whether two comparable intervals overlap: of rates of one kind, of the same problems."""
    kin: dict[tuple[str, bool], list[tuple[float, float]]] = {}
    for row in rows:
        rate = rate_of(row)
        if rate is not None and rate.low is not None and rate.high is not None:
            kin.setdefault((row.problem_set, row.marks.kind == "oracle"), []).append((rate.low, rate.high))
    # If any two overlap, two neighbours in the order of their lower ends do.
    return any(low <= high for intervals in kin.values() for (_, high), (low, _) in pairwise(sorted(intervals)))
