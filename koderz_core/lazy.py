"""Modules and objects that are created only on first use, and objects that exist once per process.

Commands start fast because of the first. The second survive reloads of modules and cleared caches.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Generic, TypeVar, cast, overload

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
