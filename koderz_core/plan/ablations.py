"""Ablations: what each part of ``supervised`` is good for, told by the same configuration without it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.grading.feedback_policy import NONE
from koderz_core.plan.order import Wanted
from koderz_core.prompts.coding import MINIMAL
from koderz_core.records import Scalar, fingerprint
from koderz_core.strategies import create
from koderz_core.strategies.checkpoints import INTERVAL
from koderz_core.strategies.parameters import asked_of, is_override, of_roles
from koderz_core.strategies.supervised import Supervised

ALL = "all"
TEMPERATURES = (0.0, 0.2, 0.8)
"""Greedy, and where pass@1 and pass@100 of a Codex were best (Chen et al. 2021, arXiv 2107.03374, section 3.3)."""

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
    "temperature": lambda _: [{"temperature": one, "retry_temperature": one} for one in TEMPERATURES],
}
"""By name: what each of its configurations sets otherwise. A temperature is that of every attempt."""


def ablations(whole: Wanted, names: Iterable[str] = ABLATIONS) -> tuple[Wanted, ...]:
    """This configuration once more for each of these ablations, different in that one thing.

    One that would do the same as the whole, or as another, is left out. Raises UnknownNameError, and PlanError for a
    strategy that these are no ablations of.
    """
    strategy = _supervised(whole)
    found = {_deeds(whole): whole}
    for name in _known(names):
        for change in ABLATIONS[name](strategy):
            one = replace(whole, parameters=_changed(whole, change))
            found.setdefault(_deeds(one), one)
    return tuple(found.values())[1:]


def with_ablations(configurations: Sequence[tuple[Wanted, Sequence[str]]]) -> list[Wanted]:
    """Each configuration, followed by its ablations of these names that are not wanted anyway. As ``ablations``."""
    found = [[whole, *(ablations(whole, names) if names else ())] for whole, names in configurations]
    taken = {_deeds(whole) for whole, *_ in found}
    wanted: list[Wanted] = []
    for whole, *grid in found:
        fresh = {_deeds(one): one for one in grid if _deeds(one) not in taken}
        taken |= fresh.keys()
        wanted += [whole, *fresh.values()]
    return wanted


def ablations_named(text: str) -> tuple[str, ...]:
    """The ablations that a list with commas names; ``all`` names each. Raises UnknownNameError, PlanError."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise PlanError(f"No ablation is named. Name {ALL}, or one or more of {', '.join(ABLATIONS)}.")
    return tuple(ABLATIONS) if ALL in names else tuple(_known(names))


def is_ablated(strategy: str) -> bool:
    """Whether there are ablations of a strategy or preset."""
    return isinstance(create(strategy, {}), Supervised)


def _changed(whole: Wanted, change: Change) -> dict[str, Scalar]:
    """Its parameters with the change, without what they ask of a role that is not asked any more."""
    own = {**whole.parameters, **change}
    of_strategy = {name: value for name, value in own.items() if not is_override(name)}
    return of_strategy | asked_of(create(whole.strategy, of_strategy).roles(), own)


def _known(names: Iterable[str]) -> list[str]:
    listed = list(dict.fromkeys(names))
    for name in listed:
        if name not in ABLATIONS:
            raise UnknownNameError("ablation", name, [ALL, *ABLATIONS])
    return listed


def _supervised(wanted: Wanted) -> Supervised:
    strategy = create(wanted.strategy, wanted.parameters)
    if not isinstance(strategy, Supervised):
        raise PlanError(f"{wanted.strategy} has no ablations: they are of supervised. Leave them out there.")
    return strategy


def _deeds(wanted: Wanted) -> str:
    """Equal for configurations that do the same: the interval of reviews that never come tells nobody apart."""
    strategy = create(wanted.strategy, wanted.parameters)
    if isinstance(strategy, Supervised):
        strategy = _without_idle(strategy, wanted.feedback)
    models = {role: _listed(wanted.models.get(role) or wanted.models.get("coder", ())) for role in strategy.roles()}
    sampling = of_roles(wanted.parameters)
    return fingerprint((type(strategy).__name__, strategy, models, wanted.gate, wanted.feedback, sampling))


def _without_idle(strategy: Supervised, feedback: str) -> Supervised:
    """What has no bearing on anything that is asked, set to one value."""
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


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
