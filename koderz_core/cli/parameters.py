"""The options that set parameters and roles of strategies: generated from the strategies; and what they come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import click

from koderz_core.cli.numbers import Number, Whole
from koderz_core.errors import PlanError
from koderz_core.records import Scalar
from koderz_core.runner.forms import Parameter, strategy_form
from koderz_core.runner.wording import personas_named
from koderz_core.strategies import ROLES, STRATEGIES, TOGETHER, base_of, offered
from koderz_core.strategies.parameters import OF_ROLES

Option = Callable[[Any], Any]  # Any: click's decorators take and give any command
Options = tuple[Option, ...]
Having = Mapping[str, Parameter]
"""A parameter as each strategy that has it has it."""

CODER = "coder"
SHORTER: Mapping[str, str] = {"chain_of_thought": "cot"}
OLDER: Mapping[str, str] = {
    CODER: "--local-model",
    "spec": "--frontier-spec-model",
    "reviewer": "--frontier-checkpoint-model",
}
"""What the original koderz calls the options of its roles."""

FOLLOWING: Mapping[str, str] = {"retry_temperature": "temperature"}
"""Parameters that are set along with another, unless they are set themselves."""


def parameters_of(options: Mapping[str, Any]) -> dict[str, Scalar]:
    """The parameters that parsed options set; what is left out stays as it is by default."""
    given = {name: options[name] for name in _PARAMETERS if options[name] is not None}
    return given | ({"personas": personas_named(given["personas"])} if "personas" in given else {})


def with_following(parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """With those that are set along with these."""
    led = {name: parameters[leader] for name, leader in FOLLOWING.items() if leader in parameters}
    return led | dict(parameters)


def models_of(options: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The models that parsed options give to roles beside the coder's; several have commas between them."""
    given = {role: options[f"{role}_model"] for role in ROLES if role != CODER}
    return {role: names_in(text, FLAGS[f"{role}_model"]) for role, text in given.items() if text is not None}


def names_in(text: str, option: str) -> tuple[str, ...]:
    """Names with commas between them, as ``option`` gives them. Raises PlanError if there is none."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise PlanError(f"{option} is empty. Name at least one, or leave the option out.")
    return names


def _parameters() -> dict[str, Having]:
    found: dict[str, dict[str, Parameter]] = {}
    for strategy in STRATEGIES:
        for one in strategy_form(strategy).parameters:
            found.setdefault(one.name, {})[strategy] = one
    return dict(found)


def _option(name: str, having: Having) -> Option:
    """``--name VALUE``; of a switch that is on wherever it is ``--no-name``, off ``--name``, else both."""
    one, shown = next(iter(having.values())), _dashed(name)
    of = "" if len(having) == len(STRATEGIES) else f" Of {', '.join(map(_known_as, having))}."
    if one.kind != "bool":
        also = "".join(
            f" Sets {_dashed(it)} too, unless that is given." for it, led_by in FOLLOWING.items() if led_by == name
        )
        said = f"{one.doc}{also}{of}  [default: {_default(having)}]"
        return click.option(name, f"--{shown}", type=_kind(one), metavar="|".join(one.choices) or None, help=said)
    on = [strategy for strategy, it in having.items() if it.default]
    if len(on) == len(having):
        return click.option(
            name, _flag(name, having), is_flag=True, default=None, callback=_off, help=f"Off: {one.doc}{of}"
        )
    if not on:
        return click.option(name, f"--{shown}", is_flag=True, default=None, help=one.doc + of)
    default = f"  [default: with {', '.join(map(_known_as, on))}]"
    return click.option(name, f"--{shown}/--no-{shown}", default=None, help=one.doc + of + default)


def _flag(name: str, having: Having) -> str:
    """How the option of a parameter is begun."""
    off = all(one.kind == "bool" and one.default for one in having.values())
    return f"--no-{_dashed(SHORTER.get(name, name))}" if off else f"--{_dashed(name)}"


def _off(_context: click.Context, _option: click.Parameter, given: bool | None) -> bool | None:
    return False if given else None


def _kind(one: Parameter) -> Whole | Number | None:
    if one.kind == "int":
        return Whole(one.least, one.most)
    return Number(one.least, one.most) if one.kind == "float" else None


def _default(having: Having) -> str:
    """What most strategies have, and which have something else."""
    values = {strategy: one.default for strategy, one in having.items()}
    ((usual, _),) = Counter(values.values()).most_common(1)
    others = [f"{_known_as(strategy)} {value}" for strategy, value in values.items() if value != usual]
    return "; ".join([str(usual) if usual != "" else "none", *others])


def _known_as(strategy: str) -> str:
    """The first name that a strategy is offered by."""
    return next((name for name in offered() if base_of(name) == strategy), strategy)


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _role_option(role: str, default: str) -> Option:
    """``--role``; where that is a switch, ``--role-model``."""
    older = (OLDER[role],) if role in OLDER else ()
    together = ", ".join(sorted(TOGETHER))
    more = f"One or more, each in configurations of its own; {together} take all of them." if role == CODER else ""
    said = " ".join(part for part in (OF_ROLES.get(role, ""), more, f" [default: {default}]") if part)
    return click.option(f"{role}_model", _role_flag(role), *older, help=said)


def _role_flag(role: str) -> str:
    taken = {_flag(name, having) for name, having in _PARAMETERS.items()}
    return f"--{role}-model" if f"--{role}" in taken else f"--{role}"


_PARAMETERS = _parameters()
PARAMETER_OPTIONS: Options = tuple(_option(name, having) for name, having in _PARAMETERS.items())


def role_options(coder: str) -> Options:
    """The options of all roles, the coder's first. ``coder``: its model where none is given."""
    others = (_role_option(role, "the coder") for role in ROLES if role != CODER)
    return (_role_option(CODER, coder), *others)


FLAGS: Mapping[str, str] = {
    **{f"{role}_model": _role_flag(role) for role in ROLES},
    **{name: _flag(name, having) for name, having in _PARAMETERS.items()},
}
"""What these options are called among those that were parsed, and by a person."""
