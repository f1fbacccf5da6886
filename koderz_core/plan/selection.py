"""Models that an order leaves to be selected: ``select:quality``, or of these only, ``select:cost:gpt-4o+o3``."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from koderz_core.analysis.model_selection import ranked
from koderz_core.config import Settings
from koderz_core.errors import ModelError, OfflineError, PlanError, UnknownNameError
from koderz_core.models.availability import require
from koderz_core.models.catalogue import allowed, check_allowed, resolve
from koderz_core.models.providers import capabilities_of
from koderz_core.plan.evidence import Evidence
from koderz_core.plan.order import Order, Wanted
from koderz_core.records import Plan
from koderz_core.records.plans import CONTEXT, FIXED, POLICIES, Measurement, Ranked, Selection, scripted
from koderz_core.report.formats import plain
from koderz_core.strategies import base_of
from koderz_core.strategies.selected import DIRECT

MARK = "select:"


@dataclass(frozen=True, slots=True)
class Choice:
    """What is to be chosen by a policy of some ``names``; without any, of all that there is to choose from."""

    strategy: str
    role: str
    policy: str
    names: tuple[str, ...]


def is_open(order: Order) -> bool:
    """Whether a model of an order is still to be chosen."""
    return any(_is_choice(names) for wanted in order.configurations for names in wanted.models.values())


def select_models(order: Order, own: Collection[str], settings: Settings, evidence: Evidence) -> Order:
    """The order with every model chosen that was left open, and how.

    ``own``: the ids of its problems. What is known of the models on these does not count: a choice by it would be tuned
    to them. Raises PlanError where nothing can be chosen, UnknownNameError, StoreError.
    """
    configurations, made = list[Wanted](), list(order.selections)
    for wanted in order.configurations:
        models = dict(wanted.models)
        for role, names in wanted.models.items():
            if _is_choice(names):
                made.append(_select(_choice(wanted.strategy, role, names), own, settings, evidence))
                models[role] = made[-1].chosen
        configurations.append(replace(wanted, models=models))
    return replace(order, configurations=configurations, selections=tuple(made))


def sentence(selection: Selection) -> str:
    """A selection in a sentence."""
    places = [model.model for model in selection.ranked]
    place = places.index(selection.chosen)
    over = "; ".join(f"{model.model}: {model.reason}" for model in selection.ranked[:place])
    elsewhere = f" by {selection.results_of}" if selection.results_of not in ("", selection.strategy) else ""
    rest = f" Else: {', '.join(places[place + 1 :])}." if places[place + 1 :] else ""
    return (
        f"By {selection.policy} the {selection.role} of {selection.strategy} is {selection.chosen} "
        f"({selection.ranked[place].reason}{elsewhere}){f', instead of {over}' if over else ''}.{rest}"
    )


def _is_choice(names: str | Sequence[str]) -> bool:
    return any(name.strip().startswith(MARK) for name in ([names] if isinstance(names, str) else names))


def _choice(strategy: str, role: str, names: str | Sequence[str]) -> Choice:
    listed = [names] if isinstance(names, str) else [*names]
    if len(listed) > 1:
        raise PlanError(
            f"{', '.join(listed)}: one model is chosen for the {role}. Write {MARK}POLICY:FIRST+SECOND to say of "
            "which, or name the models yourself."
        )
    policy, _, rest = listed[0].strip().removeprefix(MARK).partition(":")
    if policy not in POLICIES:
        raise UnknownNameError("policy of a selection", policy, POLICIES)
    return Choice(strategy, role, policy, tuple(name.strip() for name in rest.split("+") if name.strip()))


def choices(plan: Plan) -> Iterator[str]:
    """How each model of a plan was chosen that its order left open, in a sentence each."""
    yield from (plain(sentence(selection)) for selection in plan.selections)


def _select(choice: Choice, own: Collection[str], settings: Settings, evidence: Evidence) -> Selection:
    named = tuple(dict.fromkeys(resolve(name, settings).id for name in choice.names)) or allowed(settings)
    strategy, found = (
        ("", []) if choice.policy in (CONTEXT, FIXED) and named else _results(choice, own, named, evidence)
    )
    models = named or tuple(dict.fromkeys(measurement.model for measurement in found if _counts(measurement.model, ())))
    if not models:
        raise PlanError(
            f"There is no model with results to choose a {choice.role} of {choice.strategy} from. Measure some on "
            f"other problems first, or say of which: select:{choice.policy}:FIRST+SECOND."
        )
    rows = ranked(choice.policy, models, found, _contexts(models, settings))
    if choice.policy != FIXED and len(rows) > 1 and all(row.score is None for row in rows):
        raise PlanError(
            f"Nothing speaks for a {choice.role} of {choice.strategy} by {choice.policy}: {_listed(rows)}. Results on "
            "the problems that are planned do not count. Measure the models on others first, or name one."
        )
    return _asked(Selection(choice.strategy, choice.role, choice.policy, models[0], rows, strategy), settings)


def _results(
    choice: Choice, own: Collection[str], named: Collection[str], evidence: Evidence
) -> tuple[str, Sequence[Measurement]]:
    """Of the strategy, or of asking directly if that was tried with more of the models; with the name of it."""
    both = {name: evidence.measurements(name, choice.role, own) for name in (base_of(choice.strategy), DIRECT)}
    counts = {name: len({row.model for row in rows if _counts(row.model, named)}) for name, rows in both.items()}
    most = max(both, key=lambda name: counts[name])
    return most, both[most]


def _counts(model: str, named: Collection[str]) -> bool:
    """Whether a model is among the named ones; without any, whether it is a real one."""
    return model in named if named else not scripted([model])


def _asked(selection: Selection, settings: Settings) -> Selection:
    """With the first that can be asked."""
    rows = list(selection.ranked)
    for place, one in enumerate(selection.ranked):
        try:
            check_allowed([one.model], settings)
            require(one.model, settings)
        except (ModelError, OfflineError, PlanError) as error:
            rows[place] = replace(one, reason=f"{one.reason}; {error}")
        else:
            return replace(selection, chosen=one.model, ranked=tuple(rows))
    raise PlanError(f"None can be {selection.role} of {selection.strategy} now: {_listed(rows)}")


def _listed(rows: Sequence[Ranked]) -> str:
    return "; ".join(f"{row.model}: {row.reason}" for row in rows)


def _contexts(models: Sequence[str], settings: Settings) -> dict[str, int | None]:
    return {model: capabilities_of(model, settings).context_tokens for model in models}
