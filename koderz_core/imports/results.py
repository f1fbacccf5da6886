"""Reads the result files of other tools. What a file does not state is None, never zero.

Formats:

* ``samples``: JSON lines of human-eval and EvalPlus with ``task_id`` and a program. koderz grades the programs.
* ``eval-arena``: JSON lines with ``benchmark_id``, ``model``, ``example_id`` and ``pass1``, and, for several samples,
  ``count`` and ``correct``.
* ``table``: any CSV, JSON lines or Parquet whose columns the user maps (``imports/tables.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import isfinite
from pathlib import Path
from typing import NoReturn

from koderz_core.errors import DataError
from koderz_core.grading.grader import KINDS
from koderz_core.imports.tables import Lines, rows_of
from koderz_core.input_files import json_object, lines_in, listed_faults, read_unpacked, surrogate_in
from koderz_core.records import Cost, Usage

SAMPLES, EVAL_ARENA, TABLE = "samples", "eval-arena", "table"
MOST_SAMPLES = 10_000
"""The most samples of one problem by one model that one line may state."""
LONGEST_NAME = 200
MOST = 1e15
"""The largest number that a line may state."""
NO_USAGE = Usage()
NOT_STATED = Cost(None, "not in the imported file")
_SHOWN = 20
_CURE = "Give the path of a file with results."
_KNOWN = (
    "koderz reads JSON lines in two formats. The format `samples` (of human-eval and EvalPlus) has the field task_id "
    "and one of the fields completion, solution and answer. The format `eval-arena` has the fields benchmark_id, "
    "model, example_id and pass1."
)


@dataclass(frozen=True, slots=True)
class Result:
    """One sample of one problem by one model.

    ``dataset``: as the file names it, "" if it does not. ``passed``: as the file states, None if it does not.
    ``program``: its text; ``kind``, one of the grader's ``KINDS``, says what it is. ``line``: its line in the file.
    ``seconds``: the duration of the call.
    """

    line: int
    model: str
    problem: str
    dataset: str = ""
    passed: bool | None = None
    program: str | None = None
    kind: str = ""
    usage: Usage = NO_USAGE
    cost: Cost = NOT_STATED
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class ResultFile:
    """The results of a file, in its order, and the format that was recognised."""

    path: Path
    format: str
    content: bytes
    results: tuple[Result, ...]


def read_results(path: Path, model: str = "", mapping: Mapping[str, str] | None = None) -> ResultFile:
    """Read a file of results. ``model``: the model of the lines that name none; by default the name of the file.

    ``mapping``: the columns of a table, by the fields of ``imports.tables``; without it, the file has another format.
    Raises DataError if the file cannot be read, its format is unknown or lines are wrong; the error lists these lines.
    """
    content = read_unpacked(path, _CURE)
    default = model or path.name.partition(".")[0]
    format_, lines = (TABLE, rows_of(path, content, mapping)) if mapping else _lines(path, content)
    results: list[Result] = []
    faults: list[str] = []
    for number, row in lines:
        try:
            results += _READERS[format_](number, row() if callable(row) else row, default)
        except DataError as fault:
            faults.append(f"line {number}: {fault}")
    if faults:
        _refuse(path, format_, faults)
    if not results:
        raise DataError(f"{path} has no lines with results. {_CURE}")
    return ResultFile(path, format_, content, tuple(results))


def _lines(path: Path, content: bytes) -> tuple[str, Lines]:
    lines = list(lines_in(content))
    if not lines:
        raise DataError(f"{path} has no lines with results. {_CURE}")
    return _format(path, lines[0][1]), ((number, partial(json_object, line)) for number, line in lines)


def _format(path: Path, line: bytes) -> str:
    try:
        keys = json_object(line).keys()
    except DataError as fault:
        raise DataError(f"{path}, line 1: {fault}. {_KNOWN}") from fault
    if "task_id" in keys and keys & set(KINDS):
        return SAMPLES
    if {"model", "example_id"} <= keys and keys & {"pass1", "correct"}:
        return EVAL_ARENA
    found = ", ".join(sorted(keys)[:_SHOWN]) or "none"
    raise DataError(f"The format of {path} is unknown. The fields of its first line are: {_cut(found)}. {_KNOWN}")


def _refuse(path: Path, format_: str, faults: list[str]) -> NoReturn:
    number, these = ("1 wrong line", "this line") if len(faults) == 1 else (f"{len(faults)} wrong lines", "these lines")
    raise DataError(
        f"{path} ({format_}) has {number}, so nothing was imported:{listed_faults(faults)}\nCorrect or remove {these}."
    )


def _of_sample(line: int, row: Mapping[str, object], model: str) -> Iterator[Result]:
    kinds = [kind for kind in KINDS if row.get(kind) is not None]
    if len(kinds) != 1:
        both = " and ".join(kinds)
        raise DataError(f"has {both}, but only one is allowed" if kinds else f"has none of {', '.join(KINDS)}")
    name = _name(row, "model") if row.get("model") is not None else model
    yield Result(line, name, _name(row, "task_id"), program=_text(row, kinds[0]), kind=kinds[0])


def _of_eval_arena(line: int, row: Mapping[str, object], _model: str) -> Iterator[Result]:
    """``count`` samples, of which ``correct`` passed; without ``count`` it is one sample."""
    count = _whole(row, "count") if row.get("count") is not None else 1
    if not 1 <= count <= MOST_SAMPLES:
        raise DataError(f"count is {count}; it must be from 1 to {MOST_SAMPLES:,}")
    share = _number(row, "pass1") if row.get("pass1") is not None else None
    if share is not None and not 0 <= share <= 1:
        raise DataError(f"pass1 is {share:g}; it must be from 0 to 1")
    if row.get("correct") is not None:
        correct = _whole(row, "correct")
    elif share is None:
        raise DataError("has neither pass1 nor correct")
    else:
        correct = round(share * count)
    if not 0 <= correct <= count:
        raise DataError(f"correct is {correct}; it must be from 0 to count, which is {count}")
    if share is not None and abs(correct / count - share) > 1e-6:
        samples = "1 sample" if count == 1 else f"{count} samples"
        of = f" (correct: {correct})" if row.get("correct") is not None else ""
        raise DataError(f"pass1 is {share:g}, which is impossible with {samples}{of}; state count and correct instead")
    dataset = _name(row, "benchmark_id") if row.get("benchmark_id") is not None else ""
    model, problem = _name(row, "model"), _name(row, "example_id")
    yield from (Result(line, model, problem, dataset, passed=number < correct) for number in range(count))


def _of_table(line: int, row: Mapping[str, object], model: str) -> Iterator[Result]:
    kinds = [kind for kind in KINDS if row.get(kind) is not None]
    if len(kinds) > 1:
        raise DataError(f"has {' and '.join(kinds)}, but only one is allowed")
    if not kinds and row.get("passed") is None:
        raise DataError("has neither a program nor a value for passed")
    cost = _amount(row, "cost_usd")
    yield Result(
        line,
        _name(row, "model") if row.get("model") is not None else model,
        _name(row, "problem"),
        _name(row, "dataset") if row.get("dataset") is not None else "",
        passed=None if kinds else _truth(row["passed"]),
        program=_text(row, kinds[0]) if kinds else None,
        kind=kinds[0] if kinds else "",
        usage=Usage(_tokens(row, "input_tokens"), _tokens(row, "output_tokens")),
        cost=NOT_STATED if cost is None else Cost(cost, "stated in the imported file"),
        seconds=_amount(row, "seconds"),
    )


_TRUE = frozenset({"true", "1", "1.0", "yes", "pass", "passed", "correct", "c"})
_FALSE = frozenset({"false", "0", "0.0", "no", "fail", "failed", "incorrect", "i"})


def _truth(value: object) -> bool:
    word = str(value).strip().lower()
    if word not in _TRUE | _FALSE:
        raise DataError(f"passed is {_cut(str(value))!r}; use true or false, 1 or 0")
    return word in _TRUE


def _amount(row: Mapping[str, object], key: str) -> float | None:
    """A number from 0 on, also as the text of a CSV cell; None: not stated."""
    value = row.get(key)
    if value is None:
        return None
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
    except ValueError:
        number = None
    if number is None or not 0 <= number <= MOST:
        raise DataError(f"{key} is {_cut(str(value))!r}, which is not a number from 0 to {MOST:.0e}")
    return number


def _tokens(row: Mapping[str, object], key: str) -> int | None:
    amount = _amount(row, key)
    if amount is not None and amount != int(amount):
        raise DataError(f"{key} is {amount:g}, which is not a whole number")
    return None if amount is None else int(amount)


_READERS: Mapping[str, Callable[[int, Mapping[str, object], str], Iterator[Result]]] = {
    SAMPLES: _of_sample,
    EVAL_ARENA: _of_eval_arena,
    TABLE: _of_table,
}


def _text(row: Mapping[str, object], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        raise DataError(f"{key} is missing" if value is None else f"{key} is not text")
    if fault := surrogate_in(value):
        raise DataError(f"{key}: {fault}")
    return value


def _name(row: Mapping[str, object], key: str) -> str:
    """A short text of one line: it names a model, a problem or a dataset."""
    value = _text(row, key)
    if not value.strip() or len(value) > LONGEST_NAME or not value.isprintable():
        raise DataError(f"{key} {_cut(value)!r} is not a name: a name is one line of 1 to {LONGEST_NAME} characters")
    return value


def _number(row: Mapping[str, object], key: str) -> float:
    value = row.get(key)
    if isinstance(value, bool):
        return float(value)
    if not isinstance(value, int | float) or abs(value) > MOST or not isfinite(value):
        raise DataError(f"{key} is not a number")
    return float(value)


def _whole(row: Mapping[str, object], key: str) -> int:
    value = _number(row, key)
    if value != int(value):
        raise DataError(f"{key} is {value:g}, which is not a whole number")
    return int(value)


def _cut(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:80]}…"
