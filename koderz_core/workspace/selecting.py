"""How models are chosen by policy: at planning for a role, and for the experiments of a strategy that asks for it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from koderz_core.analysis.selecting import ranked
from koderz_core.config import Settings
from koderz_core.datasets.selection import select
from koderz_core.errors import ModelError, OfflineError, PlanError
from koderz_core.export.formats import plain
from koderz_core.models.availability import require
from koderz_core.models.capabilities import capabilities_of
from koderz_core.models.catalogue import allowed, check_allowed, resolve
from koderz_core.records import Asker, Dataset, Memory, Plan, Query
from koderz_core.records.plans import CONTEXT, FIXED, Measurement, Ranked, Selection, scripted
from koderz_core.runner.planning import Gating, Order, draft
from koderz_core.runner.selection import Choice, chooses, chosen, told
from koderz_core.store.measurements import measurements
from koderz_core.store.store import Store
from koderz_core.strategies import base_of
from koderz_core.strategies.selected import DIRECT


def planned(order: Order, dataset: Dataset, settings: Settings, store: Store, gating: Gating) -> Plan:
    """The plan that fulfils an order, once its models are chosen. Raises as ``draft`` and ``selected``."""
    return draft(selected(order, dataset, settings, store), dataset, settings, gating)


def selected(order: Order, dataset: Dataset, settings: Settings, store: Store) -> Order:
    """The order with every model chosen that was left open.

    What is known of the models on the order's own problems does not count: a choice by it would be tuned to them.
    Raises PlanError where nothing can be chosen, UnknownNameError, StoreError.
    """
    if not chooses(order):
        return order
    own = [problem.id for problem in select(dataset, order.problems, order.seed)]
    return chosen(order, lambda choice: _select(choice, own, settings, store))


def choices(plan: Plan) -> Iterator[str]:
    """How each model of a plan was chosen that its order left open, in a sentence each."""
    yield from (plain(told(one)) for one in plan.selections)


def recommended(query: Query, asker: Asker, settings: Settings, store: Store) -> Sequence[Memory]:
    """The members of a role, the preferred one first, for ``Query("statistics", {"policy": ..., "role": ...})``.

    Known is what came of asking them directly on other problems, in other benchmarks. Raises StoreError.
    """
    models, role = asker.models.get(query.tags["role"], ()), query.tags["role"]
    found = measurements(store, DIRECT, role, [asker.problem], asker.experiment)
    rows = ranked(query.tags["policy"], models, found, _contexts(models, settings))
    return [
        Memory(one.reason, one.model, {"member": str(models.index(one.model)), "score": str(one.score)}) for one in rows
    ]


def _select(choice: Choice, own: Collection[str], settings: Settings, store: Store) -> Selection:
    named = tuple(dict.fromkeys(resolve(name, settings).id for name in choice.names)) or allowed(settings)
    strategy, found = ("", []) if choice.policy in (CONTEXT, FIXED) and named else _results(choice, own, named, store)
    models = named or tuple(dict.fromkeys(one.model for one in found if _counts(one.model, ())))
    if not models:
        raise PlanError(
            f"There is no model with results to choose a {choice.role} of {choice.strategy} from. Measure some on "
            f"other problems first, or say of which: select:{choice.policy}:FIRST+SECOND."
        )
    rows = ranked(choice.policy, models, found, _contexts(models, settings))
    if choice.policy != FIXED and len(rows) > 1 and all(one.score is None for one in rows):
        raise PlanError(
            f"Nothing speaks for a {choice.role} of {choice.strategy} by {choice.policy}: {_listed(rows)}. Results on "
            "the problems that are planned do not count. Measure the models on others first, or name one."
        )
    return _asked(Selection(choice.strategy, choice.role, choice.policy, models[0], rows, strategy), settings)


def _results(
    choice: Choice, own: Collection[str], named: Collection[str], store: Store
) -> tuple[str, list[Measurement]]:
    """Of the strategy, or of asking directly if that was tried with more of the models; with the name of it."""
    both = {name: measurements(store, name, choice.role, own) for name in (base_of(choice.strategy), DIRECT)}
    counts = {name: len({one.model for one in rows if _counts(one.model, named)}) for name, rows in both.items()}
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
    return "; ".join(f"{one.model}: {one.reason}" for one in rows)


def _contexts(models: Sequence[str], settings: Settings) -> dict[str, int | None]:
    return {model: capabilities_of(model, settings).context_tokens for model in models}
