"""Objects that exist once per process, however often modules are reloaded and caches are cleared."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import TypeVar, cast

Thing = TypeVar("Thing")
_NAME = "_koderz_process"


def the_one(name: str, make: Callable[[], Thing]) -> Thing:
    """Return the object called ``name``, made on first use. Raises what ``make`` raises; nothing is stored then."""
    process = _process()
    with process.guard:
        if name not in process.objects:
            process.objects[name] = make()
        return cast(Thing, process.objects[name])  # one name, one type: every caller passes the same ``make``


def forget(name: str) -> object | None:
    """Remove and return the object called ``name``, None if there is none."""
    process = _process()
    with process.guard:
        return process.objects.pop(name, None)


class _Process(ModuleType):
    """Is in ``sys.modules`` without a file, so that nothing reloads it."""

    def __init__(self) -> None:
        super().__init__(_NAME)
        self.guard = threading.RLock()  # guards objects
        self.objects: dict[str, object] = {}


def _process() -> _Process:
    process = sys.modules.setdefault(_NAME, _Process())  # atomic, so that no two threads have one each
    return cast(_Process, process)  # a reload of this file makes another class of the same name
