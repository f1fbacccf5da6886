"""Recorded plans: clone them as orders, compare them with new plans, find them again, and fork them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from koderz_core.conditions import (
    BY_CANONICAL,
    BY_TEST,
    HELD_OUT,
    TIME_LIMIT,
    conditions,
    of_kinds,
    of_problems,
    of_prompts,
)
from koderz_core.config import SETTINGS, Settings
from koderz_core.datasets import load
from koderz_core.datasets.selection import chosen_by
from koderz_core.errors import DataError, KoderzError, PlanError, UnknownNameError
from koderz_core.grading.testsets import check_tests
from koderz_core.plan.order import Order, Wanted, configuration
from koderz_core.plan.registration import order_of_registration
from koderz_core.plan.requirements import searches
from koderz_core.records import Configuration, Dataset, Plan, Scalar
from koderz_core.records.plans import check_limits
from koderz_core.report.formats import plain
from koderz_core.strategies import base_of, complete, facts_of, offered
from koderz_core.strategies.outside import is_recorded_file, shortened

MOST_EXACT = 2**53 - 1  # larger whole numbers are not exact in a browser (ECMA-262, Number.MAX_SAFE_INTEGER)


@dataclass(frozen=True, slots=True)
class Clone:
    """A recorded benchmark, and an order that leads to the same plan."""

    plan: Plan
    order: Order

    @property
    def dataset(self) -> str:
        """Return the name of the dataset."""
        return self.plan.dataset.name

    def changed(self, now: Plan) -> str:
        """Describe the differences between a plan and the recorded plan; "" if they are the same benchmark."""
        return ", ".join(plain(change) for change in changes(now, self.plan))


def clone_of(plan: Plan, settings: Settings) -> Clone:
    """Return a recorded plan as a new order.

    Raises DataError for a dataset that has changed, UnknownNameError and PlanError for an unavailable strategy.
    """
    if plan.seed > MOST_EXACT:
        raise PlanError(
            f"The dashboard cannot clone {plan.id}, because its seed {plan.seed} is too large for a browser. Start the "
            f"benchmark in a terminal: koderz benchmark --seed {plan.seed}"
        )
    return Clone(plan, order_of(plan, dataset_of(plan, settings)))


CONTEXT = "num_ctx"


def order_of(plan: Plan, dataset: Dataset) -> Order:
    """Return the order from which ``draft`` makes the same plan under the same conditions. Raises as ``wanted_of``.

    ``dataset``: the dataset of the plan.
    """
    configurations = [wanted_of(recorded) for recorded in plan.configurations]
    problems = chosen_by(dataset, {*plan.problems, *plan.outside})
    registration = order_of_registration(plan)
    order = Order(configurations, problems, plan.seed, plan.repeats, plan.name, plan.budget)
    allow_search = any(searches(recorded.parameters) for recorded in plan.configurations)
    return replace(order, registration=registration, allow_search=allow_search)


def wanted_of(recorded: Configuration) -> Wanted:
    """Return a recorded configuration as a person would describe it, with as few parameters as possible.

    Roles with the same model as the coder are omitted. Raises UnknownNameError for an unknown strategy, and PlanError
    for a strategy in a file, which only a command line can name.
    """
    if is_recorded_file(recorded.strategy):
        raise PlanError(
            f"{shortened(recorded.strategy)} is a strategy in a file. Only the command line accepts such strategies: "
            "koderz benchmark --strategy PATH:NAME."
        )
    coder = recorded.models.get("coder", ())
    models = {role: members for role, members in recorded.models.items() if role == "coder" or members != coder[:1]}
    parameters = {**complete(recorded.strategy, {}), **recorded.parameters}
    able = [name for name in offered() if len(coder) != 1 or not facts_of(name).needs_several_coders]
    names = [name for name in able if base_of(name) == recorded.strategy] or [recorded.strategy]
    unusual = {name: _unusual(name, parameters) for name in names}
    name = min(unusual, key=lambda name: len(unusual[name]))
    return Wanted(name, models, unusual[name], recorded.gate, recorded.feedback)


def changes(now: Plan, then: Plan) -> tuple[str, ...]:
    """Return the names of the differences between two plans; empty if they are the same benchmark."""
    return tuple(_changes(now, then)) if now.content != then.content else ()


def is_plannable(plan: Plan, dataset: Dataset, now: Settings) -> bool:
    """Whether the order of a plan, with the options in ``settings_of``, still leads to the same benchmark."""
    try:
        today = tuple(configuration(wanted_of(recorded), now) for recorded in plan.configurations)
    except KoderzError:
        return False
    problems = [problem for problem in dataset.problems if problem.id in plan.problems]
    of = of_problems(problems, now) | of_kinds(problem.public.kind for problem in problems)
    restored = {name: plan.conditions[name] for name in (TIME_LIMIT, CONTEXT) if name in plan.conditions}
    under = {**conditions(today, now.changed(cache=plan.cached)), **of, **restored}
    return as_recorded(replace(plan, configurations=today, conditions=under), now).id == plan.id


def settings_of(plan: Plan, now: Settings) -> Mapping[str, str]:
    """Return the options that restore the settings of a plan, where they differ from current or default settings."""
    limit, context = plan.conditions.get(TIME_LIMIT), plan.conditions.get(CONTEXT)
    usual = {now.num_ctx, SETTINGS["num_ctx"].default}
    options = {} if isinstance(limit, str | None) else {"--test-timeout": str(limit)}
    return options if context is None or usual == {context} else {**options, "--num-ctx": str(context)}


def options_of(plan: Plan, now: Settings) -> list[str]:
    """Return the same as ``settings_of``, as the words of a command."""
    return [word for pair in settings_of(plan, now).items() for word in pair]


def _unusual(name: str, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The parameters that differ from the defaults of a strategy or preset, or that it does not have."""
    usual = complete(name, {})
    return {key: value for key, value in parameters.items() if key not in usual or value != usual[key]}


