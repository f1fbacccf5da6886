"""Tasks of the workbench: a person's own file to fix, or a question. Each is a dataset of one problem in one file.

The lists of datasets do not contain them, because no benchmark runs on them.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import msgspec

from koderz_core.config import Settings
from koderz_core.errors import DataError
from koderz_core.files import keep_file
from koderz_core.input_files import read_bytes
from koderz_core.records import QUESTION, Dataset, DatasetOrigin, Problem, to_hash

LICENCE = "your own"
_NAME = re.compile(r"(fix|ask)-[0-9a-f]{12}")


def is_task(name: str) -> bool:
    """Whether it is the name of a task: ``fix-`` or ``ask-``, and the beginning of the SHA-256 of its content."""
    return _NAME.fullmatch(name) is not None


def keep_task(problem: Problem, settings: Settings) -> Dataset:
    """Write down a task and return it. The same content has the same name. Raises DataError."""
    content = msgspec.json.encode(to_hash(problem))
    digest = hashlib.sha256(content).hexdigest()
    name = f"{'ask' if problem.public.kind == QUESTION else 'fix'}-{digest[:12]}"
    keep_file(_path(name, settings), content)
    return Dataset(DatasetOrigin(name, digest, LICENCE), (problem,))


def load_task(name: str, settings: Settings) -> Dataset:
    """The task of that name. Raises DataError if its file is missing or was damaged."""
    path = _path(name, settings)
    content = read_bytes(path, "Repeat the command that made this task.")
    digest = hashlib.sha256(content).hexdigest()
    try:
        problem = msgspec.json.decode(content, type=Problem)
    except msgspec.DecodeError as error:
        raise DataError(f"{path} is damaged: {error}. Repeat the command that made this task.") from error
    return Dataset(DatasetOrigin(name, digest, LICENCE), (problem,))


def _path(name: str, settings: Settings) -> Path:
    return settings.home / "problems" / f"{name}.json"
