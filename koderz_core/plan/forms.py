"""What a person can choose: the roles and parameters of each strategy, read from its class, and the presets.

The descriptions of strategies are the same in the terminal, on Launch and in the documentation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, fields, replace
from typing import Any, Literal

from koderz_core.errors import PlanError
from koderz_core.models.availability import FOR_CODING, Availability
from koderz_core.plan.ablations import ABLATIONS, is_ablated
from koderz_core.plan.order import Wanted
from koderz_core.records import Scalar
from koderz_core.records.plans import scripted
from koderz_core.strategies import MODES, PRESETS, STRATEGIES, class_of, complete, create, doc_of, facts_of, offered
from koderz_core.strategies.facts import ROLES
from koderz_core.strategies.outside import installed
from koderz_core.strategies.parameters import MOST, about, bounds_of, choices_of, describe

Kind = Literal["bool", "int", "float", "str"]
_KINDS: dict[type, Kind] = {bool: "bool", int: "int", float: "float", str: "str"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a strategy; its values have the same ``kind`` as its ``default``.

    ``doc``: what it changes, in one line; ``choices``: all values that it takes, empty if that is open. A number is at
    least ``least`` and at most ``most``.
    """

    name: str
    default: Scalar
    kind: Kind
    doc: str
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = MOST


@dataclass(frozen=True, slots=True)
class Role:
    """A role in a strategy. ``doc``: what it does, in one line; ``several``: it takes one or more models."""

    name: str
    doc: str
    several: bool = False


