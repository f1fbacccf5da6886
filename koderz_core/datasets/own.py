"""Files that people write themselves: read by path once, and from then on kept under a name that a plan can record."""

from __future__ import annotations

import os
import re
from pathlib import Path

from koderz_core.config import Settings
from koderz_core.datasets.keeping import keep_file, kept_names
from koderz_core.datasets.own_format import Reading, read_own
from koderz_core.errors import DataError
from koderz_core.reading import read_unpacked, require_file
from koderz_core.records import Dataset, DatasetOrigin

UNSTATED = "not stated"
_CURE = "Name a file of problems, as docs/datasets.md describes it."
_NAME = re.compile(r"own-[A-Za-z0-9_-]{1,40}-[0-9a-f]{12}")


def is_path(name: str) -> bool:
    """Whether a dataset's name is the path of a file of problems."""
    return name.endswith((".jsonl", ".jsonl.gz"))


def refuse_other_paths(name: str) -> None:
    """Raise DataError for a dataset's name that is the path of anything else; nothing is read."""
    if name.startswith(("/", "./", "../")) or (name and os.path.exists(name)):  # noqa: PTH110 (Path.exists raises for a name that is too long)
        require_file(Path(name), _CURE)
        raise DataError(f"{name} cannot be read (its name does not end with .jsonl or .jsonl.gz). {_CURE}")


def is_own(name: str) -> bool:
    """Whether it is the name of a kept file: ``own-``, the file's own name, and how its SHA-256 begins."""
    return _NAME.fullmatch(name) is not None


def read_path(path: Path) -> Reading:
    """Everything that a file holds, also what is wrong. Raises DataError only if it cannot be read."""
    return read_own(read_unpacked(path, _CURE))


def load_path(path: Path, settings: Settings) -> Dataset:
    """The problems of a file, of which a copy is kept. Raises DataError if anything is wrong with it."""
    content = read_unpacked(path, _CURE)
    reading = read_own(content)
    if reading.faults:
        raise DataError(
            f"{reading.faults[0].told(path.name)}. Faults in all: {len(reading.faults)}. To see them: koderz "
            f"list-problems --file {path}"
        )
    stem = re.sub(r"[^A-Za-z0-9_]+", "-", path.name.partition(".jsonl")[0])[:40].strip("-") or "file"
    name = f"own-{stem}-{reading.sha256[:12]}"
    keep_file(_path(name, settings), content)
    return dataset_of(name, reading)


def load_own(name: str, settings: Settings) -> Dataset:
    """The problems of a kept file. Raises DataError if it is gone or was spoiled."""
    path, sha256 = _path(name, settings), name[-12:]
    cure = f"Name your file once more, the one whose SHA-256 begins with {sha256}: --dataset FILE.jsonl"
    if not path.is_file():
        raise DataError(f"{path}, the copy that was kept of your file, is not there any more. {cure}")
    reading = read_own(read_unpacked(path, cure))
    if reading.faults or not reading.sha256.startswith(sha256):
        raise DataError(f"{path}, the copy that was kept of your file, was changed. {cure}")
    return dataset_of(name, reading)


def own_names(settings: Settings) -> tuple[str, ...]:
    """The names of all kept files, the latest first."""
    return tuple(name for name in kept_names(settings.home / "datasets", "own-*.jsonl") if is_own(name))


def dataset_of(name: str, reading: Reading) -> Dataset:
    """The problems of a file without faults, under a name."""
    licence = ", ".join(reading.licences) or UNSTATED
    return Dataset(DatasetOrigin(name, reading.sha256, licence), reading.problems)


def _path(name: str, settings: Settings) -> Path:
    return settings.home / "datasets" / f"{name}.jsonl"
