"""Models that koderz selects for an order: ``select:quality``, or only among some, ``select:cost:gpt-4o+o3``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from koderz_core.analysis.model_selection import ranked
from koderz_core.config import Settings
from koderz_core.errors import ModelError, OfflineError, PlanError, UnknownNameError
from koderz_core.models.availability import require
from koderz_core.models.catalogue import allowed, check_allowed, resolve
from koderz_core.models.providers import capabilities_of
from koderz_core.plan.evidence import Evidence
from koderz_core.plan.order import Order, Wanted, as_list
from koderz_core.records import Plan
from koderz_core.records.plans import CONTEXT, FIXED, POLICIES, Measurement, Ranked, Selection, scripted
from koderz_core.report.formats import plain
from koderz_core.strategies import base_of
from koderz_core.strategies.selected import DIRECT

MARK = "select:"
LEARNED, ROUTER = "learned", "router"
"""``select:learned=NAME``: the strategy ``router``, in which a fitted selector chooses a model for each problem."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The choice of a model by a policy among ``names``; without names, among all allowed or measured models."""

    strategy: str
    role: str
    policy: str
    names: tuple[str, ...]


def is_open(order: Order) -> bool:
    """Whether the order leaves a model to be selected."""
    return any(_is_choice(names) for wanted in order.configurations for names in wanted.models.values())


def select_models(order: Order, own: Collection[str], settings: Settings, evidence: Evidence) -> Order:
    """The order with every open model selected, and the selections.

    ``own``: the ids of its problems. Results on these do not count, because the selection would be tuned to them.
    Raises PlanError if no model can be selected, UnknownNameError, StoreError.
    """
    configurations, selections = list[Wanted](), list(order.selections)
    for wanted in order.configurations:
        models = dict(wanted.models)
        if learned := _learned(wanted):
            configurations.append(_routed(wanted, learned, settings, evidence))
            continue
        for role, names in wanted.models.items():
            if _is_choice(names):
                selections.append(_select(_choice(wanted.strategy, role, names), own, settings, evidence))
                models[role] = selections[-1].chosen
        configurations.append(replace(wanted, models=models))
    return replace(order, configurations=configurations, selections=tuple(selections))


def sentence(selection: Selection) -> str:
    """A selection in a sentence."""
    models = [row.model for row in selection.ranked]
    place = models.index(selection.chosen)
    skipped = ", ".join(f"{row.model} ({row.reason})" for row in selection.ranked[:place])
    better = f" Models that rank higher but are not available now: {skipped}." if skipped else ""
    elsewhere = f" with {selection.results_of}" if selection.results_of not in ("", selection.strategy) else ""
    rest = f" Next in the ranking: {', '.join(models[place + 1 :])}." if models[place + 1 :] else ""
    return (
        f"koderz selected the {selection.role} for the strategy {selection.strategy} with the policy "
        f"{selection.policy}: {selection.chosen} ({selection.ranked[place].reason}{elsewhere}).{better}{rest}"
    )


def _is_choice(names: str | Sequence[str]) -> bool:
    return any(name.strip().startswith(MARK) for name in as_list(names))


def _learned(wanted: Wanted) -> str:
    """The text after ``select:learned`` with its sign, such as ``=NAME:FIRST+SECOND``, or ":" without; "" if absent."""
    named = as_list(wanted.models.get("coder", ()))
    choice = named[0].strip() if len(named) == 1 else ""
    found = re.fullmatch(rf"{MARK}{LEARNED}(=[^:]+)?(:.+)?", choice)
    return f"{found[1] or ''}{found[2] or ':'}" if found else ""


def _routed(wanted: Wanted, learned: str, settings: Settings, evidence: Evidence) -> Wanted:
    """The configuration with the models of a fitted selector, which chooses among them. Raises UnknownNameError."""
    if wanted.strategy not in (DIRECT, ROUTER):
        raise PlanError(
            f"{MARK}{LEARNED} chooses the coder for a single call, so it works with the strategies {DIRECT} and "
            f"{ROUTER}, not with {wanted.strategy}."
        )
    name, _, rest = learned.removeprefix("=").partition(":")
    selector = evidence.selector(name)
    some = tuple(resolve(text.strip(), settings).id for text in rest.split("+") if text.strip())
    parameters = {**wanted.parameters, "selector": selector.id}
    return replace(wanted, strategy=ROUTER, models={"coder": some or selector.models}, parameters=parameters)


