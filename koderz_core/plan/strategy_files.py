"""Files of strategies that a plan names: their paths on this machine, whether they are unchanged, and their facts.

A journal may come from an unknown source, so it never determines which file of this machine is executed. The paths are
kept in the data folder, only for files that a person has named on this machine.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from koderz_core.config import Settings
from koderz_core.errors import KoderzError, PlanError
from koderz_core.files import Lock, replace_file
from koderz_core.input_files import MOST_TEXT_BYTES, read_bytes
from koderz_core.records import Configuration
from koderz_core.strategies import class_of, facts_of
from koderz_core.strategies.facts import Facts
from koderz_core.strategies.outside import LoadedStrategy, is_recorded_file, load_source, loaded, shortened


class StrategyFile(msgspec.Struct, frozen=True):
    """The path of a strategy's file, and the SHA-256 of its content when a person named it.

    The others are its facts, as in ``Facts``, without which results cannot be read: reading executes no file.
    """

    path: str
    sha256: str
    tests_programs: bool = True
    independent_samples: bool = False


def require_strategies(
    benchmark: str,
    configurations: Iterable[Configuration],
    settings: Settings,
    needed: Callable[[str], bool] = lambda _: True,
) -> None:
    """Load the strategies of a benchmark, and store the paths of files that a person has named in this process.

    ``needed``: whether a strategy may still run; the others may be unavailable. Raises UnknownNameError for a strategy
    that is not installed, PlanError for a file that is changed or unknown here, DataError for a file that cannot be
    read.
    """
    path = settings.home / "strategies.json"
    known = _read(path)
    names = {configuration.strategy for configuration in configurations}
    for name in sorted(names):
        try:
            if is_recorded_file(name) and loaded(name) is None:
                _load_again(name, known.get(name), benchmark)
            class_of(name)
        except KoderzError:
            if needed(name):
                raise
    files = {file.name: _described(file) for file in map(loaded, names) if file}
    if known | files != known:
        _add(path, files)


def _add(path: Path, files: Mapping[str, StrategyFile]) -> None:
    """Add files to the stored ones, to which another process may be adding files at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with Lock(path.with_suffix(".lock")) as lock:
        lock.acquire(None)
        replace_file(path, msgspec.json.format(msgspec.json.encode({**_read(path), **files}), indent=2))


def facts_for_results(name: str, settings: Settings) -> Facts:
    """The facts of a strategy by which its results are read, also of one from a file that this process has not loaded.

    Those are as in the last run on this machine, the defaults if there was none. Raises PlanError.
    """
    facts = facts_of(name)
    if not is_recorded_file(name) or loaded(name):
        return facts
    file = _read(settings.home / "strategies.json").get(name, StrategyFile("", ""))
    return replace(facts, tests_programs=file.tests_programs, independent_samples=file.independent_samples)


def _described(file: LoadedStrategy) -> StrategyFile:
    facts = facts_of(file.name)
    return StrategyFile(str(file.path), file.sha256, bool(facts.tests_programs), bool(facts.independent_samples))


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
            f"koderz benchmark --strategy {shlex.quote(file.path)}:{short.partition(':')[2]}"
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