@dataclass(frozen=True, slots=True)
class StrategyForm:
    """A strategy as a form shows it. ``roles``: all roles that it may ask; ``asked``: those with given parameters.

    ``calls`` and ``source``: the number of calls of an experiment, and the source of the strategy, in a sentence each.
    ``tested``: it runs gate tests, so gate and feedback apply to it. ``ablations``: the names of its ablations.
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
        """The roles that the strategy asks with these parameters. Raises PlanError for an invalid value."""
        return create(self.name, parameters).roles()


def strategy_forms() -> tuple[StrategyForm, ...]:
    """Every strategy of koderz, in the order in which they are shown; then the usable ones of installed packages."""
    installed_names = [name for name, fault in faults_of_installed().items() if not fault]
    return tuple(strategy_form(name) for name in (*offered(), *installed_names))


def faults_of_installed() -> dict[str, str]:
    """The strategies of installed packages, by name, with the reason why a strategy cannot be used, else ""."""
    return {name: next(_faults(name), "") for name in installed()}


def strategy_form(name: str) -> StrategyForm:
    """The form of a strategy or preset. Raises UnknownNameError."""
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
    kind = _KINDS[type(default)]
    least, most = bounds_of(field.name, field.default)
    return Parameter(field.name, default, kind, about(field), choices_of(field), least, most)


def _roles(name: str, defaults: dict[str, Scalar]) -> tuple[str, ...]:
    """All roles that the strategy may ask: a switch may add or remove a role, so each is set both ways."""
    switched: list[dict[str, Scalar]] = [
        {parameter: not default} for parameter, default in defaults.items() if isinstance(default, bool)
    ]
    asked = {role for parameters in ({}, *switched) for role in create(name, parameters).roles()}
    return tuple(role for role in ROLES if role in asked)


def value_text(value: Scalar) -> str:
    """A value of a parameter, as a person types it in ``--configuration``; ``–`` for an empty text."""
    if value in ("", None):
        return "–"
    return str(value).lower() if isinstance(value, bool) else str(value)


def roles_of(form: StrategyForm) -> str:
    """The roles of a strategy; a star marks roles that take several models."""
    return ", ".join(f"{role.name}*" if role.several else role.name for role in form.roles)


def calls_of(form: StrategyForm) -> str:
    """The number of calls of an experiment, and the source of the strategy, if its author states them."""
    calls = f"Calls: {form.calls}" if form.calls else "The author of this strategy does not state the number of calls."
    return f"{calls} {form.source}".strip()


def values_of(parameter: Parameter) -> str:
    """The values that a parameter takes: its words, or its kind with its bounds."""
    if parameter.choices:
        return " or ".join(parameter.choices)
    if parameter.kind == "bool":
        return "true or false"
    if parameter.kind == "str":
        return "text"
    most = " or more" if parameter.most == MOST else f" to {parameter.most}"
    return f"{'whole number' if parameter.kind == 'int' else 'number'}, {parameter.least}{most}"


def strategies_markdown(forms: Sequence[StrategyForm]) -> str:
    """The strategies as Markdown, one section each."""
    return "\n".join(line for form in forms for line in _section(form))


def _section(form: StrategyForm) -> Iterator[str]:
    yield from (f"### {form.name}", "", f"{form.doc} {calls_of(form)}", "")
    for role in form.roles:
        yield f"- {role.name}: {role.doc}{' One or more models.' if role.several else ''}"
    yield from ("", "| parameter | default | values | what it changes |", "|---|---|---|---|")
    for parameter in form.parameters:
        yield f"| {parameter.name} | {value_text(parameter.default)} | {values_of(parameter)} | {parameter.doc} |"
    yield ""


@dataclass(frozen=True, slots=True)
class Preset:
    """A benchmark to start from; ``problems`` as in an order."""

    name: str
    title: str
    description: str
    configurations: tuple[Wanted, ...]
    problems: str


# Placeholders for models of this machine, which are filled in by ``presets``; no model has such a name.
LOCAL, FAST, ANY = "local", "fast local", "local, else scripted"

BEST_EMBEDDED = ("embedded/qwen2.5-coder-1.5b", "embedded/qwen2.5-coder-0.5b")
SMALL = BEST_EMBEDDED[-1]
SCRIPTED = "scripted/weak"
OPUS, SONNET = "anthropic/claude-opus-4-5", "anthropic/claude-sonnet-5-5"

MODE_DESCRIPTIONS: Mapping[str, str] = {
    "zero-shot": "One answer per problem, submitted without testing.",
    "iterative": "A spec, up to 50 iterations and a review every 5 iterations. By default, one model takes every role.",
    "comparative": "The modes zero-shot and iterative on the same problems.",
}


def _of_mode(mode: str) -> Preset:
    """The strategies of a mode with their defaults."""
    wanted = tuple(Wanted(strategy, {"coder": ANY}) for strategy in MODES[mode])
    return Preset(mode, mode.capitalize(), MODE_DESCRIPTIONS[mode], wanted, "0:10")


_CATALOGUE = (
    Preset(
        "quick look",
        "Quick look",
        "Runs the strategies direct and supervised (at most 3 iterations) on the same 3 problems. Takes a few minutes.",
        (
            Wanted("direct", {"coder": ANY}),
            Wanted(
                "supervised",
                {"spec": ANY, "coder": ANY, "reviewer": ANY},
                {"max_iterations": 3, "checkpoint_interval": 2},
            ),
        ),
        "0:3",
    ),
    Preset(
        "default",
        "Default",
        "gpt-oss:20b writes the spec, a local model writes the code, and Claude Sonnet 5.5 writes a review every 5 "
        "iterations.",
        (
            Wanted(
                "supervised",
                {"spec": "ollama/gpt-oss:20b", "coder": LOCAL, "reviewer": SONNET},
                {"max_iterations": 50, "checkpoint_interval": 5},
            ),
        ),
        "0:10",
    ),
    Preset(
        "all free",
        "All free",
        "The best local model in every role. The only cost is electricity.",
        (Wanted("supervised", {"spec": LOCAL, "coder": LOCAL, "reviewer": LOCAL}, {"max_iterations": 50}),),
        "0:10",
    ),
    Preset(
        "maximum quality",
        "Maximum quality",
        "Claude Opus 4.5 writes the spec and the reviews, and a local model writes the code.",
        (Wanted("supervised", {"spec": OPUS, "coder": LOCAL, "reviewer": OPUS}, {"max_iterations": 50}),),
        "0:10",
    ),
    Preset(
        "maximum speed",
        "Maximum speed",
        "Small models, no spec and at most 4 iterations. gpt-4o-mini writes one review after the second iteration.",
        (
            Wanted(
                "supervised",
                {"coder": FAST, "reviewer": "openai/gpt-4o-mini"},
                {"max_iterations": 4, "checkpoint_interval": 2, "spec": False},
            ),
        ),
        "0:10",
    ),
    *map(_of_mode, MODES),
)
CATALOGUE: Mapping[str, Preset] = {preset.name: preset for preset in _CATALOGUE}
"""All presets by name, with placeholders for models of this machine."""


def presets(surveyed: Sequence[Availability]) -> tuple[Preset, ...]:
    """All presets, filled with the local models that are ready by the result of ``survey``."""
    best = _best_local(surveyed)
    small = any(row.id == SMALL and row.ready for row in surveyed)
    names = {LOCAL: best or SMALL, FAST: SMALL if small else best or SMALL, ANY: best or SCRIPTED}
    return tuple(_filled(preset, names) for preset in CATALOGUE.values())


def _filled(preset: Preset, names: Mapping[str, str]) -> Preset:
    configurations = tuple(
        replace(wanted, models={role: names.get(str(model), str(model)) for role, model in wanted.models.items()})
        for wanted in preset.configurations
    )
    used = {model for wanted in configurations for model in wanted.models.values()}
    mark = " SCRIPTED: a scripted model answers, because no local model is ready." if SCRIPTED in used else ""
    return replace(preset, description=preset.description + mark, configurations=configurations)


def _best_local(surveyed: Sequence[Availability]) -> str | None:
    """The best local model: served for coding, then embedded for coding, then other served models; never a script."""
    ready = [row.id for row in surveyed if row.ready and row.tier == "local" and not scripted([row.id])]
    return min(ready, key=_rank, default=None)


def _rank(model: str) -> int:
    if model in BEST_EMBEDDED:
        return 1 + BEST_EMBEDDED.index(model)
    if model.startswith("embedded/"):
        return 4
    return 0 if any(word in model.lower() for word in FOR_CODING) else 3
