"""Options that describe a benchmark, some generated from the strategies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import click

from koderz_core.cli.options import (
    GROUPS,
    HUMANEVAL_FILE,
    Command,
    Number,
    Option,
    Whole,
    mapping,
    option,
    with_options,
)
from koderz_core.plan.ablations import ABLATIONS, ALL
from koderz_core.plan.forms import Parameter, strategy_form
from koderz_core.plan.order import MOST_SEEDS
from koderz_core.plan.presets import CATALOGUE
from koderz_core.records import VARIANTS
from koderz_core.records.completions import EFFORTS
from koderz_core.strategies import MODES, PRESETS, STRATEGIES, base_of, facts_of, offered
from koderz_core.strategies.facts import ROLES
from koderz_core.strategies.parameters import EFFORT
from koderz_core.workspace.grading import FEEDBACKS

Options = tuple[Option, ...]
ByStrategy = Mapping[str, Parameter]
"""One parameter in each strategy that has it."""

CODER = "coder"
SHORTER: Mapping[str, str] = {"chain_of_thought": "cot"}
OLDER: Mapping[str, str] = {
    CODER: "--local-model",
    "spec": "--frontier-spec-model",
    "reviewer": "--frontier-checkpoint-model",
}
"""The options of roles in the original koderz."""

COMMON_ROLES = (CODER, "spec", "reviewer")
COMMON_PARAMETERS = ("max_iterations",)
"""What ``--help`` shows; ``--help-all`` shows the others too."""

FOLLOWING: Mapping[str, str] = {"retry_temperature": "temperature"}
"""Parameters that are set together with another, unless they are set themselves."""


def _parameters() -> dict[str, ByStrategy]:
    found: dict[str, dict[str, Parameter]] = {}
    for strategy in STRATEGIES:
        for parameter in strategy_form(strategy).parameters:
            found.setdefault(parameter.name, {})[strategy] = parameter
    return dict(found)


def _option(name: str, by_strategy: ByStrategy) -> Option:
    """``--name VALUE``; of a switch that is on by default ``--no-name``, off ``--name``, and both if that differs."""
    parameter, shown = next(iter(by_strategy.values())), _dashed(name)
    make = partial(option, "Strategy", name, advanced=name not in COMMON_PARAMETERS)
    of = "" if len(by_strategy) == len(STRATEGIES) else f" For {', '.join(map(_known_as, by_strategy))}."
    if parameter.kind != "bool":
        followers = (follower for follower, leader in FOLLOWING.items() if leader == name)
        also = "".join(f" Also sets --{_dashed(follower)}, unless you give that option too." for follower in followers)
        text = f"{parameter.doc}{also}{of}  [default: {_default(by_strategy)}]"
        return make(
            f"--{shown}", type=_kind(parameter), metavar="|".join(map(str, parameter.choices)) or None, help=text
        )
    on = [strategy for strategy, switch in by_strategy.items() if switch.default]
    if len(on) == len(by_strategy):
        return make(
            _flag(name, by_strategy),
            is_flag=True,
            default=None,
            callback=_switch_off,
            help=f"Turn off this default: {parameter.doc}{of}",
        )
    if not on:
        return make(f"--{shown}", is_flag=True, default=None, help=parameter.doc + of)
    default = f"  [default: on for {', '.join(map(_known_as, on))}]"
    return make(f"--{shown}/--no-{shown}", default=None, help=parameter.doc + of + default)


def _flag(name: str, by_strategy: ByStrategy) -> str:
    """The option of a parameter, without its value."""
    off = all(parameter.kind == "bool" and parameter.default for parameter in by_strategy.values())
    return f"--no-{_dashed(SHORTER.get(name, name))}" if off else f"--{_dashed(name)}"


def _switch_off(_context: click.Context, _option: click.Parameter, chosen: bool | None) -> bool | None:
    return False if chosen else None


def _kind(parameter: Parameter) -> Whole | Number | None:
    if parameter.kind == "int":
        return Whole(parameter.least, parameter.most)
    return Number(parameter.least, parameter.most) if parameter.kind == "float" else None


def _default(by_strategy: ByStrategy) -> str:
    """The most frequent default, and the strategies that differ."""
    values = {strategy: parameter.default for strategy, parameter in by_strategy.items()}
    ((usual, _),) = Counter(values.values()).most_common(1)
    others = [f"{value} for {_known_as(strategy)}" for strategy, value in values.items() if value != usual]
    return "; ".join([str(usual) if usual != "" else "none", *others])


def _known_as(strategy: str) -> str:
    """The first name that a strategy is offered by."""
    return next((name for name in offered() if base_of(name) == strategy), strategy)


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _role_option(role: str, default: str) -> Option:
    """``--role``; where that is a switch, ``--role-model``."""
    older = (OLDER[role],) if role in OLDER else ()
    names = ", ".join(name for name in sorted((*STRATEGIES, *PRESETS)) if facts_of(name).takes_all_coders)
    together = f"One configuration per model, but {names} use all models together."
    more = together if role == CODER else ""
    text = " ".join(part for part in (ROLES[role].about, more, f" [default: {default}]") if part)
    flags, metavar = (_role_flag(role), *older), "MODEL,..." if role == CODER else "MODEL"
    hidden = role not in COMMON_ROLES
    return option("Models and roles", f"{role}_model", *flags, metavar=metavar, advanced=hidden, help=text)


def _role_flag(role: str) -> str:
    taken = {_flag(name, by_strategy) for name, by_strategy in PARAMETERS.items()}
    return f"--{role}-model" if f"--{role}" in taken else f"--{role}"


_EFFORT = option(
    "Models and roles",
    f"--{EFFORT}",
    metavar="EFFORT,...",
    advanced=True,
    help=f"Reasoning effort of the coder: {', '.join(EFFORTS)} or a number of tokens. With several values, koderz "
    "makes one configuration for each value.",
)
PARAMETERS = _parameters()
PARAMETER_OPTIONS: Options = tuple(_option(name, by_strategy) for name, by_strategy in PARAMETERS.items())


def role_options(coder: str) -> Options:
    """The options of all roles, the coder's first. ``coder``: its default model."""
    others = (_role_option(role, "the coder's model") for role in ROLES if role != CODER)
    return (_role_option(CODER, coder), _EFFORT, *others)


