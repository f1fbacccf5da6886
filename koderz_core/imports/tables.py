"""Reads tables of results: CSV, JSON lines and Parquet, with a mapping from the fields of a result to columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from threading import Lock

from koderz_core.errors import DataError, UsageError
from koderz_core.grading.grader import KINDS
from koderz_core.imports.fields import Row
from koderz_core.input_files import decoded, json_object, lines_in

FIELDS: Mapping[str, str] = {
    "model": "the model",
    "problem": "the id of the problem",
    "dataset": "the dataset of the problem",
    "prompt": "the prompt of the problem; koderz uses it to identify problems whose ids differ from the dataset's",
    "passed": "whether the program passed: true or false, 1 or 0, yes or no, pass or fail, correct or incorrect",
    "completion": "a program that continues the prompt",
    "solution": "a complete program",
    "answer": "a model's complete reply",
    "input_tokens": "the number of prompt tokens",
    "output_tokens": "the number of answer tokens",
    "cost_usd": "the cost in US dollars",
    "seconds": "the duration of the call",
}
"""The fields that a column can hold, with their meaning."""
MOST_ROWS = 1_000_000
_CELL_LIMIT = Lock()
"""Held while the longest cell of ``csv``, which belongs to the whole process, has another value."""

Lines = Iterable[tuple[int, Row | Callable[[], Row]]]
"""The number of each line with its fields, or with a function that parses them, which may raise DataError."""


def parse_mapping(text: str) -> dict[str, str]:
    """``model=name,passed=metrics.acc`` as field -> column. Raises UsageError."""
    found: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        field, equals, column = (piece.strip() for piece in part.partition("="))
        if not equals or not column or field not in FIELDS:
            raise UsageError(f"--map {part} does not have the form FIELD=COLUMN. Fields: {', '.join(FIELDS)}.")
        if field in found:
            raise UsageError(f"--map names the field {field} twice.")
        found[field] = column
    if "problem" not in found or not found.keys() & {"passed", "completion", "solution", "answer"}:
        raise UsageError(
            "--map must name the field `problem` and at least one of `passed`, `completion`, `solution` and `answer`."
        )
    return found


def parse_prices(texts: Iterable[str]) -> dict[str, tuple[float, float]]:
    """``gpt-4o=2.5,10``: US dollars per million input and output tokens, by model. Raises UsageError."""
    found: dict[str, tuple[float, float]] = {}
    for text in texts:
        model, _, amounts = text.rpartition("=")
        try:
            usd = [float(amount) for amount in amounts.split(",")]
        except ValueError:
            usd = []
        if not model or len(usd) != 2 or not all(0 <= amount < 1e6 for amount in usd):
            raise UsageError(
                f"--price {text} is not valid. Write MODEL=IN,OUT with both prices in USD per million tokens: input, "
                "then output."
            )
        if model in found:
            raise UsageError(f"--price names the model {model} twice.")
        found[model] = usd[0], usd[1]
    return found


def rows_of(path: Path, content: bytes, mapping: Mapping[str, str]) -> Lines:
    """The number of each row in the file, from 1 on, and its mapped values. Raises DataError."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    ending = suffixes[-1] if suffixes else ""
    rows: Lines
    if ending == ".parquet":
        rows = _parquet(path, content, mapping)
    elif ending in (".csv", ".tsv"):
        rows = _csv(path, content, mapping, "\t" if ending == ".tsv" else ",")
    else:
        rows = ((number, partial(_mapped, line, mapping)) for number, line in lines_in(content))
    for number, row in rows:
        if number > MOST_ROWS:
            raise DataError(f"{path} has more than {MOST_ROWS:,} rows. Split the file.")
        yield number, row


def _csv(path: Path, content: bytes, mapping: Mapping[str, str], separator: str) -> Iterator[tuple[int, Row]]:
    table = csv.DictReader(io.StringIO(decoded(content, path), newline=""), delimiter=separator, strict=True)
    programs = mapping.keys() & set(KINDS)
    blank = programs if len(programs) == 1 else set()  # of several columns, each program uses one
    try:
        _require(path, table.fieldnames or (), mapping)
        while row := _next_row(table, len(content)):
            if None in row or None in row.values():
                raise DataError(
                    f"{path}, line {table.line_num}, does not have the same number of cells as the first line."
                )
            cells = {field: row[column] or ("" if field in blank else None) for field, column in mapping.items()}
            yield table.line_num, cells
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


def _mapped(line: bytes, mapping: Mapping[str, str]) -> Row:
    row = json_object(line)
    return {field: _inside(row, column) for field, column in mapping.items()}


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


def _parquet(path: Path, content: bytes, mapping: Mapping[str, str]) -> Iterator[tuple[int, Row]]:
    from pandas import isna, read_parquet  # type: ignore[import-untyped]  # noqa: PLC0415 (heavy; it ships no types)

    try:
        frame = read_parquet(io.BytesIO(content))
    except (ValueError, OSError) as error:
        raise DataError(f"{path} cannot be read as Parquet: {(str(error) or '?').splitlines()[0]}.") from error
    _require(path, list(frame.columns), mapping)
    columns = {field: frame[column].tolist() for field, column in mapping.items()}
    for place in range(len(frame)):
        row = {field: values[place] for field, values in columns.items()}
        yield place + 1, {field: None if isna(value) is True else value for field, value in row.items()}


def _require(path: Path, columns: object, mapping: Mapping[str, str]) -> None:
    known = list(columns) if isinstance(columns, list | tuple) else []
    if missing := [column for column in mapping.values() if column not in known]:
        raise DataError(f"{path} has no column {missing[0]!r}. Its columns are: {', '.join(map(str, known[:30]))}.")
    if repeated := [column for column in mapping.values() if known.count(column) > 1]:
        raise DataError(f"{path} has several columns {repeated[0]!r}. Rename or remove the columns that do not count.")
