"""Plain data as JSON and back: the only values that judge and candidate exchange.

Values are tagged, so that ``(1,)`` does not come back as ``[1]``. Other values stay in their process. They cross as the
name of their type, with a number for further questions if the other end keeps them, and are equal to nothing. A
container that crossed before can be named by its number (``old``), so that it stays one object. Exact numbers, ranges,
queues, ordered and counting dicts of the standard library are plain data as well, but not their subclasses. Their
modules are not loaded for that: a process that has not loaded one has no such value. Input from a hostile process is
checked strictly.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, NamedTuple

from .wire import MAX_FRAME_BYTES, FrameTooLargeError, Json, WireError

MAX_DEPTH = 100
_INT64 = 1 << 63
_MUTABLE = (list, dict, set)
_NAME = vars(type)["__name__"]
PLAIN = frozenset({str, int, float, bool, type(None)})  # JSON values without parts

Keep = Callable[[object], "int | None"]
"""Keeps a value that is not plain data for later questions; returns its number, None if it is not kept."""
Parts = tuple[str, list[object]]
"""The name of a type and the arguments that make an equal value."""


class Opaque:
    """Stands for a value that is not plain data. Equal to nothing, different from None only, neither true nor false."""

    def __init__(self, kind: str) -> None:
        object.__setattr__(self, "_koderz_kind", kind)

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return other is None

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError(f"the program returned an object of type {kind_of(self)}, which tests cannot look into")

    def __repr__(self) -> str:
        return f"<object of type {kind_of(self)}>"


def kind_of(value: Opaque) -> str:
    kind: str = object.__getattribute__(value, "_koderz_kind")
    return kind


class Crossed:
    """The containers in one message, both ways, in the order in which they were complete."""

    def __init__(self) -> None:
        self.containers: list[Any] = []  # Any: lists, dicts and sets of any values
        self._places: dict[int, int] = {}

    def add(self, container: Any) -> Any:
        """Number and return the container. It is kept, so that its id stays unique."""
        self._places[id(container)] = len(self.containers)
        self.containers.append(container)
        return container

    def place(self, value: object) -> int | None:
        return self._places.get(id(value))


class Names(NamedTuple):
    """How ``encode`` names values that it does not write out.

    ``keep`` keeps values in this process; ``crossed`` are containers that crossed before. ``numbers``: new containers
    are added to ``crossed``.
    """

    keep: Keep | None = None
    crossed: Crossed | None = None
    numbers: bool = False


class Known(NamedTuple):
    """How ``decode`` reads names. ``kept`` returns the value that the other end keeps, by its number and type.

    ``crossed`` and ``numbers`` are as in ``Names``.
    """

    kept: Callable[[int, str], object]
    crossed: Crossed | None = None
    numbers: bool = False


_NO_NAMES = Names()


def encode(value: object, names: Names = _NO_NAMES, depth: int = 0) -> Json:
    """A value as JSON; subclasses of plain types become the plain type, anything else an opaque value.

    It calls the methods of the plain types and uses the true type instead of ``isinstance``, so that a class cannot lie
    about itself.
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


def _encode_text(text: str) -> Json:
    """A text with surrogates crosses as UTF-32, because JSON would join two surrogates to one character."""
    if len(text) > MAX_FRAME_BYTES:  # before it is copied
        raise FrameTooLargeError(len(text))
    try:
        text.encode()
    except UnicodeEncodeError:
        return {"utf32": text.encode("utf-32-le", "surrogatepass").hex()}
    return text


def _encode_bytes(value: Any, kind: type) -> Json:  # Any: bytes or bytearray
    plain = bytes if issubclass(kind, bytes) else bytearray
    if (size_bytes := plain.__len__(value)) > MAX_FRAME_BYTES:
        raise FrameTooLargeError(size_bytes)
    return {plain.__name__: plain.hex(value)}


def _encode_number(value: Any, kind: type) -> Json:  # Any: int, float or complex
    if issubclass(kind, int):
        plain = int.__int__(value)
        return plain if -_INT64 <= plain < _INT64 else {"int": hex(plain)}
    if issubclass(kind, float):
        return _encode_float(float.__float__(value))
    both = complex.__pos__(value)
    return {"complex": [_encode_float(both.real), _encode_float(both.imag)]}


def _encode_float(value: float) -> Json:
    finite = value - value == 0.0  # JSON lacks nan and the infinities
    return value if finite else {"float": repr(value)}


def _encode_container(value: object, names: Names, depth: int) -> Json:
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


def _encode_mutable(value: Any, kind: type, names: Names, depth: int) -> Json:  # Any: one of _MUTABLE
    if issubclass(kind, list):
        return _encode_items(list.__iter__(value), names, depth)
    if issubclass(kind, set):
        return {"set": _encode_items(set.__iter__(value), names, depth)}
    pairs = [[encode(key, names, depth), encode(item, names, depth)] for key, item in dict.items(value)]
    return {_tag_of_dict(value): pairs}


def _encode_fixed(value: Any, kind: type, names: Names, depth: int) -> Json:  # Any: any value
    if issubclass(kind, tuple):
        return {"tuple": _encode_items(tuple.__iter__(value), names, depth)}
    if issubclass(kind, frozenset):
        return {"frozenset": _encode_items(frozenset.__iter__(value), names, depth)}
    if issubclass(kind, Opaque):
        number = number_of(value)
        return {"beyond": kind_of(value)} if number is None else {"kept": [number, kind_of(value)]}
    if parts := _parts_of(value):
        return {parts[0]: [encode(part, names, depth) for part in parts[1]]}
    number = names.keep(value) if names.keep else None
    return {"opaque": name_of(kind)} if number is None else {"kept": [number, name_of(kind)]}


