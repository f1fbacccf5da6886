"""Users' own problems: files named by their path, and problems entered in a form. koderz keeps a copy of each.

koderz reads a file by its path once, and plans record the name of the copy. HumanEval's lines have the format of such
files, which docs/datasets.md describes; the copy of a table has this format too. An entered problem is a file of one
line in HumanEval's format.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from koderz_core.config import Settings
from koderz_core.datasets.humaneval import Row, problems_of
from koderz_core.datasets.trees import load_tree
from koderz_core.errors import DataError
from koderz_core.files import keep_file, kept_names
from koderz_core.input_files import lines_in, read_unpacked, require_file
from koderz_core.input_tables import is_table
from koderz_core.records import Dataset, DatasetOrigin, Problem, SourceTree

if TYPE_CHECKING:
    from koderz_core.datasets.own_fields import Complaint

UNSTATED = "not stated"
ENDINGS = ".jsonl, .csv, .tsv, .parquet, or one of these followed by .gz"
ENTERED_LICENCE = "your own"
_CURE = "Use a file of problems in the format that docs/datasets.md describes."
_LINES_ENDING = re.compile(r"\.jsonl.*", re.DOTALL)
_TABLE_ENDING = re.compile(r"\.(csv|tsv|parquet)(\.gz)?$", re.IGNORECASE)
_FILE_NAME = re.compile(r"own-[A-Za-z0-9_-]{1,40}-[0-9a-f]{12}")
_ENTERED_NAME = re.compile(r"typed-[0-9a-f]{12}")


def is_path(name: str) -> bool:
    """Whether a dataset's name is the path of a file of problems."""
    return name.endswith((".jsonl", ".jsonl.gz")) or is_table(Path(name))


def refuse_other_paths(name: str) -> None:
    """Raise DataError for the path of any other file as a dataset's name. Reads nothing."""
    # Path.exists raises for a name that is too long.
    if name.startswith(("/", "./", "../")) or (name and os.path.exists(name)):  # noqa: PTH110 (as above)
        require_file(Path(name), _CURE)
        raise DataError(f"{name} cannot be read (its name does not end with {ENDINGS}). {_CURE}")


def is_own(name: str) -> bool:
    """Whether it is the name of a file's copy: ``own-``, the file's name, and the beginning of its SHA-256."""
    return _FILE_NAME.fullmatch(name) is not None


def load_path(path: Path, settings: Settings, mapping: str = "") -> Dataset:
    """The problems of a file, after copying it. Raises DataError if the file has a fault.

    ``mapping``: the columns of a table, as in ``input_tables.parse_mapping``.
    """
    content, reading = read_sound(path, settings, mapping)
    ending = _TABLE_ENDING if is_table(path) else _LINES_ENDING
    stem = re.sub(r"[^A-Za-z0-9_]+", "-", ending.sub("", path.name))[:40].strip("-") or "file"
    name = f"own-{stem}-{reading.sha256[:12]}"
    keep_file(_path(name, settings), content)
    return reading.dataset(name)


def read_sound(path: Path, settings: Settings, mapping: str = "") -> tuple[bytes, Reading]:
    """The content of a file in koderz' format, unpacked, and its problems. Raises DataError if the file has a fault."""
    content, reading = _read(path, mapping, settings)
    if reading.faults:
        first, mapped = reading.faults[0], f" --map {shlex.quote(mapping)}" if mapping else ""
        column = f" If another column contains this field, add: --map {first.field}=COLUMN." if first.is_missing else ""
        raise DataError(
            f"{first.describe(path.name)}.{column} Number of faults: {len(reading.faults)}. To list every fault: "
            f"koderz list-problems --file {shlex.quote(str(path))}{mapped}"
        )
    return content, reading


def load_own(name: str, settings: Settings) -> Dataset:
    """The problems of a file's copy. Raises DataError if the copy is missing or was changed."""
    path, sha256 = _path(name, settings), name[-12:]
    cure = f"Pass your original file again (its SHA-256 begins with {sha256}): --dataset FILE.jsonl"
    if not path.is_file():
        raise DataError(f"{path}, koderz' copy of your file, is missing. {cure}")
    reading = read_own(read_unpacked(path, cure), settings)
    if not reading.sha256.startswith(sha256):
        raise DataError(f"{path}, koderz' copy of your file, was changed. {cure}")
    if reading.faults:
        first = reading.faults[0]
        if first.field == "tree":  # its fault says how to restore the tree
            raise DataError(first.describe(path.name))
        raise DataError(
            f"{first.describe(path.name)}. This version of koderz makes more checks than the version that copied your "
            "file. Correct your file and pass it again: --dataset FILE.jsonl"
        )
    return reading.dataset(name)


