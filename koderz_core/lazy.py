"""Modules and objects that are created only on first use, so that a command starts with no more than it needs."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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
    """Import a module without garbage collection."""
    with _without_collection():
        return import_module(name)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Pause garbage collection: what an import creates stays, and the search took a tenth of a command's start."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class part(Generic[Owner, Made]):  # noqa: N801 (used as a decorator, like property)
    """As ``functools.cached_property``, but several threads get the same object.

    The owner has one lock, ``guard``, for all of its parts, since parts are made of other parts. Garbage collection
    pauses meanwhile, because making a part imports its modules.
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
        attributes = vars(owner)
        with attributes["guard"], _without_collection():
            if self._name not in attributes:  # from then on the instance's attribute is found first
                attributes[self._name] = self._make(owner)
        made: Made = attributes[self._name]
        return made

    def made(self, owner: Owner) -> Made | None:
        """The object, None if it has not been used yet."""
        return vars(owner).get(self._name)