def _changes(now: Plan, then: Plan) -> Iterator[str]:
    pairs: dict[str, tuple[object, object]] = {
        "dataset": (now.dataset.sha256, then.dataset.sha256),
        "problems": (sorted(now.problems), sorted(then.problems)),
        "configurations": ({made.id for made in now.configurations}, {made.id for made in then.configurations}),
        "seed": (now.seed, then.seed),
        "repeats": (now.repeats, then.repeats),
        "name": (now.name, then.name),
        "registration": (order_of_registration(now), order_of_registration(then)),
        "limit per experiment": (now.budget.per_experiment_usd, then.budget.per_experiment_usd),
    }
    yield from (name for name, (value, earlier) in pairs.items() if value != earlier)
    both = {**then.conditions, **now.conditions}
    yield from (name for name in both if now.conditions.get(name) != then.conditions.get(name))


ONCE_NAMED = {"coding": "1", "extraction": "1", "review": "1", "spec": "1"}
"""The prompts that every plan used to name, with their versions at that time."""


def as_recorded(plan: Plan, settings: Settings) -> Plan:
    """Return the plan; if only a journal with earlier conditions exists, the plan with these conditions.

    Earlier versions of koderz recorded all prompts instead of those of a plan's roles, and the context length for all
    models instead of those that it affects. They always recorded the time limit of tests as set, and later one limit
    for all plus tests together. They did not record the set of held-out tests.
    """
    prompts = {**of_prompts(ONCE_NAMED), **plan.conditions}
    once = {name: value for name, value in prompts.items() if name != HELD_OUT}
    together = dict(plan.conditions)
    if plan.conditions.get(TIME_LIMIT) in {BY_CANONICAL, BY_TEST}:
        together[TIME_LIMIT], once[TIME_LIMIT] = BY_CANONICAL, settings.test_timeout
    earlier = (together, once, {"num_ctx": settings.num_ctx, **once})
    plans = (plan, *(replace(plan, conditions=named) for named in earlier))
    return next((candidate for candidate in plans if _journal(candidate, settings).exists()), plan)


def dataset_of(plan: Plan, settings: Settings) -> Dataset:
    """Return the dataset of a plan if it has not changed. Raises DataError."""
    then = plan.dataset
    dataset = _load(plan, settings)
    if dataset.origin != then:
        raise DataError(
            f"The file of {then.name} has changed since {plan.id} was planned: its SHA-256 began with "
            f"{then.sha256[:12]} and now begins with {dataset.origin.sha256[:12]}. Restore the file, "
            "give the path of the original file with --humaneval-path FILE (only for HumanEval), or start a new "
            "benchmark with --fork. Recorded results do not change."
        )
    return dataset


def forked(plan: Plan, settings: Settings, taken: Container[str]) -> Plan:
    """Return the same configurations and problems with the current dataset and conditions, under an unused name.

    Raises PlanError if the plan was never started, and as ``check_limits``; DataError if the dataset no longer contains
    a problem.
    """
    if plan.shard:
        raise PlanError(
            f"{plan.id} is one shard of a benchmark and cannot be forked. Merge the shards first, or omit --fork."
        )
    if not _journal(plan, settings).exists():
        raise PlanError(f"{plan.id} has not been started, so there is nothing to fork. Omit --fork.")
    check_limits(plan.budget, cached=settings.cache)
    dataset = _load(plan, settings)
    problems = {problem.id: problem for problem in dataset.problems}
    for problem in plan.problems:
        if problem not in problems:
            raise DataError(
                f"{plan.dataset.name} no longer contains the problem {problem}, so {plan.id} cannot be forked."
            )
        check_tests(problems[problem])
    chosen = [problems[name] for name in plan.problems]
    kinds = of_kinds(problem.public.kind for problem in chosen)
    now = conditions(plan.configurations, settings) | of_problems(chosen, settings) | kinds
    stem = plan.name or f"{plan.id}-fork"
    names = (f"{stem}-{number}" for number in count(2))
    name = stem if not plan.name and stem not in taken else next(name for name in names if name not in taken)
    return replace(plan, name=name, dataset=dataset.origin, conditions=now)


def _journal(plan: Plan, settings: Settings) -> Path:
    return settings.journals_dir / f"{plan.id}.jsonl"


def _load(plan: Plan, settings: Settings) -> Dataset:
    try:
        return load(plan.dataset.name, settings)
    except UnknownNameError as error:
        raise DataError(
            f"The dataset of {plan.id} no longer exists. {error} Restore the file of the dataset."
        ) from error
