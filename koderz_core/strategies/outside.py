"""Strategies of other authors: a class in a file that a person names, or one that an installed package offers.

Both are trusted. They run in koderz' own process, with all that koderz may do, unlike the programs that models write.
A package offers its strategies as entry points of the group ``koderz.strategies``; a file is read only where a person
names it, and is known from then on by what it holds: ``mine.py:Mine@`` and the beginning of its SHA-256.
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
from koderz_core.input_files import MOST_TEXT_BYTES, read_bytes
from koderz_core.process import the_one
from koderz_core.strategies.facts import DataclassStrategy

GROUP = "koderz.strategies"
WRITTEN = "docs/strategies.md says how one is written."
_NAMED = re.compile(r"(?P<path>.*\.py):(?P<name>[A-Za-z_]\w*)")
_RECORDED = re.compile(r"[^/]*\.py:[A-Za-z_]\w*@[0-9a-f]{12}")
_PLAIN = (bool, int, float, str)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A strategy that was read from a file; ``name`` is what it is recorded as."""

    name: str
    path: Path
    sha256: str
    strategy: type[DataclassStrategy]


def is_named_file(text: str) -> bool:
    """Whether a person names a file by this, as ``path/mine.py:Mine``."""
    return _NAMED.fullmatch(text) is not None


def is_recorded_file(name: str) -> bool:
    """Whether a strategy was read from a file, as its recorded name tells."""
    return _RECORDED.fullmatch(name) is not None


def shortened(name: str) -> str:
    """A strategy's name without the hash of its file."""
    return name.partition("@")[0] if is_recorded_file(name) else name


def read_file(text: str) -> Loaded:
    """The strategy that a person names as ``path/mine.py:Mine``. Its file is executed.

    Raises PlanError, and DataError for a file that cannot be read.
    """
    named = _NAMED.fullmatch(text)
    if named is None:
        raise PlanError(f"{text!r} names no strategy in a file. Write it as path/mine.py:Mine. {WRITTEN}")
    path = Path(named["path"]).expanduser().absolute()
    return take(path, named["name"], read_bytes(path, "Say where the strategy's file is.", MOST_TEXT_BYTES))


def take(path: Path, strategy: str, source: bytes) -> Loaded:
    """The class called ``strategy`` of a file that holds this ``source``, which is executed.

    Raises UnknownNameError for a file without such a class, PlanError for a file that cannot be executed.
    What a file of this name holds is executed once in a process; where it was named last, it is.
    """
    sha256 = hashlib.sha256(source).hexdigest()
    name = f"{path.name}:{strategy}@{sha256[:12]}"
    if read := loaded(name):
        taken = replace(read, path=path)
    else:
        module = _executed(source, path, sha256)
        if strategy not in module.__dict__:
            there = [one for one, value in module.__dict__.items() if not _fault(value)]
            raise UnknownNameError(f"strategy in {path}", strategy, there, WRITTEN)
        taken = Loaded(name, path, sha256, _checked(module.__dict__[strategy], f"{path}:{strategy}"))
    _loaded()[name] = taken
    return taken


def loaded(name: str) -> Loaded | None:
    """What this process has read from a file under this recorded name."""
    return _loaded().get(name)


def found(name: str) -> type[DataclassStrategy] | None:
    """The strategy of a recorded name that this process has read, or of an installed package. Raises PlanError."""
    if read := loaded(name):
        return read.strategy
    point = _installed(tuple(sys.path)).get(name)
    if point is None:
        return None
    try:
        offered = point.load()
    except Exception as error:  # an edge: whatever another author's package does when it is imported
        raise PlanError(f"The strategy {name} of {_distribution(point)} cannot be loaded: {_said(error)}") from error
    return _checked(offered, f"{name} of {_distribution(point)}")


def installed() -> tuple[str, ...]:
    """The names that installed packages offer; none of them is imported for that."""
    return tuple(sorted(_installed(tuple(sys.path))))


def version_of(name: str) -> str | None:
    """The package that offers a strategy, with its version; None for one that no installed package offers."""
    point = _installed(tuple(sys.path)).get(name)
    return None if point is None else _distribution(point)


def _loaded() -> dict[str, Loaded]:
    return the_one("strategies read from files", dict)


@lru_cache(maxsize=1)
def _installed(_path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _distribution(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value


def _executed(source: bytes, path: Path, sha256: str) -> ModuleType:
    """Exactly the bytes that were hashed, as a module that dataclasses and tracebacks can find."""
    module = ModuleType(f"koderz_strategy_{sha256[:12]}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)  # noqa: S102 (that is what the person asked for)
    except (Exception, SystemExit) as error:  # an edge: whatever a person's file does when it is read
        del sys.modules[module.__name__]
        raise DataError(f"{path} cannot be loaded: {_said(error)}. Mend the file. {WRITTEN}") from error
    return module


def _checked(strategy: Any, name: str) -> type[DataclassStrategy]:  # Any: whatever stands under that name
    """Raise PlanError for what is no strategy."""
    fault = _fault(strategy)
    if fault:
        raise PlanError(f"{name} is no strategy: {fault}. {WRITTEN}")
    checked: type[DataclassStrategy] = strategy
    if "coder" not in checked().roles():
        raise PlanError(f"{name} is no strategy: nobody is its coder. {WRITTEN}")
    return checked


def _fault(strategy: Any) -> str:  # Any: as before
    if not (isinstance(strategy, type) and is_dataclass(strategy) and strategy.__dataclass_params__.frozen):  # type: ignore[attr-defined]  # typeshed leaves it out
        return "it is no frozen dataclass"
    for method in ("roles", "solve"):
        if not callable(getattr(strategy, method, None)):
            return f"it has no method {method}"
    for field in fields(strategy):
        if not isinstance(field.default, _PLAIN):
            return f"its parameter {field.name} has no default that is a number, a text, true or false"
    return ""


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
