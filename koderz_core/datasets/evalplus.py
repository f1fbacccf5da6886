"""The format that EvalPlus' datasets share: rows, tolerant comparison, and types that JSON lacks.

Liu et al., arXiv 2305.01210; github.com/evalplus, Apache-2.0. Each problem names the rule that restores tuples, sets
and complex numbers.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from koderz_core.datasets import evalplus_comparison
from koderz_core.records import PlusTests

NEED_ARGUMENTS = frozenset({"root", "pyramid", "digits"})
"""Oracles that need the arguments of a call."""
Arguments = tuple[Any, ...]  # Any: the arguments of any function
Rule = Callable[[list[Any]], Arguments]


class PlusRow(msgspec.Struct, frozen=True):
    """One line of a file, with the publisher's names; ``plus_input`` stays JSON until it is needed."""

    task_id: str
    prompt: str
    entry_point: str
    canonical_solution: str
    atol: float
    plus_input: msgspec.Raw


def with_like(check: str, tolerance: float, oracle: str) -> str:
    """The source of a check, after definitions of ``like(value, *arguments)`` and ``some(answer)``.

    These compare as EvalPlus does.
    """
    return f"{inspect.getsource(evalplus_comparison)}\n\nlike = Comparison({tolerance!r}, {oracle!r}).like\n\n\n{check}"


def arguments_of(plus: PlusTests) -> list[Arguments]:
    """The arguments of every test, in the publisher's order."""
    restore = RULES[plus.types] if plus.types else tuple
    return [restore(arguments) for arguments in json.loads(plus.inputs)]


def _tuples(rows: Any) -> list[Any]:
    return [tuple(row) for row in rows]


def _deep(value: Any) -> Any:
    return tuple(_deep(item) for item in value) if isinstance(value, list) else value


def _inner(rows: Any) -> Arguments:
    return tuple(tuple(row) if isinstance(row, list) else row for row in rows)


RULES: Mapping[str, Rule] = {
    "tuples": lambda values: tuple(tuple(value) for value in values),
    "lists of tuples": lambda values: tuple(_tuples(value) for value in values),
    "tuples of tuples": lambda values: tuple(_inner(value) for value in values),
    "tuples all through": lambda values: tuple(_deep(value) for value in values),
    "first a tuple": lambda values: (tuple(values[0]), *values[1:]),
    "second a tuple": lambda values: (values[0], tuple(values[1])),
    "first a list of tuples": lambda values: (_tuples(values[0]), values[1]),
    "list of sets": lambda values: ([set(item) if isinstance(item, list) and item else {} for item in values[0]],),
    "dict of tuples": lambda values: ({key: tuple(row) for key, row in values[0].items()}, *values[1:]),
    "complex": lambda values: (complex(values[0]),),
    "real and complex": lambda values: (float(values[0]), complex(values[1])),
}
"""Each makes the arguments of one call from the values in the JSON."""
