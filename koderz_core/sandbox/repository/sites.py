"""Sites: the places in rewritten tests that report to the judge, and what the judge makes of a report.

A *form* is the way in which a site reports: ``value`` (a value, compared with a literal that only the judge has),
``pair`` (two values), ``truth`` (answers whose direction only the judge knows), ``kind`` (classes of an object),
``raises`` (classes and text of an exception), ``end`` (a test has reached its end). Reports come from a hostile
process: they are checked strictly.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from koderz_core.sandbox.inside.faults import excerpt, shown
from koderz_core.sandbox.inside.literals import NotPlainError, digest_of
from koderz_core.sandbox.inside.recorder import OPERATORS
from koderz_core.sandbox.inside.values import Opaque, decode, holds
from koderz_core.sandbox.inside.wire import Json, WireError

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {  # Any: plain data
    **OPERATORS,
    "list ==": lambda left, right: isinstance(left, list) and isinstance(right, list) and left == right,
    "tuple ==": lambda left, right: isinstance(left, tuple) and isinstance(right, tuple) and left == right,
    "dict ==": lambda left, right: isinstance(left, dict) and isinstance(right, dict) and left == right,
    "str ==": lambda left, right: isinstance(left, str) and isinstance(right, str) and left == right,
    "sequence ==": lambda left, right: _items(left) == _items(right),
    "items ==": lambda left, right: _same_items(_items(left), _items(right)),
    "matches": lambda left, right: len(left) < _LONG and re.search(right, left) is not None,
}
PAIRED = frozenset(_COMPARISONS) - {"is", "is not", "matches"} | {"about ==", "about !="}
"""Operations on two plain values that the judge can repeat."""
CONTROL = "control"
"""The operation of a site that observes a known value."""
END = "end"
"""The form of the site at the end of a test."""
_MANY = 1000
_MOST_ITEMS = 1_000_000
_LONG = 20_000  # characters of a text in which a pattern is searched; an honest text of an exception is shorter
_NAN = {"float": "nan"}
_UNREADABLE = (
    *(WireError, NotPlainError),  # such as the digest of a range, which has none
    *(ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError),
)


@dataclass(frozen=True)
class Site:
    """One place in the rewritten tests of one verdict.

    ``place``: file, line and column of the assertion, the same in every verdict; ``owner``: the id of the function
    around it. ``expected``: the literal of a ``value``, the right answers of a ``truth``, names of classes.
    ``on_left``: the literal is the left side. ``holds``: the result that the comparison must have. ``extra``: decimal
    places and delta. ``pattern``: of the text of an exception.
    """

    place: str
    owner: str
    form: str
    source: str
    operation: str
    holds: bool = True
    expected: Any = None  # plain data
    on_left: bool = False
    extra: tuple[float | None, ...] = ()
    pattern: str | None = None

    @property
    def is_control(self) -> bool:
        return self.operation == CONTROL


@dataclass(frozen=True)
class Finding:
    """What a report shows: whether it is right, and texts of the expected and the actual value. Hostile texts."""

    right: bool
    expected: str | None = None
    actual: str | None = None


def finding(site: Site, report: Sequence[Json]) -> Finding:
    """What the judge makes of the rest of a record after its form and site."""
    try:
        return Finding(_is_untouched(site, report)) if site.is_control else _READERS[site.form](site, report)
    except _UNREADABLE:
        return Finding(False, None, "a report that cannot be read")


def named(names: Sequence[Json]) -> list[str]:
    """The last parts of full names of classes."""
    return [str(name).rpartition(".")[2] for name in names]


def _value(site: Site, report: Sequence[Json]) -> Finding:
    (encoded,) = report
    wanted = ("" if site.holds else "not ") + ("" if _is_equality(site.operation) else f"{site.operation} ")
    expected = f"{wanted}{shown(site.expected)}"
    if isinstance(encoded, dict) and "digest" in encoded:
        digest, text = encoded["digest"]
        return Finding(_is_shown(site, same=digest_of(site.expected) == digest), expected, excerpt(str(text)))
    seen = decode(encoded)
    sides = (site.expected, seen) if site.on_left else (seen, site.expected)
    right = not isinstance(seen, Opaque) and _compare(site, *sides) is site.holds
    return Finding(right, expected, shown(seen))


def _pair(site: Site, report: Sequence[Json]) -> Finding:
    left, right = report
    if isinstance(left, dict) and isinstance(right, dict) and "digest" in left and "digest" in right:
        is_right = _is_shown(site, same=left["digest"][0] == right["digest"][0])
        return Finding(is_right, excerpt(str(right["digest"][1])), excerpt(str(left["digest"][1])))
    if left == right and _is_equality(site.operation) and left != _NAN and not _has_opaque(left):
        return Finding(True) if site.holds else Finding(False, f"not {shown(decode(right))}", shown(decode(left)))
    values = decode(left), decode(right)
    if _has_opaque(left) or _has_opaque(right):
        return Finding(False, shown(values[1]), shown(values[0]))
    operation = "" if _is_equality(site.operation) else f"{site.operation} "
    return Finding(_compare(site, *values) is site.holds, f"{operation}{shown(values[1])}", shown(values[0]))


def _truth(site: Site, report: Sequence[Json]) -> Finding:
    answers = tuple(answer if isinstance(answer, bool) else None for answer in report)
    wanted: tuple[bool | None, ...] = site.expected
    unlike = {None, *wanted[2:]}  # comparing with another value may raise an exception
    right = len(answers) == len(wanted) and all(
        want is None or answer is want or (place > 1 and answer in unlike)
        for place, (answer, want) in enumerate(zip(answers, wanted, strict=True))
    )
    return Finding(right, "a true value" if site.holds else "a false value")


def _kind(site: Site, report: Sequence[Json]) -> Finding:
    (names,) = report
    found = any(name in site.expected for name in named(names))
    wanted = ("" if site.holds else "not ") + "an object of type " + " or ".join(site.expected)
    return Finding(found is site.holds, wanted, f"an object of type {named(names)[0]}")


def _raises(site: Site, report: Sequence[Json]) -> Finding:
    names, text = report
    wanted = " or ".join(site.expected) + (f" matching {site.pattern!r}" if site.pattern is not None else "")
    if names is None:
        return Finding(False, wanted, "no exception")
    found = any(name in site.expected for name in named(names))
    said = str(text)
    matches = site.pattern is None or bool(_COMPARISONS["matches"](said, site.pattern))
    return Finding(found and matches, wanted, excerpt(f"{named(names)[0]}: {said}"))


def _is_untouched(site: Site, report: Sequence[Json]) -> bool:
    """Whether the report of a control is what it must be, or says that the process could not make it."""
    if site.form in {"value", "pair"}:
        wanted = site.expected if site.form == "pair" else (site.expected,)
        seen = [decode(part) for part in report]
        lost = any(isinstance(value, Opaque) for value in seen)
        return lost or [(type(value), value) for value in seen] == [(type(value), value) for value in wanted]
    if site.form == "truth":
        return all(answer in (None, want) for answer, want in zip(report, site.expected, strict=False))
    names = report[0]
    return bool(names == site.expected if site.form == "kind" else (names and named(names)[0]) == site.expected)


_READERS: dict[str, Callable[[Site, Sequence[Json]], Finding]] = {
    "value": _value,
    "pair": _pair,
    "truth": _truth,
    "kind": _kind,
    "raises": _raises,
    END: lambda _site, _report: Finding(True),
}


def _has_opaque(encoded: Json) -> bool:
    return any(holds(encoded, tag) for tag in ("opaque", "beyond", "digest"))


def _is_shown(site: Site, *, same: bool) -> bool:
    """Whether the digests of two values show that a comparison has the result that it must have.

    Digests show only whether the values are equal. Any other comparison, such as ``in``, is never right.
    """
    if _is_equality(site.operation):
        return same is site.holds
    if site.operation in {"is", "is not"}:  # equal values need not be one object
        return not same and (site.operation == "is not") is site.holds
    return site.operation == "!=" and same is not site.holds


def _is_equality(operation: str) -> bool:
    return operation.endswith("==") and not operation.startswith("about")


def _compare(site: Site, left: Any, right: Any) -> bool:
    if site.operation.startswith("about"):
        return _about(left, right, *site.extra) is (site.operation == "about ==")
    return bool(_COMPARISONS[site.operation](left, right))


def _about(left: Any, right: Any, places: float | None, delta: float | None) -> bool:
    """Whether ``unittest`` takes two numbers as almost equal."""
    if left == right:
        return True
    difference = abs(left - right)
    if delta is not None:
        return bool(difference <= delta)
    return bool(math.isfinite(difference) and round(difference, int(7 if places is None else places)) == 0)


def _items(value: Any) -> list[Any]:
    """The items of a container. A hostile range may have too many."""
    if len(value) > _MOST_ITEMS:
        raise ValueError
    return list(value)


def _same_items(left: list[Any], right: list[Any]) -> bool:
    try:
        return Counter(left) == Counter(right)
    except TypeError:
        if len(left) != len(right) or len(left) > _MANY:
            return False
    rest = list(right)
    for item in left:
        if item not in rest:
            return False
        rest.remove(item)
    return True
