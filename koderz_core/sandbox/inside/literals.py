"""Plain data as Python source, and what stands in tests for an answer too large to be written there.

Tests that need it hold the text of this file, so it imports nothing of koderz and holds no assert. ``inf`` and ``nan``
are names that the tests define.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

LARGE = 10_000  # characters of the literal of one answer
TOO_LARGE = 12_000_000  # characters; no larger value crosses between judge and candidate
_MANY_BITS = 4096  # Python refuses to write and read decimal ints of more than about 14,000 bits


class NotPlainError(Exception):
    """A value that no literal means, such as a function or an object of a class, or one that is too large."""


class Large:
    """Equal to the values with this digest."""

    __hash__ = None  # type: ignore[assignment]  # Python's own way to say that there is none

    def __init__(self, digest: str) -> None:
        self.digest = digest

    def __eq__(self, answer: object) -> bool:
        try:
            return digest_of(answer) == self.digest
        except (NotPlainError, RecursionError):
            return False

    def __repr__(self) -> str:
        return f"<a large value with digest {self.digest[:12]}>"


def literal(value: object) -> str:
    """Source that makes an equal value. Raise NotPlainError if it is not plain data, RecursionError if too deep."""
    return "".join(_pieces(value, normal=False))


def short_literal(value: object) -> str:
    """As ``literal``; a large value is written as its digest, unless it holds floats that must be compared loosely."""
    pieces, length = [], 0
    for piece in _pieces(value, normal=False):
        pieces.append(piece)
        length += len(piece)
        if length > LARGE:
            break
    else:
        return "".join(pieces)
    digest = digest_of(value)
    return literal(value) if _is_inexact(value) else f"Large({digest!r})"


def digest_of(value: object) -> str:
    """The same for values that are equal. Raise NotPlainError, RecursionError as ``literal``."""
    digest, length = hashlib.sha256(), 0
    for piece in _pieces(value, normal=True):
        digest.update(piece.encode("utf-8", "surrogatepass"))
        length += len(piece)
        if length > TOO_LARGE:
            raise NotPlainError(f"a value of more than {TOO_LARGE} characters")
    return digest.hexdigest()


def _pieces(value: object, *, normal: bool) -> Iterator[str]:
    """The literal bit by bit. ``normal``: one form for all that is equal, so 1 for True and 1.0, and sets sorted."""
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
    """What ``_pieces`` makes of each, for a million of them in a fraction of a second."""
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
