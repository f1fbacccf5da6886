"""How much a choice of one configuration per problem could gain over the best single configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from statistics import median
from typing import Literal

import numpy as np

from koderz_core.analysis.bootstrap import Array
from koderz_core.analysis.choices import FOLDS, Judged, by_length, divided, length_rule, single, union_of_pairs
from koderz_core.analysis.difficulty import Key
from koderz_core.analysis.folds import Fold
from koderz_core.analysis.paired import bonett_price
from koderz_core.analysis.power import detectable, observed_discordance
from koderz_core.analysis.rates import Interval, by_problem, share_bounds
from koderz_core.records.plans import natural
from koderz_core.records.trials import Trial

FEWEST = 10
"""Problems: with fewer, no choice that is made on some of them can be judged on the others."""
MOST_CONFIGURATIONS = 400  # all pairs of more would fill the memory
ChoiceKind = Literal["oracle", "repeated", "pair", "best", "length", "random"]
Verdict = Literal["nothing", "luck", "little", "some"]
Why = Literal["few problems", "few configurations", "many configurations"]
_NEARLY = 1e-9
_UNSTABLE = sqrt(1 + FOLDS / (FOLDS - 1))
"""How much longer an interval is if folds make different choices: Nadeau and Bengio, "Inference for the Generalization
Error", Machine Learning 52 (2003) 239-281, for as many divisions as there are folds."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A way to choose one configuration per problem, with its success rate.

    ``difference``: to the best single configuration on the same problems; all intervals hold at once. None for the best
    single itself.
    """

    kind: ChoiceKind
    share: Interval
    difference: Interval | None


@dataclass(frozen=True, slots=True)
class Member:
    """A configuration: ``share`` solved, and expected numbers of problems with one draw each.

    ``alone``: that only it solves; ``gained``: that it solves and the best single does not; ``lost``: the reverse.
    """

    key: Key
    share: float
    alone: float
    gained: float
    lost: float


@dataclass(frozen=True, slots=True)
class BestPair:
    """The two configurations of which at least one solves most, chosen in hindsight; ``share``: that it solves."""

    keys: tuple[Key, Key]
    share: float


@dataclass(frozen=True, slots=True)
class LengthRule:
    """The choice by the length of the prompt that solves most in hindsight: ``long`` above ``characters``."""

    short: Key
    long: Key
    characters: int


@dataclass(frozen=True, slots=True)
class Headroom:
    """The gain that choices between configurations could have, on the ``problems`` with a result of each.

    ``best``: the configuration that solves most, in hindsight; its rate in ``choices`` is cross-validated.
    ``repeats``: the smallest number of results; 1 if repeats give the same answers again. ``matrix``: by row and
    column, the share of problems that the row solves and the column does not. The smallest gain that is found with a
    power of 80 % is that of a choice that never loses a problem (``perfect``) and of one that differs from the best
    single as the other configurations do (``usual``); None if these problems can show none. ``rule``: None if lengths
    are unknown. ``omitted``: problems without a result of each configuration. ``why``: the reason if nothing was
    computed.
    """

    problems: int
    omitted: int = 0
    repeats: int = 0
    choices: tuple[Choice, ...] = ()
    members: tuple[Member, ...] = ()
    matrix: tuple[tuple[float, ...], ...] = ()
    pair: BestPair | None = None
    rule: LengthRule | None = None
    perfect: float | None = None
    usual: float | None = None
    verdict: Verdict | None = None
    why: Why | None = None

    def of(self, kind: ChoiceKind) -> Choice | None:
        """The choice of this kind; None if it was not computed."""
        return next((choice for choice in self.choices if choice.kind == kind), None)

    @property
    def best(self) -> Member:
        """The configuration that solves most, in hindsight; of equal ones, the first."""
        return max(self.members, key=lambda member: member.share)

    @property
    def bias(self) -> float:
        """By how much the best single configuration looks better if it is judged on the problems that chose it."""
        honest = self.of("best")
        return self.best.share - honest.share.value if honest else 0.0


@dataclass(frozen=True, slots=True)
class _Results:
    """Results of each configuration (row) on each problem (column).

    ``shares`` of repeats that are solved; ``draws``: of the first ``repeats`` results, solved or not. Only one of each
    if the repeats of a configuration always agree (``_same_again``).
    """

    keys: tuple[Key, ...]
    problems: tuple[str, ...]
    shares: Array
    draws: Array
    omitted: int

    @property
    def repeats(self) -> int:
        return int(self.draws.shape[2])


def headroom(
    trials_by_key: Mapping[Key, Sequence[Trial]], lengths: Mapping[str, int] | None = None, seed: int = 0
) -> Headroom:
    """What the best choice per problem (the oracle) would gain, beside choices that need no learning.

    Every choice is compared with the best single configuration, which is chosen on other folds than it is judged on
    (``single``). The oracle solves a problem if any configuration does; because it sees the draws that it is judged on,
    it includes luck, so it bounds what can be learned from above. With repeats that are independent draws,
    ``repeated`` chooses by the other repeats of the same problem and the best single among equals: a choice that a
    selector could reach, so its gain bounds what can be learned from below. ``lengths``: characters of prompts by
    problem; choosing by length needs those of all problems. Intervals are Bonett and Price's, by problem, and longer if
    folds chose differently. The measures are those of RouterBench (Hu et al., arXiv 2403.12031, 2024) and
    LLMRouterBench (arXiv 2601.07206, 2026), of which the latter finds that the best single model is hard to beat.
    """
    results = _results(trials_by_key)
    if why := _refusal(results):
        return Headroom(len(results.problems), results.omitted, why=why)
    folds = divided(len(results.problems), seed)
    order = [(lengths or {}).get(problem) for problem in results.problems]
    characters = np.array([length for length in order if length is not None], dtype=np.float64)
    known = characters if len(characters) == len(order) else None
    choices = _choices(results, folds, known)
    members = _members(results.keys, results.shares)
    perfect, usual = _detectable(members, len(results.problems))
    return Headroom(
        problems=len(results.problems),
        omitted=results.omitted,
        repeats=results.repeats,
        choices=choices,
        members=members,
        matrix=tuple(map(tuple, _only(results.shares).tolist())),
        pair=_best_pair(results),
        rule=_rule(results, known),
        perfect=perfect,
        usual=usual,
        verdict=_verdict(choices, perfect, usual),
    )


def _results(trials_by_key: Mapping[Key, Sequence[Trial]]) -> _Results:
    counts = {key: by_problem(trials) for key, trials in trials_by_key.items()}
    given = {problem for of in counts.values() for problem in of}
    shared = set.intersection(*(set(of) for of in counts.values())) if counts else set()
    problems = tuple(sorted(shared, key=natural))
    shares = np.array([[of[name][0] / of[name][1] for name in problems] for of in counts.values()])
    repeats = min((of[name][1] for of in counts.values() for name in problems), default=0)
    draws = np.zeros((len(counts), len(problems), repeats))
    place = {name: at for at, name in enumerate(problems)}
    for row, trials in enumerate(trials_by_key.values()):
        seen = [0] * len(problems)
        for trial in sorted(trials, key=lambda trial: trial.repeat):
            at = place.get(trial.problem)
            if at is not None and trial.scored and seen[at] < repeats:
                draws[row, at, seen[at]] = trial.solved
                seen[at] += 1
    if _same_again(draws):
        draws = draws[:, :, :1]
    return _Results(tuple(counts), problems, shares, draws, len(given) - len(problems))


def _same_again(draws: Array) -> bool:
    """Whether the repeats of a configuration agree on every problem, though it solves some and others not.

    At temperature 0, another repeat is the same answer. To choose by it would be to know the result.
    """
    agree = (draws == draws[:, :, :1]).all(axis=(1, 2))
    some = draws.any(axis=(1, 2)) & ~draws.all(axis=(1, 2))
    return bool((agree & some).any())


def _refusal(results: _Results) -> Why | None:
    if len(results.keys) < 2:
        return "few configurations"
    if len(results.keys) > MOST_CONFIGURATIONS:
        return "many configurations"
    return "few problems" if len(results.problems) < FEWEST else None


def _choices(results: _Results, folds: Sequence[Fold], lengths: Array | None) -> tuple[Choice, ...]:
    shares, best = results.shares, single(results.shares, folds)
    of: dict[ChoiceKind, Judged] = {"oracle": Judged(results.draws.max(axis=0).mean(axis=1), stable=True)}
    if results.repeats > 1:
        of["repeated"] = Judged(_by_other_repeats(results), stable=True)
    if len(results.keys) > 2:
        of["pair"] = union_of_pairs(shares, folds)
    of["best"] = best
    if lengths is not None:
        of["length"] = by_length(shares, lengths, folds)
    of["random"] = Judged(shares.mean(axis=0), stable=True)
    at_once = len(of) - 1
    return tuple(_choice(kind, judged, best, at_once) for kind, judged in of.items())


def _choice(kind: ChoiceKind, judged: Judged, best: Judged, at_once: int) -> Choice:
    values, n = judged.solved.tolist(), len(judged.solved)
    share = Interval(float(judged.solved.mean()), *share_bounds(values, n))
    if kind == "best":
        return Choice(kind, share, None)
    apart = judged.solved - best.solved
    mean = float(apart.mean())
    low, high = bonett_price(apart.tolist(), at_once)
    if not (judged.stable and best.stable):
        middle, reach = (low + high) / 2, _UNSTABLE * (high - low) / 2
        low, high = max(-1.0, middle - reach), min(1.0, middle + reach)
    return Choice(kind, share, Interval(mean, low, high))


def _by_other_repeats(results: _Results) -> Array:
    """By problem, the success of the configuration with the best other repeats; of equals, of the best single one."""
    draws = results.draws
    others = draws.sum(axis=2, keepdims=True) - draws
    overall = results.shares.mean(axis=1)[:, None, None] * _NEARLY
    chosen = (others + overall).argmax(axis=0)
    solved: Array = np.take_along_axis(draws, chosen[None], axis=0)[0].mean(axis=1)
    return solved


def _only(shares: Array) -> Array:
    """By row and column, the mean share of problems that the row solves and the column does not, one draw of each."""
    only: Array = np.einsum("ap,bp->ab", shares, 1 - shares) / shares.shape[1]
    np.fill_diagonal(only, 0.0)
    return only


def _members(keys: Sequence[Key], shares: Array) -> tuple[Member, ...]:
    n, only = shares.shape[1], _only(shares)
    best = int(shares.mean(axis=1).argmax())
    missed = 1 - shares
    alone = [float((shares[at] * np.delete(missed, at, axis=0).prod(axis=0)).sum()) for at in range(len(keys))]
    return tuple(
        Member(key, float(shares[at].mean()), alone[at], float(n * only[at, best]), float(n * only[best, at]))
        for at, key in enumerate(keys)
    )


def _best_pair(results: _Results) -> BestPair:
    shares = results.shares
    union = _only(shares) + shares.mean(axis=1)[None, :]
    np.fill_diagonal(union, -1.0)
    a, b = sorted(divmod(int(union.argmax()), len(shares)))
    return BestPair((results.keys[a], results.keys[b]), float(union[a, b]))


def _rule(results: _Results, lengths: Array | None) -> LengthRule | None:
    if lengths is None:
        return None
    short, long, characters = length_rule(results.shares, lengths)
    return LengthRule(results.keys[short], results.keys[long], characters)


def _detectable(members: Sequence[Member], n: int) -> tuple[float | None, float | None]:
    """The smallest detectable gains, without a loss and with the usual discordance of two configurations."""
    best = max(members, key=lambda member: member.share)
    others = [observed_discordance(member.gained + member.lost, n) for member in members if member is not best]
    found = (detectable(n, discordance) for discordance in (_NEARLY, median(others)))
    perfect, usual = (gain if isfinite(gain) else None for gain in found)
    return perfect, usual


def _verdict(choices: Sequence[Choice], perfect: float | None, usual: float | None) -> Verdict:
    gains = {choice.kind: choice.difference for choice in choices if choice.difference}
    gain = gains["oracle"].value
    if perfect is None or gain < perfect:
        return "nothing"
    repeated = gains.get("repeated")
    if repeated and (repeated.low is None or repeated.low <= 0):
        return "luck"
    return "little" if usual is None or gain < usual else "some"
