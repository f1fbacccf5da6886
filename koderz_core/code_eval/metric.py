"""A replacement for Hugging Face's metric ``code_eval``, with the same arguments and result.

Source: huggingface/evaluate, ``metrics/code_eval/code_eval.py`` and ``execute.py``, version 0.4. Differences: programs
run in koderz' sandbox, a program that ends or replaces its tests does not pass, ``HF_ALLOW_CODE_EVAL`` is ignored, and
a task without candidates is not left out of pass@k.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import TypedDict

from koderz_core.analysis.sampling import pass_at_k
from koderz_core.errors import DataError, UsageError
from koderz_core.grading.grader import Graded
from koderz_core.workspace import the_workspace
from koderz_core.workspace.checks import Check, Checks

TIMEOUT_SECONDS = 3.0
_LOG = logging.getLogger("koderz")


class Result(TypedDict):
    """The result of one candidate. ``result``: ``passed``, ``timed out`` or ``failed: `` and the reason."""

    task_id: int
    passed: bool
    result: str
    completion_id: int


def compute(
    predictions: Sequence[Sequence[str]],
    references: Sequence[str],
    k: int | Sequence[int] = (1, 10, 100),
    num_workers: int = 4,
    timeout: float = TIMEOUT_SECONDS,
) -> tuple[dict[str, float], dict[int, list[tuple[int, Result]]]]:
    """Return pass@k, and each candidate's result by the place of its task.

    ``predictions``: for each task, a list of whole programs. ``references``: for each task, its tests: asserts, or
    source that defines ``check(candidate)`` and then calls ``check(name)``. pass@k is given for each k for which every
    task has enough candidates. A candidate that could not be judged counts as failed, with a warning in the log.
    ``timeout``: seconds for all tests of one program.

    Raises UsageError for lists that do not fit together, DataError for tests that could not be run on any candidate,
    and SandboxError if no sandbox works on this machine.
    """
    if len(predictions) != len(references):
        raise UsageError(
            f"There are {len(predictions)} predictions and {len(references)} references. Give one prediction and "
            "one reference per task."
        )
    if isinstance(next(iter(predictions), None), str):
        raise UsageError("Each prediction must be a list of programs, not a string. Write [[program], ...].")
    numbers = [k] if isinstance(k, int) else k
    if bad := [number for number in numbers if number < 1]:
        raise UsageError(f"Each k must be at least 1, not {bad[0]}.")
    checks = [_check(the_workspace().checks, task, tests, timeout) for task, tests in enumerate(references)]
    work = [(task, number, text) for task, texts in enumerate(predictions) for number, text in enumerate(texts)]
    graded = the_workspace().checks.in_parallel(
        lambda item: checks[item[0]].grade("solution", item[2]), work, max(1, num_workers)
    )
    _require_verdicts([(task, found) for (task, *_), found in zip(work, graded, strict=True)])
    results: dict[int, list[tuple[int, Result]]] = defaultdict(list)
    for (task, number, _), found in zip(work, graded, strict=True):
        passed = found.verdict is not None and found.verdict.passed
        result = Result(task_id=task, passed=passed, result=_described(found), completion_id=number)
        results[task].append((number, result))
    return dict(_pass_at([results.get(task, []) for task in range(len(predictions))], numbers)), results


def _check(checks: Checks, task: int, tests: str, timeout: float) -> Check:
    try:
        return checks.of_tests(tests, timeout)
    except DataError as error:
        raise DataError(f"references[{task}]: {error}") from error


def _require_verdicts(graded: Sequence[tuple[int, Graded]]) -> None:
    """Raise DataError for the first task of which no candidate could be judged; warn of all other such candidates."""
    judged = {task for task, found in graded if found.verdict}
    troubles = [found.trouble for _, found in graded if not found.verdict]
    for task, found in graded:
        if task not in judged:
            raise DataError(f"No candidate of the task {task} could be judged. {found.trouble}")
    if troubles:
        _LOG.warning(
            "%d of %d candidates could not be judged and count as failed. The first reason: %s",
            len(troubles),
            len(graded),
            troubles[0],
        )


def _described(graded: Graded) -> str:
    verdict = graded.verdict
    if verdict is None:
        return f"failed: {graded.trouble}"
    if verdict.passed:
        return "passed"
    return "timed out" if verdict.error == "timeout" else f"failed: {verdict.message}"


def _pass_at(results: Sequence[list[tuple[int, Result]]], k: Sequence[int]) -> Iterator[tuple[str, float]]:
    counts = [(len(rows), sum(row["passed"] for _, row in rows)) for rows in results]
    for number in k:
        if counts and all(n >= number for n, _ in counts):
            yield f"pass@{number}", fmean(pass_at_k(n, c, number) for n, c in counts)
