"""Strategies of other authors: a class in a file that a person names, or one of an installed package.

Both are trusted. They run in the process of koderz with all of its permissions, unlike the programs that models write.
A package offers its strategies as entry points of the group ``koderz.strategies``. A file is read only if a person
names it, and is recorded by its content: ``mine.py:Mine@`` and the beginning of its SHA-256.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from koderz_core.errors import DataError, PlanError, UnknownNameError
from koderz_core.input_files import MOST_TEXT_BYTES, expand_home, read_bytes
from koderz_core.lazy import the_one
from koderz_core.records import Scalar
from koderz_core.strategies.facts import DataclassStrategy

GROUP = "koderz.strategies"
GUIDE = "See docs/strategies.md."
_NAMED = re.compile(r"(?P<path>.*\.py):(?P<name>[A-Za-z_]\w*)")
_RECORDED = re.compile(r"[^/]*\.py:[A-Za-z_]\w*@[0-9a-f]{12}")
_PLAIN = (bool, int, float, str)


@dataclass(frozen=True, slots=True)
class LoadedStrategy:
    """A strategy that was loaded from a file; it is recorded by its ``name``."""

    name: str
    path: Path
    sha256: str
    strategy: type[DataclassStrategy]


def is_named_file(text: str) -> bool:
    """Whether a text names a class in a file, as ``path/mine.py:Mine`` does."""
    return _NAMED.fullmatch(text) is not None


def is_recorded_file(name: str) -> bool:
    """Whether a recorded name is that of a strategy from a file."""
    return _RECORDED.fullmatch(name) is not None


def shortened(name: str) -> str:
    """A strategy's name without the hash of its file."""
    return name.partition("@")[0] if is_recorded_file(name) else name


def read_file(text: str) -> LoadedStrategy:
    """Load the strategy that a person names as ``path/mine.py:Mine``; executes its file.

    Raises PlanError, and DataError for a file that cannot be read.
    """
    named = _NAMED.fullmatch(text)
    if named is None:
        raise PlanError(
            f"{text!r} does not consist of a path and the name of a strategy. Use the form path/mine.py:Mine. {GUIDE}"
        )
    path = expand_home(named["path"]).absolute()
    return load_source(path, named["name"], read_bytes(path, "Give the path of the strategy's file.", MOST_TEXT_BYTES))


def load_source(path: Path, strategy: str, source: bytes) -> LoadedStrategy:
    """Load the class called ``strategy`` from a file with this ``source``, which is executed once per process.

    Raises UnknownNameError for a file without such a class, PlanError for a file that cannot be executed.
    """
    sha256 = hashlib.sha256(source).hexdigest()
    name = f"{path.name}:{strategy}@{sha256[:12]}"
    if known := loaded(name):
        result = replace(known, path=path)
    else:
        module = _executed(source, path, sha256)
        if strategy not in module.__dict__:
            classes = [key for key, value in module.__dict__.items() if not _fault(value)]
            raise UnknownNameError(f"strategy in {path}", strategy, classes, GUIDE)
        result = LoadedStrategy(name, path, sha256, _checked(module.__dict__[strategy], f"{path}:{strategy}"))
    _loaded()[name] = result
    return result


def loaded(name: str) -> LoadedStrategy | None:
    """The strategy that this process has loaded from a file under this recorded name."""
    return _loaded().get(name)


def outside_strategy(name: str) -> type[DataclassStrategy] | None:
    """The class of a strategy that was loaded from a file or that an installed package offers. Raises PlanError."""
    if from_file := loaded(name):
        return from_file.strategy
    point = _installed(tuple(sys.path)).get(name)
    if point is None:
        return None
    try:
        offered = point.load()
    except Exception as error:  # an edge: another author's package may raise anything when it is imported
        raise PlanError(f"The strategy {name} of {_distribution(point)} cannot be loaded: {_text(error)}") from error
    return _checked(offered, f"{name} of {_distribution(point)}")


def installed() -> tuple[str, ...]:
    """The names of strategies that installed packages offer; does not import the packages."""
    return tuple(sorted(_installed(tuple(sys.path))))


def version_of(name: str) -> str | None:
    """The package that offers a strategy, with its version; None if no installed package does."""
    point = _installed(tuple(sys.path)).get(name)
    return None if point is None else _distribution(point)


def _loaded() -> dict[str, LoadedStrategy]:
    return the_one("strategies read from files", dict)


@lru_cache(maxsize=1)
def _installed(_path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _distribution(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value


def _executed(source: bytes, path: Path, sha256: str) -> ModuleType:
    """Execute exactly the hashed bytes, as a module that dataclasses and tracebacks can find."""
    module = ModuleType(f"koderz_strategy_{sha256[:12]}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)  # noqa: S102 (the person has asked for that)
    except (Exception, SystemExit) as error:  # an edge: a person's file may raise anything when it is executed
        del sys.modules[module.__name__]
        raise DataError(f"{path} cannot be loaded: {_text(error)}. Correct the file. {GUIDE}") from error
    return module


def _checked(strategy: Any, name: str) -> type[DataclassStrategy]:  # Any: an object of another author
    """Raise PlanError if the object is not a strategy."""
    fault = _fault(strategy)
    if fault:
        raise PlanError(f"{name} is not a strategy: {fault}. {GUIDE}")
    checked: type[DataclassStrategy] = strategy
    create_outside(checked, name, {})
    return checked


def create_outside(strategy: type[DataclassStrategy], name: str, parameters: Mapping[str, Scalar]) -> DataclassStrategy:
    """The strategy of another author with these parameters, as its constructor expects them.

    Raises PlanError if its code raises an error, or if it lacks the role coder.
    """
    try:
        created = strategy(**parameters)
        has_coder = "coder" in created.roles()
    except Exception as error:  # an edge: another author's class may raise anything
        shown = ", ".join(f"{parameter}={value!r}" for parameter, value in parameters.items()) or "its defaults"
        raise PlanError(f"The strategy {name} cannot be used with {shown}: {_text(error)}. {GUIDE}") from error
    if not has_coder:
        raise PlanError(f"{name} is not a strategy: it lacks the role coder. {GUIDE}")
    return created


def _fault(strategy: Any) -> str:  # Any: as before
    if not (isinstance(strategy, type) and is_dataclass(strategy) and strategy.__dataclass_params__.frozen):  # type: ignore[attr-defined]  # missing in typeshed
        return "it is not a frozen dataclass"
    for method in ("roles", "solve"):
        if not callable(getattr(strategy, method, None)):
            return f"it has no method {method}"
    for field in fields(strategy):
        if not isinstance(field.default, _PLAIN):
            return f"its parameter {field.name} needs a default: a number, a string, True or False"
    return ""


def _text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
