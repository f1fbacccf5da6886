"""The header of a journal: the plan and its conditions. A journal is continued only under the same conditions."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import get_args

from koderz_core.conditions import (
    HELD_OUT,
    TIME_LIMIT,
    check_same,
    conditions,
    of_kinds,
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
from koderz_core.records import Kind, Plan, Scalar, Tier
from koderz_core.records.registrations import primary_pair

_LOG = logging.getLogger("koderz")


def header(
    plan: Plan, settings: Settings, isolation: str, version: str, forked_from: str | None = None, self_test: str = ""
) -> BenchmarkOpened:
    """The first event of a journal, for a plan that this ``version`` of koderz runs now.

    ``isolation`` and ``self_test``: the tier of the sandbox and the result of its self-test. Raises PlanError if the
    plan was made under other conditions.
    """
    now = of_kinds(get_args(Kind)) | conditions(plan.configurations, settings)
    check_same(plan.id, now, plan.conditions)
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
    """The header of a resumed benchmark: the recorded plan, extended by the plan that is asked for.

    Raises PlanError if a recorded condition that could change an outcome differs.
    """
    if asked.plan.id != recorded.plan.id:
        raise PlanError(
            f"The journal of {asked.benchmark} contains another benchmark, {recorded.plan.id}. Move the journal out of "
            f"its folder, or give this benchmark another name."
        )
    check_same(asked.benchmark, _conditions(asked), _conditions(recorded))
    _check_same_sample(asked.plan, recorded.plan)
    _check_same_limit(asked.plan, recorded.plan)
    _check_same_cache(asked.plan, recorded.plan)
    _check_same_registration(asked.plan, recorded.plan)
    if (asked.energy, asked.price_version) != (recorded.energy, recorded.price_version):
        _LOG.warning("Prices have changed since %s started. Earlier calls keep their costs.", asked.benchmark)
    plan, tiers = extended(asked.plan, recorded.plan), {**recorded.tiers, **asked.tiers}
    versions = {**recorded.prompt_versions, **asked.prompt_versions}
    asked = replace(asked, plan=plan, tiers=tiers, prompt_versions=versions)
    return replace(asked, forked_from=recorded.forked_from, merged=recorded.merged)


def header_then(before: BenchmarkOpened | None, event: Event) -> BenchmarkOpened | None:
    """The header of a journal after an event: the last one, with the budget that was last set."""
    if isinstance(event, BenchmarkOpened):
        return event
    if isinstance(event, AllowanceSet) and before is not None:
        return replace(before, plan=replace(before.plan, budget=replace(before.plan.budget, usd=event.after.usd)))
    return before


def extended(asked: Plan, recorded: Plan) -> Plan:
    """The union of both plans: every recorded outcome belongs to the plan."""
    configurations = {
        configuration.id: configuration for configuration in (*recorded.configurations, *asked.configurations)
    }
    return replace(
        recorded,
        problems=tuple(dict.fromkeys((*recorded.problems, *asked.problems))),
        configurations=tuple(configurations.values()),
        repeats=max(recorded.repeats, asked.repeats),
        conditions={**_new_conditions(asked.conditions, recorded.conditions), **recorded.conditions},
        budget=asked.budget,
        outside={**recorded.outside, **asked.outside},
        selections=tuple(dict.fromkeys([*recorded.selections, *asked.selections])),
        shard=asked.shard,
    )


def _new_conditions(asked: Mapping[str, Scalar], recorded: Mapping[str, Scalar]) -> Mapping[str, Scalar]:
    """The conditions that may be added to the recorded ones: never those under which earlier programs were scored."""
    return {name: value for name, value in asked.items() if name not in (TIME_LIMIT, HELD_OUT) or name in recorded}


def _check_same_sample(asked: Plan, recorded: Plan) -> None:
    """Raise PlanError if a gate leaves out a problem of the other plan: all configurations run on all problems."""
    newly = asked.outside.keys() & set(recorded.problems)
    formerly = recorded.outside.keys() & set(asked.problems)
    if both := sorted(newly | formerly):
        raise PlanError(
            f"{recorded.id} cannot be extended by this plan, because all configurations of a benchmark must run on the "
            "same problems. Problems that have gate tests in only one of the two plans (the recorded plan and this "
            f"plan): {len(both)} (for example, {both[0]}). Give this benchmark another name."
        )


def _check_same_limit(asked: Plan, recorded: Plan) -> None:
    now, then = asked.budget.per_experiment_usd, recorded.budget.per_experiment_usd
    if now != then:
        before = "without --max-cost-per-experiment" if then is None else f"with --max-cost-per-experiment {then:g}"
        raise PlanError(
            f"{recorded.id} was started {before}. Experiments with different limits cannot be compared: use the same "
            f"limit, or give this benchmark another name."
        )


def _check_same_registration(asked: Plan, recorded: Plan) -> None:
    """Raise PlanError for a registration after the first call. Without one, a plan keeps that of the benchmark."""
    now, then = asked.registration, recorded.registration
    if not now:
        return
    if then and replace(now, a=then.a, b=then.b) == then and primary_pair(asked, now) == primary_pair(recorded, then):
        return
    state = (
        f"The registration of {recorded.id} differs from this plan in the primary comparison, margin, stopping rule or "
        "exclusions"
        if then
        else f"{recorded.id} was started without a registration"
    )
    raise PlanError(
        f"{state}. A registration is made before the first call and cannot be added or changed later. Give this "
        "benchmark another name."
    )


def _check_same_cache(asked: Plan, recorded: Plan) -> None:
    if asked.cached != recorded.cached:
        state, cure = ("with", "add --cache") if recorded.cached else ("without", "omit --cache and unset KODERZ_CACHE")
        raise PlanError(
            f"{recorded.id} was started {state} the response cache. The seeds of its calls depend on whether the cache "
            f"is used. To extend {recorded.id}, {cure}. To start a new benchmark, give it another name."
        )


def _conditions(header: BenchmarkOpened) -> dict[str, Scalar]:
    prompts = {**once_unnamed(header.plan), **header.plan.conditions, **of_prompts(header.prompt_versions)}
    return {**prompts, "isolation": header.isolation}


def _tiers(plan: Plan, settings: Settings) -> Mapping[str, Tier]:
    """The tier of each model; one that koderz no longer knows has none, which matters only if it is asked again."""
    tiers: dict[str, Tier] = {}
    for name in plan.models():
        with suppress(UnknownNameError):
            tiers[name] = resolve(name, settings).tier
    return tiers


def recorded_plan(journal: Path) -> Plan:
    """The plan that a journal holds, as last extended, with the budget that was last set. Raises JournalError."""
    header = None
    for entry in read_all(journal):
        header = header_then(header, entry.event)
    if header is None:
        raise JournalError(f"The journal {journal.name} contains no plan. Run the benchmark again.")
    return header.plan


def under_newest_budget(plan: Plan, journal: Path) -> Plan:
    """The plan with the budget that was last set while its benchmark ran, if the plan asks for an earlier budget.

    So the same command or form keeps a budget that was changed in between. Raises JournalError.
    """
    stated, header, changed = set[float | None](), None, False
    for entry in read_all(journal) if journal.exists() else ():
        before, header = header, header_then(header, entry.event)
        if isinstance(entry.event, BenchmarkOpened):
            stated.add(_usd(entry.event))
            changed = changed and before is not None and _usd(before) == _usd(entry.event)
        elif isinstance(entry.event, AllowanceSet) and entry.event.before is not None:
            changed = changed or entry.event.before.usd != entry.event.after.usd
    if header is None or not changed or plan.budget.usd not in stated:
        return plan
    return replace(plan, budget=replace(plan.budget, usd=_usd(header)))


def stated_budgets(journal: Path) -> frozenset[float | None]:
    """The total budgets in US dollars with which a benchmark was started or resumed. Raises JournalError."""
    events = (entry.event for entry in read_all(journal))
    return frozenset(event.plan.budget.usd for event in events if isinstance(event, BenchmarkOpened))


def last_concurrency(journal: Path) -> int | None:
    """The concurrency that was last set for a benchmark; None if its journal does not record one.

    Raises JournalError.
    """
    allowed = [entry.event.after.concurrency for entry in read_all(journal) if isinstance(entry.event, AllowanceSet)]
    return allowed[-1] if allowed else None


def _usd(header: BenchmarkOpened) -> float | None:
    return header.plan.budget.usd
