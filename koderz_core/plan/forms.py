"""The choices of a person: the roles and parameters of each strategy, read from its class.

The descriptions of strategies are the same in the terminal, on the page New run and in the documentation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import Field, dataclass, fields
from typing import Any, Literal

from koderz_core.errors import PlanError
from koderz_core.plan.ablations import ABLATIONS, is_ablated
from koderz_core.records import Scalar
from koderz_core.strategies import PRESETS, STRATEGIES, class_of, complete, create, doc_of, facts_of, offered
from koderz_core.strategies.facts import ROLES
from koderz_core.strategies.outside import installed
from koderz_core.strategies.parameters import MOST, Group, bounds_of, choices_of, describe, meaning_of

Kind = Literal["bool", "int", "float", "str"]
_KINDS: dict[type, Kind] = {bool: "bool", int: "int", float: "float", str: "str"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a strategy; its values have the same ``kind`` as its ``default``.

    ``doc``: its effect, in one line; ``choices``: all allowed values, empty if other values are allowed. A number is at
    least ``least`` and at most ``most``. ``label``, ``group`` and ``needs`` as in ``Meaning``.
    """

    name: str
    default: Scalar
    kind: Kind
    doc: str
    choices: tuple[Scalar, ...] = ()
    least: int = 0
    most: int = MOST
    label: str = ""
    group: Group = "Loop"
    needs: str = ""

    def can_act(self, values: Mapping[str, Scalar]) -> bool:
        """Whether the parameter has an effect, given these values of all parameters of its strategy."""
        needed = values.get(self.needs, True)
        return needed > 1 if type(needed) is int else bool(needed)


@dataclass(frozen=True, slots=True)
class Role:
    """A role in a strategy. ``doc``: its task, in one line; ``several``: whether it accepts several models."""

    name: str
    doc: str
    several: bool = False


@dataclass(frozen=True, slots=True)
class StrategyForm:
    """A strategy as a form shows it. ``roles``: all roles that it may ask; ``asked``: the roles for given parameters.

    ``calls`` and ``source``: the number of calls of an experiment and the source of the strategy, in one sentence each.
    ``tested``: whether it runs gate tests, so that gate and feedback apply to it. ``ablations``: the names of its
    ablations.
    """

    name: str
    doc: str  # one line
    roles: tuple[Role, ...]
    parameters: tuple[Parameter, ...]
    tested: bool = True
    ablations: tuple[str, ...] = ()
    calls: str = ""
    source: str = ""

    def asked(self, parameters: Mapping[str, Scalar]) -> tuple[str, ...]:
        """Return the roles that the strategy asks with these parameters. Raises PlanError for an invalid value."""
        return create(self.name, parameters).roles()


def strategy_forms() -> tuple[StrategyForm, ...]:
    """Return the built-in strategies in the order in which they are shown, then the usable strategies of packages."""
    installed_names = [name for name, fault in faults_of_installed().items() if not fault]
    return tuple(strategy_form(name) for name in (*offered(), *installed_names))


def faults_of_installed() -> dict[str, str]:
    """Return the strategies of installed packages by name, each with the reason why it cannot be used, else ""."""
    return {name: next(_faults(name), "") for name in installed()}


def strategy_form(name: str) -> StrategyForm:
    """Return the form of a strategy or preset. Raises UnknownNameError."""
    defaults, described = complete(name, {}), describe(class_of(name))
    known = {field.name: field for field in fields(class_of(name))}
    parameters = tuple(_parameter(known[parameter], default) for parameter, default in defaults.items())
    ablations = tuple(ABLATIONS) if is_ablated(name) else ()
    facts = facts_of(name)
    roles = tuple(Role(role, ROLES[role].about, role in facts.several) for role in _roles(name, defaults))
    doc, tested = doc_of(name), facts.tests_programs
    return StrategyForm(name, doc, roles, parameters, tested, ablations, described.calls, described.source)


def _faults(name: str) -> Iterator[str]:
    if name in STRATEGIES or name in PRESETS:
        yield f"koderz ignores the installed strategy {name}, because a built-in strategy has the same name."
        return
    try:
        class_of(name)
    except PlanError as error:
        yield str(error)


def _parameter(field: Field[Any], default: Scalar) -> Parameter:
    kind, meaning = _KINDS[type(default)], meaning_of(field)
    least, most = bounds_of(field.name, field.default)
    return Parameter(
        field.name,
        default,
        kind,
        meaning.about,
        choices_of(field),
        least,
        most,
        meaning.label,
        meaning.group,
        meaning.needs,
    )


def _roles(name: str, defaults: dict[str, Scalar]) -> tuple[str, ...]:
    """All roles that the strategy may ask: a switch may add or remove a role, so each is set both ways."""
    switched: list[dict[str, Scalar]] = [
        {parameter: not default} for parameter, default in defaults.items() if isinstance(default, bool)
    ]
    asked = set(create(name, {}).roles())
    for parameters in switched:
        with suppress(PlanError):  # the strategy of another author may refuse this switch alone
            asked.update(create(name, parameters).roles())
    return tuple(role for role in ROLES if role in asked)


def value_text(value: Scalar) -> str:
    """Return a value of a parameter as a person types it in ``--configuration``; ``–`` for an empty text."""
    if value in ("", None):
        return "–"
    return str(value).lower() if isinstance(value, bool) else str(value)


def roles_of(form: StrategyForm) -> str:
    """Return the roles of a strategy; a star marks roles that accept several models."""
    return ", ".join(f"{role.name}*" if role.several else role.name for role in form.roles)


def calls_of(form: StrategyForm) -> str:
    """Return the number of calls of an experiment and the source of the strategy, if its author states them."""
    calls = f"Calls: {form.calls}" if form.calls else "The author of this strategy does not state the number of calls."
    return f"{calls} {form.source}".strip()


def values_of(parameter: Parameter) -> str:
    """Return the allowed values of a parameter: all of them, or its kind with its bounds."""
    if parameter.choices:
        return " or ".join(map(value_text, parameter.choices))
    if parameter.kind == "bool":
        return "true or false"
    if parameter.kind == "str":
        return "text"
    number = "whole number" if parameter.kind == "int" else "number"
    if parameter.least < 0:
        return number
    return f"{number}, {parameter.least}{' or more' if parameter.most >= MOST else f' to {parameter.most}'}"


def strategies_markdown(forms: Sequence[StrategyForm]) -> str:
    """Return the strategies as Markdown, one section each."""
    return "\n".join(line for form in forms for line in _section(form))


def _section(form: StrategyForm) -> Iterator[str]:
    yield from (f"### {form.name}", "", f"{form.doc} {calls_of(form)}", "")
    for role in form.roles:
        yield f"- {role.name}: {role.doc}{' One or more models.' if role.several else ''}"
    yield from ("", "| parameter | default | values | what it changes |", "|---|---|---|---|")
    for parameter in form.parameters:
        cells = (parameter.name, value_text(parameter.default), values_of(parameter), parameter.doc)
        yield f"| {' | '.join(cells)} |".replace("*", r"\*")
    yield ""
