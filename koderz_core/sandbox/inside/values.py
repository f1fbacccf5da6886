"""Plain data as JSON: the only values that judge and candidate tell each other. ``reading`` makes values of it again.

Values are tagged, so that ``(1,)`` does not come back as ``[1]``. What is not plain data stays where it is: it crosses
as the name of its type, with a number to ask it by where the other end keeps it, and is equal to nothing. A container
that has crossed before can be named by its number among those that did (``old``), so that it stays one object.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from . import library
from .wire import MAX_FRAME_BYTES, FrameTooLargeError

MAX_DEPTH = 100
_INT64 = 1 << 63
_MUTABLE = (list, dict, set)
_NAME = vars(type)["__name__"]
PLAIN = frozenset({str, int, float, bool, type(None)})  # what in JSON holds nothing else

Keep = Callable[[object], "int | None"]
"""Keeps a value that is not plain data for later questions: the number to ask it by, None if it is not kept."""


class Opaque:
    """Stands for a value that is not plain data. Equal to nothing, different from nothing, neither true nor false."""

    def __init__(self, kind: str) -> None:
        object.__setattr__(self, "_koderz_kind", kind)

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError(f"the program returned an object of type {kind_of(self)}, which tests cannot look into")

    def __repr__(self) -> str:
        return f"<object of type {kind_of(self)}>"


def kind_of(value: Opaque) -> str:
    kind: str = object.__getattribute__(value, "_koderz_kind")
    return kind


class Crossed:
    """The containers that have crossed in one message, in the order in which they were complete; one for both ways."""

    def __init__(self) -> None:
        self.containers: list[Any] = []  # Any: lists, dicts and sets of whatever was in them
        self._places: dict[int, int] = {}

    def add(self, container: Any) -> Any:
        """Number it; it is kept, so that its id stays its own."""
        self._places[id(container)] = len(self.containers)
        self.containers.append(container)
        return container

    def place(self, value: object) -> int | None:
        return self._places.get(id(value))


class Names(NamedTuple):
    """What need not be told: values to ``keep`` here, containers that have ``crossed``. ``numbers``: new ones cross."""

    keep: Keep | None = None
    crossed: Crossed | None = None
    numbers: bool = False


class Known(NamedTuple):
    """How names are read: ``kept`` by the other end, given number and type; what has ``crossed``, as in ``Names``."""

    kept: Callable[[int, str], object]
    crossed: Crossed | None = None
    numbers: bool = False


_NO_NAMES = Names()


def encode(value: object, names: Names = _NO_NAMES, depth: int = 0) -> Any:  # Any: JSON
    """A value as JSON; subclasses of plain types become the plain type, anything else an opaque value.

    The methods are taken from the plain types, and the type is the true one, which ``isinstance`` does not ask for: so
    what a class says about itself does not count.
    """
    kind = type(value)
    if value is None or kind is bool:
        return value
    if issubclass(kind, str):
        return _encode_text(str.__str__(value))
    if issubclass(kind, (int, float, complex)):
        return _encode_number(value, kind)
    if issubclass(kind, (bytes, bytearray)):
        return _encode_bytes(value, kind)
    return _encode_container(value, names, depth + 1)


def _encode_text(text: str) -> Any:  # Any: JSON
    """JSON would join two surrogates to one character."""
    if len(text) > MAX_FRAME_BYTES:  # before it is copied
        raise FrameTooLargeError(len(text))
    try:
        text.encode()
    except UnicodeEncodeError:
        return {"utf32": text.encode("utf-32-le", "surrogatepass").hex()}
    return text


def _encode_bytes(value: Any, kind: type) -> Any:  # Any: bytes or bytearray; JSON
    plain = bytes if issubclass(kind, bytes) else bytearray
    if (size_bytes := plain.__len__(value)) > MAX_FRAME_BYTES:
        raise FrameTooLargeError(size_bytes)
    return {plain.__name__: plain.hex(value)}


def _encode_number(value: Any, kind: type) -> Any:  # Any: int, float or complex; JSON
    if issubclass(kind, int):
        plain = int.__int__(value)
        return plain if -_INT64 <= plain < _INT64 else {"int": hex(plain)}
    if issubclass(kind, float):
        return _encode_float(float.__float__(value))
    both = complex.__pos__(value)
    return {"complex": [_encode_float(both.real), _encode_float(both.imag)]}


def _encode_float(value: float) -> Any:  # Any: JSON
    finite = value - value == 0.0  # nan and the infinities have no JSON
    return value if finite else {"float": repr(value)}


def _encode_container(value: object, names: Names, depth: int) -> Any:  # Any: JSON
    if names.crossed is not None and (place := names.crossed.place(value)) is not None:
        return {"old": place}
    if depth > MAX_DEPTH:
        return {"beyond": name_of(type(value))}
    kind = type(value)
    if not issubclass(kind, _MUTABLE):
        return _encode_fixed(value, kind, names, depth)
    encoded = _encode_mutable(value, kind, names, depth)
    if names.numbers and names.crossed is not None:
        names.crossed.add(value)
    return encoded


def _encode_mutable(value: Any, kind: type, names: Names, depth: int) -> Any:  # Any: one of _MUTABLE; JSON
    if issubclass(kind, list):
        return _encode_items(list.__iter__(value), names, depth)
    if issubclass(kind, set):
        return {"set": _encode_items(set.__iter__(value), names, depth)}
    pairs = [[encode(key, names, depth), encode(item, names, depth)] for key, item in dict.items(value)]
    return {library.kind_of_dict(value): pairs}


def _encode_fixed(value: Any, kind: type, names: Names, depth: int) -> Any:  # Any: whatever it is; JSON
    if issubclass(kind, tuple):
        return {"tuple": _encode_items(tuple.__iter__(value), names, depth)}
    if issubclass(kind, frozenset):
        return {"frozenset": _encode_items(frozenset.__iter__(value), names, depth)}
    if issubclass(kind, Opaque):
        number = number_of(value)
        return {"beyond": kind_of(value)} if number is None else {"kept": [number, kind_of(value)]}
    if parts := library.parts_of(value):
        return {parts[0]: [encode(part, names, depth) for part in parts[1]]}
    number = names.keep(value) if names.keep else None
    return {"opaque": name_of(kind)} if number is None else {"kept": [number, name_of(kind)]}


def name_of(kind: type) -> str:
    """The name of a type, whatever its metaclass says, and not too long."""
    name: str = _NAME.__get__(kind)
    return name[:100]


def number_of(value: Opaque) -> int | None:
    """The number that the other end keeps it under."""
    number: int | None = value.__dict__.get("_koderz_number")
    return number


def _encode_items(items: Iterable[object], names: Names, depth: int) -> list[Any]:  # Any: JSON
    """Items of exactly the types that JSON has are taken as they are: most lists hold nothing else."""
    listed = list(items)
    kinds = set(map(type, listed))
    return (
        listed if len(kinds) == 1 and _are_plain(listed, kinds.pop()) else [encode(one, names, depth) for one in listed]
    )


def _are_plain(items: list[Any], kind: type) -> bool:  # Any: items of this type
    if kind is int:
        return bool(min(items) >= -_INT64 and max(items) < _INT64)
    if kind is float:
        return all(map(math.isfinite, items))
    return all(map(str.isascii, items)) if kind is str else kind is bool


def holds(encoded: Any, tag: str) -> bool:  # Any: JSON that encode made
    """Whether some part of an encoded value has this tag.

    ``opaque``: it was never plain data. ``beyond``: it came over a wire as opaque, or is nested too deeply. ``kept``:
    the program's process holds it.
    """
    if isinstance(encoded, dict):
        return tag in encoded or any(holds(content, tag) for content in encoded.values())
    if not isinstance(encoded, list) or PLAIN.issuperset(map(type, encoded)):
        return False
    return any(holds(item, tag) for item in encoded)
