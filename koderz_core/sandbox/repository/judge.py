"""The judge of repositories: it applies patches, runs rewritten tests in a process, and decides outside of it."""

from __future__ import annotations

import hashlib
import math
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import TypeVar, cast

from koderz_core.errors import DataError
from koderz_core.patches import PatchError
from koderz_core.records import ErrorClass, Isolation, Problem, Repository, TestSet, Verdict
from koderz_core.sandbox.inside.faults import CLASSES
from koderz_core.sandbox.repository.attacks import examine
from koderz_core.sandbox.repository.correct import Correct, correct_of, files_for
from koderz_core.sandbox.repository.instrument import Instrumented, Key, instrument
from koderz_core.sandbox.repository.reports import Reports, Survey, Transcript, survey_of, transcript_of
from koderz_core.sandbox.repository.states import Change, State, change_of, state_of
from koderz_core.sandbox.repository.verdicts import Marked, Profile, lacking_values, marks, with_places
from koderz_core.sandbox.repository.workspace import Job, Workspace

LEAST_SECONDS = 60.0
"""The shortest time limit of one run of tests. Other limits are ten times the duration with the correct program."""
TIMES = 10.0
_SHARE, _MOST_TWINS = 0.1, 20  # of the tests that passed before, for twins
_MOST_SHOWN = 5  # paths in a message
_CONFIRMING = 2  # runs with the correct patch that must fail, since a test may fail once by accident

_Ran = tuple[Key, Reports, Profile]


