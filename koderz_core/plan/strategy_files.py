"""Files of strategies that a plan names: their paths on this machine, and whether they are unchanged.

A journal may come from an unknown source, so it never determines which file of this machine is executed. The paths are
kept in the data folder, only for files that a person has named on this machine.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from koderz_core.config import Settings
from koderz_core.errors import PlanError
from koderz_core.files import replace_file
from koderz_core.input_files import MOST_TEXT_BYTES, read_bytes
from koderz_core.records import Plan
from koderz_core.strategies import class_of
from koderz_core.strategies.outside import is_recorded_file, load_source, loaded, shortened


class StrategyFile(msgspec.Struct, frozen=True):
    """The path of a strategy's file, and the SHA-256 of its content when a person named it."""

    path: str
    sha256: str


def require_strategies(plan: Plan, settings: Settings) -> None:
    """Load every strategy of a plan, and store the paths of files that a person has named in this process.

    Raises UnknownNameError for a strategy that is not installed, PlanError for a file that is changed or unknown here,
    DataError for a file that cannot be read.
    """
    path = settings.home / "strategies.json"
    known = _read(path)
    names = {configuration.strategy for configuration in plan.configurations}
    for name in sorted(names):
        if is_recorded_file(name) and loaded(name) is None:
            _load_again(name, known.get(name), plan.id)
        class_of(name)
    files = {file.name: StrategyFile(str(file.path), file.sha256) for file in map(loaded, names) if file}
    if known | files != known:
        replace_file(path, msgspec.json.format(msgspec.json.encode(known | files), indent=2))


def _load_again(name: str, file: StrategyFile | None, benchmark: str) -> None:
    """Load a strategy, only if its file is still the one that was executed before."""
    short = shortened(name)
    resume = f"koderz resume {benchmark} --strategy PATH/{short}"
    if file is None:
        raise PlanError(f"koderz does not know where the file of the strategy {name} is. Give its path: {resume}")
    source = read_bytes(
        Path(file.path),
        f"This file contained the strategy {short}. Restore the file, or give its new path: {resume}",
        MOST_TEXT_BYTES,
    )
    sha256 = hashlib.sha256(source).hexdigest()
    if sha256 != file.sha256:
        raise PlanError(
            f"{file.path} has changed since {benchmark} started: its SHA-256 began with {file.sha256[:12]} and now "
            f"begins with {sha256[:12]}. Restore the file, or run the changed strategy as a new configuration: "
            f"koderz benchmark --strategy {file.path}:{short.partition(':')[2]}"
        )
    load_source(Path(file.path), short.partition(":")[2], source)


def _read(path: Path) -> dict[str, StrategyFile]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, StrategyFile])
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, msgspec.MsgspecError) as error:
        raise PlanError(
            f"{path} cannot be read: {error}. Remove this file, then give the paths of your strategies "
            "again: --strategy FILE.py:NAME"
        ) from error
