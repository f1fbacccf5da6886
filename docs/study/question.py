"""What README.md fixed before the study was run, what could turn the order over, and what more strategies spent."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.noninferiority import Discordance, score_p
from koderz_core.analysis.pairs import Pair
from koderz_core.analysis.rates import Interval
from koderz_core.records.progress import SummaryRow
from koderz_core.report.formats import NONE, TextTable, chance, money, points
from koderz_core.report.pair_columns import break_even_price
from koderz_core.workspace import Workspace

BENCHMARK, SMALL, LARGE = "study60", "embedded/qwen2.5-coder-0.5b", "embedded/qwen2.5-coder-1.5b"
CHEAP = ("repair", "retry", "supervised")
"""What is held against the larger model asked once, all with the smaller one as coder."""
STRATEGIES = (BENCHMARK, "more24")
"""What is set beside each other on the problems that both have: the second asked more strategies."""
CHOOSING = ("best_of", "ensemble")
"""Those that draw several programs before any is run, and hand in one of them."""
MARGIN = -0.10  # of the share solved: what lies above it with all its interval "matches"
USD_PER_HOUR = 0.065 * 0.15
"""Of either model where it was run: 65 W at 0.15 $ per kWh, as the calls say of themselves."""
READING = {
    True: "matches: the whole interval lies above -10 points",
    False: "does not match: the whole interval lies below -10 points",
    None: "undecided: -10 points lies in the interval",
}


@dataclass(frozen=True, slots=True)
class Machine:
    """The hours that a configuration kept each of the two models busy per problem that it solved."""

    small: float
    large: float

    def turns_over(self, once: Machine) -> float:
        """From which price on of an hour of the larger model, by one of the smaller, it is cheaper than ``once``.

        It solves ``a + b x = c + d x``. 0: it is at any price; infinite: at none.
        """
        large, small = once.large - self.large, self.small - once.small
        return max(0.0, small / large) if large > 0 else inf


def compared(opened: Workspace) -> Comparison:
    """The three against the larger model asked once, adjusted for three and no more."""
    rows = opened.comparisons.named([BENCHMARK])
    once = next(row for row in rows if _is(row, "direct", LARGE))
    three = [row for name in CHEAP for row in rows if _is(row, name, SMALL)]
    return opened.comparisons.compare([once, *three], f"{once.benchmark}/{once.configuration}")


def answer_table(found: Comparison) -> TextTable:
    """The answer: a line per comparison."""
    names = (
        "configuration | solved | of | points more [95 %, 3 at once] | only it | only the 1.5B | p | p (Holm) | so it"
        " | x $ per solved [95 %, 3 at once] | reaches it at | P(never)"
    )
    rows = tuple(_answer(found, pair) for pair in found.pairs)
    return TextTable("The question: against the 1.5B asked once", tuple(names.split(" | ")), rows)


def match_table(found: Comparison) -> TextTable:
    """The same pairs by the score test of non-inferiority, which the design of the study did not contain."""
    names = ("configuration", "points more [95 % score interval]", "one-sided p", "one-sided p (Holm)", "verdict")
    rows = []
    for pair in found.pairs:
        if pair.match is not None:
            alone = score_p(Discordance(pair.test.n, pair.test.only_a, pair.test.only_b), MARGIN)
            span = points(pair.test.difference, pair.match.low, pair.match.high)
            rows.append((found.of(pair.key).label, span, chance(alone), chance(pair.match.p), pair.match.verdict))
    title = "Computed after the study, not part of its design: the score test for a margin of 10 points"
    return TextTable(title, names, tuple(rows))


def matches(pair: Pair) -> bool | None:
    """Whether it solves at most ten points less, as far as its interval tells."""
    low, high = pair.test.low, pair.test.high
    if low is None or high is None or low <= MARGIN <= high:
        return None
    return low > MARGIN


def price_table(opened: Workspace) -> TextTable:
    """What the models' time was per solved problem, and the price of it that would turn the order over."""
    rows = [row for row in opened.comparisons.named([BENCHMARK]) if row.solved]
    busy = _machines(opened, rows)
    once = next(row for row in rows if _is(row, "direct", LARGE))
    names = "configuration | s of the 0.5B | s of the 1.5B | $ | cheaper where an hour of the 1.5B costs more than"
    told = tuple(_price(row, busy[row.configuration], busy[once.configuration]) for row in rows)
    return TextTable(
        "Machine time per solved problem, and the price that turns the order over", tuple(names.split(" | ")), told
    )


ABOUT_PRICES = (
    "Both models ran on the same machine, so watts, $ per kWh and what an hour of it costs are the same for both and "
    "cancel out: no price of electricity turns an order over. A price of the 1.5B's own does, as where only that is "
    "rented: the last column says from which on a configuration is cheaper per solved problem than the 1.5B asked "
    "once; x: by an hour of the 0.5B, which is $0.0098 at 65 W and 0.15 $/kWh. The seconds are those that the price is "
    "made of, failed and interrupted calls included, measured on two shared cores; the intervals of the costs stand in "
    "the tables below."
)


