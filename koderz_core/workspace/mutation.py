"""Mutation scores of problems' tests, and more held-out inputs for a user's own problems."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from koderz_core.config import Settings
from koderz_core.errors import KoderzError
from koderz_core.grading.mutation_score import MutationScore, MutationScores, Survivor
from koderz_core.records import Dataset, Problem
from koderz_core.workspace.grading import Grading

__all__ = ["Mutation", "MutationScore", "Survivor"]


class Mutation:
    """Runs mutants in the sandbox of ``grading``; scores that were computed before need none."""

    def __init__(self, settings: Settings, grading: Grading) -> None:
        self._grading = grading
        self._scores = MutationScores(settings.cache_dir / "mutation", grading.sandbox.judge, grading.divide)

    def scores(self, dataset: Dataset, problems: Sequence[Problem]) -> Iterator[tuple[Problem, MutationScore]]:
        """The score of each problem's tests; results come in order. Raises SandboxError.

        The dashboard shows the scores that were computed here.
        """
        workers = os.cpu_count() or 1
        done: dict[str, MutationScore] = {}
        with ThreadPoolExecutor(workers) as pool:
            try:
                for problem, score in zip(problems, pool.map(self._score, problems), strict=True):
                    done[problem.id] = score
                    yield problem, score
            except BaseException:
                self._grading.close()  # otherwise it would wait for running programs
                raise
            finally:
                self._scores.keep(dataset.origin.sha256, done)

    def weak(self, sha256s: Sequence[str]) -> Mapping[str, MutationScore]:
        """The problems of these datasets whose tests are known to be weak. Computes nothing."""
        kept = (self._scores.kept(sha256) for sha256 in sha256s)
        return {name: score for scores in kept for name, score in scores.items() if score.weak}

    def _score(self, problem: Problem) -> MutationScore:
        try:
            return self._scores.of(problem, replace(self._grading.policy, plus=problem.plus is not None))
        except KoderzError as error:  # of this problem; the others are scored too
            return MutationScore(reason=str(error))
