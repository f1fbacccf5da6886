"""Users' own problem files: their format, all faults of such a file, and copies kept under a name for plans.

A file is read by its path once; from then on its kept copy has a name that a plan can record. HumanEval's own lines
are of this format, which docs/datasets.md describes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from koderz_core.config import Settings
from koderz_core.datasets.lines import decoded
from koderz_core.datasets.own_checks import (
    KNOWN,
    Complaint,
    OwnRow,
    complaints,
    misspelt,
    problem_of,
    shape_faults,
)
from koderz_core.errors import DataError
from koderz_core.files import keep_file, kept_names
from koderz_core.input_files import lines_in, read_unpacked, require_file
from koderz_core.records import Dataset, DatasetOrigin, Problem

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


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with a line, and what to do; ``field`` empty: with all of it. May quote the file: hostile."""

    line: int
    field: str
    what: str
    cure: str

    def told(self, file: str) -> str:
        field = f"field {self.field}: " if self.field else ""
        return f"{file}:{self.line}: {field}{self.what}; {self.cure}"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file holds. Of a line with faults there is no problem; ``licences`` are those that are stated.

    ``lines``: in which each problem stands. ``sha256`` (hex) is that of the whole content.
    """

    problems: tuple[Problem, ...]
    lines: tuple[int, ...]
    licences: tuple[str, ...]
    faults: tuple[Fault, ...]
    sha256: str


def read_own(content: bytes) -> Reading:
    """All problems of an unpacked file's content, and all its faults."""
    rows: dict[int, OwnRow] = {}
    faults: list[Fault] = []
    lines: dict[str, int] = {}
    for number, line in lines_in(content):
        found = _row(line)
        if isinstance(found, OwnRow):
            wrong = [*_repeated(found, lines), *complaints(found)]
            lines.setdefault(found.task_id, number)
            rows |= {} if wrong else {number: found}
        else:
            wrong = found
        faults += [Fault(number, *one) for one in wrong]
    if not rows and not faults:
        faults.append(Fault(1, "", "the file holds no problems", "write one JSON object per line"))
    licences = sorted({row.licence for row in rows.values() if row.licence})
    problems = tuple(problem_of(row) for row in rows.values())
    return Reading(problems, tuple(rows), tuple(licences), tuple(faults), hashlib.sha256(content).hexdigest())


def _row(line: bytes) -> OwnRow | list[Complaint]:
    """The fields of a line, each of its type; else what is wrong with them."""
    try:
        raw = decoded(line, dict[str, msgspec.Raw])
        fields = {name: _value(name, bytes(raw[name])) for name in KNOWN if name in raw}
        wrong = [*_twice(line), *misspelt(raw), *shape_faults(fields)]
    except msgspec.ValidationError:
        return [("", "it is no JSON object", "write {...} with the fields of docs/datasets.md")]
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        return [("", f"not JSON: {error}", "write one JSON object per line, in UTF-8")]
    if wrong:
        return wrong
    fields["asserts"] = tuple(fields.get("asserts", ()))
    if fields.pop("plus_input", None):
        fields["plus_input"] = bytes(raw["plus_input"]).decode()
    return OwnRow(**fields)


def _twice(line: bytes) -> Iterator[Complaint]:
    """Readers of JSON take the last of two fields of one name, and say nothing."""
    names: list[str] = []

    def kept(pairs: list[tuple[str, object]]) -> None:
        names[:] = [name for name, _ in pairs]  # the outermost object is read last

    json.loads(line, object_pairs_hook=kept, parse_int=str)
    for name, times in Counter(names).items():
        if times > 1:
            yield name, f"is there {times} times", "keep one of them"


def _value(name: str, raw: bytes) -> Any:  # Any: JSON
    """Arguments may be what only Python's reader takes: infinities, whole numbers of any length."""
    return json.loads(raw) if name == "plus_input" else msgspec.json.decode(raw)


def _repeated(row: OwnRow, lines: dict[str, int]) -> Iterator[Complaint]:
    if row.task_id in lines:
        yield "task_id", f"{row.task_id!r} stands in line {lines[row.task_id]} already", "give each problem its own"
