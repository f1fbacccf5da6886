"""Clearing away copies that a killed process left in the data folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from koderz_core.journal.lock import reason
from koderz_core.upkeep.mending import Mended

PREFIXES = ("copy-", "restore-")
"""Of folders in which the index is copied for an export, and a backup unpacked."""
SECONDS = 86_400.0  # an export that sorts on the disk may need its folder for hours


def clear_left(home: Path, now: float) -> Iterator[Mended]:
    """Remove such folders that nothing was put into for a day. ``now``: seconds since 1970."""
    for folder in sorted(one for prefix in PREFIXES for one in home.glob(f"{prefix}*") if one.is_dir()):
        try:
            if now - folder.stat().st_mtime > SECONDS:
                shutil.rmtree(folder)
                yield Mended(folder.name, "was left by a process that was killed; it was removed")
        except OSError as error:
            yield Mended(folder.name, f"was left by a process that was killed and stays: {reason(error)}", whole=False)
