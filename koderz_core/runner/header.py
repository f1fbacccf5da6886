"""What a journal begins with: the plan and all that it is run under. A journal goes on only under the same."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from koderz_core.conditions import (
    HELD_OUT,
    TIME_LIMIT,
    check_same,
    conditions,
    of_prompts,
    once_unnamed,
    prompts_of,
)
from koderz_core.config import Settings
from koderz_core.errors import JournalError, PlanError, UnknownNameError
from koderz_core.events import SCHEMA_VERSION, AllowanceSet, BenchmarkOpened, Event
from koderz_core.journal import read_all
from koderz_core.models.catalogue import resolve
from koderz_core.models.embedded import runtime
from koderz_core.models.pricing import price_version
from koderz_core.records import Plan, Scalar, Tier

_LOG = logging.getLogger("koderz")


def header(
    plan: Plan, settings: Settings, isolation: str, version: str, forked_from: str | None = None, self_test: str = ""
) -> BenchmarkOpened:
    """The first event of a plan that this ``version`` of koderz runs now, with programs isolated and tested like that.

    Raises PlanError if the plan was made under other conditions.
    """
    check_same(plan.id, conditions(plan.configurations, settings), plan.conditions)
    return BenchmarkOpened(
        schema_version=SCHEMA_VERSION,
        koderz_version=version,
        benchmark=plan.id,
        plan=plan,
        prompt_versions=prompts_of(plan.configurations),
        price_version=price_version(),
        isolation=isolation,
        tiers=_tiers(plan, settings),
        energy={name: getattr(settings, name) for name in ("local_watts", "usd_per_kwh", "local_usd_per_hour")},
        forked_from=forked_from,
        self_test=self_test,
        runtime=runtime(settings) if any(name.startswith("embedded/") for name in plan.models()) else "",
    )


def continued(asked: BenchmarkOpened, recorded: BenchmarkOpened) -> BenchmarkOpened:
    """The header to go on with: all that was planned before, and what is asked for beyond that.

    Raises PlanError if what was recorded was begun with something else that could change an outcome.
    """
    if asked.plan.id != recorded.plan.id:
        raise PlanError(
            f"The journal of {asked.benchmark} holds {recorded.plan.id}. Move it out of the folder, or give this "
            f"benchmark another name."
        )
    check_same(asked.benchmark, _ground(asked), _ground(recorded))
    _check_same_sample(asked.plan, recorded.plan)
    _check_same_limit(asked.plan, recorded.plan)
    if (asked.energy, asked.price_version) != (recorded.energy, recorded.price_version):
        _LOG.warning("Prices have changed since %s began: calls already made keep theirs.", asked.benchmark)
    plan, tiers = _grown(asked.plan, recorded.plan), {**recorded.tiers, **asked.tiers}
    versions = {**recorded.prompt_versions, **asked.prompt_versions}
    return replace(asked, plan=plan, tiers=tiers, prompt_versions=versions, forked_from=recorded.forked_from)


def header_then(before: BenchmarkOpened | None, event: Event) -> BenchmarkOpened | None:
    """What holds of a journal's header once this has happened: its plan under the budget that was last set."""
    if isinstance(event, BenchmarkOpened):
        return event
    if isinstance(event, AllowanceSet) and before is not None:
        return replace(before, plan=replace(before.plan, budget=replace(before.plan.budget, usd=event.after.usd)))
    return before


def _grown(asked: Plan, recorded: Plan) -> Plan:
    """Nothing is ever taken out: what was recorded would be an outcome of no plan then."""
    configurations = {
        configuration.id: configuration for configuration in (*recorded.configurations, *asked.configurations)
    }
    return replace(
        recorded,
        problems=tuple(dict.fromkeys((*recorded.problems, *asked.problems))),
        configurations=tuple(configurations.values()),
        repeats=max(recorded.repeats, asked.repeats),
        conditions={**_later(asked.conditions, recorded.conditions), **recorded.conditions},
        budget=asked.budget,
        outside={**recorded.outside, **asked.outside},
        selections=tuple(dict.fromkeys([*recorded.selections, *asked.selections])),
    )


def _later(asked: Mapping[str, Scalar], recorded: Mapping[str, Scalar]) -> Mapping[str, Scalar]:
    """The conditions that are added to those recorded: never what all experiments of before were scored on."""
    return {name: value for name, value in asked.items() if name not in (TIME_LIMIT, HELD_OUT) or name in recorded}


def _check_same_sample(asked: Plan, recorded: Plan) -> None:
    """Every configuration is run on every problem, so none may be added to what another's gate left out."""
    one, other = asked.outside.keys() & set(recorded.problems), recorded.outside.keys() & set(asked.problems)
    if both := sorted(one | other):
        raise PlanError(
            f"{recorded.id} cannot be extended so: a gate cannot be made of {len(both)} of the problems, the first "
            f"{both[0]}, on which others are run. Give this benchmark another name."
        )


def _check_same_limit(asked: Plan, recorded: Plan) -> None:
    now, then = asked.budget.per_experiment_usd, recorded.budget.per_experiment_usd
    if now != then:
        before = "without --max-cost-per-experiment" if then is None else f"with --max-cost-per-experiment {then:g}"
        raise PlanError(
            f"{recorded.id} was begun {before}: experiments that may spend more or less cannot stand beside those. "
            f"Go on so, or give this benchmark another name."
        )


def _ground(header: BenchmarkOpened) -> dict[str, Scalar]:
    prompts = {**once_unnamed(header.plan), **header.plan.conditions, **of_prompts(header.prompt_versions)}
    return {**prompts, "isolation": header.isolation}


def _tiers(plan: Plan, settings: Settings) -> Mapping[str, Tier]:
    """A model that koderz no longer knows has none; it is missed only if it must be asked again."""
    tiers: dict[str, Tier] = {}
    for name in plan.models():
        with suppress(UnknownNameError):
            tiers[name] = resolve(name, settings).tier
    return tiers


def recorded_plan(journal: Path) -> Plan:
    """The plan that a journal holds, as it was last grown, under the budget last given to it. Raises JournalError."""
    header = None
    for entry in read_all(journal):
        header = header_then(header, entry.event)
    if header is None:
        raise JournalError(f"The journal {journal.name} does not say what was planned. Run the benchmark anew.")
    return header.plan


def under_newest_budget(plan: Plan, journal: Path) -> Plan:
    """The plan under the budget that its benchmark was given while it ran, if it asks for one of before that.

    So the same command, or the same form, keeps to what was changed meanwhile. Raises JournalError.
    """
    stated: set[float | None] = set()
    header, changed = None, False
    for entry in read_all(journal) if journal.exists() else ():
        before, header = header, header_then(header, entry.event)
        if isinstance(entry.event, BenchmarkOpened):
            stated.add(entry.event.plan.budget.usd)
            changed = changed and before is not None and _usd(before) == _usd(entry.event)
        elif isinstance(entry.event, AllowanceSet) and entry.event.before is not None:
            changed = changed or entry.event.before.usd != entry.event.after.usd
    if header is None or not changed or plan.budget.usd not in stated:
        return plan
    return replace(plan, budget=replace(plan.budget, usd=_usd(header)))


def last_concurrency(journal: Path) -> int | None:
    """How many experiments a benchmark was last allowed to run at once; None if its journal does not say it.

    Raises JournalError.
    """
    allowed = [entry.event.after.concurrency for entry in read_all(journal) if isinstance(entry.event, AllowanceSet)]
    return allowed[-1] if allowed else None


def _usd(header: BenchmarkOpened) -> float | None:
    return header.plan.budget.usd
