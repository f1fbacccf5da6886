"""Experiments that can stand beside one another: which there are, and what sets two apart."""

from __future__ import annotations

from collections.abc import Iterator

from koderz_core.analysis.differences import Differences, differing
from koderz_core.records import Scalar
from koderz_core.records.rows import ExperimentRow
from koderz_core.store.results import Results
from koderz_core.workspace.again import configuration_of, plan_of

MOST = 500  # the newest: more are no list to choose from


def fellows(results: Results, row: ExperimentRow) -> tuple[ExperimentRow, ...]:
    """The other experiments on its problem, of the same file of problems: those of its benchmark first.

    Those in which nothing has happened yet are left out. Raises StoreError.
    """
    found = results.experiments(problem=row.problem, limit=MOST)
    known = (one for one in found if one.state != "planned" and one.id != row.id)
    same = (one for one in known if one.dataset_sha256 == row.dataset_sha256)
    return tuple(sorted(same, key=lambda one: one.benchmark != row.benchmark))


def set_apart(results: Results, one: ExperimentRow, other: ExperimentRow) -> Differences:
    """What differs in their configurations, and in what both were run under. Raises StoreError."""
    return differing([dict(_settings(results, row)) for row in (one, other)])


def _settings(results: Results, row: ExperimentRow) -> Iterator[tuple[str, Scalar]]:
    plan = plan_of(results, row.benchmark)
    of = configuration_of(plan, row)
    yield "strategy", of.strategy
    yield from ((f"{role} model", " + ".join(members)) for role, members in of.models.items())
    yield from ((name.replace("_", " "), value) for name, value in of.parameters.items())
    yield from (("gate", of.gate), ("feedback", of.feedback))
    yield from ((name.replace("_", " "), value) for name, value in plan.conditions.items())
    yield from (("isolation", row.isolation), ("seed", plan.seed), ("repeat", row.repeat + 1))
    yield "most dollars per experiment", plan.budget.per_experiment_usd
