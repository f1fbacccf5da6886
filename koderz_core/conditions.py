"""Conditions that can change an outcome but are not part of a plan's content, and what to say if they have changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from koderz_core.config import Settings
from koderz_core.errors import PlanError
from koderz_core.grading import gates
from koderz_core.grading.testsets import TestPolicy
from koderz_core.models.catalogue import address_of, one_spelling
from koderz_core.models.providers import PROVIDERS, sets_context
from koderz_core.prompts import ATTEMPTS, REMINDING, VERSIONS
from koderz_core.prompts.kinds import VERSIONS as KIND_VERSIONS
from koderz_core.records import Configuration, Plan, Problem, Scalar
from koderz_core.records.plans import CACHE
from koderz_core.strategies import STRATEGIES, base_of, facts_of
from koderz_core.strategies.facts import ROLES
from koderz_core.strategies.outside import loaded, version_of

Conditions = Mapping[str, Scalar]

_PROMPT, _ADDRESS, _GATE, _STRATEGY = " prompt", " at", " gate", " strategy"
TIME_LIMIT, HELD_OUT = "test_timeout", "held_out"
_OPTIONS = {TIME_LIMIT: "--test-timeout", "num_ctx": "--num-ctx"}
BY_CANONICAL = "4 x canonical"
"""The default time limit of tests; a limit that the user has set is a number of seconds."""
BY_TEST = "4 x canonical, each plus test"
"""The default if there are plus tests, which had one limit together in earlier versions."""
_CANONICAL_TEXT = "4 times the time of the canonical solution"
_TEXTS = {BY_CANONICAL: _CANONICAL_TEXT, BY_TEST: f"{_CANONICAL_TEXT}, for each plus test separately"}
PLUS = "plus tests"
_NAMES = {
    TIME_LIMIT: "the time limit of tests",
    "num_ctx": "the context length in tokens",
    HELD_OUT: "the set of held-out tests",
    "isolation": "the sandbox tier",
}


def conditions(configurations: Sequence[Configuration], settings: Settings) -> dict[str, Scalar]:
    """The present conditions of these configurations. A benchmark under other conditions is another benchmark."""
    providers = {
        model.partition("/")[0]
        for configuration in configurations
        for role in configuration.models.values()
        for model in role
    }
    addresses = {provider: address_of(provider, settings) for provider in providers}
    kinds = {gates.gate_of(configuration.gate).kind for configuration in configurations}
    packages = {
        configuration.strategy: version_of(configuration.strategy)
        for configuration in configurations
        if configuration.strategy not in STRATEGIES
    }
    return {
        TIME_LIMIT: time_limit(settings),
        **({CACHE: True} if settings.cache else {}),
        **({"num_ctx": settings.num_ctx} if any(map(sets_context, providers)) else {}),
        **of_prompts(prompts_of(configurations)),
        **{f"{kind}{_GATE}": version for kind, version in gates.VERSIONS.items() if kind in kinds},
        **{f"{provider}{_ADDRESS}": address for provider, address in addresses.items() if address},
        **{f"{name}{_STRATEGY}": version for name, version in packages.items() if version},
    }


def time_limit(settings: Settings, default: str = BY_CANONICAL) -> Scalar:
    """The condition of the time limit of tests: the number of seconds that the user has set, else the default."""
    return settings.test_timeout if "test_timeout" in settings.stated else default


def of_problems(problems: Iterable[Problem], settings: Settings) -> dict[str, Scalar]:
    """The tests of these problems beyond the base tests, and the time limit of all tests then.

    A plan without the first condition is scored without them.
    """
    return (
        {HELD_OUT: PLUS, TIME_LIMIT: time_limit(settings, BY_TEST)} if any(problem.plus for problem in problems) else {}
    )


def of_kinds(kinds: Iterable[str]) -> dict[str, Scalar]:
    """The versions of the words for these kinds of problems; words for functions belong to the prompts themselves."""
    return of_prompts({kind: KIND_VERSIONS[kind] for kind in dict.fromkeys(kinds) if kind in KIND_VERSIONS})


def time_limit_text(value: Scalar) -> str:
    """The recorded time limit of tests, in words."""
    if value is None:
        return "unknown"
    return _TEXTS.get(str(value), f"{value} s")


def policy_of(plan: Plan, configuration: Configuration) -> TestPolicy:
    """How a configuration's experiments use tests, whatever the present settings are."""
    limit = plan.conditions.get(TIME_LIMIT)
    return TestPolicy(
        gate=configuration.gate,
        seed=plan.seed,
        seconds=float(limit) if isinstance(limit, int | float) else None,
        by_canonical=limit in _TEXTS,
        plus=plan.conditions.get(HELD_OUT) == PLUS,
        each_limited=limit == BY_TEST,
    )