def name_of(kind: type) -> str:
    """The true name of a type, without its metaclass, cut to 100 characters."""
    name: str = _NAME.__get__(kind)
    return name[:100]


def number_of(value: Opaque) -> int | None:
    """The number under which the other end keeps the value."""
    number: int | None = value.__dict__.get("_koderz_number")
    return number


def _encode_items(items: Iterable[object], names: Names, depth: int) -> list[Json]:
    """Most lists consist of items of one exact JSON type; these are taken unchanged."""
    listed = list(items)
    kinds = set(map(type, listed))
    if len(kinds) == 1 and _are_plain(listed, kinds.pop()):
        return listed
    return [encode(item, names, depth) for item in listed]


def _are_plain(items: list[Any], kind: type) -> bool:  # Any: items of this type
    if kind is int:
        return bool(min(items) >= -_INT64 and max(items) < _INT64)
    if kind is float:
        return all(map(math.isfinite, items))
    return all(map(str.isascii, items)) if kind is str else kind is bool


def holds(encoded: Json, tag: str) -> bool:
    """Whether some part of an encoded value has this tag.

    ``opaque``: the part was never plain data. ``beyond``: it came over a wire as opaque, or is nested too deeply.
    ``kept``: the program's process keeps it.
    """
    if isinstance(encoded, dict):
        return tag in encoded or any(holds(content, tag) for content in encoded.values())
    if not isinstance(encoded, list) or PLAIN.issuperset(map(type, encoded)):
        return False
    return any(holds(item, tag) for item in encoded)


def decode(value: Json, known: Known | None = None) -> object:
    """The value that was encoded, with plain types only. Raises WireError for JSON that ``encode`` does not produce."""
    try:
        return _decode(value, known or _NOTHING_KNOWN)
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError) as error:
        raise WireError(f"a value that cannot be read ({type(error).__name__})") from None


_NOTHING_KNOWN = Known(lambda _number, kind: Opaque(kind))


def _decode(value: Json, known: Known) -> Any:  # Any: the value
    if isinstance(value, list):
        kinds = set(map(type, value))
        items = [_decode(item, known) for item in value] if list in kinds or dict in kinds else value
        return _numbered(items, known)
    if not isinstance(value, dict):
        return value
    ((tag, content),) = value.items()
    if tag in _CONTAINERS:
        return _numbered(_CONTAINERS[tag](content, known), known)
    return _READERS[tag](content, known) if tag in _READERS else _made(tag, [_decode(part, known) for part in content])


def _numbered(container: Any, known: Known) -> Any:  # Any: a container
    return known.crossed.add(container) if known.numbers and known.crossed is not None else container


def _decode_float(text: Json, _known: Known) -> float:
    """Always returns the same nan: containers treat an object as equal to itself, also when nothing crosses."""
    value = float(text)
    return value if value == value else math.nan  # noqa: PLR0124 (nan)


def _decode_kept(content: Json, known: Known) -> object:
    number, kind = content
    return known.kept(int(number), str(kind)[:100])


def _decode_old(place: Json, known: Known) -> object:
    if known.crossed is None:
        raise LookupError
    return known.crossed.containers[place]


def _decode_opaque(kind: Json, _known: Known) -> Opaque:
    return Opaque(str(kind)[:100])


def _pairs(pairs: Json, known: Known) -> dict[Any, Any]:
    return {_decode(key, known): _decode(item, known) for key, item in pairs}


# Comprehensions instead of set(...): they let the deadline's signal in between hostile members with colliding hashes.
_CONTAINERS: dict[str, Callable[[Json, Known], object]] = {
    "set": lambda items, known: {_decode(item, known) for item in items},
    "dict": _pairs,
    "OrderedDict": lambda pairs, known: _collections().OrderedDict(_pairs(pairs, known)),
    "Counter": lambda pairs, known: _collections().Counter(_pairs(pairs, known)),
}
_READERS: dict[str, Callable[[Json, Known], object]] = {
    "int": lambda text, _: int(text, 16),
    "float": _decode_float,
    "utf32": lambda text, _: bytes.fromhex(text).decode("utf-32-le", "surrogatepass"),
    "bytes": lambda text, _: bytes.fromhex(text),
    "bytearray": lambda text, _: bytearray.fromhex(text),
    "complex": lambda parts, known: complex(_decode(parts[0], known), _decode(parts[1], known)),
    "tuple": lambda items, known: tuple([_decode(item, known) for item in items]),
    "frozenset": lambda items, known: frozenset({_decode(item, known) for item in items}),
    "kept": _decode_kept,
    "old": _decode_old,
    "opaque": _decode_opaque,
    "beyond": _decode_opaque,
}


def _parts_of(value: object) -> Parts | None:
    """The parts of a range, Fraction, Decimal or deque; None for any other value."""
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


def _tag_of_dict(value: object) -> str:
    """The tag of a dict: its type's name if that is OrderedDict or Counter, else ``dict``."""
    for name in ("OrderedDict", "Counter"):
        if type(value) is _type("collections", name):
            return name
    return "dict"


def _made(name: str, parts: list[Any]) -> object:  # Any: plain data of a hostile process
    """The value with these parts. Raises LookupError for another name, TypeError and others for wrong parts."""
    if name == "range":
        return range(*parts)
    if name == "Fraction":
        from fractions import Fraction  # noqa: PLC0415 (rarely needed)

        return Fraction(*parts)
    if name == "Decimal":
        from decimal import Decimal  # noqa: PLC0415 (rarely needed)

        return Decimal(*parts)
    if name == "deque":
        return _collections().deque(*parts)
    raise LookupError(name)


def _collections() -> ModuleType:
    import collections  # noqa: PLC0415 (as above)

    return collections


def _type(module: str, name: str) -> object:
    return getattr(sys.modules.get(module), name, None)
