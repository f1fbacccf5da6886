"""Reports to the judge what the assertions of rewritten tests saw. The judge, not this process, decides.

``koderz_core.sandbox.repository.instrument`` writes calls of these functions in the place of assertions. Each call
makes one record ``[form, site, ...]``, in plain JSON and bounded. An observation itself never raises an Exception.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any

from .faults import excerpt, shown
from .literals import NotPlainError, digest_of
from .values import PLAIN, decode, encode, holds, name_of
from .wire import Json

MODULE = "_koderz_observe"
"""The name under which rewritten tests import this module."""
LARGE = 20_000  # characters of the JSON of a value; of larger ones the judge gets a digest and an excerpt
_FEW = 100
MAX_TEXT = 4000  # characters of the text of an exception
_MAX_KINDS = 30
_MRO = vars(type)["__mro__"]
_MODULE_OF = vars(type)["__module__"]
Emit = Callable[[list[Json]], None]


def _emit(record: list[Json]) -> None:
    """Replaced by ``install``."""


def install(emit: Emit) -> None:
    """Let rewritten tests import this module, and pass each of its records to ``emit``."""
    globals()["_emit"] = emit  # one observer per process
    sys.modules[MODULE] = sys.modules[__name__]


def value(site: str, seen: object) -> None:
    """Report a value that the judge compares with one that only it has."""
    _emit(["value", site, _encoded(seen)])


def pair(site: str, left: object, right: object) -> None:
    """Report two values that the tests compare with each other."""
    _emit(["pair", site, _encoded(left), _encoded(right)])


def truth(site: str, seen: object) -> None:
    """Report whether a value is true. Only the judge knows whether it should be."""
    _emit(["truth", site, _answer(lambda: bool(seen))])


def equal(site: str, left: object, right: object) -> None:
    """Report whether objects are equal and differ, and whether the left one is equal to something else as well."""
    _emit(["truth", site, *_equality(left, right)])


def unequal(site: str, left: object, right: object) -> None:
    """As ``equal``, with the opposite answers."""
    _emit(["truth", site, *(None if answer is None else not answer for answer in _equality(left, right))])


def either(site: str, seen: object, first: object, second: object) -> None:
    """Report whether an object equals each of two values, of which the judge knows the right one."""
    _emit(["truth", site, _answer(lambda: bool(seen == first)), _answer(lambda: bool(seen == second))])


def kind(site: str, seen: object) -> None:
    """Report the names of the classes of an object."""
    _emit(["kind", site, _names(type(seen))])


def end(site: str) -> None:
    """Report that a test has reached its end."""
    _emit(["end", site, None])


def call(site: str, function: Callable[..., object], *arguments: object, **words: object) -> None:
    """Call a function and report the exception that it raises."""
    with raises(site):
        function(*arguments, **words)


class raises:  # noqa: N801 (used as pytest's function)
    """Reports the exception that its block raises. ``own``: the context manager of pytest or unittest that catches all.

    Outcomes of pytest such as a skipped test are not reported and pass through.
    """

    def __init__(self, site: str, own: Any = None) -> None:  # Any: a context manager
        self._site = site
        self._own = own

    def __enter__(self) -> object:
        return self._own.__enter__() if self._own is not None else self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if kind is None:
            _emit(["raises", self._site, None, ""])
            return False
        if _is_outcome(kind):
            return False
        _emit(["raises", self._site, _names(kind), _text(error)])
        if self._own is not None:
            self._own.__exit__(kind, error, trace)
        return True


def _is_outcome(kind: type) -> bool:
    """Whether an exception ends the test or the process, such as pytest's Skipped."""
    if issubclass(kind, Exception):
        return False
    return issubclass(kind, (KeyboardInterrupt, GeneratorExit)) or str(_module(kind)).startswith("_pytest.")


def _text(error: BaseException | None) -> str:
    try:
        notes = getattr(error, "__notes__", [])
        return excerpt("\n".join([str(error), *map(str, notes)]), MAX_TEXT)
    except Exception:  # noqa: BLE001 (an observation never raises)
        return ""


def _answer(question: Callable[[], bool]) -> bool | None:
    try:
        return question()
    except Exception:  # noqa: BLE001 (as above)
        return None


def _equality(left: object, right: object) -> list[bool | None]:
    return [
        _answer(lambda: bool(left == right)),
        _answer(lambda: bool(left != right)),
        _answer(lambda: bool(left == _other(right))),
    ]


def _names(kind: type) -> list[str]:
    return [f"{_module(part)}.{name_of(part)}" for part in _MRO.__get__(kind)[:_MAX_KINDS]]


def _module(kind: type) -> str:
    module = _MODULE_OF.__get__(kind)
    return str.__str__(module)[:_FEW] if isinstance(module, str) else ""


def _encoded(seen: object) -> Json:
    """A value as ``values`` encodes it; ``digest`` with an excerpt if it is large."""
    try:
        encoded = encode(seen)
        if _is_small(encoded) or len(json.dumps(encoded)) <= LARGE:
            return encoded
        if holds(encoded, "opaque") or holds(encoded, "beyond"):
            return {"opaque": name_of(type(seen))}
        plain = decode(encoded)
        return {"digest": [digest_of(plain), shown(plain)]}
    except NotPlainError:
        return {"opaque": name_of(type(seen))}
    except Exception as error:  # noqa: BLE001 (as above)
        return {"opaque": f"{name_of(type(seen))} ({name_of(type(error))})"}


def _is_small(encoded: Json) -> bool:
    if isinstance(encoded, str):
        return len(encoded) < LARGE // 2
    if isinstance(encoded, list):
        return len(encoded) < _FEW and set(map(type, encoded)) <= {int, float, bool, type(None)}
    return type(encoded) in PLAIN


def _other(value: Any) -> object:  # Any: any value
    """A value of the same type that differs, where one can be made; else an object that equals only itself."""
    kind = type(value)
    if kind in (int, float):
        return value + 1
    more: dict[type, Any] = {str: "x", bytes: b"x", list: [None], tuple: (None,)}
    if kind in more:
        return value + more[kind]
    if kind is dict:
        return {**value, "other": None} if "other" not in value else {}
    if kind in (set, frozenset):
        return value ^ {"other"}
    return not value if kind is bool else object()
