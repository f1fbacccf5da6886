"""Policies replayed on recorded attempts: what they would have solved and cost. Nothing is asked anew.

The recorded draws of a model on a problem are a sequence of independent draws, also if an experiment stopped because of
their results: whether a further draw was made depends only on earlier ones. So a policy that takes the draws of such an
experiment in the recorded order sees what it would have seen, as long as it never needs more than was recorded. A
policy that does is refused: the problems without further draws are those whose earlier draws were good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, permutations, product
from math import prod
from random import Random
from statistics import fmean

import numpy as np

from koderz_core.analysis.bootstrap import Array, mean_interval, ratio_interval
from koderz_core.analysis.difficulty import Key
from koderz_core.analysis.paired import bonett_price
from koderz_core.analysis.rates import Interval, mid_p_bounds
from koderz_core.errors import UsageError
from koderz_core.records.attempts import AS_RECORDED, Chain, Mixture, Outcome, Policy, RecordedAttempt, Source, Stage
from koderz_core.records.trials import id_in_dataset
from koderz_core.sums import all_known, known_mean, known_sum

ORDERS = 120
"""The most orders of the draws of one problem that are replayed, unless more draws must each come first once."""
_ALL = 5  # up to this many draws, every order
Policies = Policy | Mixture


@dataclass(frozen=True, slots=True)
class Replayed:
    """The mean outcome of a policy over orders of the draws on one problem.

    ``draws``: how many independent replays the draws allow.
    """

    problem: str
    outcome: Outcome
    draws: float = 1.0


@dataclass(frozen=True, slots=True)
class Simulated:
    """What a policy would have done; means over problems, with 95 % intervals for this policy alone.

    ``problems``: the results by problem. ``left_out``: problems on which a model that it needs was not asked, or not
    often enough by design. ``solved``: the share. ``accepted_wrong``: the share on which a wrong program was accepted.
    ``usd``: per problem; ``usd_per_solved``: infinite if none is solved. ``loss``: dollars per problem with
    ``wrong_usd``, the price of a problem without a right program. ``seconds``: of calls. None: a price or time is
    unknown. ``why``: why the attempts are not independent draws; empty if they are. ``simulated`` False: experiments as
    they ran. ``keys``: the configurations whose attempts the policy uses. ``untested``: the configurations with which a
    comparison would not be valid, because its results decide when a sequential benchmark stops.
    """

    policy: Policies
    problems: tuple[Replayed, ...]
    left_out: tuple[str, ...]
    wrong_usd: float
    solved: Interval
    accepted_wrong: float
    attempts: float
    usd: Interval | None
    usd_per_solved: Interval | None
    loss: Interval | None
    seconds: float | None
    tokens: float | None
    why: str = ""
    simulated: bool = True
    keys: frozenset[Key] = frozenset()
    untested: frozenset[Key] = frozenset()

    @property
    def independent(self) -> bool:
        return not self.why


def simulate(
    policy: Policies, sources: Mapping[str, Source], problems: Sequence[str], wrong_usd: float = 0.0
) -> Simulated:
    """The outcome of a policy on these problems. Raises UsageError if the recorded attempts do not determine it."""
    parts = _parts(policy)
    used = [sources[stage.source] for _, part in parts for stage in part.stages]
    for _, part in parts:
        _require_replayable(part, sources)
    kept = [problem for problem in problems if all(_enough(part, sources, problem) for _, part in parts)]
    if not kept:
        raise UsageError(f"{policy.name}: no problem has enough recorded attempts for this policy. Use fewer attempts.")
    replayed = tuple(
        _mixed(problem, [(weight, _replays(part, sources, problem)) for weight, part in parts]) for problem in kept
    )
    left = set(problems) - set(kept)
    found = summarized(policy, replayed, wrong_usd)
    return replace(
        found,
        left_out=tuple(problem for problem in problems if problem in left),
        why="; ".join(dict.fromkeys(source.why for source in used if source.why)),
        simulated=isinstance(policy, Mixture) or policy.stages[0].tries != AS_RECORDED,
        keys=frozenset(key for source in used for key in source.configurations),
    )


def summarized(policy: Policies, replayed: tuple[Replayed, ...], wrong_usd: float) -> Simulated:
    """Means and intervals from results by problem, of which there must be one."""
    outcomes = [result.outcome for result in replayed]
    most = sum(result.draws for result in replayed)
    usd = _known([outcome.usd for outcome in outcomes])
    solved = np.array([outcome.solved for outcome in outcomes])
    return Simulated(
        policy=policy,
        problems=replayed,
        left_out=(),
        wrong_usd=wrong_usd,
        solved=Interval(float(solved.mean()), *mid_p_bounds(solved.tolist(), most)),
        accepted_wrong=fmean(outcome.accepted_wrong for outcome in outcomes),
        attempts=fmean(outcome.attempts for outcome in outcomes),
        usd=None if usd is None else ratio_interval(usd, np.ones(len(usd))),
        usd_per_solved=None if usd is None else ratio_interval(usd, solved),
        loss=None if usd is None else _loss_interval(usd, solved, wrong_usd),
        seconds=known_mean(outcome.seconds for outcome in outcomes),
        tokens=known_mean(outcome.tokens for outcome in outcomes),
    )


def difference(a: Simulated, b: Simulated) -> tuple[int, Interval] | None:
    """How many problems both have, and by what share of them a solves more than b; None without a shared problem.

    The interval has no bounds if a comparison of the two would not be valid (``untested``).
    """
    of_b = {result.problem: result.outcome.solved for result in b.problems}
    apart = [result.outcome.solved - of_b[result.problem] for result in a.problems if result.problem in of_b]
    if not apart:
        return None
    low, high = (None, None) if a.untested & b.keys else bonett_price(apart)
    return len(apart), Interval(fmean(apart), low, high)


def _parts(policy: Policies) -> tuple[tuple[float, Policy], ...]:
    return policy.parts if isinstance(policy, Mixture) else ((1.0, policy),)


def _require_replayable(policy: Policy, sources: Mapping[str, Source]) -> None:
    seen: set[tuple[str, int]] = set()
    for stage in policy.stages:
        source = sources[stage.source]
        if stage.tries > 1 and source.greedy:
            raise UsageError(
                f"{policy.name}: a further answer of {source.name} may be the same as the recorded answer, because the "
                "model was called at temperature 0 or at an unknown temperature. Use answers that were recorded at a "
                "temperature above 0, as in MODEL@0.8, or use one attempt."
            )
        own = {(attempt.experiment, attempt.place) for attempt in source.attempts}
        if stage.tries != AS_RECORDED and seen & own:
            raise UsageError(
                f"{policy.name}: two of its stages would use the same recorded attempts. Use another model or "
                "temperature for one of these stages."
            )
        seen |= own


def _enough(policy: Policy, sources: Mapping[str, Source], problem: str) -> bool:
    """Whether the problem was given to every source, with enough draws if their number was fixed beforehand."""
    for stage in policy.stages:
        source = sources[stage.source]
        if problem not in source.problems:
            return False
        if not source.chains.get(problem) and 0 < len(source.fixed.get(problem, ())) < stage.tries:
            return False
    return True


def _mixed(problem: str, parts: Sequence[tuple[float, Replayed]]) -> Replayed:
    if len(parts) == 1:
        return parts[0][1]
    return Replayed(
        problem, _mean([(weight, part.outcome) for weight, part in parts]), min(part.draws for _, part in parts)
    )


def _replays(policy: Policy, sources: Mapping[str, Source], problem: str) -> Replayed:
    """The mean over orders. The same orders whatever the policy: they depend on the problem and the draws alone."""
    if policy.stages[0].tries == AS_RECORDED:
        ran = sources[policy.stages[0].source].recorded[problem]
        return Replayed(problem, _mean([(1 / len(ran), outcome) for outcome in ran]), len(ran))
    ways = [_orders(sources[stage.source], problem, stage) for stage in policy.stages]
    most = max(ORDERS, *map(len, ways))
    if prod(map(len, ways)) <= most:
        every = list(product(*ways))
    else:
        random = Random(problem)  # noqa: S311 (no secret)
        every = list(zip(*(_repeated(way, most, random) for way in ways), strict=True))
    outcomes = [_outcome(policy, sequences, problem) for sequences in every]
    draws = min(_draws(sources[stage.source], problem, stage) for stage in policy.stages)
    return Replayed(problem, _mean([(1 / len(outcomes), outcome) for outcome in outcomes]), draws)


def _repeated(way: Sequence[Chain], number: int, random: Random) -> list[Chain]:
    """This number of them by chance, each as often as the others, or once more."""
    mixed = [way[at % len(way)] for at in range(number)]
    random.shuffle(mixed)
    return mixed


def _orders(source: Source, problem: str, stage: Stage) -> list[Chain]:
    """The sequences in which the draws may be taken. Chains stay in their recorded order, one after the other."""
    fixed, chains = source.fixed.get(problem, ()), source.chains.get(problem, ())
    singles = [(attempt,) for attempt in fixed]
    if source.greedy or not source.independent:
        return [*singles, *chains] or [()]
    blocks = [*singles, *chains]
    orders: Iterable[Iterable[Chain]] = permutations(blocks)
    if len(blocks) > _ALL:
        random = Random(problem)  # noqa: S311 (no secret)
        shuffles = range(max(1, ORDERS // len(blocks)))
        mixed = (random.sample(blocks, len(blocks)) for _ in shuffles)
        orders = (order[at:] + order[:at] for order in mixed for at in range(len(blocks)))  # all rotations
    return [tuple(islice(chain.from_iterable(order), stage.tries)) for order in orders]


def _draws(source: Source, problem: str, stage: Stage) -> float:
    """How many independent replays the draws allow."""
    fixed, chains = source.fixed.get(problem, ()), source.chains.get(problem, ())
    if source.greedy:
        return 1.0
    return max(1.0, len(fixed) / stage.tries + len(chains))


def _outcome(policy: Policy, sequences: Sequence[Chain], problem: str) -> Outcome:
    """One way through a policy. ``sequences``: the draws of each stage."""
    made: list[RecordedAttempt] = []
    best, rank = None, (False, -1)
    for stage, sequence in zip(policy.stages, sequences, strict=True):
        most, stale = -1, 0
        for place in range(stage.tries):
            if place >= len(sequence):
                raise UsageError(_lacking(policy, stage, problem))
            attempt = sequence[place]
            made.append(attempt)
            if policy.gate is None:
                return _ended(made, attempt, accepted=True)
            passed, tests = _judged(policy, attempt, problem)
            if attempt.code is not None and (passed, tests) >= rank:
                best, rank = attempt, (passed, tests)
            if passed:
                return _ended(made, best, accepted=True)
            most, stale = max(most, tests), 0 if tests > most else stale + 1
            if stale == policy.patience:
                break
    return _ended(made, best, accepted=False)


def _judged(policy: Policy, attempt: RecordedAttempt, problem: str) -> tuple[bool, int]:
    if attempt.code is None:
        return False, 0
    marks = attempt.gates.get(policy.gate or "")
    if marks is None:
        raise UsageError(
            f"{policy.name}: a program of {attempt.model or attempt.configuration} for {id_in_dataset(problem)} was "
            f"not run on the tests of the gate {policy.gate}. Name another gate, or a model whose programs ran on "
            "these tests."
        )
    return marks.passed if policy.threshold >= 1 else marks.share >= policy.threshold, marks.tests_passed


def _lacking(policy: Policy, stage: Stage, problem: str) -> str:
    return (
        f"{policy.name}: {stage.source} has too few recorded answers on some problems, such as "
        f"{id_in_dataset(problem)}, because the recorded strategy stopped earlier than the policy would stop. Omitting "
        "these problems would bias the result. Use fewer attempts, or the gate of the recorded strategy."
    )


def _ended(made: Sequence[RecordedAttempt], submitted: RecordedAttempt | None, *, accepted: bool) -> Outcome:
    right = submitted is not None and submitted.right
    if right is None and submitted is not None:
        raise UsageError(
            f"A program of {submitted.model or submitted.configuration} for {id_in_dataset(submitted.problem)} was "
            "not scored, so it is unknown whether the policy would have solved this problem."
        )
    return Outcome(
        solved=float(bool(right)),
        accepted_wrong=float(accepted and not right and submitted is not None and submitted.submits),
        attempts=float(len(made)),
        usd=known_sum(attempt.usd for attempt in made),
        seconds=known_sum(attempt.seconds for attempt in made),
        tokens=known_sum(attempt.tokens for attempt in made),
    )


def _mean(weighted: Sequence[tuple[float, Outcome]]) -> Outcome:
    def of(value: Callable[[Outcome], float | None]) -> float | None:
        known = [(weight, value(outcome)) for weight, outcome in weighted]
        return known_sum(None if number is None else weight * number for weight, number in known)

    return Outcome(
        solved=min(1.0, of(lambda one: one.solved) or 0.0),
        accepted_wrong=min(1.0, of(lambda one: one.accepted_wrong) or 0.0),
        attempts=of(lambda one: one.attempts) or 0.0,
        usd=of(lambda one: one.usd),
        seconds=of(lambda one: one.seconds),
        tokens=of(lambda one: one.tokens),
    )


def _loss_interval(usd: Array, solved: Array, wrong_usd: float) -> Interval:
    """Student's interval after one solved and one unsolved problem of average cost are added, as ``bonett_price`` does.

    Without them, it is too narrow if nearly all problems are solved, or nearly none.
    """
    losses = usd + wrong_usd * (1 - solved)
    added = mean_interval(np.append(losses, [usd.mean(), usd.mean() + wrong_usd]))
    return Interval(float(losses.mean()), added.low, added.high)


def _known(values: Sequence[float | None]) -> Array | None:
    known = all_known(values)
    return None if known is None else np.array(known, dtype=np.float64)
