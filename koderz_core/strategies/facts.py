"""Facts about strategies that koderz needs besides their parameters, and about each role that a strategy may ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol

from koderz_core.protocols import Strategy


class DataclassStrategy(Strategy, Protocol):
    """A strategy whose parameters are the fields of a dataclass, and whose facts are class attributes."""

    __dataclass_fields__: ClassVar[dict[str, Any]]  # Any: as declared by the standard library


def _nothing() -> None:
    """A strategy without optional packages."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a strategy, with their defaults.

    A strategy states a fact as a class attribute of the same name, and omits facts whose default is right. This holds
    for the strategies of koderz and for those of other authors alike.

    ``several``: the roles that take several models; every other role has one model.
    ``takes_all_coders``: several coders on a command line make one configuration with all of them, instead of one for
    each. ``needs_several_coders``: it asks one coder after the other, so a single coder is refused.
    ``tests_programs``: it runs gate tests, so gate and feedback apply to it.
    ``shows_attempts``: prompts show a model earlier programs of the same experiment, with their test results.
    ``draws_samples``: it samples one prompt several times, so its coders must accept a temperature or, as steps, an
    effort.
    ``independent_samples``: each of its iterations is a sample of one prompt and model, tested whatever the others did,
    and their number does not depend on their results.
    ``calls_functions``: it calls functions of programs with arguments of its choice, so programs must have functions.
    ``require_packages``: raises PlanError if a package that the strategy needs is not installed.
    """

    several: tuple[str, ...] = ()
    takes_all_coders: bool = False
    needs_several_coders: bool = False
    tests_programs: bool = True
    shows_attempts: bool = True
    draws_samples: bool = False
    independent_samples: bool = False
    calls_functions: bool = False
    require_packages: Callable[[], None] = _nothing


def facts_of_class(strategy: type[DataclassStrategy]) -> Facts:
    """The facts that a class states, with the defaults of the others."""
    parameters = {field.name for field in fields(strategy)}
    facts = {field.name for field in fields(Facts)} - parameters
    return Facts(**{name: getattr(strategy, name) for name in facts if hasattr(strategy, name)})


@dataclass(frozen=True, slots=True)
class RoleFacts:
    """``about``: what a role does, in one line, for every strategy that asks it.

    ``prompts``: its prompts and the parsers of its answers, by the names of ``prompts.VERSIONS``.
    ``writes_programs``: its temperature and the length of its answers are parameters of the strategy.
    """

    about: str
    prompts: tuple[str, ...]
    writes_programs: bool = False


ROLES: Mapping[str, RoleFacts] = {
    "spec": RoleFacts("Writes a spec of the problem before the first program.", ("spec",)),
    "coder": RoleFacts("Writes the programs.", ("coding", "extraction"), writes_programs=True),
    "reviewer": RoleFacts("Reviews the attempts so far and advises the coder.", ("review",)),
    "tester": RoleFacts(
        "Writes its own tests or example calls, which are never used to score a program.", ("testing",)
    ),
    "judge": RoleFacts("Chooses among equally good programs, or summarises a debate.", ("judging",)),
    "speaker": RoleFacts("Writes the turns of the personas in a debate.", ("debating",)),
    "critic": RoleFacts("Criticises a program.", ("critique",)),
    "refiner": RoleFacts(
        "Revises a program according to the critic's remarks.", ("coding", "extraction"), writes_programs=True
    ),
}
"""Every role that a strategy may ask, in the order in which they are shown."""
