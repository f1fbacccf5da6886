"""Bounded, clean texts of hostile values: what a verdict shows."""

from __future__ import annotations

import reprlib
from typing import Any

MAX_CHARACTERS = 500


def excerpt(text: str, limit: int = MAX_CHARACTERS) -> str:
    """At most ``limit`` characters that any reader can take (no lone surrogates), its middle left out if too long."""
    if len(text) > limit:
        head = limit * 2 // 3
        text = f"{text[:head]} ... {text[head + 5 - limit :]}"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def shown(value: object) -> str:
    """The ``repr`` of plain data, bounded while it is built: a list of a million numbers costs no more than sixty."""
    return excerpt(_REPR.repr(value))


class _BoundedRepr(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 5
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = self.maxfrozenset = 60
        self.maxstring = self.maxother = self.maxlong = MAX_CHARACTERS

    def repr_Like(self, x: Any, level: int) -> str:  # noqa: N802 (found by the type's name); Any: a Like
        """Of ``koderz_core.datasets.evalplus_comparison``: tests bring it along."""
        return self.repr1(x.value, level)

    def repr_int(self, x: int, level: int) -> str:  # noqa: ARG002 (reprlib's signature)
        if x.bit_length() > 2000:  # decimal digits of a huge int take quadratic time, and Python refuses them
            return f"<int of {x.bit_length()} bits>"
        return repr(x)


_REPR = _BoundedRepr()
