"""A comparison of configurations: rates, prices, pairs, curves and groups, with their uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from koderz_core.analysis.bounds import given_to_all
from koderz_core.analysis.configurations import ConfigurationFigures, figures_of, usual_baseline
from koderz_core.analysis.curves import Ceiling, Curves, ceiling, curves
from koderz_core.analysis.differences import Differences, differences
from koderz_core.analysis.incidence import Axis
from koderz_core.analysis.money import (
    FrontierShare,
    Margin,
    cost_per_solved,
    frontier_share,
    margins,
    parts_per_solved,
)
from koderz_core.analysis.multiplicity import rank_groups
from koderz_core.analysis.noninferiority import COST_MARGIN, MARGIN
from koderz_core.analysis.pairs import Key, Pair, of_two_kinds, pairs
from koderz_core.analysis.rates import Interval, by_problem, clustered
from koderz_core.analysis.registration import Registered
from koderz_core.analysis.supervision import Supervision, supervision
from koderz_core.analysis.tradeoff import Tradeoff, tradeoff
from koderz_core.records import Tier
from koderz_core.records.progress import RoleCost, SummaryRow
from koderz_core.records.trials import Trial, id_apart

AXES: tuple[Axis, ...] = ("attempts", "usd", "seconds", "tokens", "joules")


@dataclass(frozen=True, slots=True)
class Measured:
    """What the trials of one configuration show.

    ``price``: dollars per solved problem, ``parts`` by tier; None without a result or a price. ``ceiling``: None if no
    program was run on both kinds of tests. ``supervision``: None if nothing was reviewed.
    """

    price: Interval | None
    parts: Mapping[Tier, float | None]
    ceiling: Ceiling | None
    supervision: Supervision | None
    frontier: FrontierShare


@dataclass(frozen=True, slots=True)
class Comparison:
    """Configurations in their order, and the results of comparing them.

    ``baseline``: the one that the others are compared with in ``pairs``; None if there is no other. ``groups``: best
    first, without a significant difference inside a group. ``margins``: the cost of one more solve along the frontier.
    ``tier_margins``: the same along the best configurations of each composition of tiers; empty if there is only one.
    ``findings``: the conclusions and their uncertainty; each pair has its own. ``remarks``: sentences without which the
    numbers mislead. ``across``: the remark that they are not of the same problems, None if they are.
    ``mixed_problems``: on how many problems one is scored by the tests it stopped on and another by held-out tests.
    ``roles``: the cost of each role and model; ``registered``: the registered ones of the benchmarks. Both are empty if
    they were not read. ``untested``: as in ``compare``.
    """

    configurations: tuple[ConfigurationFigures, ...]
    measured: Mapping[Key, Measured]
    baseline: Key | None
    pairs: tuple[Pair, ...]
    groups: tuple[tuple[Key, ...], ...]
    tradeoff: Tradeoff[Key]
    margins: tuple[Margin[Key], ...]
    curves: Mapping[Axis, Curves[Key]]
    differences: Differences
    mixed_problems: int
    findings: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    across: str | None = None
    roles: tuple[RoleCost, ...] = ()
    tier_margins: tuple[Margin[Key], ...] = ()
    registered: tuple[Registered, ...] = ()
    untested: tuple[tuple[Key, Key], ...] = ()

    @property
    def scripted(self) -> bool:
        """Whether some answers come from a script."""
        return any(configuration.scripted for configuration in self.configurations)

    @property
    def mixed(self) -> bool:
        """Whether some scores are by tests that a loop stopped on, and others by tests that no loop saw."""
        return self.mixed_problems > 0

    def of(self, key: Key) -> ConfigurationFigures:
        """The configuration with that key."""
        return next(configuration for configuration in self.configurations if configuration.key == key)


def compare(
    rows: Sequence[SummaryRow],
    trials: Sequence[Trial],
    baseline: SummaryRow | None = None,
    axes: Sequence[Axis] = AXES,
    allowed: tuple[float, float] = (MARGIN, COST_MARGIN),
    untested: Sequence[tuple[Key, Key]] = (),
) -> Comparison:
    """Compare configurations of one benchmark or of several; ``trials``: all trials of these.

    ``baseline``: one of them, None for the usual one. ``axes``: the axes of the curves to compute. ``allowed``: by what
    share of problems a configuration that matches the baseline may solve fewer, and how many times as much it may cost
    per solved problem. ``untested``: the pairs that sequential benchmarks depend on, the baseline of each second; their
    tests would not be valid.
    """
    keys = [(row.benchmark, row.configuration) for row in rows]
    trials_by_key = trials_of_each(rows, trials)
    configurations = tuple(_with_rate(figures_of(row, at), trials_by_key[keys[at]]) for at, row in enumerate(rows))
    against = baseline or usual_baseline(rows)
    base = configurations[rows.index(against)] if against and len(rows) > 1 else None
    others = [configuration for configuration in configurations if configuration != base]
    invalid = {frozenset(pair) for pair in untested}
    return Comparison(
        configurations=configurations,
        measured={key: _measured(trials_by_key[key]) for key in keys},
        baseline=base.key if base else None,
        pairs=pairs(base, others, trials_by_key, *allowed, invalid) if base else (),
        groups=tuple(rank_groups(keys, trials_by_key, untested=invalid)),
        tradeoff=tradeoff(trials_by_key),
        margins=margins(trials_by_key),
        curves={axis: curves(_shared(trials_by_key), axis) for axis in axes},
        differences=differences(rows),
        mixed_problems=of_two_kinds(trials_by_key.values()),
        tier_margins=margins({key: trials_by_key[key] for key in _best_of_tiers(configurations)}),
        untested=tuple(untested),
    )


def _best_of_tiers(configurations: Sequence[ConfigurationFigures]) -> list[Key]:
    """Of each composition of tiers the configuration that solves most, of equal ones the cheapest, for a known cost.

    Empty if there is only one composition.
    """
    priced = [row for row in configurations if row.share is not None and row.cost_usd is not None and not row.cached]
    best = {row.composition: row.key for row in sorted(priced, key=lambda row: row.standing)}
    return list(best.values()) if len(best) > 1 else []


def trials_of_each(rows: Sequence[SummaryRow], trials: Sequence[Trial]) -> dict[Key, list[Trial]]:
    """The trials of each. Problems of different datasets are different, even if their ids are the same."""
    of = {(row.benchmark, row.configuration): row.dataset_sha256 for row in rows}
    several = len(set(of.values())) > 1
    trials_by_key: dict[Key, list[Trial]] = {key: [] for key in of}
    for trial in trials:
        apart = structs.replace(trial, problem=id_apart(of[trial.key], trial.problem)) if several else trial
        trials_by_key[trial.key].append(apart)
    return trials_by_key


def _shared(trials_by_key: Mapping[Key, Sequence[Trial]]) -> Mapping[Key, Sequence[Trial]]:
    """The trials of the problems given to all, because a baseline may have been given more; all if there are none."""
    shared = given_to_all(trials_by_key)
    return shared if any(shared.values()) else trials_by_key


def _with_rate(configuration: ConfigurationFigures, trials: Sequence[Trial]) -> ConfigurationFigures:
    """With the interval for repeated problems, which needs the trials."""
    if configuration.rate is not None:
        return configuration
    rate = clustered(by_problem(trials))
    return replace(configuration, rate=rate, share=rate.value)


def _measured(trials: Sequence[Trial]) -> Measured:
    return Measured(
        price=cost_per_solved(trials),
        parts=parts_per_solved(trials),
        ceiling=ceiling(trials),
        supervision=supervision(trials),
        frontier=frontier_share(trials),
    )
