"""The best of several policies, judged on problems that did not choose it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp

import numpy as np

from koderz_core.analysis.bootstrap import Array, weights
from koderz_core.analysis.folds import Places, folds_of
from koderz_core.analysis.rates import Interval, simultaneous, student
from koderz_core.analysis.what_if import Replayed, Simulated, summarized
from koderz_core.errors import UsageError
from koderz_core.records.attempts import Outcome

FOLDS = 5


@dataclass(frozen=True, slots=True)
class Tuned:
    """The best of several policies, chosen by the mean loss on the same problems.

    ``honest``: each problem is judged with the policy that was best on the other folds. ``hindsight``: the policy that
    is best on the very problems that judge it, which looks better than it is. ``chosen``: by the name of a policy, on
    how many folds it was the best.
    """

    honest: Simulated
    hindsight: Simulated
    chosen: Mapping[str, int]


def tune(found: Sequence[Simulated], folds: int = FOLDS) -> Tuned:
    """The best of these policies, all with the same price of a wrong answer, judged on folds that did not choose it.

    Raises UsageError if a cost is unknown, or if there are fewer problems than folds.
    """
    shared = set.intersection(*({result.problem for result in simulated.problems} for simulated in found))
    kept = [result.problem for result in found[0].problems if result.problem in shared]
    if len(kept) < folds:
        raise UsageError(
            f"Cross-validation with {folds} folds needs at least {folds} problems with results of every policy, but "
            f"there are only {len(kept)}."
        )
    results = [{result.problem: result for result in simulated.problems} for simulated in found]
    outcomes = [[result[problem].outcome for problem in kept] for result in results]
    solved = np.array([[outcome.solved for outcome in own] for own in outcomes])
    spent = np.array([[_known(outcome) for outcome in own] for own in outcomes])
    parts = [fold.held for fold in folds_of(range(len(kept)), folds)]
    wrong_usd = found[0].wrong_usd
    losses = spent + wrong_usd * (1 - solved)
    every_best = [int(np.delete(losses, part, axis=1).mean(axis=1).argmin()) for part in parts]
    honest: dict[str, Replayed] = {}
    chosen: dict[str, int] = {}
    for best, part in zip(every_best, parts, strict=True):
        name = found[best].policy.name
        chosen[name] = chosen.get(name, 0) + 1
        honest |= {kept[at]: results[best][kept[at]] for at in part}
    best = int(losses.mean(axis=1).argmin())
    policy = found[best].policy
    judged = summarized(
        replace(policy, name=f"best of {len(found)}"), tuple(honest[problem] for problem in kept), wrong_usd
    )
    why = "; ".join(dict.fromkeys(simulated.why for simulated in found if simulated.why))
    hindsight = summarized(policy, tuple(results[best][problem] for problem in kept), wrong_usd)
    return Tuned(
        _widened(replace(judged, why=why), losses, solved, spent, parts),
        replace(hindsight, why=found[best].why),
        chosen,
    )


def _known(outcome: Outcome) -> float:
    if outcome.usd is None:
        raise UsageError("A policy can be tuned only if the costs of all its attempts are known.")
    return outcome.usd


def _widened(judged: Simulated, losses: Array, solved: Array, spent: Array, parts: Sequence[Places]) -> Simulated:
    """With intervals that are at least as wide as those of a bootstrap of the whole choice.

    The folds share most of the problems that chose, so results on different folds are not independent, and intervals
    for one policy are too narrow (Bates, Hastie and Tibshirani, "Cross-Validation: What Does It Estimate and How Well
    Does It Do It?", JASA 119 (2024) 1434-1445). In each resample of problems, the policies are chosen anew; a problem
    stays in its fold however often it was drawn. If policies are nearly equally good, this is wider than necessary.
    """
    resampled = _resampled(losses, (losses, solved, spent), parts)
    loss, share, usd = resampled
    reach = student(simultaneous(1), losses.shape[1] - 1)
    per_solved = judged.usd_per_solved
    if per_solved is not None and per_solved.low and share.all():
        factor = exp(reach * float(np.log(usd / share).std()))
        low, high = per_solved.value / factor, per_solved.value * factor
        per_solved = Interval(per_solved.value, min(per_solved.low, low), max(per_solved.high or high, high))
    return replace(
        judged,
        loss=_wider(judged.loss, reach * float(loss.std())),
        solved=_wider(judged.solved, reach * float(share.std()), most=1.0) or judged.solved,
        usd=_wider(judged.usd, reach * float(usd.std())),
        usd_per_solved=per_solved,
    )


def _wider(found: Interval | None, reach: float, most: float = np.inf) -> Interval | None:
    if found is None or found.low is None or found.high is None:
        return found
    low, high = max(0.0, found.value - reach), min(most, found.value + reach)
    return Interval(found.value, min(found.low, low), max(found.high, high))


def _resampled(losses: Array, values: Sequence[Array], parts: Sequence[Places]) -> list[Array]:
    """The mean of each of these values (policies x problems) in resamples, with the policy that each fold chooses."""
    drawn = weights(losses.shape[1])
    by_fold = [np.einsum("kp,pr->kr", losses[:, part], drawn[part]) for part in parts]
    number = [drawn[part].sum(axis=0) for part in parts]
    total, problems = sum(by_fold), drawn.shape[0]
    found = [np.zeros(drawn.shape[1]) for _ in values]
    for part, own, count in zip(parts, by_fold, number, strict=True):
        best = ((total - own) / np.maximum(problems - count, 1)).argmin(axis=0)
        for place, value in enumerate(values):
            sums = np.einsum("kp,pr->kr", value[:, part], drawn[part])
            found[place] += np.take_along_axis(sums, best[None], 0)[0]
    return [added / problems for added in found]
