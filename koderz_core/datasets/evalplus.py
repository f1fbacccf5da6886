"""What EvalPlus' two datasets have in common (Liu et al., arXiv 2305.01210; github.com/evalplus, Apache-2.0)."""

from __future__ import annotations

import inspect
from pathlib import Path

import msgspec

from koderz_core.config import Settings
from koderz_core.datasets import comparing
from koderz_core.errors import DataError

LICENCE = "Apache-2.0"
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


def published_path(name: str, release: str, settings: Settings) -> Path:
    """The file ``name`` (``.jsonl.gz``, or unpacked) that a person has placed. Raises DataError."""
    places = [settings.published_dir / name, settings.published_dir / name.removesuffix(".gz")]
    for path in places:
        if path.is_file():
            return path
    raise DataError(
        f"{name} is not in {settings.published_dir}. Place it there from {release}, or name the folder that holds it "
        "in KODERZ_DATASETS_DIR."
    )


def cure_of(release: str) -> str:
    """What to do about a file that is wrong."""
    return f"Place the file anew from {release}."


def with_like(check: str, tolerance: float, oracle: str) -> str:
    """Source in which ``like(value, *arguments)`` and ``some(answer)`` compare as EvalPlus does."""
    return f"{inspect.getsource(comparing)}\n\nlike = Comparison({tolerance!r}, {oracle!r}).like\n\n\n{check}"