def _choice(strategy: str, role: str, names: str | Sequence[str]) -> Choice:
    listed = as_list(names)
    if len(listed) > 1:
        raise PlanError(
            f"{', '.join(listed)}: koderz selects only one model for the role {role}. Write "
            f"{MARK}POLICY:FIRST+SECOND to let koderz choose from several models, or list the models "
            f"without the prefix {MARK}"
        )
    policy, _, rest = listed[0].strip().removeprefix(MARK).partition(":")
    if policy not in POLICIES:
        raise UnknownNameError("selection policy", policy, POLICIES)
    return Choice(strategy, role, policy, tuple(name.strip() for name in rest.split("+") if name.strip()))


def choices(plan: Plan) -> Iterator[str]:
    """A sentence for each model of a plan that koderz selected."""
    yield from (plain(sentence(selection)) for selection in plan.selections)


def _select(choice: Choice, own: Collection[str], settings: Settings, evidence: Evidence) -> Selection:
    named = tuple(dict.fromkeys(resolve(name, settings).id for name in choice.names)) or allowed(settings)
    strategy, results = (
        ("", []) if choice.policy in (CONTEXT, FIXED) and named else _results(choice, own, named, evidence)
    )
    models = named or tuple(
        dict.fromkeys(measurement.model for measurement in results if _counts(measurement.model, ()))
    )
    if not models:
        raise PlanError(
            f"koderz cannot select a {choice.role} for the strategy {choice.strategy}, because no model has results "
            "that koderz can use for the choice. Results of scripted models and results on the planned problems do not "
            "count. Measure some models on problems outside this plan, or list the models: "
            f"select:{choice.policy}:FIRST+SECOND."
        )
    contexts = {model: capabilities_of(model, settings).context_tokens for model in models}
    rows = ranked(choice.policy, models, results, contexts)
    if choice.policy != FIXED and len(rows) > 1 and all(row.score is None for row in rows):
        raise PlanError(
            f"koderz cannot select a {choice.role} for the strategy {choice.strategy} with the policy {choice.policy}: "
            f"{_listed(rows)}. Results on the planned problems do not count. Measure the models on problems outside "
            "this plan, or name one model."
        )
    return _askable(Selection(choice.strategy, choice.role, choice.policy, models[0], rows, strategy), settings)


def _results(
    choice: Choice, own: Collection[str], named: Collection[str], evidence: Evidence
) -> tuple[str, Sequence[Measurement]]:
    """The results of the strategy, or of ``direct`` if that has results of more models; with the strategy's name."""
    both = {name: evidence.measurements(name, choice.role, own) for name in (base_of(choice.strategy), DIRECT)}
    counts = {name: len({row.model for row in rows if _counts(row.model, named)}) for name, rows in both.items()}
    most = max(both, key=lambda name: counts[name])
    return most, both[most]


def _counts(model: str, named: Collection[str]) -> bool:
    """Whether a model is one of the named models; without any, whether it is not scripted."""
    return model in named if named else not scripted([model])


def _askable(selection: Selection, settings: Settings) -> Selection:
    """The selection with the first model that can be asked now."""
    rows = list(selection.ranked)
    for place, row in enumerate(selection.ranked):
        try:
            check_allowed([row.model], settings)
            require(row.model, settings)
        except (ModelError, OfflineError, PlanError) as error:
            rows[place] = replace(row, reason=f"{row.reason}; {error}")
        else:
            return replace(selection, chosen=row.model, ranked=tuple(rows))
    raise PlanError(
        f"No model is available now as {selection.role} for the strategy {selection.strategy}: {_listed(rows)}"
    )


def _listed(rows: Sequence[Ranked]) -> str:
    return "; ".join(f"{row.model}: {row.reason}" for row in rows)
