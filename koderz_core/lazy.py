"""Modules and parts that are loaded or created at their first use, so that commands start fast."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Generic, TypeVar, overload

Owner = TypeVar("Owner")
Made = TypeVar("Made")


def importer(module: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """The ``__getattr__`` of ``module``. ``homes``: name -> the module that defines it."""

    def imported(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(load_module(homes[name]), name)

    return imported


def load_module(name: str) -> ModuleType:
    """Import a module, without garbage collection: it finds nothing there and took a tenth of a command's start."""
    paused = name not in sys.modules and gc.isenabled()
    if paused:
        gc.disable()
    try:
        return import_module(name)
    finally:
        if paused:
            gc.enable()


class part(Generic[Owner, Made]):  # noqa: N801 (used as a decorator, like property)
    """As ``functools.cached_property``, but several threads get the same object.

    The owner's ``guard`` protects the creation, because parts are made of other parts.
    """

    def __init__(self, make: Callable[[Owner], Made]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, owner: None, kind: type[Owner]) -> part[Owner, Made]: ...
    @overload
    def __get__(self, owner: Owner, kind: type[Owner]) -> Made: ...
    def __get__(self, owner: Owner | None, kind: type[Owner]) -> part[Owner, Made] | Made:
        if owner is None:
            return self
        kept = vars(owner)
        with kept["guard"]:
            if self._name not in kept:  # from now on the instance's attribute is found first
                kept[self._name] = self._make(owner)
        made: Made = kept[self._name]
        return made

    def made(self, owner: Owner) -> Made | None:
        """The part of ``owner``, None if it has not been used yet."""
        return vars(owner).get(self._name)
