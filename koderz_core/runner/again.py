"""What was recorded, in the words in which a person asks for it once more, as it was or changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from koderz_core.config import SETTINGS, Settings
from koderz_core.datasets.selection import chosen_by
from koderz_core.errors import KoderzError, PlanError
from koderz_core.records import Configuration, Dataset, Plan, Scalar
from koderz_core.runner.conditions import TIME_LIMIT, conditions, of_problems
from koderz_core.runner.planning import Order, Wanted, configuration
from koderz_core.runner.resumption import as_recorded
from koderz_core.strategies import base_of, complete, offered
from koderz_core.strategies.outside import is_recorded_file, shortened

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
    of = of_problems(one for one in dataset.problems if one.id in plan.problems)
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
