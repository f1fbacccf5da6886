"""The format that EvalPlus' datasets share: rows, tolerant comparison, and types that JSON cannot hold.

Liu et al., arXiv 2305.01210; github.com/evalplus, Apache-2.0. Tuples, sets and complex numbers are restored by the
name of a rule.
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
"""Oracles that look at the arguments of a call."""
Arguments = tuple[Any, ...]  # Any: whatever a problem's function takes
Rule = Callable[[list[Any]], Arguments]


class PlusRow(msgspec.Struct, frozen=True):
    """One line of a file, by its publisher's names; ``plus_input`` stays JSON until it is needed."""

    task_id: str
    prompt: str
    entry_point: str
    canonical_solution: str
    atol: float
    plus_input: msgspec.Raw


def with_like(check: str, tolerance: float, oracle: str) -> str:
    """Source in which ``like(value, *arguments)`` and ``some(answer)`` compare as EvalPlus does."""
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
    "tuples": lambda given: tuple(tuple(one) for one in given),
    "lists of tuples": lambda given: tuple(_tuples(one) for one in given),
    "tuples of tuples": lambda given: tuple(_inner(one) for one in given),
    "tuples all through": lambda given: tuple(_deep(one) for one in given),
    "first a tuple": lambda given: (tuple(given[0]), *given[1:]),
    "second a tuple": lambda given: (given[0], tuple(given[1])),
    "first a list of tuples": lambda given: (_tuples(given[0]), given[1]),
    "list of sets": lambda given: ([set(one) if isinstance(one, list) and one else {} for one in given[0]],),
    "dict of tuples": lambda given: ({key: tuple(row) for key, row in given[0].items()}, *given[1:]),
    "complex": lambda given: (complex(given[0]),),
    "real and complex": lambda given: (float(given[0]), complex(given[1])),
}
"""Each makes the arguments of one call from what JSON holds."""
