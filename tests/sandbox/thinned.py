"""How much of what is long is tried: a quarter, or with ``KODERZ_TEST_WHOLE`` set all of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")
WHOLE = bool(os.environ.get("KODERZ_TEST_WHOLE"))
SHARE = 4


def thinned(items: Sequence[Item]) -> list[Item]:
    """Every fourth, so that a list that goes from easy to hard is tried over its whole length."""
    return list(items if WHOLE else items[::SHARE])
