"""Checks that the models of a configuration support what it needs: temperature, context and packages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from koderz_core.config import Settings
from koderz_core.errors import PlanError
from koderz_core.models.capabilities import Capabilities, refusal
from koderz_core.models.providers import capabilities_of
from koderz_core.prompts.attempts import LATEST_TOKENS
from koderz_core.prompts.coding import LIMITS
from koderz_core.prompts.markdown import BYTES_PER_TOKEN
from koderz_core.records import Configuration, Problem, Scalar
from koderz_core.records.marks import SEARCHED, SEARCHED_SITES
from koderz_core.records.plans import scripted
from koderz_core.strategies import complete, facts_of, name_of
from koderz_core.strategies.facts import ROLES
from koderz_core.strategies.ladder import ONCE, Step, steps_of
from koderz_core.strategies.parameters import EFFORT, effort_of, is_override, overrides_by_role
from koderz_core.strategies.reminders import ADVICE_TOKENS


def check_needs(configuration: Configuration, settings: Settings) -> None:
    """Raise PlanError, with the reason and a remedy, if a model does not support what the configuration needs.

    A temperature other than the strategy's default is needed, because a person chose it, and only of roles that write
    programs. At the default, and in other roles, a model without temperature samples as its provider chooses.
    A strategy that only draws fresh samples needs its temperature, unless its steps are reasoning efforts.
    An answer must be shorter than the context. Raises ConfigError.
    """
    facts_of(configuration.strategy).require_packages()
    name = name_of(configuration)
    for role, models in configuration.models.items():
        for member, model in enumerate(models):
            if not scripted([model]):  # a script accepts all sampling parameters
                takes = capabilities_of(model, settings)
                for fault in _faults(configuration, role, member, takes):
                    raise PlanError(f"{model} cannot take the role {role} of {name}: {fault}")


def searches(parameters: Mapping[str, Scalar]) -> bool:
    """Whether a configuration with these parameters searches the web."""
    return parameters.get("search") in SEARCHED_SITES


def check_efforts(configurations: Iterable[Configuration], settings: Settings) -> None:
    """Raise PlanError if a model does not accept an effort of a recorded plan, as with another models.toml."""
    for configuration in configurations:
        for role, models in configuration.models.items():
            for member, model in enumerate(models):
                efforts = () if scripted([model]) else _efforts(configuration, role, member)
                takes = capabilities_of(model, settings) if efforts else Capabilities()
                if refused := next((effort for effort in efforts if not takes.accepts(effort)), None):
                    raise PlanError(f"{model} cannot take the role {role}: {refusal(refused, takes)}")


def check_search(configurations: Iterable[Configuration], *, allowed: bool) -> None:
    """Raise PlanError for a configuration that searches the web, unless the user allows that."""
    if not allowed and any(searches(made.parameters) for made in configurations):
        raise PlanError(
            "A configuration searches the web (search=...). The web contains solutions of published problems, so the "
            "success rate would not measure the model alone. Omit search, or use --allow-search: every rate of such a "
            f"configuration is then marked with {SEARCHED}."
        )


def check_kinds(configurations: Iterable[Configuration], problems: Iterable[Problem]) -> None:
    """Raise PlanError for a strategy that calls functions of programs, if a program is a change of a repository."""
    task = next((problem.id for problem in problems if problem.public.kind == "repo"), None)
    for made in configurations if task is not None else ():
        if facts_of(made.strategy).calls_functions:
            raise PlanError(
                f"{name_of(made)} calls the functions of programs with arguments that a "
                f"model (the tester) chooses. The answer to {task} is a change to a repository, and koderz cannot call "
                "single functions of a changed repository. Choose another strategy, such as direct, retry, repair, "
                "supervised or escalation."
            )


def _faults(configuration: Configuration, role: str, member: int, takes: Capabilities) -> Iterator[str]:
    """``member``: which model of the role accepts ``takes``."""
    asked = overrides_by_role(configuration.parameters).get(role, {})
    effort = effort_of(asked[EFFORT], member) if EFFORT in asked else ""
    steps = _steps(configuration, role)
    yield from (refusal(word, takes) for word in _efforts(configuration, role, member) if not takes.accepts(word))
    if not steps or not all(isinstance(step, str) for step in steps):
        yield from _sampling_faults(configuration, role, asked, takes.under(effort) if takes.accepts(effort) else takes)
    limit = "max_tokens" if ROLES[role].writes_programs else "review_tokens"
    longest = {limit: asked["max_tokens"]} if "max_tokens" in asked else {}
    yield from _too_long({**_own(configuration), **longest}, role, takes.context_tokens)


def _efforts(configuration: Configuration, role: str, member: int) -> Sequence[str]:
    """The efforts that one model of a role is asked for: as an override, and as steps of a ladder."""
    asked = overrides_by_role(configuration.parameters).get(role, {})
    override = [effort_of(asked[EFFORT], member)] if EFFORT in asked else []
    return list(dict.fromkeys([*override, *(step for step in _steps(configuration, role) if isinstance(step, str))]))


def scheduled(strategy: str, parameters: Mapping[str, Scalar]) -> Sequence[Step]:
    """The temperature or effort of each attempt of the coder, if the parameter ``steps`` sets them.

    The same name may mean anything else to a strategy that does not draw samples. Raises PlanError.
    """
    steps = parameters.get("steps")
    return steps_of(steps) if isinstance(steps, str) and facts_of(strategy).draws_samples else ()


def _steps(configuration: Configuration, role: str) -> Sequence[Step]:
    return scheduled(configuration.strategy, configuration.parameters) if role == "coder" else ()


def _own(configuration: Configuration) -> dict[str, Scalar]:
    """The parameters of the strategy."""
    return {name: value for name, value in configuration.parameters.items() if not is_override(name)}


def _sampling_faults(
    configuration: Configuration, role: str, asked: Mapping[str, Scalar], takes: Capabilities
) -> Iterator[str]:
    """``asked``: the sampling of this role, ``takes``: what its model accepts under the effort of the role."""
    defaults, writes = complete(configuration.strategy, {}), ROLES[role].writes_programs
    steps, samples = configuration.parameters.get("steps"), facts_of(configuration.strategy).draws_samples
    if role == "coder" and samples and steps != ONCE and not takes.temperature:
        yield (
            f"it does not accept a temperature ({takes.source}), so it cannot draw samples at temperature "
            f"{steps or configuration.parameters.get('temperature')}. Choose another model."
        )
    for what in asked.keys() & {"temperature", "top_p"}:
        if not getattr(takes, what):
            yield f"it does not accept {what} ({takes.source}), but {role}.{what} is {asked[what]}. Omit {role}.{what}."
    for name, value in _own(configuration).items():
        if writes and name.endswith("temperature") and value != defaults[name] and not takes.temperature:
            yield (
                f"it does not accept a temperature ({takes.source}), but {name} is {value}. Leave {name} at its "
                f"default ({defaults[name]}): koderz does not send this default to the model, and the provider uses "
                "its own sampling settings. Or choose another model."
            )


def _too_long(parameters: Mapping[str, Scalar], role: str, context: int | None) -> Iterator[str]:
    """A fault if an answer certainly, or with earlier attempts probably, exceeds the context; None: unknown context.

    Prompts without a fault may still be too long: problem, spec and test results are not counted here.
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
            f"{limit} is {longest}, but the prompt and the answer together must fit into the model's context of "
            f"{context} tokens. {lower} the model more context: --num-ctx for embedded and Ollama models, "
            "context_tokens in models.toml for other models."
        )
    elif role == "coder" and isinstance(earlier, int) and earlier and earlier + longest + latest > context:
        yield (
            f"its context of {context} tokens is smaller than the sum of history_tokens ({earlier}), max_tokens "
            f"({longest}) and about {latest} tokens for the last program, its review and other advice. Give the model "
            f"more context, or set --history-tokens to at most {max(0, context - longest - latest)} minus the tokens "
            "of the problem, the spec and the failed tests."
        )
