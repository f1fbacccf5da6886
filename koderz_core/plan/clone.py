"""Plans that are recorded already: found again, cloned as an order, and forked."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from koderz_core.conditions import (
    BY_CANONICAL,
    HELD_OUT,
    TIME_LIMIT,
    conditions,
    of_problems,
    of_prompts,
)
from koderz_core.config import SETTINGS, Settings
from koderz_core.datasets import load
from koderz_core.datasets.selection import chosen_by
from koderz_core.errors import DataError, KoderzError, PlanError, UnknownNameError
from koderz_core.grading.testsets import check_tests
from koderz_core.plan.forms import Preset
from koderz_core.plan.order import Order, Wanted, configuration
from koderz_core.records import Configuration, Dataset, Plan, Scalar
from koderz_core.report.formats import plain
from koderz_core.strategies import base_of, complete, offered
from koderz_core.strategies.outside import is_recorded_file, shortened

MOST_EXACT = 2**53 - 1  # whole numbers beyond are not exact in a browser (ECMA-262, Number.MAX_SAFE_INTEGER)


@dataclass(frozen=True, slots=True)
class Clone:
    """A recorded benchmark as an order that makes it again, and the name of its dataset."""

    plan: Plan
    order: Order

    @property
    def preset(self) -> Preset:
        """It, to start from."""
        configurations = tuple(self.order.configurations)
        return Preset(self.plan.id, self.plan.name, "", configurations, self.order.problems)

    @property
    def dataset(self) -> str:
        return self.plan.dataset.name

    def changed(self, now: Plan) -> str:
        """In what a plan differs from this, in words; "" if it is the same benchmark."""
        return ", ".join(plain(change) for change in changes(now, self.plan))


def clone_of(plan: Plan, settings: Settings) -> Clone:
    """A recorded plan, to be ordered again as it is or changed.

    Raises DataError for a dataset that is another now, UnknownNameError and PlanError for a strategy that is not here.
    """
    if plan.seed > MOST_EXACT:
        raise PlanError(
            f"The seed of {plan.id}, {plan.seed}, is larger than a browser counts. Order it again in a terminal."
        )
    return Clone(plan, order_of(plan, dataset_of(plan, settings)))


CONTEXT = "num_ctx"


def order_of(plan: Plan, dataset: Dataset) -> Order:
    """The order of which ``draft`` makes the same plan, as long as the same conditions hold. Raises as ``wanted_of``.

    ``dataset``: the one that it was planned of.
    """
    configurations = [wanted_of(one) for one in plan.configurations]
    problems = chosen_by(dataset, {*plan.problems, *plan.outside})
    return Order(configurations, problems, plan.seed, plan.repeats, plan.name, plan.budget)


def wanted_of(one: Configuration) -> Wanted:
    """A recorded configuration under the name that leaves least to be said of it; roles only if they differ from coder.

    Raises UnknownNameError for a strategy that is not here, PlanError for one that only a command line can name.
    """
    if is_recorded_file(one.strategy):
        raise PlanError(
            f"{shortened(one.strategy)} stands in a file, which only a command line names: koderz benchmark --strategy "
            "PATH:NAME. Here there are the strategies of koderz and of installed packages."
        )
    coder = one.models.get("coder", ())
    models = {role: members for role, members in one.models.items() if role == "coder" or members != coder[:1]}
    parameters = {**complete(one.strategy, {}), **one.parameters}
    names = [name for name in offered() if base_of(name) == one.strategy] or [one.strategy]
    told = {name: _unusual(name, parameters) for name in names}
    name = min(told, key=lambda it: len(told[it]))
    return Wanted(name, models, told[name], one.gate, one.feedback)


def changes(now: Plan, then: Plan) -> tuple[str, ...]:
    """In what one plan differs from another, in a word or two each; nothing if it would be the same benchmark."""
    return tuple(_changes(now, then)) if now.content != then.content else ()


def is_plannable(plan: Plan, dataset: Dataset, now: Settings) -> bool:
    """Whether its order, with ``settings_of`` it, still comes to the same benchmark: prompts and strategies change."""
    try:
        today = tuple(configuration(wanted_of(one), now) for one in plan.configurations)
    except KoderzError:
        return False
    of = of_problems(problem for problem in dataset.problems if problem.id in plan.problems)
    set_back = {name: plan.conditions[name] for name in (TIME_LIMIT, CONTEXT) if name in plan.conditions}
    under = {**conditions(today, now), **of, **set_back}
    return as_recorded(replace(plan, configurations=today, conditions=under), now).id == plan.id


def settings_of(plan: Plan, now: Settings) -> Mapping[str, str]:
    """The options for settings that the plan was made under and that are otherwise now, or by default."""
    limit, context = plan.conditions.get(TIME_LIMIT), plan.conditions.get(CONTEXT)
    usual = {now.num_ctx, SETTINGS["num_ctx"].default}
    said = {} if isinstance(limit, str | None) else {"--test-timeout": str(limit)}
    return said if context is None or usual == {context} else {**said, "--num-ctx": str(context)}


def _unusual(name: str, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """What is to be said of parameters under a name: what differs from its defaults, or is none of its own."""
    usual = complete(name, {})
    return {one: value for one, value in parameters.items() if one not in usual or value != usual[one]}


def _changes(now: Plan, then: Plan) -> Iterator[str]:
    pairs: dict[str, tuple[object, object]] = {
        "dataset": (now.dataset.sha256, then.dataset.sha256),
        "problems": (sorted(now.problems), sorted(then.problems)),
        "configurations": ({one.id for one in now.configurations}, {one.id for one in then.configurations}),
        "seed": (now.seed, then.seed),
        "repeats": (now.repeats, then.repeats),
        "name": (now.name, then.name),
        "limit per experiment": (now.budget.per_experiment_usd, then.budget.per_experiment_usd),
    }
    yield from (name for name, (one, other) in pairs.items() if one != other)
    both = {**then.conditions, **now.conditions}
    yield from (name for name in both if now.conditions.get(name) != then.conditions.get(name))


ONCE_NAMED = {"coding": "1", "extraction": "1", "review": "1", "spec": "1"}
"""The prompts that every plan once named, in the versions that they had then."""


def as_recorded(plan: Plan, settings: Settings) -> Plan:
    """A plan without a journal under conditions that were once named instead of its own, if it has a journal so.

    Every prompt was named before only those of a plan's roles were, and the size of contexts for every model before it
    was only for those that it reaches; the time limit of tests was the setting's, whoever set it; and plus tests were
    no part of a score.
    """
    prompts = {**of_prompts(ONCE_NAMED), **plan.conditions}
    once = {one: value for one, value in prompts.items() if one != HELD_OUT}
    if once.get(TIME_LIMIT) == BY_CANONICAL:
        once[TIME_LIMIT] = settings.test_timeout
    ways = (once, {"num_ctx": settings.num_ctx, **once})
    before = (replace(plan, conditions=way) for way in ways)
    return next((one for one in (plan, *before) if _journal(one, settings).exists()), plan)


def dataset_of(plan: Plan, settings: Settings) -> Dataset:
    """The dataset that a plan was made from, if it is still the same. Raises DataError."""
    then = plan.dataset
    dataset = _load(plan, settings)
    if dataset.origin != then:
        raise DataError(
            f"{then.name} is another file now than when {plan.id} was planned: its SHA-256 began with "
            f"{then.sha256[:12]} and is {dataset.origin.sha256[:12]} now. Bring that file back (for one of your own: "
            f"--humaneval-path FILE), or start anew with --fork; what is recorded stays as it is."
        )
    return dataset


def forked(plan: Plan, settings: Settings, taken: Container[str]) -> Plan:
    """The same configurations and problems under today's dataset and conditions, and a name not ``taken``.

    Raises PlanError if the plan was never begun, DataError if the dataset lacks a problem now.
    """
    if not _journal(plan, settings).exists():
        raise PlanError(f"{plan.id} has not been begun, so there is nothing to fork. Leave --fork out.")
    dataset = _load(plan, settings)
    problems = {problem.id: problem for problem in dataset.problems}
    for problem in plan.problems:
        if problem not in problems:
            raise DataError(f"{plan.dataset.name} has no problem {problem} any more, so {plan.id} cannot be forked.")
        check_tests(problems[problem])
    now = conditions(plan.configurations, settings) | of_problems(problems[problem] for problem in plan.problems)
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
        raise DataError(f"The dataset of {plan.id} is not there any more. {error} Bring its file back.") from error
