"""Options that describe a benchmark, some generated from the strategies, and the order that they make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from koderz_core.cli.numbers import Number, Whole
from koderz_core.cli.options import Command
from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.grading.visible import FEEDBACKS
from koderz_core.records import Budget, Plan, Scalar
from koderz_core.runner.ablations import ABLATIONS, ALL, ablations_named, is_ablated, with_ablations
from koderz_core.runner.forms import Parameter, strategy_form
from koderz_core.runner.planning import MOST_SEEDS, Order, Wanted
from koderz_core.runner.wording import POLICIES, configuration_of, personas_named, strategy_named
from koderz_core.strategies import MODES, PRESETS, STRATEGIES, base_of, complete, create, facts_of, offered
from koderz_core.strategies.facts import ROLES

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
    together = ", ".join(name for name in sorted((*STRATEGIES, *PRESETS)) if facts_of(name).takes_all_coders)
    more = f"One or more, each in configurations of its own; {together} take all of them." if role == CODER else ""
    said = " ".join(part for part in (ROLES[role].about, more, f" [default: {default}]") if part)
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

DEFAULT_STRATEGY = "direct"
DEFAULT_CODER = "embedded/qwen2.5-coder-0.5b"
REPLACED: Mapping[str, str] = {
    **{name: f"--{name}" for name in ("strategy", "mode", "gate", "feedback")},
    **FLAGS,
}
"""The options that ``--configuration`` takes the place of, as parsed and as typed."""

_SETTINGS: Options = (
    click.option("--humaneval-path", type=click.Path(path_type=Path), help="A HumanEval file of your own."),
    click.option("--num-ctx", type=Whole(1), help="Context of embedded and Ollama models, in tokens."),
    click.option(
        "--timeout", type=Number(0), help="Seconds one request may take; of an embedded model, until its next word."
    ),
    click.option(
        "--test-timeout",
        type=Number(0),
        help="Seconds one program may take on its tests.  [default: 4 times the canonical solution's, at least 4]",
    ),
    click.option(
        "--concurrency",
        type=Whole(1, 256),
        help="Concurrency.  [default: 1 with embedded models, else 4; of `koderz resume`: as last allowed]",
    ),
)
_BUDGET: Options = (
    click.option(
        "--max-cost",
        type=Number(0),
        help="Most US dollars it may cost in all; what is left then has no result.",
    ),
    click.option(
        "--allow-unpriced", is_flag=True, help="Under a budget also ask models without a price: they count as $0."
    ),
)
_TAKING_UP: Options = (
    click.option(
        "--retry-errors", is_flag=True, help="Run again what ended as error; until it has ended anew that stands."
    ),
    click.option(
        "--fork", is_flag=True, help="Start anew under another name, after a change; what is recorded stays as it is."
    ),
)
_ORDER: Options = (
    click.option(
        "--strategy",
        help=f"One or more of {', '.join(offered())}, of installed packages, or of your own as FILE.py:NAME, which is "
        f"executed; `koderz strategies` explains them.  [default: {DEFAULT_STRATEGY}]",
    ),
    click.option(
        "--mode", type=click.Choice([*MODES]), help="Shorthand for --strategy: direct, supervised, or both of them."
    ),
    *role_options(DEFAULT_CODER),
    *PARAMETER_OPTIONS,
    click.option(
        "--gate", help="What a loop runs and stops on; one or more of tests, examples, split:0.5.  [default: tests]"
    ),
    click.option(
        "--feedback", help=f"What it is told of failures; one or more of {', '.join(FEEDBACKS)}.  [default: full]"
    ),
    click.option(
        "--configuration",
        multiple=True,
        help="Instead of --strategy to --feedback, once or more: 'supervised coder=gpt-oss:20b max_iterations=10'.",
    ),
    click.option(
        "--ablate", help=f"Also supervised without a part of it: {ALL}, or one or more of {', '.join(ABLATIONS)}."
    ),
    click.option("--seed", type=Whole(0, MOST_SEEDS - 1), default=0, show_default=True, help="Root of all randomness."),
    click.option("--dataset", default="humaneval", show_default=True, help="A name, or the path of your own .jsonl."),
    *_SETTINGS,
    *_BUDGET,
    click.option(
        "--max-cost-per-experiment",
        type=Number(0),
        help="Most US dollars one experiment may cost; its best program by then counts.",
    ),
    click.option(
        "--name",
        default="",
        help="Tells benchmarks of the same kind apart; what is new to the one of that name extends it.",
    ),
    *_TAKING_UP,
)


def order_options(command: Command) -> Command:
    """All options that describe what is to be run."""
    return _with(_ORDER, command)


def taking_up_options(command: Command) -> Command:
    """The options under which what was recorded goes on."""
    return _with((*_SETTINGS, *_BUDGET, *_TAKING_UP), command)


def _with(options: Options, command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def order(options: Mapping[str, Any], problems: str, repeats: int = 1) -> Order:
    """The order that parsed options come to: these configurations, or every strategy with every coder.

    An option that none of the strategies has is an error: it would be ignored otherwise, at somebody's expense.
    """
    described: Sequence[str] = options["configuration"]
    configurations = [configuration_of(text) for text in described] if described else _combined(options)
    given = [flag for name, flag in REPLACED.items() if options[name] is not None]
    if described and given:
        raise PlanError(f"--configuration replaces {', '.join(given)}: write that into the configuration instead.")
    if options["ablate"] is not None:
        configurations = _ablated(configurations, options["ablate"])
    budget = Budget(options["max_cost"], options["max_cost_per_experiment"], options["allow_unpriced"])
    return Order(configurations, problems, options["seed"], repeats, options["name"], budget)


def _ablated(configurations: Sequence[Wanted], text: str) -> list[Wanted]:
    """With the ablations that a text names. Raises PlanError if that changes nothing."""
    names = ablations_named(text)
    grid = with_ablations([(one, names if is_ablated(one.strategy) else ()) for one in configurations])
    if len(grid) == len(configurations):
        raise PlanError(
            f"--ablate {text} changes nothing here: an ablation takes from supervised a part that it has. Leave it "
            "out, or choose another ablation or configuration."
        )
    return grid


def with_budget(plan: Plan, options: Mapping[str, Any]) -> Plan:
    """A recorded plan under the budget that options give; what they leave open stays as recorded."""
    usd = plan.budget.usd if options["max_cost"] is None else options["max_cost"]
    allow_unpriced = plan.budget.allow_unpriced or options["allow_unpriced"]
    return replace(plan, budget=replace(plan.budget, usd=usd, allow_unpriced=allow_unpriced))


def _combined(options: Mapping[str, Any]) -> list[Wanted]:
    """Every strategy with every coder, or with all of them where it is about several; if tested, with every policy."""
    named = options[f"{CODER}_model"]
    given, coders = models_of(options), names_in(DEFAULT_CODER if named is None else named, FLAGS[f"{CODER}_model"])
    strategies, parameters = _strategies(options), parameters_of(options)
    known = {name for strategy in strategies for name in complete(strategy, {})}
    for parameter in parameters.keys() - known:
        raise UnknownNameError(f"parameter of {', '.join(strategies)}", parameter, known)
    policies = _policies(strategies, options)
    configurations = [
        Wanted(strategy, {CODER: coder, **given}, _of(strategy, with_following(parameters)), **policy)
        for strategy, coder in _with_coders(strategies, coders)
        for policy in (policies if facts_of(strategy).tests_programs else [{}])
    ]
    asked = {role for one in configurations for role in create(one.strategy, one.parameters).roles()}
    for role in given.keys() - asked:
        raise PlanError(f"No strategy here asks a {role}, so its model would be ignored. Leave the option out.")
    return configurations


def _with_coders(strategies: Sequence[str], coders: Sequence[str]) -> list[tuple[str, str | tuple[str, ...]]]:
    """Each strategy with what it has as its coder; what is about several coders comes after what is about one."""
    together = [strategy for strategy in strategies if facts_of(strategy).takes_all_coders]
    each = [(strategy, coder) for coder in coders for strategy in strategies if strategy not in together]
    return [*each, *((strategy, tuple(coders)) for strategy in together)]


def _strategies(options: Mapping[str, Any]) -> list[str]:
    """Those that are named, or that a mode means. Raises PlanError for both."""
    strategy, mode = options["strategy"], options["mode"]
    if strategy is not None and mode is not None:
        raise PlanError(f"--mode {mode} is shorthand for --strategy {','.join(MODES[mode])}: give only one of the two.")
    if mode:
        return [*MODES[mode]]
    return [strategy_named(one) for one in names_in(DEFAULT_STRATEGY if strategy is None else strategy, "--strategy")]


def _policies(strategies: Sequence[str], options: Mapping[str, Any]) -> list[dict[str, str]]:
    """Every gate with every feedback. Raises PlanError if nothing here would heed them."""
    given = {name: names_in(options[name], f"--{name}") for name in POLICIES if options[name] is not None}
    if given and not any(facts_of(strategy).tests_programs for strategy in strategies):
        raise PlanError(
            f"{', '.join(strategies)} never runs gate tests, so --{min(given)} would be ignored. Leave it out."
        )
    found: list[dict[str, str]] = [{}]
    for name, several in given.items():
        found = [{**one, name: chosen} for one in found for chosen in several]
    return found


def _of(strategy: str, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Those of the parameters that a strategy has: one option may be meant for some of the strategies only."""
    known = complete(strategy, {})
    return {name: value for name, value in parameters.items() if name in known}


def settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """What of the options overrides a setting."""
    return {name: options[name] for name in ("humaneval_path", "num_ctx", "timeout", "test_timeout")}