FLAGS: Mapping[str, str] = {
    **{f"{role}_model": _role_flag(role) for role in ROLES},
    **{name: _flag(name, by_strategy) for name, by_strategy in PARAMETERS.items()},
}
"""These options by the names they have after parsing."""

DEFAULT_STRATEGY = "direct"
DEFAULT_CODER = "embedded/qwen2.5-coder-0.5b"
REPLACED: Mapping[str, str] = {
    **{name: f"--{name}" for name in ("strategy", "mode", "gate", "feedback", EFFORT)},
    **FLAGS,
}
"""The options that ``--configuration`` replaces, by the names they have after parsing."""

_problems, _models, _strategy, _limits = (partial(option, group) for group in GROUPS[:4])
_advanced_strategy = partial(_strategy, advanced=True)
_SHORTHANDS = "; ".join(f"{mode}: {','.join(strategies)}" for mode, strategies in MODES.items())

FEW = 10  # problems of a benchmark by default

_PROBLEMS: Options = (
    _problems(
        "--preset",
        metavar="NAME",
        help=f"Ready-made benchmark: {', '.join(CATALOGUE)}. Other options override its values.",
    ),
    _problems(
        "--problems",
        help=f'Problems to run: "0:20", "HumanEval/3,7", "sample:20", "gradable" or "all".  [default: 0:{FEW}]',
    ),
    _problems(
        "--start",
        type=Whole(0),
        advanced=True,
        help="Index of the first problem to run, counted from 0. --problems overrides it.  [default: 0]",
    ),
    _problems(
        "--end",
        type=Whole(1),
        advanced=True,
        help=f"Index of the last problem to run, plus 1. --problems overrides it.  [default: {FEW}]",
    ),
    *(
        _problems(
            flag, metavar="DATE", advanced=True, help=f"Run only problems dated {when} this day, such as 2024-05-31."
        )
        for flag, when in (("--since", "on or after"), ("--until", "on or before"))
    ),
    _problems(
        "--repeats",
        type=Whole(1),
        default=1,
        show_default=True,
        help="Number of experiments per configuration and problem.",
    ),
)

_CALLS: Options = (
    _models("--num-ctx", type=Whole(1), advanced=True, help="Context length of embedded and Ollama models, in tokens."),
    _limits(
        "--timeout",
        metavar="SECONDS",
        type=Number(0),
        advanced=True,
        help="Timeout of one request. For embedded models: longest wait for the next token.",
    ),
    _limits(
        "--test-timeout",
        metavar="SECONDS",
        type=Number(0),
        advanced=True,
        help="Timeout of all tests of one program.  [default: 4 times the canonical solution's time (docs/tests.md)]",
    ),
    _limits(
        "--max-retries",
        type=Whole(0, 100),
        advanced=True,
        help="Maximum number of retries per call after temporary errors.",
    ),
    *(
        option("Output", flag, type=click.Path(path_type=Path), advanced=True, help=text)
        for flag, text in (
            ("--cortex-path", "Path of index.js of the memory server claude-cortex-core, if you use this server."),
            ("--cortex-db", "The file in which the memory server stores all memories."),
        )
    ),
)
_BUDGET: Options = (
    _limits(
        "--max-cost",
        metavar="USD",
        type=Number(0),
        help="Limit on total cost. Experiments that would exceed the limit get no result; you can resume them.",
    ),
    _limits(
        "--allow-unpriced",
        is_flag=True,
        advanced=True,
        help="Also call models without a known price when a budget is set. Calls to these models count as $0.",
    ),
)
_RESUMED: Options = (
    _problems("--humaneval-path", type=click.Path(path_type=Path), advanced=True, help=HUMANEVAL_FILE),
    *_CALLS,
    _limits(
        "--concurrency",
        type=Whole(1, 256),
        help="Number of experiments to run at the same time.  [default: 1 with embedded models, else 4; `koderz "
        "resume` uses the value of the last run]",
    ),
    *_BUDGET,
    _limits(
        "--engine",
        metavar="ENGINE",
        default="local",
        show_default=True,
        advanced=True,
        help="Where experiments run: local, or dask[=ADDRESS|local:N|slurm:FILE]. See docs/scale.md.",
    ),
    _problems(
        "--retry-errors",
        is_flag=True,
        help="Retry experiments that ended with an error. Their outcome stays `error` until the retry has a result.",
    ),
    _problems(
        "--fork",
        is_flag=True,
        advanced=True,
        help="Run a copy of the benchmark under a new name, for example after a change of koderz' prompts or of your "
        "strategy's code. The original is kept.",
    ),
)
"""The options that `koderz resume` has too."""


