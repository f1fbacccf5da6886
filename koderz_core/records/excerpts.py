"""The beginning of something long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]  # pandas ships no types


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The first lines of a table, and how many it has in all."""

    frame: DataFrame
    lines: int
