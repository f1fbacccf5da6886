"""Parts of a plan that cannot act: a reviewer who is never asked, and changed parameters without an effect."""

from __future__ import annotations

from collections.abc import Iterator

from koderz_core.conditions import of_kinds
from koderz_core.plan.forms import strategy_form, value_text
from koderz_core.records import Configuration, Plan
from koderz_core.report.formats import plain
from koderz_core.strategies import STRATEGIES, create
from koderz_core.strategies.labels import labels
from koderz_core.strategies.supervised import Supervised


def ineffective(plan: Plan) -> Iterator[str]:
    """A sentence for each configuration whose reviewer is never asked, and for each parameter without an effect.

    A parameter with its default value is not reported. Strategies from outside of koderz are not checked.
    """
    names = labels(plan.configurations)
    for configuration in plan.configurations:
        if configuration.strategy in STRATEGIES:
            yield from _unreviewed(configuration, plain(names[configuration.id]))
            yield from _idle(configuration, plain(names[configuration.id]))
            if (
                "repository_tokens" in configuration.parameters
                and not of_kinds(["repo"]).keys() & plan.conditions.keys()
            ):
                yield (
                    f"repository_tokens has no effect in {plain(names[configuration.id])}, because no problem is a "
                    "repository task."
                )


def _unreviewed(configuration: Configuration, name: str) -> Iterator[str]:
    """A sentence if the strategy has a reviewer and too few iterations for a review."""
    strategy = create(configuration.strategy, configuration.parameters)
    if isinstance(strategy, Supervised) and strategy.checkpoints and not strategy.rule.can_apply:
        yield (
            f"No review will take place in {name}: its checkpoint_interval is {strategy.checkpoint_interval} and its "
            f"max_iterations is {strategy.max_iterations}. Set checkpoint_interval to a smaller number than "
            "max_iterations."
        )


def _idle(configuration: Configuration, name: str) -> Iterator[str]:
    """A sentence for each changed parameter that cannot act, because of the value of another parameter."""
    values = configuration.parameters
    for parameter in strategy_form(configuration.strategy).parameters:
        value = values.get(parameter.name, parameter.default)
        if value != parameter.default and not parameter.can_act(values):
            yield (
                f"{parameter.name}={value_text(value)} has no effect in {name}, because {parameter.needs} is "
                f"{value_text(values[parameter.needs])}."
            )
