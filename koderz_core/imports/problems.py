"""Recognises problems of a dataset in the results of another tool, by their ids or by their prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from koderz_core.errors import DataError, listed
from koderz_core.imports.records import Result
from koderz_core.records import Dataset, Problem
from koderz_core.report.formats import numbered

_SHOWN = 5
MOST_AFTER = 200
"""The most characters, without white space, that may follow a prompt of the dataset."""


def recognise(path: Path, results: Sequence[Result], dataset: Dataset, *, trust_ids: bool) -> tuple[Result, ...]:
    """The results with the ids of the dataset.

    A problem is recognised by its id, or, if the file states prompts, by a prompt that contains the dataset's own one.
    Raises DataError for problems that the dataset does not have, and, without ``trust_ids``, for problems of the
    dataset that have another prompt in the file.
    """
    by_id = {problem.id: problem for problem in dataset.problems}
    by_prompt = {_words(problem.public.prompt): problem for problem in dataset.problems}
    ids: dict[tuple[str, str], str] = {}
    unknown: list[str] = []
    different: list[str] = []
    for problem, prompt in dict.fromkeys((result.problem, result.prompt) for result in results):
        known = by_id.get(problem)
        found = known if known and (trust_ids or _is_same(known, prompt)) else _found(by_prompt, prompt)
        if found:
            ids[problem, prompt] = found.id
        else:
            (different if known else unknown).append(problem)
    if unknown:
        raise DataError(
            f"{path} has {numbered(len(unknown), 'problem')} that {dataset.origin.name} does not have: "
            f"{listed([*map(repr, unknown)], _SHOWN)}. Name the right dataset with --dataset."
        )
    if different:
        raise DataError(
            f"{path} and {dataset.origin.name} have different prompts for {numbered(len(different), 'problem')}: "
            f"{listed([*map(repr, different)], _SHOWN)}. If only the prompts of these problems differ, but not their "
            "tests, import the file with --trust-ids."
        )
    return tuple(replace(result, problem=ids[result.problem, result.prompt]) for result in results)


def _is_same(problem: Problem, prompt: str) -> bool:
    """Whether the file states no prompt, or one that contains the problem's own."""
    return not prompt or _words(problem.public.prompt) in _words(prompt)


def _found(by_prompt: Mapping[str, Problem], prompt: str) -> Problem | None:
    """The only problem whose prompt is in this text; of prompts inside each other, the longest."""
    words = _words(prompt)
    if problem := by_prompt.get(words):
        return problem
    found = sorted((known for known in by_prompt if known and known in words), key=len)
    if not found or not all(part in found[-1] for part in found):
        return None
    after = words.rpartition(found[-1])[2]  # code there makes it another task, such as repairing a program
    return None if len(after) > MOST_AFTER or "return" in after else by_prompt[found[-1]]


def _words(text: str) -> str:
    """The text without white space, which tools change."""
    return "".join(text.split())