class RepositoryJudge:
    """Judges patches of repositories, each in one process of its own. Safe to use from several threads.

    ``isolation`` and ``bwrap`` as for ``BoxedJudge``; ``workers`` is the number of processes at a time.
    """

    def __init__(
        self, isolation: Isolation, bwrap: str | None = None, *, workers: int = 1, least_seconds: float = LEAST_SECONDS
    ) -> None:
        self.isolation = isolation
        self._workspace = Workspace(isolation, bwrap, workers)
        self._least_seconds = least_seconds
        self._lot = random.SystemRandom()
        self._guard = threading.Lock()  # guards the futures
        self._correct: dict[tuple[object, ...], Future[Correct]] = {}
        self._examined: dict[str, Future[None]] = {}
        self._dependent: dict[tuple[Repository, str, tuple[str, ...]], Future[str | None]] = {}  # by part of the tests

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        """The verdict of running the tests ``tests.ids`` after the patch ``code``.

        A test that observations can decide passes only if all of them are right, in the order of the correct program.
        Raises DataError if the correct program does not pass all tests of the task, or if the verdict is a failure and
        it does not pass ``tests.ids`` without the others; SandboxError if tests cannot be run here.
        """
        verdict, ran = self._checked(problem, code, tests)
        if ran is None or problem.repository is None:
            return verdict
        key, reports, _ = ran
        failures = with_places(verdict.failures, tests.ids, key, reports, problem.repository.editable)
        return replace(verdict, failures=failures)

    def check_unrepaired(self, problem: Problem, tests: TestSet) -> tuple[Verdict, frozenset[str]]:
        """The verdict without a patch, and the tests that lack a value which only the judge has. Raises as ``check``.

        A program that forges reports can pass other tests by guessing directions, never these.
        """
        verdict, ran = self._checked(problem, "", tests)
        return verdict, lacking_values(*ran, tests.ids) if ran else frozenset()

    def _checked(self, problem: Problem, code: str, tests: TestSet) -> tuple[Verdict, _Ran | None]:
        """The verdict, and what ran for it; None if the patch cannot be applied."""
        repository = problem.repository
        assert repository
        state = state_of(repository)
        try:
            change = change_of(state, repository, code)
        except PatchError as error:
            message = f"the patch cannot be applied: {error}"
            return Verdict("-" * len(tests.ids), (), False, "extraction", message, 0.0, self.isolation), None
        correct = self._correct_one(problem, state, tests)
        if broken := [test for test in tests.ids if test in correct.broken]:
            reason = f"{broken[0]}: {correct.broken[broken[0]]}"
            raise DataError(f"The tests of {problem.id} are broken: {reason}. Fix or remove that problem.")
        made, found, decided = self._decided(repository, correct, tests, change.files)
        verdict = self._verdict(tests, made, found, decided, change)
        if not verdict.passed:
            self._require_separable(problem, state, correct, tests)
        return verdict, (made.key, found.reports, correct.profile)

    def _decided(
        self, repository: Repository, correct: Correct, tests: TestSet, change: Mapping[str, bytes | None]
    ) -> tuple[Instrumented, Transcript, Marked]:
        """One run of tests after a change, and the decision about each of them."""
        state = state_of(repository)
        made = instrument(
            state.tests, tests.ids, self._lot, correct.profile.plain, self._twinned(repository, correct, tests.ids),
            correct.profile.opaque,
        )  # fmt: skip
        ids = [run for test in tests.ids for run in made.key.runs[test]]
        seconds = tests.seconds or self._seconds(max(repository.seconds, correct.seconds))
        files = files_for(state, change, made.files, tests.ids)
        explains = not correct.profile.plain.isdisjoint(tests.ids)  # observations explain all others
        where = repository.roots, repository.needs
        found = self._run(Job(files, ids, _paths(tests.ids), seconds, *where, explains))
        return made, found, marks(made.key, found.reports, correct.profile, tests.ids)

    def _require_separable(self, problem: Problem, state: State, correct: Correct, tests: TestSet) -> None:
        """Raise DataError if a part of the tests contains tests that the correct program fails without the others."""
        repository = problem.repository
        assert repository
        if not problem.canonical_solution.strip() or {*repository.failing, *repository.passing} <= {*tests.ids}:
            return
        change = change_of(state, repository, problem.canonical_solution).files
        key = repository, problem.canonical_solution, tests.ids

        def dependent() -> str | None:
            failed = {*tests.ids}
            for _ in range(_CONFIRMING):
                _, found, decided = self._decided(repository, correct, tests, change)
                if found.stopped:
                    return None
                failed &= {test for test, mark in zip(tests.ids, decided.marks, strict=True) if mark != "P"}
                if not failed:
                    return ""
            return min(failed, key=tests.ids.index)

        test = _once(self._guard, self._dependent, key, dependent)
        if test != "":
            self._dependent.pop(key, None)  # the next failure tries again: tests may fail or be stopped by accident
        if test:
            raise DataError(
                f"The tests of {problem.id} cannot be divided: with the correct patch, {test} fails without the "
                "other tests. Use gate=tests with a strategy that runs the tests, or remove that problem."
            )

    def survey(self, repository: Repository, patch: str = "") -> Survey:
        """What every test of the tree does after the fault and a patch. Raises as ``check``, also for a wrong patch.

        Without a patch, further runs find out which of the passing tests observations can decide.
        """
        state = state_of(repository)
        try:
            change = change_of(state, repository, patch)
        except PatchError as error:
            raise DataError(f"The patch does not apply to {repository.tree.name}: {error}. Correct it.") from None
        files, seconds = files_for(state, change.files), self._seconds(repository.seconds)
        found = survey_of(self._run(Job(files, None, (), seconds, repository.roots, repository.needs)))
        if patch or not found.passed():
            return found
        correct = self._correct_run(repository, state, {}, tuple(sorted(found.passed())))
        able = (test for test in found.passed() if test not in correct.broken)
        return found.protecting(frozenset(filter(correct.profile.is_protected, able)))

    def close(self) -> None:
        """End all processes now. Waiting and later calls raise SandboxError. Idempotent."""
        self._workspace.close()

    def _run(self, job: Job) -> Transcript:
        _once(self._guard, self._examined, self.isolation, lambda: examine(self._workspace))
        return transcript_of(self._workspace.run(job))

    def _correct_one(self, problem: Problem, state: State, tests: TestSet) -> Correct:
        repository = problem.repository
        assert repository
        ids = tuple(sorted({*repository.failing, *repository.passing, *tests.ids}))
        if not problem.canonical_solution.strip():
            return Correct(Profile(plain=frozenset(ids)))  # the process of the tests is believed
        try:
            change = change_of(state, repository, problem.canonical_solution)
        except PatchError as error:
            raise DataError(
                f"The correct patch of {problem.id} does not apply: {error}. Fix or remove that problem."
            ) from None
        return self._correct_run(repository, state, change.files, ids)

    def _correct_run(
        self, repository: Repository, state: State, change: Mapping[str, bytes | None], ids: tuple[str, ...]
    ) -> Correct:
        seconds, paths = self._seconds(repository.seconds), _paths(ids)

        def run(changed: Mapping[str, str], wanted: Sequence[str] | None) -> Transcript:
            files = files_for(state, change, changed, ids)
            return self._run(Job(files, wanted, paths, seconds, repository.roots, repository.needs))

        key = _digest(files_for(state, change)), ids, repository.roots, repository.needs
        found = _once(self._guard, self._correct, key, lambda: correct_of(state, ids, run, self._lot))
        if found.broken:
            self._correct.pop(key, None)  # the next verdict tries again: one test may have failed by accident
        return found

    def _seconds(self, correct: float) -> float:
        """The time limit of tests that take this time with the correct program."""
        return max(self._least_seconds, TIMES * correct)

    def _twinned(self, repository: Repository, correct: Correct, ids: Sequence[str]) -> list[str]:
        """The tests that run as twins: all that the correct patch repairs, and a sample of others."""
        failing = frozenset(repository.failing)
        able = [test for test in ids if correct.profile.is_protected(test) and test not in correct.profile.single]
        others = [test for test in able if test not in failing]
        count = min(_MOST_TWINS, math.ceil(_SHARE * len(others)))
        return [*(test for test in able if test in failing), *self._lot.sample(others, count)]

    def _verdict(
        self, tests: TestSet, made: Instrumented, found: Transcript, decided: Marked, change: Change
    ) -> Verdict:
        error, message = _fault(tests, made, found, decided)
        if change.ignored:
            message = "; ".join(filter(None, [message, _ignored(change.ignored)]))
        first = [found.tests.get(made.key.runs[test][0]) for test in tests.ids]
        seconds = tuple(round(report.seconds, 4) if report else 0.0 for report in first)
        shared = len(decided.protected) < len(tests.ids)
        ended = (found.completed, error, message, found.seconds, self.isolation, shared, seconds)
        return Verdict(decided.marks, decided.failures, *ended)


