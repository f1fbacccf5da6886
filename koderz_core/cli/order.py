"""The order that the parsed options of a benchmark make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from koderz_core.cli.order_options import (
    CODER,
    DEFAULT_CODER,
    DEFAULT_STRATEGY,
    FEW,
    FLAGS,
    FOLLOWING,
    PARAMETERS,
    REPLACED,
)
from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.plan.ablations import ablations_named, is_ablated, with_ablations
from koderz_core.plan.command_line import POLICIES, SUPERVISED, configuration_of, personas_named, strategy_named
from koderz_core.plan.order import Order, Wanted
from koderz_core.plan.presets import Preset
from koderz_core.records import Budget, Plan, Scalar
from koderz_core.strategies import MODES, complete, create, facts_of
from koderz_core.strategies.facts import ROLES
from koderz_core.strategies.parameters import EFFORT
from koderz_core.workspace.datasets import in_period


def order(options: Mapping[str, Any], problems: str, repeats: int = 1, preset: Preset | None = None) -> Order:
    """The order that parsed options make: their configurations, those of a preset, or every strategy with every coder.

    An option that none of the strategies has is an error: ignored, it would make the user pay for a wrong experiment.
    """
    described: Sequence[str] = options["configuration"]
    _check_choice(options, preset)
    bases = _of_preset(options, preset) if preset else [] if described else _of_strategies(options)
    configurations = [configuration_of(text) for text in described] if described else _combined(options, bases)
    replaced = [flag for name, flag in REPLACED.items() if options[name] is not None]
    if described and replaced:
        raise PlanError(
            f"--configuration cannot be combined with {', '.join(replaced)}. Put all values into the text of "
            "--configuration."
        )
    if options["ablate"] is not None:
        configurations = _ablated(configurations, options["ablate"])
    budget = Budget(options["max_cost"], options["max_cost_per_experiment"], options["allow_unpriced"])
    order = Order(configurations, problems, options["seed"], repeats, options["name"], budget)
    return replace(order, allow_search=options["allow_search"])


def problems_in(options: Mapping[str, Any], preset: Preset | None) -> str:
    """The problems that options name, else those of the preset, else the first ten."""
    start, end = options["start"], options["end"]
    if options["problems"] is not None:
        chosen = str(options["problems"])
    elif preset and start is None and end is None:
        chosen = preset.problems
    else:
        chosen = f"{start or 0}:{FEW if end is None else end}"
    return in_period(chosen, options["since"], options["until"])


def _ablated(configurations: Sequence[Wanted], text: str) -> list[Wanted]:
    """The configurations and their ablations that a text names. Raises PlanError if there is none."""
    names = ablations_named(text)
    grid = with_ablations(
        [(configuration, names if is_ablated(configuration.strategy) else ()) for configuration in configurations]
    )
    if len(grid) == len(configurations):
        raise PlanError(
            f"--ablate {text} has no effect: no chosen configuration has a part that this option would remove or "
            "change. Only the strategies supervised and repair have such parts. Omit the option, or choose another "
            "ablation or configuration."
        )
    return grid


def with_budget(plan: Plan, options: Mapping[str, Any]) -> Plan:
    """A recorded plan with the budget that options set; the rest stays as recorded."""
    usd = plan.budget.usd if options["max_cost"] is None else options["max_cost"]
    allow_unpriced = plan.budget.allow_unpriced or options["allow_unpriced"]
    return replace(plan, budget=replace(plan.budget, usd=usd, allow_unpriced=allow_unpriced))


def _check_choice(options: Mapping[str, Any], preset: Preset | None) -> None:
    """Raise PlanError for options that choose the strategies in place of a preset."""
    choosing = [f"--{name}" for name in ("strategy", "mode", "configuration") if options[name] not in (None, ())]
    if preset and choosing:
        raise PlanError(
            f"--preset {preset.name} already chooses the strategies. Omit {', '.join(choosing)}, or omit --preset."
        )


def _of_preset(options: Mapping[str, Any], preset: Preset) -> list[Wanted]:
    """The configurations of a preset, each with every coder that options name."""
    named, flag = options[f"{CODER}_model"], FLAGS[f"{CODER}_model"]
    coders = [] if named is None else [{CODER: coder} for coder in names_in(named, flag)]
    return [
        replace(wanted, models={**wanted.models, **coder})
        for coder in coders or [{}]
        for wanted in preset.configurations
    ]


def _of_strategies(options: Mapping[str, Any]) -> list[Wanted]:
    """Every strategy with every coder, or with all coders together if it uses several."""
    named = options[f"{CODER}_model"]
    coders = names_in(DEFAULT_CODER if named is None else named, FLAGS[f"{CODER}_model"])
    return [Wanted(strategy, {CODER: coder}) for strategy, coder in _with_coders(_strategies(options), coders)]


def _combined(options: Mapping[str, Any], bases: Sequence[Wanted]) -> list[Wanted]:
    """The configurations with the models and parameters that options set; if tested, with every policy."""
    models, parameters = models_of(options), parameters_of(options)
    strategies = [base.strategy for base in bases]
    known = {name for strategy in strategies for name in complete(strategy, {})}
    if "checkpoints" not in known and parameters.get("checkpoints") is False:
        del parameters["checkpoints"]  # without reviews there is nothing to leave out, as for --mode zero-shot
    for parameter in parameters.keys() - known:
        raise UnknownNameError(f"parameter of {', '.join(dict.fromkeys(strategies))}", parameter, known)
    policies = _policies(strategies, options)
    configurations = [
        replace(
            base,
            models={**base.models, **models},
            parameters={**base.parameters, **_own(base.strategy, parameters), **effort},
            **policy,
        )
        for base in bases
        for effort in _efforts(options)
        for policy in (policies if facts_of(base.strategy).tests_programs else [{}])
    ]
    used = {
        role
        for configuration in configurations
        for role in create(configuration.strategy, configuration.parameters).roles()
    }
    for role in models.keys() - used:
        raise PlanError(f"No chosen strategy uses the role {role}. Omit the option for the model of this role.")
    return configurations


def _efforts(options: Mapping[str, Any]) -> list[dict[str, Scalar]]:
    """The override of the coder's effort, for each effort that options name."""
    if options[EFFORT] is None:
        return [{}]
    return [{f"{CODER}.{EFFORT}": effort} for effort in names_in(options[EFFORT], f"--{EFFORT}")]


