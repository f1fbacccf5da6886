"""Numbers on the command line: each option has one of these two types, so all refuse the same with the same words."""

from __future__ import annotations

import math
from typing import Any

import click


class Whole(click.IntRange):
    """A whole number between bounds. Its name is what help and messages call it."""

    name = "integer"


class Number(click.FloatRange):
    """A finite number between bounds: click lets nan and infinity through, which no comparison is about."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # Any: click's
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value} is not a finite number.", param, ctx)