def _fault(tests: TestSet, made: Instrumented, found: Transcript, decided: Marked) -> tuple[ErrorClass | None, str]:
    """The class of the first failure, None if there is none, and its message."""
    if decided.faked:
        return "faked", decided.faked
    if found.stopped:
        return ("timeout" if found.stopped == "timeout" else "memory"), found.end()
    if "F" not in decided.marks and "-" not in decided.marks:
        return (None, "") if found.completed else ("exception", found.end())
    first = next((index for index, mark in enumerate(decided.marks) if mark == "F"), None)
    if first is None:
        return _class(found.error), found.end() or "the process did not report its tests"
    test = tests.ids[first]
    reports = (found.tests.get(run) for run in made.key.runs[test])
    raised = next((report.error for report in reports if report and report.error), "")
    failure = next((failure for failure in decided.failures if failure.index == first), None)
    return _class(raised or "assertion"), f"{test}: {failure.message if failure else 'it failed'}"


def _class(error: str) -> ErrorClass:
    return cast("ErrorClass", error if error in CLASSES else "exception")  # a word of a list that was just checked


def _ignored(paths: Sequence[str]) -> str:
    shown = ", ".join(path[:200] for path in paths[:_MOST_SHOWN]) + (" and others" if len(paths) > _MOST_SHOWN else "")
    return f"the patch also changes files that may not change, which was not applied: {shown}"


def _paths(ids: Sequence[str]) -> list[str]:
    return sorted({test.partition("::")[0] for test in ids})


def _digest(files: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(b"%d %s %d\n" % (len(path), path.encode(), len(files[path])) + files[path])
    return digest.hexdigest()


_K = TypeVar("_K")
_V = TypeVar("_V")


def _once(guard: threading.Lock, kept: dict[_K, Future[_V]], key: _K, make: Callable[[], _V]) -> _V:
    """The value of a key, made by the first thread that asks; others wait. A failure is not kept."""
    with guard:
        future = kept.get(key)
        mine = future is None
        if future is None:
            future = kept[key] = Future()
    if mine:
        try:
            future.set_result(make())
        except BaseException as error:
            with guard:
                kept.pop(key, None)  # a thread that waited may have dropped it
            future.set_exception(error)
            raise
    return future.result()
