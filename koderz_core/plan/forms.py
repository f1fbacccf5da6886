"""What a person can choose in each strategy: its roles and parameters, read off the strategy itself."""

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
    """One thing that a strategy lets a person set; its values are of ``kind``, as ``default`` is.

    ``doc``: what it changes, in one line; ``choices``: all the values there are, none if that is open. A number is at
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
    """A part in a strategy. ``doc``: what it does, in one line; ``several``: all models that it has are asked."""

    name: str
    doc: str
    several: bool = False


@dataclass(frozen=True, slots=True)
class StrategyForm:
    """A strategy as a form shows it. ``roles``: all that it may ask; ``asked`` tells which under some parameters.

    ``calls`` and ``source``: what an experiment costs in calls, and where the strategy comes from, in a sentence each.
    ``tested``: it runs gate tests, so that gate and feedback mean something to it. ``ablations``: the names of its own.
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
        """The roles that it asks with these parameters. Raises PlanError for a value out of place."""
        return create(self.name, parameters).roles()


def strategy_forms() -> tuple[StrategyForm, ...]:
    """Every strategy there is, in the order they are offered; then those of installed packages, but for broken ones."""
    theirs = [name for name, fault in faults_of_installed().items() if not fault]
    return tuple(strategy_form(name) for name in (*offered(), *theirs))


def faults_of_installed() -> dict[str, str]:
    """The strategies that installed packages offer, by name, with what keeps one from being used, else nothing."""
    return {name: next(_faults(name), "") for name in installed()}


def strategy_form(name: str) -> StrategyForm:
    """What can be chosen in one strategy or preset of one. Raises UnknownNameError."""
    defaults, described = complete(name, {}), describe(class_of(name))
    known = {field.name: field for field in fields(class_of(name))}
    parameters = tuple(_parameter(known[one], default) for one, default in defaults.items())
    ablations = tuple(ABLATIONS) if is_ablated(name) else ()
    facts = facts_of(name)
    roles = tuple(Role(role, ROLES[role].about, role in facts.several) for role in _roles(name, defaults))
    doc, tested = doc_of(name), facts.tests_programs
    return StrategyForm(name, doc, roles, parameters, tested, ablations, described.calls, described.source)


def _faults(name: str) -> Iterator[str]:
    if name in STRATEGIES or name in PRESETS:
        yield f"koderz has a strategy {name} of its own, so that of an installed package is passed over."
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
    """A switch may add a role or take one away, so each is tried in both positions."""
    tried: list[dict[str, Scalar]] = [{one: not value} for one, value in defaults.items() if isinstance(value, bool)]
    asked = {role for parameters in ({}, *tried) for role in create(name, parameters).roles()}
    return tuple(role for role in ROLES if role in asked)


@dataclass(frozen=True, slots=True)
class Preset:
    """A benchmark to start from; ``problems`` as in an order."""

    name: str
    title: str
    description: str
    configurations: tuple[Wanted, ...]
    problems: str


# These stand for models until it is known which are here; no model has such a name.
LOCAL, FAST, ANY = "local", "fast local", "local, else scripted"

BEST_EMBEDDED = ("embedded/qwen2.5-coder-1.5b", "embedded/qwen2.5-coder-0.5b")
SMALL = BEST_EMBEDDED[-1]
SCRIPTED = "scripted/weak"
OPUS, SONNET = "anthropic/claude-opus-4-5", "anthropic/claude-sonnet-5-5"

MODE_DESCRIPTIONS: Mapping[str, str] = {
    "zero-shot": "Each problem is answered once, untested.",
    "iterative": "A spec, up to 50 iterations, a review every 5: one model in every role, until you choose others.",
    "comparative": "Zero-shot and iterative on the same problems, side by side.",
}


def _of_mode(mode: str) -> Preset:
    """The strategies of a mode as they are by default."""
    wanted = tuple(Wanted(strategy, {"coder": ANY}) for strategy in MODES[mode])
    return Preset(mode, mode.capitalize(), MODE_DESCRIPTIONS[mode], wanted, "0:10")


_CATALOGUE = (
    Preset(
        "quick look",
        "Quick look",
        "3 problems, each answered once and solved in at most 3 iterations with a review after the second: minutes.",
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
        "gpt-oss:20b writes the spec, a local model the code, Claude Sonnet 5.5 reviews every 5 iterations.",
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
        "The best local model in every role: nothing is paid but electricity.",
        (Wanted("supervised", {"spec": LOCAL, "coder": LOCAL, "reviewer": LOCAL}, {"max_iterations": 50}),),
        "0:10",
    ),
    Preset(
        "maximum quality",
        "Maximum quality",
        "Claude Opus 4.5 writes the spec and reviews, a local model writes the code.",
        (Wanted("supervised", {"spec": OPUS, "coder": LOCAL, "reviewer": OPUS}, {"max_iterations": 50}),),
        "0:10",
    ),
    Preset(
        "maximum speed",
        "Maximum speed",
        "Small models, no spec, at most 4 iterations with one review by gpt-4o-mini in the middle.",
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
"""All presets by name; some of their models are still to be filled in."""


def presets(surveyed: Sequence[Availability]) -> tuple[Preset, ...]:
    """All presets with the local models that are ready, given what ``survey`` found."""
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
    mark = " SCRIPTED: no local model is ready, so a script answers." if SCRIPTED in used else ""
    return replace(preset, description=preset.description + mark, configurations=configurations)


def _best_local(surveyed: Sequence[Availability]) -> str | None:
    """Served for coding, then embedded for coding, then what else is served; a scripted model is none."""
    ready = [row.id for row in surveyed if row.ready and row.tier == "local" and not scripted([row.id])]
    return min(ready, key=_rank, default=None)


def _rank(model: str) -> int:
    if model in BEST_EMBEDDED:
        return 1 + BEST_EMBEDDED.index(model)
    if model.startswith("embedded/"):
        return 4
    return 0 if any(word in model.lower() for word in FOR_CODING) else 3
