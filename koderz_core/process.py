"""What this process has only one of, however often modules are loaded anew and caches are cleared."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import TypeVar, cast

Thing = TypeVar("Thing")
_NAME = "_koderz_process"


def the_one(name: str, make: Callable[[], Thing]) -> Thing:
    """What is kept under ``name``, made at first use. Raises what ``make`` raises; nothing is kept then."""
    process = _process()
    with process.guard:
        if name not in process.kept:
            process.kept[name] = make()
        return cast(Thing, process.kept[name])  # one name, one type: whoever asks for it has made it


def forget(name: str) -> object | None:
    """Take out what is kept under ``name``, None if nothing is."""
    process = _process()
    with process.guard:
        return process.kept.pop(name, None)


class _Process(ModuleType):
    """Stands in ``sys.modules`` without a file, so that nothing finds a reason to load it anew."""

    def __init__(self) -> None:
        super().__init__(_NAME)
        self.guard = threading.RLock()  # guards kept
        self.kept: dict[str, object] = {}


def _process() -> _Process:
    kept = sys.modules.setdefault(_NAME, _Process())  # atomic, so that no two threads have one each
    return cast(_Process, kept)  # a reload of this file makes another class of the same name
