"""Plain data as JSON and back: the only values that judge and candidate exchange.

Values are tagged, so that ``(1,)`` does not come back as ``[1]``. What is not plain data stays where it is: it crosses
as the name of its type, with a number to ask it by where the other end keeps it, and is equal to nothing. A container
that has crossed before can be named by its number among those that did (``old``), so that it stays one object. Exact
numbers, ranges, queues, ordered and counting dicts of the standard library are plain data too, of their exact types
only; their modules are not loaded for that: where one is not loaded, there is no such value. Input from a hostile
process is checked closely.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .wire import MAX_FRAME_BYTES, FrameTooLargeError, WireError

MAX_DEPTH = 100
_INT64 = 1 << 63
_MUTABLE = (list, dict, set)
_NAME = vars(type)["__name__"]
PLAIN = frozenset({str, int, float, bool, type(None)})  # what in JSON holds nothing else

Keep = Callable[[object], "int | None"]
"""Keeps a value that is not plain data for later questions: the number to ask it by, None if it is not kept."""
Parts = tuple[str, list[object]]
"""The name of a type and the arguments that make an equal value."""


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
    return {kind_of_dict(value): pairs}


def _encode_fixed(value: Any, kind: type, names: Names, depth: int) -> Any:  # Any: whatever it is; JSON
    if issubclass(kind, tuple):
        return {"tuple": _encode_items(tuple.__iter__(value), names, depth)}
    if issubclass(kind, frozenset):
        return {"frozenset": _encode_items(frozenset.__iter__(value), names, depth)}
    if issubclass(kind, Opaque):
        number = number_of(value)
        return {"beyond": kind_of(value)} if number is None else {"kept": [number, kind_of(value)]}
    if parts := parts_of(value):
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
    return _READERS[tag](content, known) if tag in _READERS else made(tag, [_decode(part, known) for part in content])


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


def ordered(pairs: dict[Any, Any]) -> object:  # Any: as above
    from collections import OrderedDict  # noqa: PLC0415 (as above)

    return OrderedDict(pairs)


def counted(pairs: dict[Any, Any]) -> object:  # Any: as above
    from collections import Counter  # noqa: PLC0415 (as above)

    return Counter(pairs)


# Comprehensions, not set(...): adding hostile, colliding members one by one lets the deadline's signal in.
_CONTAINERS: dict[str, Callable[[Any, Known], object]] = {  # Any: as above
    "set": lambda items, known: {_decode(item, known) for item in items},
    "dict": _pairs,
    "OrderedDict": lambda pairs, known: ordered(_pairs(pairs, known)),
    "Counter": lambda pairs, known: counted(_pairs(pairs, known)),
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


def _type(module: str, name: str) -> object:
    return getattr(sys.modules.get(module), name, None)
