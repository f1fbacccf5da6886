"""Values from the JSON that ``values`` makes of them; what a hostile process sends for one is looked at closely."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from . import library
from .values import Known, Opaque
from .wire import WireError


def decode(value: Any, known: Known | None = None) -> object:  # Any: JSON of a hostile process
    """The value that ``encode`` was given, flattened. Raise WireError if it is not a value of this wire."""
    try:
        return _decode(value, known or _NOTHING_KNOWN)
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError) as error:
        raise WireError(f"a value that cannot be read ({type(error).__name__})") from None


_NOTHING_KNOWN = Known(lambda _number, kind: Opaque(kind))


def _decode(value: Any, known: Known) -> Any:  # Any: as above, and what came of it
    if isinstance(value, list):
        kinds = set(map(type, value))
        items = [_decode(item, known) for item in value] if list in kinds or dict in kinds else value
        return _numbered(items, known)
    if not isinstance(value, dict):
        return value
    ((tag, content),) = value.items()
    if tag in _CONTAINERS:
        return _numbered(_CONTAINERS[tag](content, known), known)
    return (
        _READERS[tag](content, known)
        if tag in _READERS
        else library.made(tag, [_decode(part, known) for part in content])
    )


def _numbered(container: Any, known: Known) -> Any:  # Any: as above
    return known.crossed.add(container) if known.numbers and known.crossed is not None else container


def _decode_float(text: Any, _known: Known) -> float:  # Any: as above
    """One and the same nan: containers take an object to equal itself, as where nothing crosses."""
    value = float(text)
    return value if value == value else math.nan  # noqa: PLR0124 (nan)


def _decode_kept(content: Any, known: Known) -> object:  # Any: as above
    number, kind = content
    return known.kept(int(number), str(kind)[:100])


def _decode_old(place: Any, known: Known) -> object:  # Any: as above
    if known.crossed is None:
        raise LookupError
    return known.crossed.containers[place]


def _decode_opaque(kind: Any, _known: Known) -> Opaque:  # Any: as above
    return Opaque(str(kind)[:100])


def _items(items: Any, known: Known) -> list[Any]:  # Any: as above
    return [_decode(item, known) for item in items]


def _pairs(pairs: Any, known: Known) -> dict[Any, Any]:  # Any: as above
    return {_decode(key, known): _decode(item, known) for key, item in pairs}


# Comprehensions, not set(...): adding hostile, colliding members one by one lets the deadline's signal in.
_CONTAINERS: dict[str, Callable[[Any, Known], object]] = {  # Any: as above
    "set": lambda items, known: {_decode(item, known) for item in items},
    "dict": _pairs,
    "OrderedDict": lambda pairs, known: library.ordered(_pairs(pairs, known)),
    "Counter": lambda pairs, known: library.counted(_pairs(pairs, known)),
}
_READERS: dict[str, Callable[[Any, Known], object]] = {  # Any: as above
    "int": lambda text, _: int(text, 16),
    "float": _decode_float,
    "utf32": lambda text, _: bytes.fromhex(text).decode("utf-32-le", "surrogatepass"),
    "bytes": lambda text, _: bytes.fromhex(text),
    "bytearray": lambda text, _: bytearray.fromhex(text),
    "complex": lambda parts, known: complex(_decode(parts[0], known), _decode(parts[1], known)),
    "tuple": lambda items, known: tuple(_items(items, known)),
    "frozenset": lambda items, known: frozenset({_decode(item, known) for item in items}),
    "kept": _decode_kept,
    "old": _decode_old,
    "opaque": _decode_opaque,
    "beyond": _decode_opaque,
}
