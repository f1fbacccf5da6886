"""The two number types of the command line: all options reject a wrong number with the same message."""

from __future__ import annotations

import math
from typing import Any

import click


class Whole(click.IntRange):
    """A whole number between bounds. Help and messages use its name."""

    name = "integer"


class Number(click.FloatRange):
    """A finite number between bounds: click accepts nan and infinity, which pass no comparison."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # Any: click's
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value} is not a finite number.", param, ctx)
