"""What is said of a table and of each of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Type = Literal["text", "integer", "number", "yes/no", "JSON"]

SQL_TYPES: Mapping[Type, str] = {
    "text": "varchar",
    "integer": "bigint",
    "number": "double",
    "yes/no": "boolean",
    "JSON": "json",
}


SAW_BASE_TESTS = "whether the loop shows its models base tests with their expected values once a program has failed"


@dataclass(frozen=True, slots=True)
class Column:
    """One column; ``missing``: what it means that a cell is empty, itself empty where none ever is."""

    name: str
    type: Type
    meaning: str
    missing: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Described:
    """A table: what a line of it is, and its columns in their order."""

    about: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


def whole(name: str, meaning: str, missing: str = "", unit: str = "") -> Column:
    """A whole number."""
    return Column(name, "integer", meaning, missing, unit)


def text(name: str, meaning: str, missing: str = "") -> Column:
    return Column(name, "text", meaning, missing)


def number(name: str, meaning: str, missing: str = "", unit: str = "") -> Column:
    return Column(name, "number", meaning, missing, unit)


def yes(name: str, meaning: str, missing: str = "") -> Column:
    """A yes or a no."""
    return Column(name, "yes/no", meaning, missing)


def usd(name: str, meaning: str, missing: str = "a price is not known") -> Column:
    return Column(name, "number", meaning, missing, "USD")


def spread(name: str, meaning: str, missing: str, unit: str = "share") -> tuple[Column, ...]:
    """A number with both ends of its 95 % interval."""
    return (
        number(name, meaning, missing, unit),
        number(f"{name}_low", f"lower end of the 95 % interval of `{name}`", missing, unit),
        number(f"{name}_high", f"upper end of the 95 % interval of `{name}`", missing, unit),
    )


def said(name: str) -> Column:
    """What a number is that is missing because it has no end or makes no sense."""
    return text(
        f"{name}_is", f"`unbounded` or `undefined`: why `{name}` is missing", f"`{name}` is a number or unknown"
    )
