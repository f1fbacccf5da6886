"""Strategies of other authors that a plan names: where their files are, and whether they are still the same.

A journal may come from anywhere, so it never says which file of this machine is to be executed. That stands in the data
folder, and only for files that a person has named here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from koderz_core.config import Settings
from koderz_core.errors import PlanError
from koderz_core.files import replace_file
from koderz_core.input_files import MOST_TEXT_BYTES, read_bytes
from koderz_core.records import Plan
from koderz_core.strategies import class_of
from koderz_core.strategies.outside import is_recorded_file, loaded, shortened, take


class Place(msgspec.Struct, frozen=True):
    """Where the file of a strategy is, and the SHA-256 of what it held when somebody named it."""

    path: str
    sha256: str


def require_strategies(plan: Plan, settings: Settings) -> None:
    """Have every strategy of a plan ready, and remember where the files of those are that were named now.

    Raises UnknownNameError for one that is not installed, PlanError for a file that is changed or unknown here,
    DataError for one that cannot be read.
    """
    kept = _kept(settings)
    for name in sorted({configuration.strategy for configuration in plan.configurations}):
        if is_recorded_file(name) and loaded(name) is None:
            _read_again(name, kept, plan.id)
        class_of(name)
    read = [one for one in map(loaded, {configuration.strategy for configuration in plan.configurations}) if one]
    now = kept | {one.name: Place(str(one.path), one.sha256) for one in read}
    if now != kept:
        _keep(now, settings)


def _read_again(name: str, kept: Mapping[str, Place], benchmark: str) -> None:
    """Nothing is executed unless it is what was executed before."""
    named, place = shortened(name), kept.get(name)
    cure = f"Say where it is: koderz resume {benchmark} --strategy PATH/{named}"
    if place is None:
        raise PlanError(f"Nobody has named the file of the strategy {name} on this machine. {cure}")
    gone = f"The strategy {named} stood in it: bring that file back. {cure}"
    source = read_bytes(Path(place.path), gone, MOST_TEXT_BYTES)
    found = hashlib.sha256(source).hexdigest()
    if found != place.sha256:
        raise PlanError(
            f"{place.path} is another file now than when {benchmark} was begun: its SHA-256 began with "
            f"{place.sha256[:12]} and is {found[:12]} now. Bring that file back; or compare the new one, which is a "
            f"configuration of its own: koderz benchmark --strategy {place.path}:{named.partition(':')[2]}"
        )
    take(Path(place.path), named.partition(":")[2], source)


def _kept(settings: Settings) -> dict[str, Place]:
    path = _path(settings)
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Place])
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, msgspec.MsgspecError) as error:
        raise PlanError(f"{path} cannot be read: {error}. Remove it, and name your strategies' files again.") from error


def _keep(places: Mapping[str, Place], settings: Settings) -> None:
    replace_file(_path(settings), msgspec.json.format(msgspec.json.encode(places), indent=2))


def _path(settings: Settings) -> Path:
    return settings.home / "strategies.json"
