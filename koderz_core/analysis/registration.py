"""What a registered benchmark found: its primary comparison as planned, and the changes of its plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from koderz_core.analysis.noninferiority import Match, match
from koderz_core.analysis.rates import by_problem
from koderz_core.analysis.sequential import Rule, Sequential
from koderz_core.records import Plan
from koderz_core.records.progress import Forecast
from koderz_core.records.registrations import RecordedPlan, Registration, primary_pair
from koderz_core.records.trials import Trial

if TYPE_CHECKING:  # numpy is slow to import
    from koderz_core.analysis.pairs import Pair


@dataclass(frozen=True, slots=True)
class Primary:
    """The primary comparison on the registered problems and repeats, not adjusted for the exploratory comparisons.

    ``problems``: those with a result of both; of the planned experiments of the pair, ``ended`` have a result or an
    error, and ``errors`` have an error. ``difference``: what a solves more, a share, None without a common problem.
    Under a sequential stopping rule, both are of the problems that the rule counts, and ``difference`` is that of
    ``Sequential``.
    """

    problems: int
    planned: int
    ended: int
    errors: int
    difference: float | None
    match: Match | None

    @property
    def complete(self) -> bool:
        """Whether all planned experiments of the pair have ended."""
        return self.ended == self.planned


@dataclass(frozen=True, slots=True)
class Registered:
    """A registered benchmark: its ``plans`` from the registered one to the current one, and its result.

    ``sequential``: the result that counts if the stopping rule is sequential; the tests of ``primary`` are then not
    valid. ``left``: the estimate for the experiments that a decision left out, None if there is none.
    """

    plans: tuple[RecordedPlan, ...]
    primary: Primary
    sequential: Sequential | None = None
    left: Forecast | None = None

    @property
    def benchmark(self) -> str:
        return self.plans[0].benchmark

    @property
    def plan(self) -> Plan:
        """The registered plan."""
        return self.plans[0].plan

    @property
    def registration(self) -> Registration:
        found = self.plan.registration
        assert found  # else it would not be registered
        return found

    @property
    def pair(self) -> tuple[str, str]:
        """The ids of the configurations of the primary comparison, the baseline second."""
        return primary_pair(self.plan, self.registration)


def registered(plans: Sequence[RecordedPlan], trials: Iterable[Trial], *, decided: bool = False) -> Registered:
    """The result of a registered benchmark. ``plans``: at least the registered one; ``trials``: of the benchmark.

    ``decided``: its journal has a decision, which may be one of the first versions.
    """
    plan, registration = plans[0].plan, plans[0].plan.registration
    assert registration  # its plans are only read if it has one
    of_a, of_b = (_planned(plan, configuration, trials) for configuration in primary_pair(plan, registration))
    outcomes = {trial.experiment: trial.outcome for trial in trials}
    sequential = Rule(plan).state(outcomes) if plan.sequential else None
    if decided and sequential and sequential.decision is None:
        sequential = Rule(plan).state(outcomes, may_come=False)
    counted, other = by_problem(of_a), by_problem(of_b)
    common = counted.keys() & other.keys() & set(plan.problems[: sequential.n if sequential else None])
    pair = (*of_a, *of_b)
    gained = [counted[it][0] / counted[it][1] - other[it][0] / other[it][1] for it in common]
    primary = Primary(
        problems=len(common),
        planned=2 * len(plan.problems) * plan.repeats,
        ended=sum(trial.scored or trial.outcome == "error" for trial in pair),
        errors=sum(trial.outcome == "error" for trial in pair),
        difference=sequential.difference if sequential else sum(gained) / len(gained) if gained else None,
        match=match(of_a, of_b, registration.margin),
    )
    return Registered(tuple(plans), primary, sequential)


def with_primary(pairs: Iterable[Pair], found: Iterable[Registered]) -> tuple[Pair, ...]:
    """The pairs, each registered primary comparison with its registered match: two tables must not contradict."""
    matches = {
        tuple((each.benchmark, configuration) for configuration in each.pair): each.primary.match
        for each in found
        if not each.sequential
    }
    return tuple(replace(pair, match=matches.get((pair.key, pair.baseline), pair.match)) for pair in pairs)


def _planned(plan: Plan, configuration: str, trials: Iterable[Trial]) -> list[Trial]:
    """The trials of a configuration that were registered: later problems and repeats do not count."""
    problems = set(plan.problems)
    return [
        trial
        for trial in trials
        if trial.configuration == configuration and trial.problem in problems and trial.repeat < plan.repeats
    ]
