"""Trials of faults: which tests notice a fault, whether they do so twice, and whether it makes a task.

A trial runs the whole suite on the faulty tree. Then the judge runs the failing tests as in a benchmark: without a
patch and with the correct one.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Protocol

import msgspec

from koderz_core.datasets.repository_files import names_in_tests
from koderz_core.errors import DataError
from koderz_core.files import replace_file
from koderz_core.forge.layout import Layout
from koderz_core.forge.mutations import Mutation
from koderz_core.input_files import read_bytes
from koderz_core.patches import make_patch
from koderz_core.records import Problem, PublicProblem, Repository, SourceTree, TestFailure, TestSet, Verdict
from koderz_core.sandbox.repository.reports import Survey

VERSION = 2
"""Of trials that are kept. koderz repeats those of other versions."""
LEAST_PASSING = 0.7
"""The least share of the tests that must pass in spite of a fault."""
LEAST_SECONDS, TIMES_SECONDS = 20.0, 5.0
"""The time limit of the tests: this multiple of their time on the correct tree, and at least ``LEAST_SECONDS``."""
_SURVEY_SHARE = 0.4
"""The judge allows ten times the time of the correct tree: too long for faults that make tests run forever."""
_MOST_SYMPTOMS = 5
_PASSED = "passed"


class RepositoryTests(Protocol):
    """Runs tests of repositories, as ``sandbox.repository.judge.RepositoryJudge`` does."""

    def survey(self, repository: Repository, patch: str = "") -> Survey: ...

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict: ...

    def check_unrepaired(self, problem: Problem, tests: TestSet) -> tuple[Verdict, frozenset[str]]: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Base:
    """A correct tree. ``passing``: the tests that passed twice. ``protected``: those that are checked from outside.

    ``seconds``: how long the tests took.
    """

    tree: SourceTree
    layout: Layout
    passing: tuple[str, ...]
    protected: frozenset[str]
    seconds: float

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The texts of the modules that may get a fault, by path."""
        texts = {}
        for path in self.layout.editable:
            with suppress(UnicodeDecodeError):
                texts[path] = self.tree.files[path].decode()
        return texts

    def repository(self, fault: str, failing: Sequence[str] = (), passing: Sequence[str] = ()) -> Repository:
        """The tree with a fault."""
        layout = self.layout
        tests = (tuple(failing), tuple(passing))
        return Repository(self.tree, fault, layout.editable, *tests, layout.roots, layout.needs, self.seconds)

    @property
    def limit_seconds(self) -> float:
        return max(LEAST_SECONDS, TIMES_SECONDS * self.seconds)


class Symptom(msgspec.Struct, frozen=True):
    """What a failed test shows. All texts may be hostile."""

    test: str
    source: str
    expected: str | None
    actual: str | None
    message: str


class Trial(msgspec.Struct, frozen=True):
    """The result for one fault. ``key``: of the fault. ``reason``: why it makes no task, "" if it does.

    ``noticed``: whether any test fails. ``left_out``: tests that belong to no list of the task, because they fail with
    the fault but only their own process reports so.
    """

    key: str
    reason: str
    noticed: bool = False
    failing: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    symptoms: tuple[Symptom, ...] = ()
    seconds: float = 0.0


def base_of(tree: SourceTree, layout: Layout, judge: RepositoryTests) -> Base:
    """The tests of a correct tree. Raises DataError if no protected test passes twice, SandboxError."""
    unknown = Base(tree, layout, (), frozenset(), 0.0).repository("")
    first, second = judge.survey(unknown), judge.survey(unknown)
    again = {test.id: test for test in second.results if test.outcome == _PASSED}
    named = names_in_tests(tree)  # a dataset file may only contain tests whose name is in the tree
    passing = [
        test
        for test in first.results
        if test.outcome == _PASSED and test.id in again and test.id.partition("[")[0].rpartition("::")[2] in named
    ]
    protected = frozenset(test.id for test in passing if test.protected and again[test.id].protected)
    if not protected:
        shown = first.message or next((test.message for test in first.results if test.message), "")
        reason = f"none of its {len(first.results)} tests passes in the sandbox{f' ({shown[:200]})' if shown else ''}"
        if passing:
            reason = f"koderz cannot check any of its {len(passing)} passing tests from outside the test process"
        raise DataError(f"No tasks can be made from {tree.name}: {reason}. Choose another package or folder.")
    return Base(tree, layout, tuple(test.id for test in passing), protected, max(first.seconds, second.seconds))


def patches_of(base: Base, mutation: Mutation) -> tuple[str, str]:
    """The patch that puts a fault into the correct tree, and the patch that removes it."""
    path = mutation.place.path
    before, after = {path: base.texts[path]}, {path: mutation.text}
    return make_patch(before, after), make_patch(after, before)


def key_of(fault: str, least_failing: int) -> str:
    """The key of a trial."""
    return hashlib.sha256(f"{VERSION}/{least_failing}/{fault}".encode()).hexdigest()


