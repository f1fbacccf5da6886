"""The options that set parameters of strategies, and the parameters they come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from koderz_core.records import Scalar

Options = tuple[Callable[[Any], Any], ...]  # Any: click's decorators take and give any command

PARAMETER_OPTIONS: Options = (
    click.option("--max-iterations", type=click.IntRange(1), help="Candidates per experiment.  [default: 50]"),
    click.option("--checkpoint-interval", type=click.IntRange(1), help="Iterations between two reviews.  [default: 5]"),
    click.option("--checkpoint-when", help="A review is due by interval, or adaptive: earlier where tries get stuck."),
    click.option("--no-disclosure", is_flag=True, default=None, help="Every review asks the same, not more at first."),
    click.option("--spec/--no-spec", default=None, help="With or without the spec phase."),
    click.option("--spec-prompt", help="How much of a spec: minimal or detailed.  [default: minimal]"),
    click.option("--reuse-spec", is_flag=True, default=None, help="Take the spec that was written before, if one was."),
    click.option("--no-previous-error", is_flag=True, default=None, help="A retry is not told what its tests said."),
    click.option("--history-tokens", type=click.IntRange(0), help="Of earlier attempts in a prompt.  [default: 0]"),
    click.option("--escape-after", type=click.IntRange(1), help="Repeated programs before a fresh one.  [default: 2]"),
    click.option("--no-checkpoints", is_flag=True, default=None, help="Without reviews."),
    click.option("--no-cot", is_flag=True, default=None, help="Without chain of thought."),
    click.option("--temperature", type=click.FloatRange(0, 2), help="Of every attempt, the first and the others."),
    click.option("--max-tokens", type=click.IntRange(1), help="Longest answer."),
)
_PLAIN = (
    *("max_iterations", "checkpoint_interval", "checkpoint_when", "spec", "spec_prompt", "reuse_spec"),
    *("history_tokens", "escape_after", "temperature", "max_tokens"),
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
