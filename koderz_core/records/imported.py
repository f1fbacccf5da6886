"""Where the results of an imported benchmark come from."""

from __future__ import annotations

from dataclasses import dataclass

IMPORTED = "imported"
"""The strategy of imported configurations. It is none that koderz can run."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The file that a benchmark was imported from: its name without folders, its SHA-256 and its format.

    ``graded``: koderz graded the programs. Otherwise the file states which ones passed.
    """

    file: str
    sha256: str
    format: str
    graded: bool
