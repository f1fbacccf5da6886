"""A bundle that is looked at in the dashboard: a data folder of its own, in which nothing is run."""

from __future__ import annotations

import json
from pathlib import Path

from koderz_core.bundles.checking import checked_bundle
from koderz_core.errors import DataError, UsageError

MARK = "opened-bundle.json"
_READ_ONLY = "This dashboard shows a bundle, which can only be looked at. Run it with `koderz ui`, without --open."


def open_bundle(path: Path, home: Path) -> None:
    """Make ``home`` a data folder with what the bundle holds, which is checked first. Raises DataError."""
    found = checked_bundle(path)
    if not found.verified.holds:
        first = found.verified.differences[0].said
        raise DataError(f"{path.name} was refused: {first}. See all of it with: koderz verify {path.name}")
    journals = home / "journals"
    journals.mkdir(parents=True)
    (journals / f"{found.run_id}.jsonl").write_bytes(found.journal)
    (home / MARK).write_text(json.dumps({"run_id": found.run_id, "privacy_level": found.level}), encoding="utf-8")


def opened_level(home: Path) -> str | None:
    """The privacy level of the bundle that a data folder shows, None if it is one of the user's own."""
    try:
        return str(json.loads((home / MARK).read_text(encoding="utf-8"))["privacy_level"])
    except (FileNotFoundError, NotADirectoryError):  # what is wrong with the folder is said by who writes there
        return None


def require_own(home: Path) -> None:
    """Raise UsageError where a bundle is shown."""
    if opened_level(home) is not None:
        raise UsageError(_READ_ONLY)
