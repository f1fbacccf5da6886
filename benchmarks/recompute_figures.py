"""Every figure of a comparison, computed from the journals and compared with koderz's. One function per kind."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, pairwise

import numpy as np
import recompute_statistics as statistics
from recompute_journals import Journal, Json, Trial, total
from recompute_statistics import Array
from recompute_tally import Tally

ALPHA = 0.05


@dataclass
class Case:
    """A comparison by koderz, and its trials by configuration."""

    name: str
    told: Json
    journals: Sequence[Journal]
    tally: Tally
    trials: dict[str, list[Trial]] = field(default_factory=dict)
    given: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.given = set.intersection(*(set(journal.problems) for journal in self.journals))
        self.trials = {key(row): [] for row in self.told["configurations"]}
        for run in (trial for journal in self.journals for trial in journal.trials):
            if f"{run.benchmark}/{run.configuration}" in self.trials and run.problem in self.given:
                self.trials[f"{run.benchmark}/{run.configuration}"].append(run)

    def scored(self, name: str) -> dict[str, Trial]:
        """Problem -> the trial of a configuration that has a result."""
        return {trial.problem: trial for trial in self.trials[name] if trial.scored}


def key(row: Json) -> str:
    return f"{row['benchmark']}/{row['configuration']}"


def number(row: Json, name: str, beside: str = "") -> float | None:
    """A number of koderz; for one that JSON cannot hold, the field next to it says what it is."""
    said = row.get(f"{beside or name}_is")
    return math.inf if said in ("unbounded", "never") else math.nan if said == "undefined" else row[name]


def common(held: Iterable[dict[str, Trial]]) -> list[str]:
    found = [set(trial) for trial in held]
    return sorted(set.intersection(*found)) if found else []


def dollars(held: dict[str, Trial], problems: Sequence[str]) -> Array:
    return np.array([math.nan if (usd := held[problem].usd) is None else usd for problem in problems], dtype=np.float64)


def solves(held: dict[str, Trial], problems: Sequence[str]) -> Array:
    return np.array([held[problem].solved for problem in problems], dtype=np.float64)


def counts(case: Case) -> None:
    for row in case.told["configurations"]:
        trials, where = case.trials[key(row)], f"{case.name} {row['letter']}"
        outcomes = Counter(trial.outcome for trial in trials)
        ours = {name: outcomes[name] for name in ("solved", "unsolved", "cancelled")} | {"errors": outcomes["error"]}
        ours |= {"n": outcomes["solved"] + outcomes["unsolved"], "planned": len(case.given)}
        for name, value in ours.items():
            case.tally.same("experiments: planned, with a result, outcomes", where, row[name], value)
        kinds = {trial.score_kind for trial in trials if trial.scored}
        case.tally.same("kind of score", where, row["score_kind"], max(kinds, default=None))
        tried = [trial.iterations for trial in trials if trial.scored]
        case.tally.same("mean iterations", where, row["mean_iterations"], float(np.mean(tried)) if tried else None)
        ended = [trial.seconds for trial in trials if trial.outcome]
        case.tally.same("seconds per experiment", where, row["seconds_per_experiment"], sum(ended) / len(ended))


def rates(case: Case) -> None:
    for row in case.told["configurations"]:
        held = case.scored(key(row)).values()
        ours = statistics.wilson(sum(trial.solved for trial in held), len(held))
        for name, value in zip(("share", "share_low", "share_high"), ours, strict=True):
            case.tally.same("rates with Wilson's interval", f"{case.name} {row['letter']}", row[name], value)


def costs(case: Case) -> None:
    for row in case.told["configurations"]:
        where, held = f"{case.name} {row['letter']}", case.scored(key(row))
        every = [call for trial in case.trials[key(row)] for call in trial.calls]
        ended = [trial for trial in case.trials[key(row)] if trial.outcome]
        spent = total([call for trial in ended for call in trial.calls])
        case.tally.same("dollars in all", where, row["cost_usd"], total(every))
        each = None if spent is None else spent / len(ended)
        case.tally.same("dollars per experiment", where, row["usd_per_experiment"], each)
        problems = sorted(held)
        usd, solved = dollars(held, problems), solves(held, problems)
        plain = float(statistics.ratio(usd.sum(), solved.sum()))
        case.tally.same("dollars per solved problem", where, number(row, "usd_per_solved"), plain)
        told = number(row, "usd_per_solved_low"), number(row, "usd_per_solved_high")
        case.tally.bounds("bounds of dollars per solved problem", where, told, statistics.ratio_bounds([usd], [solved]))


def tiers(case: Case) -> None:
    for row in case.told["tiers"]:
        where, trials = f"{case.name} {row['letter']} {row['tier']}", case.trials[row["configuration"]]
        calls = [call for trial in trials for call in trial.calls if call["tier"] == row["tier"]]
        case.tally.same("calls by tier", where, row["calls"], sum(call["finished"] for call in calls))
        case.tally.same("dollars by tier", where, row["cost_usd"], total(calls))
        scored = total(
            [call for trial in trials if trial.scored for call in trial.calls if call["tier"] == row["tier"]]
        )
        solved = sum(trial.solved for trial in trials)
        case.tally.same(
            "dollars per solved problem by tier",
            where,
            number(row, "usd_per_solved"),
            None if scored is None else scored / solved if solved else math.inf,
        )


def pairs(case: Case) -> None:
    for row in case.told["pairs"]:
        where, a, b = f"{case.name} {row['letter']}", case.scored(row["configuration"]), case.scored(row["baseline"])
        problems = common((a, b))
        table = Counter((a[problem].solved, b[problem].solved) for problem in problems)
        ours = {"n": len(problems), "both": table[True, True], "neither": table[False, False]}
        ours |= {
            "only_a": table[True, False],
            "only_b": table[False, True],
            "unpaired": len(case.given) - len(problems),
        }
        for name, value in ours.items():
            case.tally.same("pairs: problems of the paired table", where, row[name], value)
        only_a, only_b, n = ours["only_a"], ours["only_b"], ours["n"]
        case.tally.same("pairs: difference", where, row["difference"], (only_a - only_b) / n)
        limits = statistics.bonett_price(only_a, only_b, n, row["pairs_at_once"])
        limits = statistics.compatible(limits, only_a - only_b, apart=row["p_adjusted"] <= ALPHA)
        case.tally.bounds("pairs: bounds of the difference", where, (row["low"], row["high"]), limits)
        case.tally.same("pairs: p (exact McNemar)", where, row["p"], statistics.mcnemar(only_a, only_b))
        price_ratio(case, row, where, problems)
        break_even(case, row, where, problems)
        savings(case, row, where)


def adjusted(case: Case) -> None:
    found = [row for row in case.told["pairs"] if row["p"] is not None]
    for row, value in zip(found, statistics.holm([row["p"] for row in found]), strict=True):
        where = f"{case.name} {row['letter']}"
        case.tally.same("pairs: p by Holm, significant", where, row["p_adjusted"], value)
        case.tally.same("pairs: p by Holm, significant", where, row["told_apart"], value <= ALPHA)
        case.tally.same("pairs: how many at once", where, row["pairs_at_once"], len(found))


def price_ratio(case: Case, row: Json, where: str, problems: Sequence[str]) -> None:
    held = [case.scored(row[name]) for name in ("configuration", "baseline")]
    usd, solved = ([of(trial, problems) for trial in held] for of in (dollars, solves))
    if not (usd[1].sum() and solved[0].sum() and solved[1].sum()):
        case.tally.same("pairs: ratio of dollars per solved", where, row["price_ratio"], None)
        return
    plain = (usd[0].sum() / solved[0].sum()) / (usd[1].sum() / solved[1].sum())
    case.tally.same("pairs: ratio of dollars per solved", where, row["price_ratio"], float(plain))
    told = number(row, "price_ratio_low"), number(row, "price_ratio_high")
    ours = statistics.ratio_bounds([usd[0], solved[1]], [usd[1], solved[0]], row["pairs_at_once"])
    case.tally.bounds("pairs: bounds of that ratio", where, told, ours)


def break_even(case: Case, row: Json, where: str, problems: Sequence[str]) -> None:
    cheap, frontier = case.scored(row["configuration"]), case.scored(row["baseline"])
    if not any(frontier[problem].solved for problem in problems):  # nothing that could be reached
        told = [row[f"break_even_{name}"] for name in ("is", "usd", "never", "low", "high")]
        case.tally.same("pairs: break-even", where, told, ["no_target", None, None, None, None])
        return
    ends = np.array([end(cheap[problem], "usd") for problem in problems], dtype=np.float64)
    solved, target = solves(cheap, problems), solves(frontier, problems)
    ones, drawn = np.ones((1, len(problems))), statistics.draws(len(problems))
    plain = statistics.reached(ends, solved, np.array([target.mean()]), ones)
    case.tally.same("pairs: break-even", where, number(row, "break_even_usd", "break_even"), float(plain[0]))
    drawn = drawn[drawn @ target > 0]
    found = statistics.reached(ends, solved, drawn @ target / len(problems), drawn)
    never = partial(statistics.share_chance, drawn=np.isinf(found))
    case.tally.chance("pairs: P(never)", where, row["break_even_never"], never)
    told = number(row, "break_even_low"), number(row, "break_even_high")
    direction = int(np.sign(row["difference"])) if row["p_adjusted"] <= ALPHA else 0
    low, high = statistics.even_bounds(ends, solved, target, row["pairs_at_once"], direction)
    if low is not None and high is not None:
        low, high = min(low, float(plain[0])), max(high, float(plain[0]))
    case.tally.bounds("pairs: bounds of the break-even", where, told, (low, high))


def savings(case: Case, row: Json, where: str) -> None:
    a, b = case.scored(row["configuration"]), case.scored(row["baseline"])
    problems = [problem for problem in common((a, b)) if a[problem].solved and b[problem].solved]
    if not problems:
        case.tally.same("pairs: savings where both solved", where, row["saved_problems"], None)
        return
    case.tally.same("pairs: savings where both solved", where, row["saved_problems"], len(problems))
    before, saved = dollars(b, problems), dollars(b, problems) - dollars(a, problems)
    spent = statistics.ratio_bounds([before - saved], [before], row["pairs_at_once"])
    limits = {
        "saved_usd": statistics.mean_bounds(saved, row["pairs_at_once"]),
        "saved_share": tuple(None if usd is None else 1 - usd for usd in reversed(spent)),
    }
    for name, under in (("saved_usd", np.ones(len(problems))), ("saved_share", before)):
        case.tally.same("pairs: savings where both solved", where, row[name], float(saved.sum() / under.sum()))
        told = row[f"{name}_low"], row[f"{name}_high"]
        case.tally.bounds("pairs: bounds of savings", where, told, limits[name])


def rank_groups(case: Case) -> None:
    names = [name for name in case.trials if case.scored(name)]
    tested: dict[frozenset[str], float] = {}
    for first, other in combinations(names, 2):
        a, b = case.scored(first), case.scored(other)
        if problems := common((a, b)):
            only = Counter((a[name].solved, b[name].solved) for name in problems)
            tested[frozenset((first, other))] = statistics.mcnemar(only[True, False], only[False, True])
    raised = zip(tested, statistics.holm(list(tested.values())), strict=True)
    apart = {pair for pair, p in raised if p <= ALPHA}
    theirs = {frozenset(group) for group in case.told["groups"]}
    case.tally.same("groups (Holm over all pairs)", case.name, theirs, statistics.groups(names, apart))


def frontier(case: Case) -> None:
    held = {name: case.scored(name) for name in case.trials if case.scored(name)}
    problems = common(held.values())
    usd, solved = (np.stack([of(trial, problems) for trial in held.values()]) for of in (dollars, solves))
    drawn = statistics.draws(len(problems))
    probable = statistics.unbeaten(drawn @ usd.T, drawn @ solved.T)
    plain = statistics.unbeaten(usd.sum(axis=1)[None], solved.sum(axis=1)[None])[0]
    for row in case.told["configurations"]:
        where, at = f"{case.name} {row['letter']}", list(held).index(key(row))
        case.tally.same("dollars per problem", where, row["usd_per_problem"], float(usd[at].mean()))
        told = row["usd_per_problem_low"], row["usd_per_problem_high"]
        ours = statistics.ratio_bounds([usd[at]], [np.ones(len(problems))])
        case.tally.bounds("bounds of dollars per problem", where, told, ours)
        case.tally.same("on the frontier", where, row["on_frontier"], bool(plain[at]))
        chance = partial(statistics.share_chance, drawn=probable[:, at])
        case.tally.chance("P(frontier)", where, row["frontier_probability"], chance)


def ceilings(case: Case) -> None:
    for row in case.told["configurations"]:
        judged = [attempt for trial in case.trials[key(row)] for attempt in programs(trial)]
        found = {
            "ceiling": [(problem, right) for problem, gate, right in judged if gate],
            "false_positives": [(problem, gate) for problem, gate, right in judged if not right],
        }
        for name, happened in found.items():
            of = Counter(problem for problem, _ in happened)
            times = Counter(problem for problem, did in happened if did)
            ours = statistics.clustered([(times[problem], n) for problem, n in of.items()])
            for end_of, value in zip(("", "_low", "_high"), ours, strict=True):
                where = f"{case.name} {row['letter']} {name}"
                case.tally.same("ceiling and false passes, with bounds", where, row[f"{name}{end_of}"], value)


def programs(trial: Trial) -> list[tuple[str, bool, bool]]:
    """For each distinct program: the problem, whether it passed the gate, and the held-out tests."""
    if trial.score_kind != "held_out":
        return []
    judged = {attempt.code: attempt for attempt in trial.tries if attempt.held_out_passed is not None}
    return [(trial.problem, attempt.gate_passed, bool(attempt.held_out_passed)) for attempt in judged.values()]


def end(trial: Trial, axis: str) -> float:
    """What the trial had used at its end; its seconds end with its last attempt if that passed the gate."""
    if trial.scored and axis in ("usd", "tokens", "joules"):
        whole: float | None = getattr(trial, axis)
        return math.nan if whole is None else whole
    last = trial.tries[-1] if trial.tries and (trial.tries[-1].gate_passed or not trial.scored) else None
    if axis == "attempts":
        return last.iteration if last else trial.attempts
    used: float | None = getattr(last or trial, axis)
    return math.nan if used is None else used


def curves(case: Case) -> None:
    for axis, rows in case.told["curves"].items():
        for row in rows:
            trials = case.trials[row["configuration"]]
            missing = [0.0] * (len(case.given) - len(trials))  # planned and never begun
            ends = [end(trial, axis) for trial in trials] + missing
            events = ["solved" if trial.solved else "ended" if trial.scored else "censored" for trial in trials]
            share = statistics.incidence(ends, [*events, *("censored" for _ in missing)], row[axis])
            where = f"{case.name} {row['letter']} at {row[axis]} {axis}"
            case.tally.same("steps of the curves", where, row["share"], share)


def attempts(case: Case) -> None:
    for told in case.told["attempts"]:
        scored = [trial for trial in case.trials[told["configuration"]] if trial.scored]
        for row in told["attempts"]:
            attempt(case, f"{case.name} {told['letter']} attempt {row['attempt']}", row, scored)
        followed = Counter(
            (earlier.error, other.error)
            for trial in case.trials[told["configuration"]]
            for earlier, other in pairwise(trial.tries)
        )
        theirs = {
            (transition["before"], transition["after"]): transition["count"] for transition in told["transitions"]
        }
        case.tally.same("which error follows which", f"{case.name} {told['letter']}", theirs, dict(followed))


def attempt(case: Case, where: str, row: Json, scored: Sequence[Trial]) -> None:
    came = [trial for trial in scored if trial.attempts >= row["attempt"]]
    ended = [trial for trial in came if trial.attempts == row["attempt"]]
    tries = [trial.tries[row["attempt"] - 1] for trial in came if trial.tries]
    false = sum(bool(trial.gate_passed) and not trial.solved for trial in ended)
    ours: Json = {"at_risk": len(came), "solved": sum(trial.solved for trial in ended), "false_passes": false}
    hazard = statistics.wilson(ours["solved"], len(came))
    ours |= dict(zip(("hazard", "hazard_low", "hazard_high"), hazard, strict=True))
    ours |= {
        "tested": len(tries),
        "gate_tests_passed": float(np.mean([attempt.gate_share for attempt in tries])) if tries else None,
    }
    usd = sum(spent(trial, row["attempt"]) for trial in came)
    for name, value in ours.items():
        case.tally.same("attempt by attempt", where, row[name], value)
    case.tally.same("dollars of an attempt", where, row["usd"], usd)
    per_solve = float(statistics.ratio(np.float64(usd), np.float64(ours["solved"])))
    case.tally.same("dollars of an attempt", where, number(row, "usd_per_solve"), per_solve)


def spent(trial: Trial, number_of: int) -> float:
    """The first attempt includes everything before it, the last one everything after it."""
    totals = [0.0, *(attempt.usd or 0.0 for attempt in trial.tries[:-1]), trial.usd or 0.0]
    return totals[number_of] - totals[number_of - 1]


FIGURES: Sequence[Callable[[Case], None]] = (
    counts,
    rates,
    costs,
    tiers,
    pairs,
    adjusted,
    rank_groups,
    frontier,
    ceilings,
    curves,
    attempts,
)
