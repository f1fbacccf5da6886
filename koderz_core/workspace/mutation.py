"""Mutation scores of problems' tests, and more held-out inputs for a user's own problems."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from koderz_core.config import Settings
from koderz_core.datasets.own_problems import read_sound
from koderz_core.errors import KoderzError
from koderz_core.grading.mutation_score import MutationScore, MutationScores, Survivor
from koderz_core.grading.strengthening import Strengthened, Strengthening, with_inputs
from koderz_core.grading.testsets import TestPolicy
from koderz_core.input_files import json_object, lines_in
from koderz_core.records import Dataset, Problem
from koderz_core.sandbox.reference import trial_answers
from koderz_core.workspace.grading import Grading, Watch, iter_only

__all__ = ["Mutation", "MutationScore", "Strengthened", "Survivor"]

Answer = TypeVar("Answer")


class Mutation:
    """Runs mutants in the sandbox of ``grading``; scores that were computed before need none."""

    def __init__(self, settings: Settings, grading: Grading) -> None:
        self._settings, self._grading = settings, grading
        self._scores = MutationScores(settings.cache_dir / "mutation", grading.sandbox.judge, grading.divide)

    def scores(self, dataset: Dataset, problems: Sequence[Problem]) -> Iterator[tuple[Problem, MutationScore]]:
        """The score of each problem's tests; results come in order. Raises SandboxError.

        The dashboard shows the scores that were computed here.
        """
        done: dict[str, MutationScore] = {}
        try:
            for problem, score in zip(problems, self._each(self._score, problems), strict=True):
                done[problem.id] = score
                yield problem, score
        finally:
            self._scores.keep(dataset.origin.sha256, done)

    def weak(self, sha256s: Collection[str]) -> Mapping[str, MutationScore]:
        """The problems of these datasets whose tests are known to be weak. Computes nothing."""
        kept = (self._scores.kept(sha256) for sha256 in sha256s)
        return {name: score for scores in kept for name, score in scores.items() if score.weak}

    def strengthen(
        self, file: Path, most: int, seed: int, watch: Watch = iter_only
    ) -> list[tuple[bytes, Strengthened]]:
        """The line of each problem in a dataset file, with at most ``most`` new inputs, and what is new in it.

        Lines without new inputs are not changed. ``watch`` sees the problems, for progress. Raises DataError for a
        faulty file, SandboxError.
        """
        content, reading = read_sound(file, self._settings)
        lines = [line for _, line in lines_in(content)]
        strengthening = Strengthening(
            self._grading.judge,
            self._grading.canonical,
            self._grading.divide,
            self._grading.expectations(),
            partial(trial_answers, boxed=self._grading.judge.isolation != "limited"),
        )

        def strengthened(problem: Problem, row: Mapping[str, Any]) -> Strengthened:  # Any: JSON
            try:
                tolerance = float(row.get("atol", 0.0))
                return strengthening.of(problem, self._policy(problem), most, seed, tolerance)
            except KoderzError as error:  # of this problem; the others are strengthened too
                return Strengthened(problem.id, reason=str(error))

        rows = [json_object(line) for line in lines]
        results = list(watch(self._each(strengthened, reading.problems, rows), len(rows), "Problems"))
        return [
            (json.dumps(with_inputs(row, found)).encode() + b"\n" if found.inputs else line + b"\n", found)
            for line, row, found in zip(lines, rows, results, strict=True)
        ]

    def _each(self, answer: Callable[..., Answer], *items: Sequence[Any]) -> Iterator[Answer]:  # Any: arguments
        """The answers for all items in their order, computed concurrently."""
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            try:
                yield from pool.map(answer, *items)
            except BaseException:
                self._grading.close()  # otherwise it would wait for running programs
                raise

    def _score(self, problem: Problem) -> MutationScore:
        try:
            return self._scores.of(problem, self._policy(problem))
        except KoderzError as error:  # of this problem; the others are scored too
            return MutationScore(reason=str(error))

    def _policy(self, problem: Problem) -> TestPolicy:
        return replace(self._grading.policy, plus=problem.plus is not None)
