"""Configurations on parts of the problems, such as those of one difficulty: rates and differences to the baseline."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb, prod
from typing import Literal, get_args

from koderz_core.analysis.bounds import ALPHA, within, worst_case
from koderz_core.analysis.difficulty import Key
from koderz_core.analysis.multiplicity import compatible, holm_of_known
from koderz_core.analysis.paired import Paired, paired
from koderz_core.analysis.rates import ClusteredRate, by_problem, clustered
from koderz_core.records.plans import natural
from koderz_core.records.trials import Trial

SliceBy = Literal["difficulty", "topic", "tag", "kind", "year"]
SLICES_BY: tuple[SliceBy, ...] = get_args(SliceBy)
UNKNOWN = "unknown"
"""The slice of the problems of which the fact is unknown."""


@dataclass(frozen=True, slots=True)
class SliceResult:
    """One configuration on the problems of one slice.

    ``rate``: of the problems with a result. ``test``: against the baseline on the problems with a result of both; None
    for the baseline, in the slice ``UNKNOWN``, and without a baseline. ``p_adjusted`` and ``p_worst``: the p of the
    test, and the largest one over all possible missing results, adjusted by Holm over all tests of all slices.
    """

    slice: str
    key: Key
    rate: ClusteredRate
    test: Paired | None = None
    p_adjusted: float | None = None
    p_worst: float | None = None
    missing: int = 0

    @property
    def significant(self) -> bool | None:
        """Whether the difference is significant, also in the worst case of missing results; None without a test."""
        if self.p_adjusted is None:
            return None
        return self.p_adjusted <= ALPHA and self.p_worst is not None and self.p_worst <= ALPHA


@dataclass(frozen=True, slots=True)
class Slices:
    """The results in each slice, in the order of the slices and configurations; ``tests``: how many were adjusted for.

    ``few``: slices in which no result could be significant. ``unknown``: how many problems lack the fact. ``notes``:
    why facts are unknown.
    """

    by: SliceBy
    results: tuple[SliceResult, ...]
    tests: int
    few: tuple[str, ...]
    unknown: int
    notes: tuple[str, ...] = ()


def slices(
    by: SliceBy,
    trials_by_key: Mapping[Key, Sequence[Trial]],
    baseline: Key | None,
    values: Mapping[str, Sequence[str]],
    untested: Collection[frozenset[Key]] = (),
) -> Slices:
    """Divide the trials of configurations by the ``values`` of their problems, by id; a problem may have several.

    Each difference to the baseline is tested as a pair of ``pairs``. Holm's adjustment covers all tests of all slices,
    which is valid although slices with common problems depend on each other. ``untested``: pairs whose test would not
    be valid.
    """
    problems = {trial.problem for trials in trials_by_key.values() for trial in trials}
    members: dict[str, set[str]] = {}
    for problem in problems:
        for value in values.get(problem) or (UNKNOWN,):
            members.setdefault(value, set()).add(problem)
    ordered = sorted(members, key=lambda name: (name == UNKNOWN, natural(name)))
    parts = {name: within(trials_by_key, members[name]) for name in ordered}
    against = {key: baseline for key in trials_by_key if frozenset((key, baseline)) not in untested}
    found = [
        SliceResult(name, key, clustered(by_problem(trials)), _test(name, key, against.get(key), parts[name]))
        for name in ordered
        for key, trials in parts[name].items()
    ]
    tests = sum(result.test is not None for result in found)
    few = [
        name
        for name in ordered
        if baseline and _is_few([it for it in found if it.slice == name], parts[name], baseline, tests)
    ]
    return Slices(by, tuple(_adjusted(found, parts, baseline)), tests, tuple(few), len(members.get(UNKNOWN, ())))


def _test(name: str, key: Key, baseline: Key | None, part: Mapping[Key, Sequence[Trial]]) -> Paired | None:
    """None if there is nothing to test: one of the two has no result on these problems."""
    if baseline is None or key == baseline or name == UNKNOWN:
        return None
    test = paired(part[key], part[baseline])
    return test if test.n else None


def _is_few(results: Sequence[SliceResult], part: Mapping[Key, Sequence[Trial]], baseline: Key, tests: int) -> bool:
    """Whether no test of a slice could be significant after the adjustment, whatever the results."""
    tested = [result.key for result in results if result.test]
    return bool(tested) and all(tests * _least_p(part[key], part[baseline]) > ALPHA for key in tested)


def _least_p(a: Sequence[Trial], b: Sequence[Trial]) -> float:
    """A lower bound of the p of both tests: the chance of the labels if one of the two solves all and the other none.

    It is that of one of the equally likely divisions of each problem's trials between the two, on both sides.
    """
    of_a, of_b = by_problem(a), by_problem(b)
    sizes = [(of_a[problem][1], of_b[problem][1]) for problem in of_a.keys() & of_b.keys()]
    return 2 * prod(1 / comb(n + m, n) for n, m in sizes)


def _adjusted(
    found: Sequence[SliceResult], parts: Mapping[str, Mapping[Key, Sequence[Trial]]], baseline: Key | None
) -> list[SliceResult]:
    """With intervals that hold together and never contradict the adjusted p, as those of ``pairs``."""
    tests = sum(result.test is not None for result in found)
    cases = [
        worst_case(parts[result.slice][result.key], parts[result.slice][baseline], result.test)
        if result.test and baseline
        else None
        for result in found
    ]
    adjusted = holm_of_known([result.test.p if result.test else None for result in found])
    worst = holm_of_known([case.p if case else None for case in cases])
    made = []
    for result, p, case, p_worst in zip(found, adjusted, cases, worst, strict=True):
        test = result.test
        if test and case and baseline:
            part = parts[result.slice]
            test = compatible(paired(part[result.key], part[baseline], tests), p, ALPHA)
        made.append(replace(result, test=test, p_adjusted=p, p_worst=p_worst, missing=case.missing if case else 0))
    return made
