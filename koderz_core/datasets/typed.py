"""Problems that somebody typed: each a dataset of its own, one line in HumanEval's format under the data folder."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from pathlib import Path

import msgspec

from koderz_core.config import Settings
from koderz_core.datasets.humaneval import Row, problems_of
from koderz_core.errors import DataError
from koderz_core.records import Dataset, DatasetOrigin

LICENCE = "your own"
_NAME = re.compile(r"typed-[0-9a-f]{12}")


def keep(row: Row, settings: Settings) -> Dataset:
    """Write a problem down for good; the same content has the same name. Its ``task_id`` becomes that name.

    Raises DataError if it is no problem or cannot be written.
    """
    name = f"typed-{_digest(row)[:12]}"
    content = msgspec.json.encode(msgspec.structs.replace(row, task_id=f"{name}/0")) + b"\n"
    dataset = _dataset(name, content)
    _write(_path(name, settings), content)
    return dataset


def load_typed(name: str, settings: Settings) -> Dataset:
    """The problem of that name. Raises DataError if its file cannot be read or was spoiled."""
    path = _path(name, settings)
    try:
        return _dataset(name, path.read_bytes())
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}). Type the problem anew.") from error
    except DataError as fault:
        raise DataError(f"{path}, {fault}. Type the problem anew: that mends the file.") from fault


def typed_names(settings: Settings) -> tuple[str, ...]:
    """The names of all problems that were kept, the latest first."""
    paths = [path for path in (settings.home / "problems").glob("typed-*.jsonl") if _NAME.fullmatch(path.stem)]
    return tuple(path.stem for path in sorted(paths, key=lambda path: (-path.stat().st_mtime_ns, path.stem)))


def _dataset(name: str, content: bytes) -> Dataset:
    problems = tuple(problems_of(content, solved=False))
    if len(problems) != 1:
        raise DataError(f"it holds {len(problems)} problems instead of one")
    return Dataset(DatasetOrigin(name, hashlib.sha256(content).hexdigest(), LICENCE), problems)


def _digest(row: Row) -> str:
    return hashlib.sha256(msgspec.json.encode(msgspec.structs.replace(row, task_id=""))).hexdigest()


def _path(name: str, settings: Settings) -> Path:
    return settings.home / "problems" / f"{name}.jsonl"


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all, also when two processes keep the same problem at once; a spoiled file is mended by it."""
    try:
        if path.exists() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(file.name).replace(path)
    except OSError as error:
        raise DataError(f"{path} cannot be written ({error.strerror}). Choose another --data-dir.") from error
