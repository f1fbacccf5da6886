"""Configurations and orders as text: parse what a person types on a command line, and write it again."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from koderz_core.datasets.variants import parted
from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.input_files import expand_home, read_text
from koderz_core.plan.ablations import ABLATIONS, ALL, ablations, is_ablated, with_ablations
from koderz_core.plan.forms import Kind, StrategyForm, strategy_form
from koderz_core.plan.order import Order, Wanted, as_list
from koderz_core.plan.presets import Preset
from koderz_core.plan.registration import RegistrationOrder
from koderz_core.plan.requirements import searches
from koderz_core.prompts.debating import check
from koderz_core.records import Scalar
from koderz_core.strategies import base_of, create, recorded
from koderz_core.strategies.outside import is_named_file, loaded, read_file
from koderz_core.strategies.parameters import EFFORT, is_override

SUPERVISED = "supervised"
DEBATE = "debate"
POLICIES = ("gate", "feedback")
FORM = "Write a configuration like 'supervised coder=gpt-oss:20b reviewer=gpt-4o max_iterations=10 spec=false'."
SWITCH = {"true": True, "false": False}


def configuration_of(text: str) -> Wanted:
    """Parse a configuration: a strategy, followed by its roles and parameters as ``key=value``.

    Several models of a role are separated by commas. ``spec`` is a role and a switch: with the value ``true`` or
    ``false``, in upper or lower case, it is the switch. ``critic.temperature=0.3`` overrides the sampling of that role.
    Quotes work as in a shell. A strategy may be a class in a file, such as ``mine.py:Mine``; koderz executes this file.

    Raises UnknownNameError and PlanError, whose messages name the invalid word.
    """
    first, *words = _split(text)
    strategy = strategy_named(first)
    form = strategy_form(strategy)
    models: dict[str, tuple[str, ...]] = {}
    policies: dict[str, str] = {}
    parameters: dict[str, Scalar] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise PlanError(f"{word!r} in {text!r} is not of the form key=value. {FORM}")
        if key in POLICIES:
            if key in policies:
                raise PlanError(f"{key} is given twice in {text!r}. {FORM}")
            policies[key] = value
            continue
        for_role = _means_models(form, key, value)
        if key in (models if for_role else parameters):
            raise PlanError(f"{key} is given twice in {text!r}. {FORM}")
        if for_role:
            models[key] = _names(word, value)
        else:
            parameters[key] = _value(form, word, key, value)
    wanted = Wanted(strategy, models, parameters, **policies)
    if ignored := models.keys() - set(create(strategy, parameters).roles()):
        role = min(ignored)
        raise PlanError(
            f"The configuration {text!r} never uses the role {role}, so the model for this role would be ignored. Omit "
            "the role."
        )
    return wanted


def strategy_named(text: str) -> str:
    """Return the name of a strategy: the text, or the recorded name of a class in a file. Raises PlanError."""
    return read_file(text).name if is_named_file(text) else text


def personas_named(text: str) -> str:
    """Return the personas: the content of the file that the text names, else the text, which has a colon then.

    Raises DataError for a file that cannot be read, PlanError for a file without personas.
    """
    if not text.strip() or "\n" in text or (":" in text and not text.endswith((".yaml", ".yml"))):
        return text
    personas = read_text(expand_home(text), "Give the path of a YAML file with personas.")
    check(personas, f"The personas in {text}")
    return personas


def words_of(wanted: Wanted) -> str:
    """Return the text that ``configuration_of`` parses as this configuration, without roles that it never asks.

    Raises UnknownNameError and PlanError for an unknown strategy or parameter, PlanError for the name of a model that
    would be parsed as something else.
    """
    asked = create(wanted.strategy, wanted.parameters).roles()
    switches = {parameter.name for parameter in strategy_form(wanted.strategy).parameters}
    roles = {role: _listed(wanted.models.get(role, ()), also_switch=role in switches) for role in asked}
    words = [
        _strategy(wanted.strategy),
        *(f"{role}={','.join(names)}" for role, names in roles.items() if names),
        *(
            f"{name}={str(value).lower() if isinstance(value, bool) else value}"
            for name, value in wanted.parameters.items()
        ),
        *(f"{name}={value}" for name, value in _policies(wanted).items()),
    ]
    return shlex.join(words)


def command_of(
    order: Order,
    dataset: str = "humaneval",
    concurrency: int | None = None,
    *,
    baselines: bool = False,
    preset: Preset | None = None,
) -> str:
    """Return the command line for the same benchmark under the same settings, without default values.

    ``baselines``: whether koderz adds the baselines that the order lacks. ``preset``: the command names it if the order
    has its configurations. Raises UnknownNameError and PlanError for an unknown strategy or parameter.
    """
    words = ["koderz", "benchmark"]
    wholes, ablated = _without_ablations(order.configurations)
    base, variant = parted(dataset)
    named = preset if preset and same_configurations(wholes, preset.configurations) else None
    words += ["--preset", named.name] if named else []
    words += [] if named and order.problems == named.problems else ["--problems", order.problems]
    for wanted in () if named else wholes:
        words += ["--configuration", words_of(_without_defaults(wanted))]
    optional: dict[str, tuple[object, object]] = {
        "--ablate": (ablated, ""),
        "--dataset": (base, "humaneval"),
        "--variant": (variant, ""),
        "--seed": (order.seed, 0),
        "--repeats": (order.repeats, 1),
        "--name": (order.name, ""),
        "--max-cost": (order.budget.usd, None),
        "--max-cost-per-experiment": (order.budget.per_experiment_usd, None),
        "--concurrency": (concurrency, None),
        **_of_registration(order.registration),
    }
    for option, (value, default) in optional.items():
        if value != default:
            words += [option, str(value)]
    return shlex.join([*words, *_switches(order, baselines)])


def _switches(order: Order, baselines: bool) -> Iterator[str]:
    if order.budget.allow_unpriced:
        yield "--allow-unpriced"
    if any(searches(wanted.parameters) for wanted in order.configurations):
        yield "--allow-search"
    if order.registration is not None:
        yield "--register"
    if not baselines and any(base_of(wanted.strategy) == SUPERVISED for wanted in order.configurations):
        yield "--no-baselines"


def _of_registration(order: RegistrationOrder | None) -> dict[str, tuple[object, object]]:
    """The options of a registration with their values and defaults."""
    if order is None:
        return {}
    usual = RegistrationOrder()
    return {
        "--primary": (order.primary and ",".join(order.primary), None),
        "--margin": (f"{100 * order.margin:g}", f"{100 * usual.margin:g}"),
        "--stopping": (order.stopping, usual.stopping),
        "--exclusions": (order.exclusions, ""),
    }


def _without_ablations(configurations: Sequence[Wanted]) -> tuple[Sequence[Wanted], str]:
    """The configurations that are not ablations, and the value of ``--ablate`` that adds these.

    If no value adds exactly the others, all configurations and an empty value.
    """
    keys = _keys(configurations)
    grids = {
        place: _keys(ablations(wanted))
        for place, wanted in enumerate(configurations[:-1])
        if is_ablated(wanted.strategy)
    }
    wholes = [
        wanted
        for place, wanted in enumerate(configurations)
        if not any(keys[place] in grids[earlier] for earlier in grids if earlier < place)
    ]
    if len(wholes) == len(configurations):
        return configurations, ""
    ablated = [whole for whole in wholes if is_ablated(whole.strategy)]
    added = {name: _keys(ablation for whole in ablated for ablation in ablations(whole, [name])) for name in ABLATIONS}
    some = [name for name, grid in added.items() if grid and all(key in keys for key in grid)]
    for option, names in ((ALL, list(ABLATIONS)), (",".join(some), some)):
        grid = with_ablations([(whole, names if whole in ablated else ()) for whole in wholes])
        if _keys(grid) == keys:
            return wholes, option
    return configurations, ""


def same_configurations(first: Sequence[Wanted], second: Sequence[Wanted]) -> bool:
    """Whether two lists contain the same configurations in the same order. Raises UnknownNameError, PlanError."""
    return _keys(first) == _keys(second)


def _keys(configurations: Iterable[Wanted]) -> list[object]:
    """A key of each configuration, equal for texts that mean the same configuration."""
    return [_key(wanted) for wanted in configurations]


def _key(wanted: Wanted) -> object:
    parameters = recorded(wanted.strategy, wanted.parameters)
    roles, coder = create(base_of(wanted.strategy), parameters).roles(), as_list(wanted.models.get("coder", ()))
    models = [as_list(wanted.models.get(role, ())) or coder[:1] for role in roles]
    return base_of(wanted.strategy), parameters, models, wanted.gate, wanted.feedback


def _strategy(name: str) -> str:
    """The text that ``strategy_named`` parses as this strategy."""
    file = loaded(name)
    return f"{file.path}:{file.strategy.__name__}" if file else name


def _split(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise PlanError(f"The configuration {text!r} cannot be parsed: {error}. {FORM}") from error
    if not words:
        raise PlanError(f"The configuration is empty. {FORM}")
    return words


def _means_models(form: StrategyForm, key: str, value: str) -> bool:
    parameters, roles = {parameter.name for parameter in form.parameters}, {role.name for role in form.roles}
    if is_override(key):
        return False
    if key not in parameters and key not in roles:
        raise UnknownNameError(f"role or parameter of {form.name}", key, parameters | roles)
    return key in roles and not (key in parameters and value.strip().lower() in SWITCH)


def _names(word: str, value: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in value.split(","))
    if not all(names):
        raise PlanError(f"{word!r} contains an empty model name. {FORM}")
    return names


def _value(form: StrategyForm, word: str, key: str, text: str) -> Scalar:
    """The value of a parameter, of the same kind as its default, or of an override of a role's sampling."""
    of_sampling: Kind = _OF_SAMPLING.get(key.partition(".")[2], "float")
    kind = next((parameter.kind for parameter in form.parameters if parameter.name == key), of_sampling)
    parse, expected = _PARSERS[kind]
    try:
        return personas_named(text) if key == "personas" and form.name == DEBATE else parse(text)
    except (KeyError, ValueError):
        raise PlanError(f"{word!r}: {key} of {form.name} must be {expected}.") from None


