"""Objects that exist once per process, even if modules are reloaded and caches are cleared."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import TypeVar, cast

Thing = TypeVar("Thing")
_NAME = "_koderz_process"


def the_one(name: str, make: Callable[[], Thing]) -> Thing:
    """The object of that name, created at its first use. Raises what ``make`` raises, and then stores nothing."""
    process = _process()
    with process.guard:
        if name not in process.kept:
            process.kept[name] = make()
        return cast(Thing, process.kept[name])  # one name, one type: all callers of a name pass the same ``make``


def forget(name: str) -> object | None:
    """Remove and return the object of that name, None if there is none."""
    process = _process()
    with process.guard:
        return process.kept.pop(name, None)


class _Process(ModuleType):
    """An entry of ``sys.modules`` without a file, so that nothing reloads it."""

    def __init__(self) -> None:
        super().__init__(_NAME)
        self.guard = threading.RLock()  # guards kept
        self.kept: dict[str, object] = {}


def _process() -> _Process:
    kept = sys.modules.setdefault(_NAME, _Process())  # atomic, so that all threads get the same
    return cast(_Process, kept)  # a reload of this file creates another class of the same name