def _strategy_option(default: str, metavar: str = "NAME,...", which: str = "Strategies to run: one or more") -> Option:
    return _strategy(
        "--strategy",
        metavar=metavar,
        help=f"{which} of {', '.join(offered())}. Also: strategies of installed packages, and "
        "your own strategies as FILE.py:NAME (koderz executes the file). See `koderz strategies`.  "
        f"[default: {default}]",
    )


_POLICIES: Options = (
    _advanced_strategy(
        "--gate",
        help="Gate tests: tests that a strategy may run. The strategy stops when a program passes them. Values: tests "
        "(all base tests); examples (the examples in the problem's text); split:0.5 (half of the base tests). With "
        "several values, separated by commas, koderz makes one configuration for each value.  [default: tests]",
    ),
    _advanced_strategy(
        "--feedback",
        help=f"How much the feedback on failed tests reveals: {', '.join(FEEDBACKS)}. With several values, separated "
        "by commas, koderz makes one configuration for each value.  [default: full]",
    ),
)
_CONFIGURATION = _strategy(
    "--configuration",
    multiple=True,
    help="A whole configuration, such as 'supervised coder=gpt-oss:20b max_iterations=10'. Replaces "
    "--strategy, --mode, --gate, --feedback and all model and parameter options. May be repeated.",
)
_SEED = _problems(
    "--seed", type=Whole(0, MOST_SEEDS - 1), default=0, show_default=True, advanced=True, help="Random seed."
)
_ORDER: Options = (
    _strategy_option(DEFAULT_STRATEGY),
    _advanced_strategy("--mode", type=click.Choice([*MODES]), help=f"Shorthand for --strategy. {_SHORTHANDS}."),
    *role_options(DEFAULT_CODER),
    *PARAMETER_OPTIONS,
    *_POLICIES,
    _CONFIGURATION,
    _advanced_strategy(
        "--allow-search",
        is_flag=True,
        help="Accept configurations with a web search (search=...). koderz marks the rates of these configurations.",
    ),
    _advanced_strategy(
        "--ablate",
        metavar="PART,...",
        help=f"Also run variants of `supervised`, each with one part removed or changed. Values: '{ALL}', or one or "
        f"more of {', '.join(ABLATIONS)}.",
    ),
    _SEED,
    _problems("--dataset", default="humaneval", show_default=True, help="Dataset, or path of a dataset file."),
    mapping,
    _problems(
        "--variant",
        type=click.Choice(VARIANTS),
        advanced=True,
        help="Run a variant of the dataset, to find out whether a model recalls solutions or cheats. See "
        "docs/integrity.md.",
    ),
    _limits(
        "--cache",
        is_flag=True,
        advanced=True,
        help="If an earlier benchmark made the same call, reuse the recorded answer at no cost. See docs/models.md.",
    ),
    _limits(
        "--max-cost-per-experiment",
        metavar="USD",
        type=Number(0),
        advanced=True,
        help="Limit on the cost of one experiment. When the limit is reached, the best program so far is submitted.",
    ),
    _problems(
        "--name",
        default="",
        help="Name of the benchmark. New problems, configurations and repeats are added to an existing benchmark.",
    ),
    *_RESUMED,
)


problem_options = with_options(*_PROBLEMS)
"""The options that choose the problems of a benchmark, or a preset."""
order_options = with_options(*_ORDER)
"""All options that describe a run."""
taking_up_options = with_options(*_RESUMED)
"""The options for a recorded benchmark that is resumed."""


def task_options(default: str) -> Callable[[Command], Command]:
    """The options that choose the strategy, models and limits of one task of the workbench.

    Only ``--configuration`` sets the parameter ``tests`` of a strategy, because ``--tests`` names the file with tests.
    Tasks do not search the web.
    """
    left_out = ("tests", "search")
    parameters = (_option(name, by_strategy) for name, by_strategy in PARAMETERS.items() if name not in left_out)
    strategy = _strategy_option(default, "NAME", "Strategy to run: one")
    chosen = (strategy, *role_options(DEFAULT_CODER), *parameters, *_POLICIES, _CONFIGURATION)
    return with_options(*chosen, *_CALLS, *_BUDGET, _SEED)