def prompts_of(configurations: Sequence[Configuration]) -> dict[str, str]:
    """The versions of the prompts that the roles of these configurations receive."""
    used = {name for configuration in configurations for role in configuration.models for name in ROLES[role].prompts}
    used |= {ATTEMPTS} if _shows_attempts(configurations) else set()
    used |= {REMINDING} if any(map(_reminds, configurations)) else set()
    return {name: version for name, version in VERSIONS.items() if name in used}


def once_unnamed(plan: Plan) -> dict[str, Scalar]:
    """The condition of plans from before the prompt of a coder's further attempts had its own version."""
    return of_prompts({ATTEMPTS: "1"}) if _shows_attempts(plan.configurations) else {}


def _shows_attempts(configurations: Sequence[Configuration]) -> bool:
    """A strategy that is not available here does not count: it does not run, and its facts are unknown."""
    names = {configuration.strategy for configuration in configurations}
    return any(facts_of(name).shows_attempts for name in names if _is_available(name))


def _is_available(strategy: str) -> bool:
    return base_of(strategy) in STRATEGIES or bool(loaded(strategy) or version_of(strategy))


def _reminds(configuration: Configuration) -> bool:
    """Whether prompts contain remembered examples or lessons, other than lessons on a coder's own failures."""
    lessons = configuration.parameters.get("lessons") and not facts_of(configuration.strategy).shows_attempts
    return bool(configuration.parameters.get("examples") or lessons)


def of_prompts(versions: Mapping[str, str]) -> dict[str, Scalar]:
    """The versions of prompts as conditions."""
    return {f"{name}{_PROMPT}": version for name, version in versions.items()}


def check_same(benchmark: str, now: Conditions, then: Conditions) -> None:
    """Raise PlanError if a condition that is in both has changed. A condition in only one of them had no influence."""
    changed = list(_changed(now, then))
    if changed:
        raise PlanError(
            f"{benchmark} cannot be resumed, because its conditions have changed: {'; '.join(changed)}. Restore the "
            f"earlier conditions, or start a new benchmark with --fork or another name. Recorded results do not change."
        )


def _changed(now: Conditions, then: Conditions) -> Iterator[str]:
    for name, before in then.items():
        if name == TIME_LIMIT and now.get(name) in _TEXTS:
            continue  # the user asks for no other limit, so the recorded one applies
        if _plain(name, now.get(name, before)) != _plain(name, before):
            was, present = (time_limit_text(it) if name == TIME_LIMIT else it for it in (before, now[name]))
            yield f"{_what(name)} was {was} and is now {present} (to undo the change: {_cure(name, before)})"


def _plain(name: str, value: Scalar) -> Scalar:
    """A condition in one spelling, whichever was recorded."""
    return one_spelling(str(value)) if name.endswith(_ADDRESS) else value


def _what(name: str) -> str:
    if name.endswith((_PROMPT, _GATE, _STRATEGY)):
        return f"the version of the {name}"
    return f"the address of {name.removesuffix(_ADDRESS)}" if name.endswith(_ADDRESS) else _NAMES.get(name, name)


def _cure(name: str, before: Scalar) -> str:
    if before in _TEXTS:
        return f"omit {_OPTIONS[TIME_LIMIT]} and unset KODERZ_TEST_TIMEOUT"
    if name in _OPTIONS:
        return f"{_OPTIONS[name]} {before}"
    if name.endswith(_ADDRESS):
        variable = PROVIDERS[name.removesuffix(_ADDRESS)].advice.variable.partition(" ")[0]
        return f"{variable}={before}"
    if name.endswith(_STRATEGY):
        return f"install {before} again"
    return "use the koderz version and the machine with which the benchmark was started"
