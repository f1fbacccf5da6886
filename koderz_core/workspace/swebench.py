"""Rows of SWE-bench become a dataset file of repository tasks, if their correct patches pass on this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from koderz_core.config import Settings
from koderz_core.datasets.own_problems import load_path, read_own
from koderz_core.datasets.swebench import Instance, line_of, read_instances, solution_of, with_tests
from koderz_core.datasets.trees import keep_tree
from koderz_core.errors import DataError, UsageError
from koderz_core.files import replace_file
from koderz_core.forge.layout import layout_of
from koderz_core.forge.sources import licence_of
from koderz_core.records import LeftOut, Problem
from koderz_core.repositories.git import files_at
from koderz_core.workspace.grading import Grading, Watch, iter_only

Line = dict[str, Any]  # Any: JSON
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class PreparedRows:
    """The file that was written; None if it has no task. ``dataset``: its name for ``--dataset``.

    ``dropped``: how many tests of PASS_TO_PASS do not pass on this machine, by task. All texts may be hostile.
    """

    file: Path | None
    dataset: str
    tasks: tuple[str, ...]
    dropped: Mapping[str, int]
    left_out: tuple[LeftOut, ...]


class SwebenchRows:
    """Makes tasks from rows. Tests run only in the sandbox."""

    def __init__(self, settings: Settings, grading: Grading) -> None:
        self._settings, self._grading = settings, grading

    def prepare(self, rows: Path, clones: Mapping[str, Path], output: Path, watch: Watch = iter_only) -> PreparedRows:
        """Write the tasks of all rows whose repository has a clone. ``clones``: folders by ``repo`` of the rows.

        Raises UsageError for a clone that no row names, DataError for a wrong file, SandboxError.
        """
        instances = read_instances(rows)
        known = {instance.repo for instance in instances}
        if unused := sorted(clones.keys() - known):
            raise UsageError(
                f"No row belongs to the repository {unused[0]}. Repositories of the rows: {', '.join(sorted(known))}."
            )
        lines: list[Line] = []
        dropped: dict[str, int] = {}
        left_out: list[LeftOut] = []
        for instance in watch(iter(instances), len(instances), "Rows"):
            try:
                line = self._line(instance, clones)
                lines.append(line)
                dropped[instance.id] = len(instance.passing) - len(line["PASS_TO_PASS"])
            except DataError as fault:
                left_out.append(LeftOut(instance.id, str(fault).rstrip(".")))
        tasks = tuple(instance.id for instance in instances if instance.id in dropped)
        if not lines:
            return PreparedRows(None, "", (), {}, tuple(left_out))
        replace_file(output, b"".join(json.dumps(line).encode() + b"\n" for line in lines), private=False)
        name = load_path(output, self._settings).origin.name
        return PreparedRows(output, name, tasks, {task: n for task, n in dropped.items() if n}, tuple(left_out))

    def _line(self, instance: Instance, clones: Mapping[str, Path]) -> Line:
        """The line of a row whose tests pass here. Raises DataError with the reason why there is none."""
        if instance.repo not in clones:
            raise DataError(f"no clone of its repository was given: add --clone {instance.repo}=FOLDER")
        files = with_tests(instance, files_at(clones[instance.repo], instance.commit))
        solution = solution_of(instance, files)
        layout = layout_of(instance.tree_name, files)
        licence = licence_of(files)
        tree = keep_tree(files, instance.tree_name, licence, self._settings)
        facts = {"licence": licence, "roots": list(layout.roots), "needs": list(layout.needs)}
        line = line_of(instance, tree.sha256, solution, layout.editable, instance.passing, **facts)
        return self._checked(self._problem(line), line)

    def _problem(self, line: Line) -> Problem:
        """The problem of a line. Raises DataError with all its faults."""
        reading = read_own(json.dumps(line).encode(), self._settings)
        if reading.faults:
            raise DataError("; ".join(f"the field {fault.field} {fault.what}" for fault in reading.faults))
        return reading.problems[0]

    def _checked(self, problem: Problem, line: Line) -> Line:
        """The line with the tests of PASS_TO_PASS that pass here before and after the correct patch.

        Raises DataError if a test of FAIL_TO_PASS does not fail before it, or does not pass after it.
        """
        repository = problem.repository
        assert repository
        survey = self._grading.judge.repositories.survey(repository, problem.canonical_solution)
        passed = set(survey.passed())
        said = {result.id: result.message for result in survey.results}
        if failed := [test for test in repository.failing if test not in passed]:
            reason = said.get(failed[0]) or survey.message or f"pytest does not find {failed[0]}"
            raise DataError(f"its correct patch fails {_listed(failed)} on this machine: {reason}")
        ids = (*repository.failing, *(test for test in repository.passing if test in passed))
        before = self._grading.judge.check(problem, "", replace(problem.tests, ids=ids))
        passing = {test for test, mark in zip(ids, before.marks, strict=True) if mark == "P"}
        if solved := [test for test in repository.failing if test in passing]:
            raise DataError(f"the tests pass without the correct patch: {_listed(solved)}")
        kept = [test for test in repository.passing if test in passing]
        return line | {"PASS_TO_PASS": kept, "seconds": round(survey.seconds, 2)}


def parse_clones(texts: Sequence[str]) -> dict[str, Path]:
    """``REPO=FOLDER``: the folders by repository. Raises UsageError."""
    return dict(map(_clone, texts))


def _clone(text: str) -> tuple[str, Path]:
    repo, _, folder = text.partition("=")
    if not repo or not folder:
        raise UsageError(f"--clone {text} is not valid. Write REPO=FOLDER, such as psf/requests=./requests.")
    if not Path(folder).is_dir():
        raise UsageError(
            f"--clone {text}: the folder {folder} does not exist. Clone the repository, or correct the path."
        )
    return repo, Path(folder)


def _listed(tests: Sequence[str]) -> str:
    more = f" and {len(tests) - _SHOWN} more" if len(tests) > _SHOWN else ""
    return ", ".join(tests[:_SHOWN]) + more