def run_trial(base: Base, mutation: Mutation, judge: RepositoryTests, least_failing: int) -> Trial:
    """Try one fault. Raises SandboxError."""
    fault, solution = patches_of(base, mutation)
    key = key_of(fault, least_failing)
    found = judge.survey(replace(base.repository(""), seconds=_SURVEY_SHARE * base.seconds), fault)
    outcomes = {test.id: test.outcome for test in found.results}
    if not found.completed:
        return Trial(key, "the run of the tests does not finish", noticed=True, seconds=found.seconds)
    failed = [test for test in base.passing if outcomes.get(test) != _PASSED]
    reason, failing = _unusable(base, failed, outcomes, least_failing)
    if reason:
        return Trial(key, reason, noticed=bool(failed), seconds=found.seconds)
    passing = [test for test in base.passing if test not in set(failing)]  # the judge knows this set of tests already
    tests = TestSet(ids=tuple(failing), seconds=base.limit_seconds)
    public = PublicProblem(f"{base.tree.name}/{key[:12]}", "", "", kind="repo", editable=base.layout.editable)
    problem = Problem(public, tests, solution, repository=base.repository(fault, failing, passing))
    reason, failures = _judged(problem, judge)
    if reason:
        return Trial(key, reason, noticed=True, seconds=found.seconds)
    left_out = tuple(test for test in failed if test not in failing)
    symptoms = sorted(map(partial(_symptom, ids=tests.ids), failures), key=_vagueness)
    return Trial(key, "", True, tuple(failing), left_out, tuple(symptoms[:_MOST_SYMPTOMS]), found.seconds)


def _unusable(
    base: Base, failed: Sequence[str], outcomes: Mapping[str, str], least_failing: int
) -> tuple[str, list[str]]:
    """Why a fault makes no task, "" if it may, and the failing tests that count."""
    failing = [test for test in failed if test in base.protected]
    if not failed:
        return "no test fails", failing
    if len(failed) > (1 - LEAST_PASSING) * len(base.passing):
        return "too many tests fail", failing
    if any(test not in outcomes for test in failed):
        return "some tests do not run", failing
    if len(failing) < least_failing:
        return "koderz can check too few of the failing tests from outside the test process", failing
    return "", failing


def _judged(problem: Problem, judge: RepositoryTests) -> tuple[str, tuple[TestFailure, ...]]:
    """Why the failing tests make no task, "" if they do, and their failures, as in a benchmark. Raises SandboxError."""
    tests, solution = problem.tests, problem.canonical_solution
    try:
        faulty, lacking = judge.check_unrepaired(problem, tests)
        if faulty.marks != "F" * len(tests.ids):
            return "a second run of the tests had different results", ()
        if not lacking:
            return "no failing test compares a result with a value that koderz keeps outside the test process", ()
        correct = judge.check(problem, solution, tests)
    except DataError:  # a test may fail by accident, which must not end the command
        return "one of the tests also fails on the correct tree", ()
    return "" if correct.passed else f"the correct patch fails: {correct.message[:200]}", faulty.failures


def _symptom(failure: TestFailure, ids: Sequence[str]) -> Symptom:
    test = ids[failure.index] if 0 <= failure.index < len(ids) else ""
    return Symptom(test, failure.source, failure.expected, failure.actual, failure.message)


def _vagueness(symptom: Symptom) -> tuple[bool, bool, int]:
    """The key of an order in which symptoms with an expected value, with a source and with a short text come first."""
    return symptom.expected is None, not symptom.source, len(symptom.source) + len(symptom.message)


class TrialLog:
    """The trials that a tree had so far, in a file, so that a stopped command continues. Safe for several threads."""

    def __init__(self, path: Path) -> None:
        self._path, self._guard = path, threading.Lock()
        self._known: dict[str, Trial] = {}
        if path.is_file():
            for line in read_bytes(path, "Delete it.").splitlines():
                with suppress(msgspec.MsgspecError):  # the last line of a process that was killed
                    trial = msgspec.json.decode(line, type=Trial)
                    self._known[trial.key] = trial

    def get(self, key: str) -> Trial | None:
        return self._known.get(key)

    def add(self, trial: Trial) -> Trial:
        """Append a trial. Raises OSError."""
        with self._guard:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.write(msgspec.json.encode(trial) + b"\n")
            self._known[trial.key] = trial
        return trial


def kept_base(path: Path, tree: SourceTree, layout: Layout, judge: RepositoryTests) -> Base:
    """``base_of``, from a file if an earlier command has written it. Raises as ``base_of``, OSError."""
    if path.is_file():
        with suppress(ValueError, KeyError, TypeError):
            known = json.loads(read_bytes(path, "Delete it."))
            if known["version"] == VERSION:
                return Base(tree, layout, tuple(known["passing"]), frozenset(known["protected"]), known["seconds"])
    base = base_of(tree, layout, judge)
    kept = {"version": VERSION, "passing": base.passing, "protected": sorted(base.protected), "seconds": base.seconds}
    replace_file(path, json.dumps(kept).encode())
    return base