_OF_SAMPLING: Mapping[str, Kind] = {"max_tokens": "int", EFFORT: "str"}
_PARSERS: Mapping[str, tuple[Callable[[str], Scalar], str]] = {
    "bool": (lambda text: SWITCH[text.strip().lower()], "true or false"),
    "int": (int, "a whole number"),
    "float": (float, "a number"),
    "str": (str, "a text"),
}


def _policies(wanted: Wanted) -> Mapping[str, str]:
    """The gate and the feedback, if they differ from their defaults."""
    default = Wanted("", {})
    return {name: value for name in POLICIES if (value := getattr(wanted, name)) != getattr(default, name)}


def _listed(names: str | Sequence[str], *, also_switch: bool) -> Sequence[str]:
    listed = as_list(names)
    for name in listed:
        if "," in name:
            raise PlanError(f"{name!r} cannot be the name of one model, because commas separate model names.")
        if not name or name != name.strip():
            raise PlanError(f"{name!r} cannot be the name of a model: it is empty or has spaces around it.")
        if also_switch and name.lower() in SWITCH:
            raise PlanError(
                f"{name!r} cannot be the name of a model in this role, because true and false switch the role "
                "on and off."
            )
    return listed


def _without_defaults(wanted: Wanted) -> Wanted:
    defaults = {parameter.name: parameter.default for parameter in strategy_form(wanted.strategy).parameters}
    return replace(
        wanted, parameters={name: value for name, value in wanted.parameters.items() if value != defaults.get(name)}
    )