def own_names(settings: Settings) -> tuple[str, ...]:
    """The names of all copies, the latest first."""
    return tuple(name for name in kept_names(settings.home / "datasets", "own-*.jsonl") if is_own(name))


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a line and how to fix it. ``field`` is empty if the whole line is wrong.

    ``column``: the column of a table that holds the field, if it has another name. The texts may quote the file, so
    they are hostile.
    """

    line: int
    field: str
    what: str
    cure: str
    column: str = ""

    @property
    def is_missing(self) -> bool:
        """Whether the line lacks the field."""
        return self.what == "is missing"

    def describe(self, file: str) -> str:
        """One sentence: file, line, field, column, fault and cure."""
        column = f" (column {self.column})" if self.column else ""
        field = f"field {self.field}{column}: " if self.field else ""
        return f"{file}:{self.line}: {field}{self.what}; {self.cure}"


@dataclass(frozen=True, slots=True)
class Reading:
    """The content of a file: its problems with the number of each one's line, the licences that it states, its faults.

    A line with faults has no problem. ``sha256`` (hex) is that of the whole content.
    """

    problems: tuple[Problem, ...]
    lines: tuple[int, ...]
    licences: tuple[str, ...]
    faults: tuple[Fault, ...]
    sha256: str

    def dataset(self, name: str) -> Dataset:
        """The problems under that name, for a file without faults."""
        licence = ", ".join(self.licences) or UNSTATED
        return Dataset(DatasetOrigin(name, self.sha256, licence), self.problems)


def read_path(path: Path, mapping: str = "", settings: Settings | None = None) -> Reading:
    """The problems and faults of a file. Raises DataError only if the file cannot be read.

    ``settings``: name the data folder with the trees of repositories. Without them, no tree is known.
    """
    return _read(path, mapping, settings)[1]


def read_own(content: bytes, settings: Settings | None = None) -> Reading:
    """The problems and faults of an unpacked file in koderz' format. ``settings`` as of ``read_path``."""
    return _reading(lines_in(content), hashlib.sha256(content).hexdigest(), {}, settings)


def _read(path: Path, mapping: str, settings: Settings | None) -> tuple[bytes, Reading]:
    """The content of a file in koderz' format, with the problems and faults of the file."""
    content = read_unpacked(path, _CURE)
    if not mapping and not is_table(path):
        return content, read_own(content, settings)
    from koderz_core.datasets.own_tables import columns_of, own_lines  # noqa: PLC0415 (pydantic is heavy)

    columns = columns_of(mapping)
    lines = tuple(own_lines(path, content, columns))
    content = b"".join(line for _, line in lines if isinstance(line, bytes))
    return content, _reading(lines, hashlib.sha256(content).hexdigest(), columns.of, settings)


def _reading(
    numbered: Iterable[tuple[int, bytes | list[Complaint]]],
    sha256: str,
    columns: Mapping[str, str],
    settings: Settings | None,
) -> Reading:
    """``columns``: the columns of a table by their fields."""
    from koderz_core.datasets.own_checks import complaints, problem_of, row_of  # noqa: PLC0415 (pydantic is heavy)

    problems: dict[int, Problem] = {}
    licences: set[str] = set()
    faults: list[Fault] = []
    trees = partial(_tree, settings)
    lines: dict[str, int] = {}  # the first line of each task_id
    for number, line in numbered:
        row = row_of(line) if isinstance(line, bytes) else line
        if isinstance(row, list):
            wrong = row
        else:
            first = lines.setdefault(row.task_id, number)
            taken = f"{row.task_id!r} is already the id of the problem in line {first}"
            repeated = ("task_id", taken, "give each problem its own id")
            wrong = [*([repeated] if first != number else []), *complaints(row, trees)]
            if not wrong:
                problems[number] = problem_of(row, trees)
                licences |= {row.licence} - {""}
        faults += [Fault(number, *complaint, columns.get(complaint[0], "")) for complaint in wrong]
    if not problems and not faults:
        faults.append(
            Fault(
                1, "", "the file contains no coding problems", "write one JSON object per line, or one row per problem"
            )
        )
    return Reading(tuple(problems.values()), tuple(problems), tuple(sorted(licences)), tuple(faults), sha256)


def _tree(settings: Settings | None, sha256: str, name: str) -> SourceTree:
    if settings is None:
        raise DataError(
            "The source tree of this problem was not read, because no data folder was given. Pass the path of "
            "the dataset file to a koderz command: koderz list-problems --file FILE"
        )
    return load_tree(sha256, settings, name)


def keep(row: Row, settings: Settings) -> Dataset:
    """Write down an entered problem and return it. Its name, also its ``task_id``, follows from its content.

    Raises DataError if it is not a problem or cannot be written.
    """
    dataset = entered_dataset(row)
    keep_file(_path(dataset.origin.name, settings), _content(row))
    return dataset


def entered_dataset(row: Row) -> Dataset:
    """The result of ``keep``, without writing it. Raises DataError if the row is not a problem."""
    return _one_problem(_entered_name(row), _content(row))


def load_entered(name: str, settings: Settings) -> Dataset:
    """The entered problem of that name. Raises DataError if its file cannot be read or was damaged."""
    path = _path(name, settings)
    try:
        return _one_problem(name, path.read_bytes())
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}). Enter the problem again.") from error
    except DataError as fault:
        raise DataError(f"{path} is damaged: {fault}. Enter the problem again. This replaces the file.") from fault


def entered_names(settings: Settings) -> tuple[str, ...]:
    """The names of all entered problems, the latest first."""
    names = kept_names(settings.home / "problems", "typed-*.jsonl")
    return tuple(name for name in names if _ENTERED_NAME.fullmatch(name))


def _one_problem(name: str, content: bytes) -> Dataset:
    problems = tuple(problems_of(content, solved=False))
    if len(problems) != 1:
        raise DataError(f"it contains {len(problems)} coding problems instead of one")
    return Dataset(DatasetOrigin(name, hashlib.sha256(content).hexdigest(), ENTERED_LICENCE), problems)


def _entered_name(row: Row) -> str:
    digest = hashlib.sha256(msgspec.json.encode(msgspec.structs.replace(row, task_id=""))).hexdigest()
    return f"typed-{digest[:12]}"


def _content(row: Row) -> bytes:
    return msgspec.json.encode(msgspec.structs.replace(row, task_id=f"{_entered_name(row)}/0")) + b"\n"


def _path(name: str, settings: Settings) -> Path:
    return settings.home / ("datasets" if is_own(name) else "problems") / f"{name}.jsonl"
