"""What koderz has to know of a strategy beside its parameters, and of each role that a strategy may ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol

from koderz_core.protocols import Strategy


class DataclassStrategy(Strategy, Protocol):
    """A strategy whose parameters are the fields of a dataclass, and whose facts are class attributes."""

    __dataclass_fields__: ClassVar[dict[str, Any]]  # Any: as the standard library has it


def _nothing() -> None:
    """Needs no package."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a strategy, with their defaults.

    A strategy states a fact as a class attribute of the same name, and leaves out those where the default is right.
    This holds for the strategies of koderz and for those of other authors alike.

    ``several``: the roles of which all models are asked; of any other role there is one model.
    ``takes_all_coders``: several coders that are named on a command line make one configuration of all of them, not
    one of each. ``needs_several_coders``: it goes from one coder to the next, so one alone is refused.
    ``tests_programs``: it runs gate tests, so a gate and a feedback have a meaning for it.
    ``shows_attempts``: prompts show a model programs of the same experiment, with what their tests said.
    ``draws_samples``: it samples one prompt several times, so a coder must take a temperature.
    ``require_packages``: raises PlanError if a package that it needs is not installed.
    """

    several: tuple[str, ...] = ()
    takes_all_coders: bool = False
    needs_several_coders: bool = False
    tests_programs: bool = True
    shows_attempts: bool = True
    draws_samples: bool = False
    require_packages: Callable[[], None] = _nothing


def facts_of_class(strategy: type[DataclassStrategy]) -> Facts:
    """The facts that a class states, the others at their defaults."""
    parameters = {field.name for field in fields(strategy)}
    facts = {field.name for field in fields(Facts)} - parameters
    return Facts(**{name: getattr(strategy, name) for name in facts if hasattr(strategy, name)})


@dataclass(frozen=True, slots=True)
class RoleFacts:
    """``about``: what a role does, in one line: the same in every strategy that asks it.

    ``prompts``: what it is told and how its answer is read, by the names of ``prompts.VERSIONS``.
    ``writes_programs``: its temperature and its longest answer are parameters of the strategy.
    """

    about: str
    prompts: tuple[str, ...]
    writes_programs: bool = False


ROLES: Mapping[str, RoleFacts] = {
    "spec": RoleFacts("Writes a spec of the problem before anything is programmed.", ("spec",)),
    "coder": RoleFacts("Writes the programs.", ("coding", "extraction"), writes_programs=True),
    "reviewer": RoleFacts("Reviews the attempts so far and advises the coder.", ("review",)),
    "tester": RoleFacts("Writes tests or calls of its own; none of them counts for the score.", ("testing",)),
    "judge": RoleFacts("Decides: among equally good programs, or from what was said.", ("judging",)),
    "speaker": RoleFacts("Speaks in a debate, as each of its personas.", ("debating",)),
    "critic": RoleFacts("Says what is wrong with a program.", ("critique",)),
    "refiner": RoleFacts(
        "Corrects a program by what the critic said of it.", ("coding", "extraction"), writes_programs=True
    ),
}
"""Every role that a strategy may ask, in the order in which they are shown."""
