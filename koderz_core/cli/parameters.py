"""The options that set parameters of strategies, and the parameters they come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from koderz_core.records import Scalar
from koderz_core.strategies import complete
from koderz_core.strategies.parameters import ABOUT

Options = tuple[Callable[[Any], Any], ...]  # Any: click's decorators take and give any command


def _sets(name: str, kind: click.IntRange | None = None) -> Callable[[Any], Any]:
    """The option for a parameter with a value, explained as everywhere else."""
    return click.option(_flag(name), type=kind, help=f"{ABOUT[name]}  [default: {_DEFAULTS[name]}]")


def _switches(name: str, flag: str, said: str = "") -> Callable[[Any], Any]:
    """The option for a parameter that is on or off; ``said`` before what is explained everywhere else."""
    return click.option(flag, is_flag=True, default=None, help=said + ABOUT[name])


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


_DEFAULTS = complete("supervised", {})
_OFF = "Off: "
PARAMETER_OPTIONS: Options = (
    _sets("max_iterations", click.IntRange(1)),
    _sets("checkpoint_interval", click.IntRange(1)),
    _sets("checkpoint_when"),
    _switches("disclosure", "--no-disclosure", _OFF),
    click.option("--spec/--no-spec", default=None, help=f"{ABOUT['spec']}  [default: with supervised]"),
    _sets("spec_prompt"),
    _switches("reuse_spec", "--reuse-spec"),
    _switches("lessons", "--lessons"),
    _switches("previous_error", "--no-previous-error", _OFF),
    _sets("history_tokens", click.IntRange(0)),
    _sets("escape_after", click.IntRange(1)),
    _switches("checkpoints", "--no-checkpoints", _OFF),
    _switches("chain_of_thought", "--no-cot", _OFF),
    click.option("--temperature", type=click.FloatRange(0, 2), help="Of every attempt, the first and the others."),
    _sets("max_tokens", click.IntRange(1)),
    _sets("review_tokens", click.IntRange(1)),
)
_PLAIN = (
    *("max_iterations", "checkpoint_interval", "checkpoint_when", "spec", "spec_prompt", "reuse_spec"),
    *("lessons", "history_tokens", "escape_after", "temperature", "max_tokens", "review_tokens"),
)
_WITHOUT: Mapping[str, str] = {
    "no_disclosure": "disclosure",
    "no_previous_error": "previous_error",
    "no_checkpoints": "checkpoints",
    "no_cot": "chain_of_thought",
}
NAMES = (*_PLAIN, *_WITHOUT)
"""What these options are called among those that were parsed."""

FOLLOWING = frozenset({"retry_temperature"})
"""Parameters that are set along with another option."""


def parameters_of(options: Mapping[str, Any]) -> dict[str, Scalar]:
    """The parameters that parsed options set; what is left out stays as it is by default."""
    given: dict[str, Scalar] = {name: options[name] for name in _PLAIN if options[name] is not None}
    given |= {parameter: False for option, parameter in _WITHOUT.items() if options[option]}
    return given | ({"retry_temperature": given["temperature"]} if "temperature" in given else {})
