"""Values of the standard library that are plain data too: exact numbers, ranges, queues, ordered and counting dicts.

Their modules are not loaded for that: where one is not loaded, there is no such value. Only the exact types count,
taken apart by means of the type itself.
"""

from __future__ import annotations

import sys
from typing import Any

Parts = tuple[str, list[object]]
"""The name of a type and the arguments that make an equal value."""


def parts_of(value: object) -> Parts | None:
    """What a value is made of, None if it is of no type of these."""
    kind = type(value)
    if kind is range:
        return "range", [value.start, value.stop, value.step]  # type: ignore[attr-defined]  # it is a range
    if kind is _type("fractions", "Fraction"):
        return "Fraction", [int(value._numerator), int(value._denominator)]  # type: ignore[attr-defined]  # a Fraction
    if kind is _type("decimal", "Decimal"):
        return "Decimal", [kind.__str__(value)]
    if kind is _type("collections", "deque"):
        return "deque", [list(value), value.maxlen]  # type: ignore[call-overload, attr-defined]  # a deque
    return None


def kind_of_dict(value: object) -> str:
    """The name of the type of a dict as it crosses."""
    for name in ("OrderedDict", "Counter"):
        if type(value) is _type("collections", name):
            return name
    return "dict"


def made(name: str, parts: list[Any]) -> object:  # Any: plain data of a hostile process
    """The value again. Raise LookupError for a name of none of these, TypeError and such for other parts."""
    if name == "range":
        return range(*parts)
    if name == "Fraction":
        from fractions import Fraction  # noqa: PLC0415 (rarely needed)

        return Fraction(*parts)
    if name == "Decimal":
        from decimal import Decimal  # noqa: PLC0415 (rarely needed)

        return Decimal(*parts)
    if name == "deque":
        from collections import deque  # noqa: PLC0415 (as above)

        return deque(*parts)
    raise LookupError(name)


def ordered(pairs: dict[Any, Any]) -> object:  # Any: as above
    from collections import OrderedDict  # noqa: PLC0415 (as above)

    return OrderedDict(pairs)


def counted(pairs: dict[Any, Any]) -> object:  # Any: as above
    from collections import Counter  # noqa: PLC0415 (as above)

    return Counter(pairs)


def _type(module: str, name: str) -> object:
    return getattr(sys.modules.get(module), name, None)
