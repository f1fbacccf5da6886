"""What EvalPlus' datasets have in common (Liu et al., arXiv 2305.01210; github.com/evalplus, Apache-2.0)."""

from __future__ import annotations

import inspect

import msgspec

from koderz_core.datasets import comparing

NEED_ARGUMENTS = frozenset({"root", "pyramid", "digits"})
"""Oracles that look at the arguments of a call."""


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
    return f"{inspect.getsource(comparing)}\n\nlike = Comparison({tolerance!r}, {oracle!r}).like\n\n\n{check}"
