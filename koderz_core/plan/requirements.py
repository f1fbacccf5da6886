"""What a configuration needs of its models: temperature, room for answers, a package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from koderz_core.config import Settings
from koderz_core.errors import PlanError
from koderz_core.models.capabilities import Capabilities
from koderz_core.models.providers import capabilities_of
from koderz_core.prompts.attempts import BYTES_PER_TOKEN, LATEST_TOKENS
from koderz_core.prompts.coding import LIMITS
from koderz_core.records import Configuration, Scalar
from koderz_core.records.plans import scripted
from koderz_core.strategies import called, complete, facts_of
from koderz_core.strategies.facts import ROLES
from koderz_core.strategies.ladder import ONCE
from koderz_core.strategies.parameters import is_override, of_roles
from koderz_core.strategies.reminders import ADVICE_TOKENS


def check_needs(configuration: Configuration, settings: Settings) -> None:
    """Raise PlanError, with the reason and what to do, if a model lacks what the configuration needs of it.

    A temperature that differs from its strategy's default is needed, since somebody chose it, and of the coder, whose
    answers it is about; at the default, and in other roles, a model that takes none samples as its provider has it.
    Where fresh samples are all there is to a strategy, its temperature is needed too, whatever it is: no other thing
    that such a model could be asked, such as more effort, is the same step of a ladder.
    An answer may be no longer than the context that it stands in. Raises ConfigError.
    """
    facts_of(configuration.strategy).require_packages()
    name = called(configuration.strategy, configuration.parameters)
    for role, models in configuration.models.items():
        for model in models:
            if not scripted([model]):  # a script takes anything, and heeds none of it
                takes = capabilities_of(model, settings)
                for fault in _faults(configuration, role, takes):
                    raise PlanError(f"{model} cannot be {role} of {name}: {fault}")


def _faults(configuration: Configuration, role: str, takes: Capabilities) -> Iterator[str]:
    defaults, writes = complete(configuration.strategy, {}), ROLES[role].writes_programs
    steps, samples = configuration.parameters.get("steps"), facts_of(configuration.strategy).draws_samples
    if role == "coder" and samples and steps != ONCE and not takes.temperature:
        yield (
            f"it takes no temperature ({takes.source}), so its samples cannot be drawn at "
            f"{steps or configuration.parameters.get('temperature')} as all others are. Choose another model."
        )
    own = {name: value for name, value in configuration.parameters.items() if not is_override(name)}
    asked = of_roles(configuration.parameters).get(role, {})
    for what in asked.keys() & {"temperature", "top_p"}:
        if not getattr(takes, what):
            yield f"it takes no {what} ({takes.source}), and {role}.{what} is {asked[what]}. Leave that out."
    for name, value in own.items():
        if writes and name.endswith("temperature") and value != defaults[name] and not takes.temperature:
            yield (
                f"it takes no temperature ({takes.source}), and {name} is {value}. Leave {name} at {defaults[name]}, "
                f"where it samples as its provider has it, or choose another model."
            )
    limit = {"max_tokens" if writes else "review_tokens": asked["max_tokens"]} if "max_tokens" in asked else {}
    yield from _too_long({**own, **limit}, role, takes.context_tokens)


def _too_long(parameters: Mapping[str, Scalar], role: str, context: int | None) -> Iterator[str]:
    """What surely, or with earlier attempts shown probably, does not fit; None: the context is not known.

    What fits here may still not fit: the problem, its spec and what the tests said have a length of their own.
    """
    writes = ROLES[role].writes_programs
    limit = "max_tokens" if writes else "review_tokens"
    longest = parameters.get(limit, None if writes else ADVICE_TOKENS)
    earlier = parameters.get("history_tokens")
    if context is None or not isinstance(longest, int):
        return
    latest = LATEST_TOKENS + sum(most for name, most in LIMITS.items() if parameters.get(name)) // BYTES_PER_TOKEN
    if longest >= context:
        lower = f"Lower --{limit.replace('_', '-')}, or give" if limit in parameters else "Give"
        yield (
            f"{limit} is {longest}, and its context holds {context} tokens with the prompt. {lower} it more: "
            f"--num-ctx for embedded and Ollama models, context_tokens in models.toml for others."
        )
    elif role == "coder" and isinstance(earlier, int) and earlier and earlier + longest + latest > context:
        yield (
            f"history_tokens is {earlier}, max_tokens {longest}, its last program and guidance can take about "
            f"{latest}, and its context holds {context} tokens. Set --history-tokens to at most "
            f"{max(0, context - longest - latest)}, less what the problem, its spec and the failures shown "
            f"take, which is not counted here, or give it more context."
        )
