"""Plain data as Python source, in which ``inf`` and ``nan`` are names, and digests that represent large answers."""

from __future__ import annotations

import math
import operator
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

LARGE = 10_000  # characters of the literal of one answer
TOO_LARGE = 12_000_000  # characters of an answer; larger ones are not judged
_NAMES = {"inf": math.inf, "nan": math.nan}
_NEGATIVE_ZERO = array("d", [-0.0]).tobytes()
_MANY_BITS = 4096  # Python refuses to write and read decimal ints of more than about 14,000 bits


class NotPlainError(Exception):
    """A value without a literal, such as a function or an object of a class, or a value that is too large."""


class Large:
    """Equal to every value with this digest, and to ``Digested`` with the same digest."""

    __hash__ = None  # type: ignore[assignment]  # Python's way to make a class unhashable

    def __init__(self, digest: str) -> None:
        self.digest = digest

    def __eq__(self, answer: object) -> bool:
        if isinstance(answer, Digested):
            return answer.digest == self.digest
        try:
            return digest_of(answer) == self.digest
        except (NotPlainError, RecursionError):
            return False

    def __repr__(self) -> str:
        return f"<a large value with digest {self.digest[:12]}>"


class Digested:
    """A large value of which the judge received only the digest. ``shown``: its beginning."""

    def __init__(self, digest: str, shown: str) -> None:
        self.digest = digest
        self.shown = shown

    def __repr__(self) -> str:
        return self.shown


def literal(value: object) -> str:
    """Source of an equal value. Raises NotPlainError if it is not plain data, RecursionError if it is too deep."""
    return "".join(_pieces(value, normal=False))


def flattened(value: object) -> object:
    """The value of the literal; ``Large`` for a large value, unless it contains floats compared with tolerance.

    Raises as ``literal``.
    """
    pieces, length = [], 0
    for piece in _pieces(value, normal=False):
        pieces.append(piece)
        length += len(piece)
        if length > LARGE:
            break
    else:
        return eval("".join(pieces), dict(_NAMES))  # noqa: S307 (it is plain data)
    digest = digest_of(value)
    return eval(literal(value), dict(_NAMES)) if _is_inexact(value) else Large(digest)  # noqa: S307 (as above)


def brief_digest(value: object) -> str | None:
    """The digest of a value whose literal has more than ``LARGE`` characters, if it is fast to compute.

    None if the value contains floats that are compared with tolerance, because they need the whole value.
    """
    if type(value) is str:
        return digest_of(value) if LARGE < len(value) < TOO_LARGE else None
    if type(value) in (list, tuple) and LARGE // 2 < len(value) < TOO_LARGE // 3:  # type: ignore[arg-type]  # a sequence
        numbers = _numbers_of(value)  # type: ignore[arg-type]  # as above
        if numbers is not None and all(map(float.is_integer, numbers)):
            return _digest_of_numbers(type(value), numbers)
    return None


def digest_of(value: object) -> str:
    """A digest that is the same for equal values. Raises as ``literal``."""
    if isinstance(value, str) and len(value) < TOO_LARGE:
        return _hashed([b"str", str.encode(value, "utf-8", "surrogatepass")])
    for kind in (list, tuple):
        if isinstance(value, kind) and len(value) < TOO_LARGE // 3:
            numbers = _numbers_of(value) or _numbers_of([_real(item) for item in value])
            if numbers is not None:
                return _digest_of_numbers(kind, numbers)
    return _hashed(_bounded_text(value))


def _bounded_text(value: object) -> Iterator[bytes]:
    length = 0
    for piece in _pieces(value, normal=True):
        yield piece.encode("utf-8", "surrogatepass")
        length += len(piece)
        if length > TOO_LARGE:
            raise NotPlainError(f"a value of more than {TOO_LARGE} characters")


def _hashed(parts: Iterable[bytes]) -> str:
    import hashlib  # noqa: PLC0415 (a tenth of a worker's start, and most workers do not need it)

    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _numbers_of(items: Sequence[Any]) -> array[float] | None:  # Any: any values
    """The numbers of a sequence of numbers that floats represent exactly; None for any other sequence."""
    try:
        numbers = array("d", items)
    except (TypeError, OverflowError):
        return None
    return numbers if all(map(operator.eq, numbers, items)) else None


def _digest_of_numbers(kind: type, numbers: array[float]) -> str:
    content = numbers.tobytes()
    if _NEGATIVE_ZERO in content:
        content = array("d", [number + 0.0 for number in numbers]).tobytes()
    return _hashed([repr(kind).encode(), content])


def _real(item: object) -> object:
    return item.real if isinstance(item, complex) and item.imag == 0 else item


def _pieces(value: object, *, normal: bool) -> Iterator[str]:
    """The parts of the literal. ``normal``: equal values have the same form: 1 for True and 1.0, and sorted sets."""
    if value is None or isinstance(value, str | bytes):
        yield repr(value)
    elif isinstance(value, int | float | complex):
        yield _number(value, normal=normal)
    elif isinstance(value, list):
        yield from _sequence("[", value, "]", normal=normal)
    elif isinstance(value, tuple):
        yield from _sequence("(", value, ",)" if len(value) == 1 else ")", normal=normal)
    elif isinstance(value, dict):
        texts = [f"{_text(key, normal=normal)}: {_text(item, normal=normal)}" for key, item in value.items()]
        yield f"{{{_joined(texts, normal=normal)}}}"
    elif isinstance(value, set | frozenset):
        kind = "set" if normal or isinstance(value, set) else "frozenset"
        yield f"{kind}([{_joined([_text(item, normal=normal) for item in value], normal=normal)}])"
    else:
        raise NotPlainError(f"an object of type {type(value).__name__[:100]}")


def _number(value: complex, *, normal: bool) -> str:
    if normal and isinstance(value, complex) and value.imag == 0:
        value = value.real
    if normal and isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) and not normal:
        return repr(value)
    if normal and isinstance(value, complex):
        return f"complex({value.real + 0.0!r}, {value.imag + 0.0!r})"  # zeros without a sign
    if not isinstance(value, int):
        return repr(value)
    return f"int({hex(value)!r}, 16)" if value.bit_length() > _MANY_BITS else int.__repr__(value)


def _sequence(opening: str, items: Sequence[object], closing: str, *, normal: bool) -> Iterator[str]:
    yield opening
    if set(map(type, items)) <= {int, float} and len(items) > 1:
        yield _numbers(items, normal=normal)
    else:
        between = ""
        for item in items:
            yield between
            yield from _pieces(item, normal=normal)
            between = ", "
    yield closing


def _numbers(items: Sequence[Any], *, normal: bool) -> str:  # Any: int or float
    """The joint text of ``_pieces`` of each number, for a million numbers in a fraction of a second."""
    if normal:
        items = [int(item) if type(item) is float and item.is_integer() else item for item in items]
    if any(type(item) is int and item.bit_length() > _MANY_BITS for item in items):
        return ", ".join([_number(item, normal=normal) for item in items])
    return repr(list(items))[1:-1]


def _text(value: object, *, normal: bool) -> str:
    return "".join(_pieces(value, normal=normal))


def _joined(texts: list[str], *, normal: bool) -> str:
    return ", ".join(sorted(texts) if normal else texts)


def _is_inexact(value: object) -> bool:
    if isinstance(value, float | complex):
        return not (isinstance(value, float) and value.is_integer())
    if isinstance(value, dict):
        return any(map(_is_inexact, value.values()))
    return isinstance(value, list | tuple | set | frozenset) and any(map(_is_inexact, value))