def _with_coders(strategies: Sequence[str], coders: Sequence[str]) -> list[tuple[str, str | tuple[str, ...]]]:
    """Each strategy with each coder, then the strategies that use all coders together."""
    together = [strategy for strategy in strategies if facts_of(strategy).takes_all_coders]
    each = [(strategy, coder) for coder in coders for strategy in strategies if strategy not in together]
    return [*each, *((strategy, tuple(coders)) for strategy in together)]


def _strategies(options: Mapping[str, Any]) -> list[str]:
    """The strategies that options or a mode name. Raises PlanError for both."""
    strategy, mode = options["strategy"], options["mode"]
    if strategy is not None and mode is not None:
        raise PlanError(
            f"--mode {mode} is shorthand for --strategy {','.join(MODES[mode])}. Use only one of these options."
        )
    if mode:
        return [*MODES[mode]]
    if strategy is None:
        return [SUPERVISED if implying(options) else DEFAULT_STRATEGY]
    return [strategy_named(name) for name in names_in(strategy, "--strategy")]


def names_no_strategy(options: Mapping[str, Any]) -> bool:
    """Whether no option chooses a strategy, so that koderz chooses it."""
    return not any(options.get(name) for name in ("strategy", "mode", "configuration", "preset"))


def about_strategy(options: Mapping[str, Any], *, alone: bool = False) -> Iterator[str]:
    """A sentence about the strategy that koderz chose; about the usual one only if ``alone``, as for `koderz run`."""
    flags = implying(options)
    if flags:
        yield (
            f"koderz uses the strategy {SUPERVISED}, because you gave {', '.join(flags)} and no strategy. To choose "
            "another strategy, add --strategy or --mode."
        )
    elif alone and names_no_strategy(options):
        yield (
            f"Strategy {DEFAULT_STRATEGY}: the model answers once. To use a spec, reviews, and iterations with "
            "feedback, add --mode iterative."
        )


def implying(options: Mapping[str, Any]) -> list[str]:
    """The options that choose `supervised` if none names a strategy: those that `direct` does not have.

    In the original koderz, they had an effect without a further option.
    """
    if not names_no_strategy(options):
        return []
    usual = create(DEFAULT_STRATEGY, _own(DEFAULT_STRATEGY, parameters_of(options)))
    roles = {f"{role}_model" for role in create(SUPERVISED, {}).roles() if role not in usual.roles()}
    names = roles | (complete(SUPERVISED, {}).keys() - complete(DEFAULT_STRATEGY, {}).keys())
    return [flag for name, flag in FLAGS.items() if name in names and options[name] is not None]


def _policies(strategies: Sequence[str], options: Mapping[str, Any]) -> list[dict[str, str]]:
    """Every gate with every feedback. Raises PlanError if no strategy here would use them."""
    chosen = {name: names_in(options[name], f"--{name}") for name in POLICIES if options[name] is not None}
    if chosen and not any(facts_of(strategy).tests_programs for strategy in strategies):
        raise PlanError(
            f"None of the chosen strategies runs gate tests, so --{min(chosen)} would be ignored. Omit the option."
        )
    return [dict(zip(chosen, values, strict=True)) for values in product(*chosen.values())]


def _own(strategy: str, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The parameters that a strategy has, and those set together with them: an option may not apply to it."""
    following = {name: parameters[leader] for name, leader in FOLLOWING.items() if leader in parameters}
    known = complete(strategy, {})
    return {name: value for name, value in {**following, **parameters}.items() if name in known}


def settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that override a setting."""
    named = {name: options[name] for name in ("humaneval_path", "num_ctx", "timeout", "test_timeout")}
    named |= {"retries": options.get("max_retries")}
    named |= {name: options.get(name) for name in ("cortex_path", "cortex_db")}
    return named | {"cache": options.get("cache") or None}  # a resumed benchmark keeps what it was started with


def parameters_of(options: Mapping[str, Any]) -> dict[str, Scalar]:
    """The parameters that parsed options set; the others keep their defaults."""
    chosen = {name: options[name] for name in PARAMETERS if options[name] is not None}
    return chosen | ({"personas": personas_named(chosen["personas"])} if "personas" in chosen else {})


def models_of(options: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The models that parsed options give to the roles except the coder; several are separated by commas."""
    chosen = {role: options[f"{role}_model"] for role in ROLES if role != CODER}
    return {role: names_in(text, FLAGS[f"{role}_model"]) for role, text in chosen.items() if text is not None}


def names_in(text: str, option: str) -> tuple[str, ...]:
    """The names in the value of ``option``, separated by commas. Raises PlanError if there is none."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise PlanError(f"{option} is empty. Give at least one name, or omit the option.")
    return names
