"""Reads tables that the user names: CSV, JSON lines and Parquet, with a mapping from fields to columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Lock

from koderz_core.errors import DataError, UsageError
from koderz_core.input_files import decoded, json_object, lines_in

MOST_ROWS = 1_000_000
_CELL_LIMIT = Lock()
"""Held while the longest cell of ``csv``, which belongs to the whole process, has another value."""
_PARQUET_ROWS = 1000  # read at a time

Row = Mapping[str, object]
Lines = Iterable[tuple[int, Row | Callable[[], Row]]]
"""The number of each line with its fields, or with a function that parses them, which may raise DataError."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The column of each field, and the fields that have the same value in every row.

    ``optional``: columns of further fields, for a table that has these columns. ``blank``: the fields whose empty cell
    in CSV is an empty text; other empty cells have no value.
    """

    of: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    optional: Mapping[str, str] = field(default_factory=dict)
    blank: Collection[str] = ()

    @property
    def fields(self) -> frozenset[str]:
        """The fields that a mapping names."""
        return frozenset(self.of) | frozenset(self.constants)

    @property
    def text(self) -> str:
        """The text from which ``parse_mapping`` makes the same mapping."""
        parts = [f"{name}={column}" for name, column in self.of.items()]
        return ",".join([*parts, *(f"{name}:={value}" for name, value in self.constants.items())])

    def among(self, columns: Collection[str]) -> Columns:
        """The same mapping, with the optional columns that are among these and have no other use."""
        free = {column for column in columns if column not in self.of.values()}
        present = {name: column for name, column in self.optional.items() if column in free}
        return replace(self, of={**present, **self.of}, optional={})


def parse_mapping(text: str, fields: Iterable[str]) -> Columns:
    """``model=name,passed=metrics.acc,dataset:=mine``: columns, and a constant. Raises UsageError."""
    known = tuple(fields)
    columns: dict[str, str] = {}
    constants: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, column = (piece.strip() for piece in part.partition("="))
        constant = name.endswith(":")
        name = name.removesuffix(":").rstrip()
        if not equals or not (column or constant):
            raise UsageError(
                f"--map {part} does not have the form FIELD=COLUMN or FIELD:=VALUE. Fields: {', '.join(known)}."
            )
        if name not in known:
            raise UsageError(f"--map {part} names no known field. Fields: {', '.join(known)}.")
        if name in columns or name in constants:
            raise UsageError(f"--map names the field {name} twice.")
        (constants if constant else columns)[name] = column
    return Columns(columns, constants)


def is_table(path: Path) -> bool:
    """Whether a file is CSV or Parquet by its name, compressed or not."""
    return _ending(path) in {".csv", ".tsv", ".parquet"}


def rows_of(path: Path, content: bytes, columns: Columns) -> Lines:
    """The number of each row in the file, from 1 on, and its mapped values. Raises DataError."""
    ending = _ending(path)
    rows: Lines
    if ending == ".parquet":
        rows = _parquet(path, content, columns)
    elif ending in {".csv", ".tsv"}:
        rows = _csv(path, content, columns, "\t" if ending == ".tsv" else ",")
    else:
        rows = ((number, partial(_of_line, line, columns)) for number, line in lines_in(content))
    for number, row in rows:
        if number > MOST_ROWS:
            raise DataError(f"{path} has more than {MOST_ROWS:,} rows. Split the file.")
        yield number, row


def _ending(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    return suffixes[-1] if suffixes else ""


def _csv(path: Path, content: bytes, columns: Columns, separator: str) -> Iterator[tuple[int, Row]]:
    table = csv.DictReader(io.StringIO(decoded(content, path), newline=""), delimiter=separator, strict=True)
    try:
        columns = columns.among(table.fieldnames or ())
        _require(path, table.fieldnames or (), columns)
        while row := _next_row(table, len(content)):
            if None in row or None in row.values():
                raise DataError(
                    f"{path}, line {table.line_num}, does not have the same number of cells as the first line."
                )
            cells = {
                name: row[column] or ("" if name in columns.blank else None) for name, column in columns.of.items()
            }
            yield table.line_num, {**cells, **columns.constants}
    except csv.Error as error:
        raise DataError(f"{path}, line {table.line_num}, is not CSV: {error}.") from error


def _next_row(table: csv.DictReader[str], longest: int) -> dict[str, str] | None:
    """The next row, None at the end. ``longest``: the most characters of a cell."""
    with _CELL_LIMIT:
        usual = csv.field_size_limit(longest)
        try:
            return next(table, None)
        finally:
            csv.field_size_limit(usual)


def _of_line(line: bytes, columns: Columns) -> Row:
    row = json_object(line)
    return _mapped(row, columns.among(row))


def _mapped(row: Row, columns: Columns) -> Row:
    return {**{name: _inside(row, column) for name, column in columns.of.items()}, **columns.constants}


def _inside(row: object, column: str) -> object:
    """The value of a column; ``a.b.0`` is element 0 of field b of field a. None: there is none."""
    if isinstance(row, dict) and column in row:
        return row[column]
    first, _, rest = column.partition(".")
    if isinstance(row, dict) and rest and first in row:
        return _inside(row[first], rest)
    if isinstance(row, list) and first.isdecimal() and int(first) < len(row):
        return _inside(row[int(first)], rest) if rest else row[int(first)]
    return None


def _parquet(path: Path, content: bytes, columns: Columns) -> Iterator[tuple[int, Row]]:
    import duckdb  # noqa: PLC0415 (heavy)

    with NamedTemporaryFile(suffix=".parquet") as file, duckdb.connect(config=_OFFLINE) as con:
        file.write(content)
        file.flush()
        try:
            found = con.execute("select * from read_parquet(?)", [file.name])
            names = [str(column[0]) for column in found.description]
            columns = columns.among(names)
            _require(path, names, columns, nested=True)
            number = 0
            while rows := found.fetchmany(_PARQUET_ROWS):
                for values in rows:
                    number += 1
                    yield number, _mapped(_known(dict(zip(names, values, strict=True))), columns)
        except duckdb.Error as error:
            raise DataError(f"{path} cannot be read as Parquet: {(str(error) or '?').splitlines()[0]}.") from error


_OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
"""A query must not download extensions."""


def _known(row: dict[str, object]) -> Row:
    """The row without cells that are not a number; writers of Parquet often store a missing value as NaN."""
    return {name: value for name, value in row.items() if value == value}  # noqa: PLR0124 (NaN differs from itself)


def _require(path: Path, known: Sequence[str], columns: Columns, *, nested: bool = False) -> None:
    """``nested``: a column may be a field of a known one."""
    stated = columns.of.values()
    firsts = [column.partition(".")[0] if nested and column not in known else column for column in stated]
    if missing := [column for column, first in zip(stated, firsts, strict=True) if first not in known]:
        raise DataError(f"{path} has no column {missing[0]!r}. Its columns are: {', '.join(map(str, known[:30]))}.")
    if repeated := [column for column in stated if known.count(column) > 1]:
        raise DataError(
            f"{path} has several columns with the name {repeated[0]!r}. Keep one of them, and rename or remove the "
            "others."
        )
