"""The order in which people count."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=4096)  # a comparison sorts the same few hundred names a hundred times
def natural(name: str) -> tuple[tuple[int, str], ...]:
    """A key that sorts ``HumanEval/9`` before ``HumanEval/10``."""
    parts = re.split(r"([0-9]+)", name)  # every second one is a number
    return tuple(_size(part) if place % 2 else (-1, part) for place, part in enumerate(parts))


def _size(digits: str) -> tuple[int, str]:
    """Compares like the number, which Python would refuse to read if it had thousands of digits."""
    told = digits.lstrip("0")
    return len(told), told
