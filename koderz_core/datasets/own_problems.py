"""Problems that somebody typed: each a dataset of its own, one line in HumanEval's format under the data folder."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import msgspec

from koderz_core.config import Settings
from koderz_core.datasets.humaneval import Row, problems_of
from koderz_core.errors import DataError
from koderz_core.files import keep_file, kept_names
from koderz_core.records import Dataset, DatasetOrigin

LICENCE = "your own"
_NAME = re.compile(r"typed-[0-9a-f]{12}")


def keep(row: Row, settings: Settings) -> Dataset:
    """Write a problem down for good; the same content has the same name. Its ``task_id`` becomes that name.

    Raises DataError if it is no problem or cannot be written.
    """
    dataset, content = dataset_of(row), _content(row)
    keep_file(_path(dataset.origin.name, settings), content)
    return dataset


def dataset_of(row: Row) -> Dataset:
    """What ``keep`` makes of a row, without keeping it. Raises DataError if it is no problem."""
    return _dataset(_name(row), _content(row))


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
    names = kept_names(settings.home / "problems", "typed-*.jsonl")
    return tuple(name for name in names if _NAME.fullmatch(name))


def _dataset(name: str, content: bytes) -> Dataset:
    problems = tuple(problems_of(content, solved=False))
    if len(problems) != 1:
        raise DataError(f"it holds {len(problems)} problems instead of one")
    return Dataset(DatasetOrigin(name, hashlib.sha256(content).hexdigest(), LICENCE), problems)


def _name(row: Row) -> str:
    digest = hashlib.sha256(msgspec.json.encode(msgspec.structs.replace(row, task_id=""))).hexdigest()
    return f"typed-{digest[:12]}"


def _content(row: Row) -> bytes:
    return msgspec.json.encode(msgspec.structs.replace(row, task_id=f"{_name(row)}/0")) + b"\n"


def _path(name: str, settings: Settings) -> Path:
    return settings.home / "problems" / f"{name}.jsonl"
