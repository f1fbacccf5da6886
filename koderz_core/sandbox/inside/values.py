"""Plain data as JSON and back: the only values that judge and candidate tell each other.

Values are tagged, so that ``(1,)`` does not come back as ``[1]``. What is not plain data stays where it is: it crosses
as the name of its type, with a number to ask it by where the other end keeps it, and is equal to nothing. A container
that came from the other end can be named by its number there instead (``old``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .wire import WireError

MAX_DEPTH = 100
_INT64 = 1 << 63
_COLLECTIONS: tuple[Any, ...] = (tuple, set, frozenset)  # Any: types, each asked for its own way to list items
_PLAIN_IN_JSON = frozenset({str, bool, type(None)})

Keep = Callable[[object], "int | None"]
"""Keeps a value that is not plain data for later questions: the number to ask it by, None if it is not kept."""


class Opaque:
    """Stands for a value that is not plain data. Equal to nothing, different from nothing, neither true nor false."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError(f"the program returned an object of type {self.kind}, which tests cannot look into")

    def __repr__(self) -> str:
        return f"<object of type {self.kind}>"


class Known(NamedTuple):
    """How to read names for values: ``kept`` by the other end, given number and type; ``old``, one of our own."""

    kept: Callable[[int, str], object]
    old: Sequence[object]


class Names(NamedTuple):
    """How to name values instead of telling them: those to ``keep``, and the other end's own, ``old``, by their id."""

    keep: Keep | None = None
    old: Mapping[int, int] = {}


_NO_NAMES = Names()


def encode(value: object, names: Names = _NO_NAMES, depth: int = 0) -> Any:  # Any: JSON
    """A value as JSON; subclasses of plain types become the plain type, anything else an opaque value.

    The methods are taken from the plain types, so that what a subclass says about itself does not count.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (int, float, complex)):
        return _encode_number(value)
    if isinstance(value, bytes):
        return {"bytes": bytes.hex(value)}
    return _encode_container(value, names, depth + 1)


def _encode_number(value: complex) -> Any:  # Any: JSON
    if isinstance(value, int):
        plain = int.__int__(value)
        return plain if -_INT64 <= plain < _INT64 else {"int": hex(plain)}
    if isinstance(value, float):
        return _encode_float(float.__float__(value))
    both = complex.__pos__(value)
    return {"complex": [_encode_float(both.real), _encode_float(both.imag)]}


def _encode_container(value: object, names: Names, depth: int) -> Any:  # Any: JSON
    if id(value) in names.old:
        return {"old": names.old[id(value)]}
    if depth > MAX_DEPTH:
        return {"beyond": type(value).__name__[:100]}
    if isinstance(value, list):
        return _encode_items(list.__iter__(value), names, depth)
    if isinstance(value, dict):
        pairs = dict.items(value)
        return {"dict": [[encode(key, names, depth), encode(item, names, depth)] for key, item in pairs]}
    for kind in _COLLECTIONS:
        if isinstance(value, kind):
            return {kind.__name__: _encode_items(kind.__iter__(value), names, depth)}
    return _encode_opaque(value, names.keep)


def _encode_opaque(value: object, keep: Keep | None) -> Any:  # Any: JSON
    kind = type(value).__name__[:100]
    if isinstance(value, Opaque):
        number = getattr(value, "number", None)
        return {"beyond": value.kind} if number is None else {"kept": [number, value.kind]}
    number = keep(value) if keep else None
    return {"opaque": kind} if number is None else {"kept": [number, kind]}


def _encode_items(items: Iterable[object], names: Names, depth: int) -> list[Any]:  # Any: JSON
    """Items of exactly the types that JSON has are taken as they are: most lists hold nothing else."""
    listed = list(items)
    kinds = set(map(type, listed))
    if kinds <= _PLAIN_IN_JSON or _are_plain_numbers(listed, kinds):
        return listed
    return [encode(item, names, depth) for item in listed]


def _are_plain_numbers(items: list[Any], kinds: set[type]) -> bool:  # Any: items of these types
    if kinds == {int}:
        return bool(min(items) >= -_INT64 and max(items) < _INT64)
    return kinds == {float} and all(map(math.isfinite, items))


def _encode_float(value: float) -> Any:  # Any: JSON
    finite = value - value == 0.0  # nan and the infinities have no JSON
    return value if finite else {"float": repr(value)}


def holds(encoded: Any, tag: str) -> bool:  # Any: JSON that encode made
    """Whether some part of an encoded value has this tag.

    ``opaque``: it was never plain data. ``beyond``: it came over a wire as opaque, or is nested too deeply. ``kept``:
    the program's process holds it.
    """
    if isinstance(encoded, dict):
        return tag in encoded or any(holds(content, tag) for content in encoded.values())
    return isinstance(encoded, list) and any(holds(item, tag) for item in encoded)


def decode(value: Any, known: Known | None = None) -> object:  # Any: JSON of a hostile process
    """The value that ``encode`` was given, flattened. Raise WireError if it is not a value of this wire."""
    try:
        return _decode(value, known or _NOTHING_KNOWN)
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        raise WireError(f"a value that cannot be read ({type(error).__name__})") from None


_NOTHING_KNOWN = Known(lambda _number, kind: Opaque(kind), ())


def _decode(value: Any, known: Known) -> Any:  # Any: as above, and what came of it
    if isinstance(value, list):
        kinds = set(map(type, value))
        return [_decode(item, known) for item in value] if list in kinds or dict in kinds else value
    if not isinstance(value, dict):
        return value
    ((tag, content),) = value.items()
    return _READERS[tag](content, known)


def _decode_float(text: Any, _known: Known) -> float:  # Any: as above
    """One and the same nan: containers take an object to equal itself, as where nothing crosses."""
    value = float(text)
    return value if value == value else math.nan  # noqa: PLR0124 (nan)


def _decode_kept(content: Any, known: Known) -> object:  # Any: as above
    number, kind = content
    return known.kept(int(number), str(kind)[:100])


def _decode_opaque(kind: Any, _known: Known) -> Opaque:  # Any: as above
    return Opaque(str(kind)[:100])


# Comprehensions, not set(...): adding hostile, colliding members one by one lets the deadline's signal in.
_READERS: dict[str, Callable[[Any, Known], object]] = {  # Any: as above
    "int": lambda text, _: int(text, 16),
    "float": _decode_float,
    "bytes": lambda text, _: bytes.fromhex(text),
    "complex": lambda parts, known: complex(_decode(parts[0], known), _decode(parts[1], known)),
    "tuple": lambda items, known: tuple(_decode(list(items), known)),
    "dict": lambda pairs, known: {_decode(key, known): _decode(item, known) for key, item in pairs},
    "set": lambda items, known: {_decode(item, known) for item in items},
    "frozenset": lambda items, known: frozenset({_decode(item, known) for item in items}),
    "kept": _decode_kept,
    "old": lambda number, known: known.old[number],
    "opaque": _decode_opaque,
    "beyond": _decode_opaque,
}
