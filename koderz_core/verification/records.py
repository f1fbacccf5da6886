"""What a verification found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Difference:
    """Something is not what it should be: ``what`` of ``where``; ``stands`` is not ``follows``. Hostile texts."""

    what: str
    where: str
    stands: str
    follows: str

    @property
    def said(self) -> str:
        """In one line."""
        return f"{self.what} of {self.where}: {self.stands}, but {self.follows} follows from the rest"


@dataclass(frozen=True, slots=True)
class Verified:
    """What was looked at, how many of each kind, and what differs. ``remarks``: what could not be looked at, and why.

    It tells what contradicts itself, not who wrote it: a journal that somebody made up whole can be without fault.
    """

    of: str
    checked: Mapping[str, int] = field(default_factory=dict)
    differences: tuple[Difference, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        return not self.differences

    def and_also(self, other: Verified) -> Verified:
        """Both together, under the name of this one."""
        names = dict.fromkeys((*self.checked, *other.checked))
        checked = {name: self.checked.get(name, 0) + other.checked.get(name, 0) for name in names}
        return Verified(self.of, checked, (*self.differences, *other.differences), (*self.remarks, *other.remarks))