def errors_table(opened: Workspace) -> TextTable:
    """With what iterations failed, by configuration."""
    rows = opened.comparisons.named([BENCHMARK])
    failed = opened.results.failures(rows[0].benchmark)
    counted = sum((Counter(of) for of in failed.values()), Counter[str]())
    kinds = sorted(counted, key=lambda kind: (-counted[kind], kind))
    told = tuple((row.label, *(str(failed.get(row.configuration, {}).get(kind, 0)) for kind in kinds)) for row in rows)
    return TextTable("What iterations failed with, and programs handed in untested", ("configuration", *kinds), told)


def spent_table(opened: Workspace, rows: Sequence[SummaryRow], found: Comparison) -> TextTable:
    """What each of them asked and paid, role by role; ``found``: they compared."""
    prices = {pair.key: pair.price for pair in found.pairs}
    names = (
        "configuration | calls each | thousand tokens in / out | $ per solved, by role | "
        "x $ per solved [95 %, all at once]"
    )
    told = []
    for row in rows:
        calls = opened.results.frame("calls", row.benchmark)
        paid = calls[calls["configuration"] == row.configuration]
        paid = paid[paid["problem"].isin(row.only)] if row.only else paid
        mine = paid[paid["state"] == "finished"]
        usd = paid.groupby(["role", "model"])["cost_usd"].sum() / row.solved
        parts = (f"{role} {model[-4:].upper()} {money(value)}" for (role, model), value in usd.items())
        tokens = (f"{mine[kind].sum() / 1000:.0f}" for kind in ("input_tokens", "output_tokens"))
        told.append(
            (
                row.label,
                f"{len(mine) / row.planned:.1f}",
                " / ".join(tokens),
                ", ".join(parts),
                _times(prices.get((row.benchmark, row.configuration))),
            )
        )
    return TextTable("What each asked and paid", tuple(names.split(" | ")), tuple(told))


def choice_table(opened: Workspace) -> TextTable:
    """Of how many problems some try passed, some was right, and a right one was handed in; where tries are a choice."""
    rows = [row for row in opened.comparisons.named([STRATEGIES[1]]) if row.strategy in CHOOSING]
    trials = opened.results.trials([rows[0].benchmark])
    names = ("configuration", "problems", "some try passes the gate", "some try is right", "a right one handed in")
    told = []
    for row in rows:
        tries = [one.tries for one in trials if one.configuration == row.configuration]
        passing = sum(any(one.gate_passed for one in of) for of in tries)
        right = sum(any(one.gate_passed and one.held_out_passed for one in of) for of in tries)
        told.append((row.label, str(len(tries)), str(passing), str(right), str(row.solved)))
    return TextTable("What there was to choose from", names, tuple(told))


def tables(opened: Workspace, asked: Comparison) -> Iterator[TextTable]:
    """All that this module has to say, in order; ``asked``: what ``compared`` gave."""
    yield answer_table(asked)
    yield match_table(asked)
    yield errors_table(opened)
    yield price_table(opened)  # what ABOUT_PRICES says belongs behind it


def _is(row: SummaryRow, name: str, coder: str) -> bool:
    return row.label.split()[0] == name and row.models["coder"] == (coder,)


def _answer(found: Comparison, pair: Pair) -> tuple[str, ...]:
    test, two = pair.test, [found.of(key) for key in (pair.key, pair.baseline)]
    ended, even = min(one.n for one in two), pair.break_even
    return (
        found.of(pair.key).label,
        str(test.both + test.only_a),
        str(test.n),
        points(test.difference, test.low, test.high),
        str(test.only_a),
        str(test.only_b),
        chance(test.p),
        chance(pair.p_adjusted),
        READING[matches(pair)] if all(one.n == one.planned for one in two) else f"no result yet: {ended} ended",
        _times(pair.price),
        break_even_price(even),
        chance(even.never if even else None),
    )


def _times(price: Interval | None) -> str:
    return f"{price.value:.2g} [{price.low:.2g}, {price.high:.2g}]" if price else NONE


def _machines(opened: Workspace, rows: Sequence[SummaryRow]) -> dict[str, Machine]:
    calls, ended = (opened.results.frame(table, rows[0].benchmark) for table in ("calls", "experiments"))
    results = ended["id"][ended["outcome"].isin(["solved", "unsolved"])]  # as in all costs per solved problem
    paid = calls[calls["cost_usd"].notna() & calls["experiment"].isin(results)]  # failed calls as well
    hours: defaultdict[tuple[str, str], float] = defaultdict(float)
    for configuration, model, usd in zip(paid["configuration"], paid["model"], paid["cost_usd"], strict=True):
        hours[configuration, model] += usd / USD_PER_HOUR
    of = ((row.configuration, row.solved) for row in rows)
    return {one: Machine(hours[one, SMALL] / solved, hours[one, LARGE] / solved) for one, solved in of}


def _price(row: SummaryRow, busy: Machine, once: Machine) -> tuple[str, ...]:
    turns = busy.turns_over(once)
    said = "never" if turns == inf else f"{turns:.2g} x ({money(turns * USD_PER_HOUR)})" if turns else "at any price"
    return (
        row.label,
        f"{busy.small * 3600:.1f}",
        f"{busy.large * 3600:.1f}",
        money((busy.small + busy.large) * USD_PER_HOUR),
        NONE if busy == once else said,
    )
