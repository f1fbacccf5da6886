"""Ablations: a configuration without one of its parts, which measures the contribution of this part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.grading.gates import NONE
from koderz_core.plan.order import Wanted, as_list
from koderz_core.prompts.coding import MINIMAL
from koderz_core.records import Scalar, fingerprint
from koderz_core.strategies import create
from koderz_core.strategies.parameters import is_override, overrides_by_role, overrides_for
from koderz_core.strategies.supervised import INTERVAL, Supervised

ALL = "all"
TEMPERATURES = (0.0, 0.2, 0.8)
"""Greedy, and the best temperatures for pass@1 and pass@100 of Codex (Chen et al. 2021, arXiv 2107.03374, section 3.3).
"""

Change = Mapping[str, Scalar]

ABLATIONS: Mapping[str, Callable[[Supervised], Sequence[Change]]] = {
    "no-spec": lambda _: [{"spec": False}],
    "no-checkpoints": lambda _: [{"checkpoints": False}],
    "no-cot": lambda _: [{"chain_of_thought": False}],
    "no-previous-error": lambda _: [{"previous_error": False}],
    "no-lessons": lambda _: [{"lessons": False}],
    "no-examples": lambda _: [{"examples": False}],
    "interval": lambda whole: [
        {"checkpoint_interval": max(1, whole.checkpoint_interval // 2)},
        {"checkpoint_interval": 2 * whole.checkpoint_interval},
    ],
    "temperature": lambda _: [{"temperature": value, "retry_temperature": value} for value in TEMPERATURES],
}
"""By name: the parameters that each of its configurations changes. A temperature applies to every attempt."""


def ablations(whole: Wanted, names: Iterable[str] = ABLATIONS) -> tuple[Wanted, ...]:
    """Return a copy of this configuration for each of these ablations, with only that change.

    Ablations that behave like the whole configuration or like another ablation are omitted. Raises UnknownNameError,
    and PlanError for a strategy without ablations.
    """
    strategy = _supervised(whole)
    distinct = {_behaviour(whole): whole}
    for name in _known(names):
        for change in ABLATIONS[name](strategy):
            changed = replace(whole, parameters=_changed(whole, change))
            distinct.setdefault(_behaviour(changed), changed)
    return tuple(distinct.values())[1:]


def with_ablations(configurations: Sequence[tuple[Wanted, Sequence[str]]]) -> list[Wanted]:
    """Return each configuration, followed by those of its named ablations that are not yet in the list.

    Raises as ``ablations``.
    """
    grids = [[whole, *(ablations(whole, names) if names else ())] for whole, names in configurations]
    taken = {_behaviour(whole) for whole, *_ in grids}
    wanted: list[Wanted] = []
    for whole, *grid in grids:
        new = {key: ablation for ablation in grid if (key := _behaviour(ablation)) not in taken}
        taken |= new.keys()
        wanted += [whole, *new.values()]
    return wanted


def ablations_named(text: str) -> tuple[str, ...]:
    """Return the ablations in a list with commas; ``all`` means every ablation. Raises UnknownNameError, PlanError."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise PlanError(f"The list of ablations is empty. Name '{ALL}' or at least one of {', '.join(ABLATIONS)}.")
    return tuple(ABLATIONS) if ALL in names else tuple(_known(names))


def is_ablated(strategy: str) -> bool:
    """Whether a strategy or preset has ablations."""
    return isinstance(create(strategy, {}), Supervised)


def _changed(whole: Wanted, change: Change) -> dict[str, Scalar]:
    """The parameters with the change, without overrides of a role that is no longer asked."""
    own = {**whole.parameters, **change}
    of_strategy = {name: value for name, value in own.items() if not is_override(name)}
    return of_strategy | overrides_for(create(whole.strategy, of_strategy).roles(), own)


def _known(names: Iterable[str]) -> list[str]:
    listed = list(dict.fromkeys(names))
    for name in listed:
        if name not in ABLATIONS:
            raise UnknownNameError("ablation", name, [ALL, *ABLATIONS])
    return listed


def _supervised(wanted: Wanted) -> Supervised:
    strategy = create(wanted.strategy, wanted.parameters)
    if not isinstance(strategy, Supervised):
        raise PlanError(
            f"The strategy {wanted.strategy} has no ablations. Request ablations only for supervised and repair."
        )
    return strategy


def _behaviour(wanted: Wanted) -> str:
    """A key that is equal for configurations that do the same, such as two intervals of reviews that never happen."""
    strategy = create(wanted.strategy, wanted.parameters)
    if isinstance(strategy, Supervised):
        strategy = _without_unused(strategy, wanted.feedback)
    models = {role: as_list(wanted.models.get(role) or wanted.models.get("coder", ())) for role in strategy.roles()}
    sampling = overrides_by_role(wanted.parameters)
    return fingerprint((type(strategy).__name__, strategy, models, wanted.gate, wanted.feedback, sampling))


def _without_unused(strategy: Supervised, feedback: str) -> Supervised:
    """The strategy with every parameter that has no effect set to a fixed value."""
    once = strategy.max_iterations == 1
    if not (strategy.checkpoints and strategy.rule.can_apply):
        strategy = replace(strategy, checkpoints=False, checkpoint_interval=1, checkpoint_when=INTERVAL)
        strategy = replace(strategy, disclosure=True)
    if once:  # nothing follows the first attempt
        strategy = replace(strategy, retry_temperature=0.0, history_tokens=0, escape_after=1)
    if once or feedback == NONE:
        strategy = replace(strategy, previous_error=True, lessons=False)
    if not strategy.previous_error:
        strategy = replace(strategy, lessons=False)
    return strategy if strategy.spec else replace(strategy, spec_prompt=MINIMAL, reuse_spec=False)
