"""The planned comparisons of README.md, the prices at which their order changes, and the costs of more strategies."""

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
"""The strategies of the smaller model that are compared with the larger model asked once."""
STRATEGIES = (BENCHMARK, "more24")
"""The benchmarks that are compared on their common problems; the second has more strategies."""
CHOOSING = ("best_of", "ensemble")
"""Strategies that generate several programs before they test any, and submit one of them."""
MARGIN = -0.10  # of the success rate; a configuration whose interval lies above it "matches"
USD_PER_HOUR = 0.065 * 0.15
"""The price of an hour of either model: 65 W at 0.15 $ per kWh, as recorded with the calls."""
READING = {
    True: "matches: the whole interval lies above -10 points",
    False: "does not match: the whole interval lies below -10 points",
    None: "undecided: the interval contains -10 points",
}


@dataclass(frozen=True, slots=True)
class Machine:
    """The hours for which a configuration used each of the two models, per solved problem."""

    small: float
    large: float

    def turns_over(self, once: Machine) -> float:
        """The ratio of the prices of an hour (larger to smaller) above which this is cheaper than ``once``.

        It solves ``a + b x = c + d x``. 0: it is at any price; infinite: at none.
        """
        large, small = once.large - self.large, self.small - once.small
        return max(0.0, small / large) if large > 0 else inf


def compared(opened: Workspace) -> Comparison:
    """The three primary comparisons with the larger model asked once, adjusted for three pairs."""
    rows = opened.comparisons.named([BENCHMARK])
    once = next(row for row in rows if _is(row, "direct", LARGE))
    three = [row for name in CHEAP for row in rows if _is(row, name, SMALL)]
    return opened.comparisons.compare([once, *three], f"{once.benchmark}/{once.configuration}")


def answer_table(found: Comparison) -> TextTable:
    """One line per primary comparison."""
    names = (
        "configuration | solved | problems | difference in points [95 %, simultaneous for 3 pairs] | solved by it only"
        " | solved by 1.5B direct only | p | p (Holm) | verdict | cost per solved problem / that of 1.5B direct [95 %, "
        "simultaneous for 3 pairs] | break-even cost | P(never)"
    )
    rows = tuple(_answer(found, pair) for pair in found.pairs)
    return TextTable("Primary comparisons with the 1.5B model asked once", tuple(names.split(" | ")), rows)


def match_table(found: Comparison) -> TextTable:
    """The same pairs by the score test of non-inferiority, which the design of the study did not contain."""
    names = (
        "configuration",
        "difference in points [95 % score interval, not adjusted]",
        "one-sided p",
        "one-sided p (Holm)",
        "verdict (Holm)",
    )
    rows = []
    for pair in found.pairs:
        if pair.match is not None:
            alone = score_p(Discordance(pair.test.n, pair.test.only_a, pair.test.only_b), MARGIN)
            span = points(pair.test.difference, pair.match.low, pair.match.high)
            rows.append((found.of(pair.key).label, span, chance(alone), chance(pair.match.p), pair.match.verdict))
    title = "Not part of the design, computed afterwards: the score test with a margin of 10 points"
    return TextTable(title, names, tuple(rows))


def matches(pair: Pair) -> bool | None:
    """Whether the interval shows that it solves at most ten points less; None if undecided."""
    low, high = pair.test.low, pair.test.high
    if low is None or high is None or low <= MARGIN <= high:
        return None
    return low > MARGIN


def price_table(opened: Workspace) -> TextTable:
    """Seconds of the models per solved problem, and the price at which the order changes."""
    rows = [row for row in opened.comparisons.named([BENCHMARK]) if row.solved]
    busy = _machines(opened, rows)
    once = next(row for row in rows if _is(row, "direct", LARGE))
    names = (
        "configuration | seconds of the 0.5B | seconds of the 1.5B | $ | cheaper if an hour of the 1.5B costs more than"
    )
    told = tuple(_price(row, busy[row.configuration], busy[once.configuration]) for row in rows)
    return TextTable(
        "Machine time per solved problem, and the price at which a configuration becomes cheaper than 1.5B direct",
        tuple(names.split(" | ")),
        told,
    )


ABOUT_PRICES = (
    "Both models ran on the same machine. Power, price of electricity and price of an hour are therefore the same for "
    "both and cancel out: no price of electricity changes the order. A separate price of the 1.5B model does, for "
    "example if only this model is rented. The last column states the price of an hour of the 1.5B model above which a "
    "configuration is cheaper per solved problem than the 1.5B model asked once, also as a multiple (x) of the price "
    "of an hour of the 0.5B model ($0.0098 at 65 W and 0.15 $/kWh). The seconds are those from which the costs are "
    "computed. They include failed and interrupted calls, and were measured on two shared cores. The tables below "
    "contain the intervals of the costs."
)


def errors_table(opened: Workspace) -> TextTable:
    """The failures of the iterations, by configuration."""
    rows = opened.comparisons.named([BENCHMARK])
    failed = opened.results.failures(rows[0].benchmark)
    counted = sum((Counter(of) for of in failed.values()), Counter[str]())
    kinds = sorted(counted, key=lambda kind: (-counted[kind], kind))
    told = tuple((row.label, *(str(failed.get(row.configuration, {}).get(kind, 0)) for kind in kinds)) for row in rows)
    return TextTable(
        "Causes of failure: iterations that failed the gate, and programs of direct that failed the scoring tests",
        ("configuration", *kinds),
        told,
    )


def spent_table(opened: Workspace, rows: Sequence[SummaryRow], found: Comparison) -> TextTable:
    """Calls, tokens and costs of each configuration by role; ``found``: their comparison."""
    prices = {pair.key: pair.price for pair in found.pairs}
    names = (
        "configuration | calls per problem | thousand tokens in / out | $ per solved problem, by role | "
        "cost per solved problem / that of 1.5B direct [95 %, simultaneous for all pairs]"
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
    return TextTable("Calls, tokens and costs by role", tuple(names.split(" | ")), tuple(told))


def choice_table(opened: Workspace) -> TextTable:
    """Problems on which a program passes the gate, such a program is right, and the submitted program is right."""
    rows = [row for row in opened.comparisons.named([STRATEGIES[1]]) if row.strategy in CHOOSING]
    trials = opened.results.trials([rows[0].benchmark])
    names = (
        "configuration",
        "problems",
        "a program passes the gate",
        "a program passes the gate and is right",
        "the submitted program is right",
    )
    told = []
    for row in rows:
        tries = [one.tries for one in trials if one.configuration == row.configuration]
        passing = sum(any(one.gate_passed for one in of) for of in tries)
        right = sum(any(one.gate_passed and one.held_out_passed for one in of) for of in tries)
        told.append((row.label, str(len(tries)), str(passing), str(right), str(row.solved)))
    return TextTable("Choice among several programs", names, tuple(told))


def tables(opened: Workspace, asked: Comparison) -> Iterator[TextTable]:
    """All tables of this module, in order; ``asked``: the result of ``compared``."""
    yield answer_table(asked)
    yield match_table(asked)
    yield errors_table(opened)
    yield price_table(opened)  # the last one, because ABOUT_PRICES explains it


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
