"""What the tests of faults share: a benchmark, what has ended in it, and what repair did."""

from __future__ import annotations

from pathlib import Path

import koderz_core
from koderz_core.events import ExperimentFinished
from koderz_core.journal import read_all

WEAK = koderz_core.Order([koderz_core.Wanted("repair", {"coder": "scripted/weak"})], "0:3")
BENCHMARK = ("benchmark", "--problems", "0:3", "--strategy", "repair", "--coder", "scripted/weak")
"""One like it, for the command line."""


def finished(path: Path) -> set[str]:
    """The experiments of a journal that have ended."""
    return {entry.experiment or "" for entry in read_all(path) if isinstance(entry.event, ExperimentFinished)}


def mended() -> dict[str, str]:
    """What `koderz doctor --repair` mends, by subject."""
    with koderz_core.open_workspace() as workspace:
        return {item.subject: item.message for item in workspace.upkeep.repair()}
