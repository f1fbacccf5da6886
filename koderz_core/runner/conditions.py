"""What beside a plan's own words can change an outcome, and what to say where it is not as it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from koderz_core.config import Settings
from koderz_core.errors import PlanError
from koderz_core.models.catalogue import address_of, identity
from koderz_core.prompts import OF_ROLES, VERSIONS
from koderz_core.records import Configuration, Scalar

Conditions = Mapping[str, Scalar]

_OPTIONS = {"test_timeout": "--test-timeout", "num_ctx": "--num-ctx"}
_PROMPT, _ADDRESS = " prompt", " at"


def conditions(configurations: Sequence[Configuration], settings: Settings) -> dict[str, Scalar]:
    """What holds now for these configurations; a benchmark under other conditions is another benchmark."""
    providers = {model.partition("/")[0] for one in configurations for role in one.models.values() for model in role}
    addresses = {provider: address_of(provider, settings) for provider in providers}
    return {
        "test_timeout": settings.test_timeout,
        **({"num_ctx": settings.num_ctx} if providers & {"embedded", "ollama"} else {}),
        **of_prompts(prompts_of(configurations)),
        **{f"{provider}{_ADDRESS}": identity(address) for provider, address in addresses.items() if address},
    }


def prompts_of(configurations: Sequence[Configuration]) -> dict[str, str]:
    """The versions of the prompts that the roles of these configurations are told."""
    used = {name for one in configurations for role in one.models for name in OF_ROLES[role]}
    return {name: version for name, version in VERSIONS.items() if name in used}


def of_prompts(versions: Mapping[str, str]) -> dict[str, Scalar]:
    """The versions of prompts as conditions."""
    return {f"{name}{_PROMPT}": version for name, version in versions.items()}


def check_same(benchmark: str, now: Conditions, then: Conditions) -> None:
    """Raise PlanError if a condition that both know has changed; what only one of them knows was never relied on."""
    changed = list(_changed(now, then))
    if changed:
        raise PlanError(
            f"{benchmark} cannot go on under other conditions than it was begun under: {'; '.join(changed)}. Set that "
            f"back, or start anew with --fork (or another name); what it has recorded stays as it is."
        )


def _changed(now: Conditions, then: Conditions) -> Iterator[str]:
    for name, before in then.items():
        if _plain(name, now.get(name, before)) != _plain(name, before):
            yield f"{_what(name)} was {before} and is {now[name]} now ({_cure(name, before)})"


def _plain(name: str, value: Scalar) -> Scalar:
    """A condition without the spelling that it happened to be recorded in."""
    return identity(str(value)) if name.endswith(_ADDRESS) else value


def _what(name: str) -> str:
    if name.endswith(_PROMPT):
        return f"the version of the {name}"
    return f"the address of {name.removesuffix(_ADDRESS)}" if name.endswith(_ADDRESS) else name


def _cure(name: str, before: Scalar) -> str:
    if name in _OPTIONS:
        return f"{_OPTIONS[name]} {before}"
    if name.endswith(_ADDRESS):
        return f"{name.removesuffix(_ADDRESS).upper()}_BASE_URL={before}"
    return "it can be had only with the koderz, or on the machine, that began it"
