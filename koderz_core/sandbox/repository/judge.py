"""The judge of repositories: it applies patches, runs rewritten tests in a confined process, and decides outside of it."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from concurrent.futures import Future

from koderz_core.errors import DataError, SandboxError
from koderz_core.patches import PatchError
from koderz_core.records import ErrorClass, Isolation, Problem, Repository, TestSet, Verdict
from koderz_core.sandbox.inside.faults import CLASSES
from koderz_core.sandbox.repository.correct import Correct, correct_of, files_for
from koderz_core.sandbox.repository.instrument import instrument
from koderz_core.sandbox.repository.reports import STOPPED, Transcript, transcript_of
from koderz_core.sandbox.repository.states import Change, State, change_of, state_of
from koderz_core.sandbox.repository.surveys import Survey, survey_of
from koderz_core.sandbox.repository.verdicts import Marked, marks
from koderz_core.sandbox.repository.workspace import Job, Workspace

LEAST_SECONDS = 60.0
"""The shortest time limit of one run of tests. Other limits are ten times the duration with the correct program."""
TIMES = 10.0
_SHARE, _MOST_TWINS = 0.1, 20  # of the tests that passed before, for twins
_MOST_SHOWN = 5  # paths in a message


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
        self._states: dict[tuple[str, str, tuple[str, ...]], Future[State]] = {}
        self._correct: dict[tuple[object, ...], Future[Correct]] = {}

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        """The verdict of running the tests ``tests.ids`` after the patch ``code``.

        A test that observations can decide passes only if all of them are right, in the order of the correct program.
        Raises DataError if the correct program does not pass the tests, SandboxError if tests cannot be run here.
        """
        repository = problem.repository
        assert repository
        state = self._state(repository)
        try:
            change = change_of(state, repository, code)
        except PatchError as error:
            return self._unused(tests, "extraction", f"the patch cannot be applied: {error}")
        correct = self._correct_one(problem, state, tests)
        if broken := [test for test in tests.ids if test in correct.broken]:
            reason = f"{broken[0]}: {correct.broken[broken[0]]}"
            raise DataError(f"The tests of {problem.id} are broken: {reason}. Fix or remove that problem.")
        made = instrument(
            state.tests, tests.ids, self._lot, correct.profile.plain, self._twinned(repository, correct, tests.ids),
            correct.profile.opaque,
        )  # fmt: skip
        ids = [run for test in tests.ids for run in made.key.runs[test]]
        seconds = tests.seconds or max(self._least_seconds, TIMES * max(repository.seconds, correct.seconds))
        found = self._run(repository, files_for(state, change.files, made.files, tests.ids), ids, seconds)
        decided = marks(made.key, found.reports, correct.profile, tests.ids)
        return self._verdict(tests, decided, found, change, made.key.runs)

    def survey(self, repository: Repository, patch: str = "") -> Survey:
        """What every test of the tree does after the fault and a patch. Raises as ``check``, also for a wrong patch.

        Without a patch, further runs find out which of the passing tests observations can decide.
        """
        state = self._state(repository)
        try:
            change = change_of(state, repository, patch)
        except PatchError as error:
            raise DataError(f"The patch does not apply to {repository.tree.name}: {error}. Correct it.") from None
        seconds = max(self._least_seconds, TIMES * repository.seconds)
        files = files_for(state, change.files)
        found = survey_of(self._workspace.run(Job(files, None, seconds, repository.roots, repository.needs)))
        if patch or not found.passed():
            return found
        correct = self._correct_run(repository, state, {}, found.passed())
        return found.protecting(test for test in found.passed() if correct.profile.is_protected(test))

    def close(self) -> None:
        """End all processes now. Waiting and later calls raise SandboxError. Idempotent."""
        self._workspace.close()

    def _run(self, repository: Repository, files: dict[str, bytes], ids: Sequence[str], seconds: float) -> Transcript:
        job = Job(files, ids, seconds, repository.roots, repository.needs)
        return transcript_of(self._workspace.run(job))

    def _state(self, repository: Repository) -> State:
        key = repository.tree.sha256, repository.fault, repository.editable
        return _once(self._guard, self._states, key, lambda: state_of(repository))

    def _correct_one(self, problem: Problem, state: State, tests: TestSet) -> Correct:
        repository = problem.repository
        assert repository
        ids = tuple(sorted({*repository.failing, *repository.passing, *tests.ids}))
        if not problem.canonical_solution.strip():
            return Correct.unknown(ids)
        try:
            change = change_of(state, repository, problem.canonical_solution)
        except PatchError as error:
            raise DataError(f"The correct patch of {problem.id} does not apply: {error}. Fix that problem.") from None
        return self._correct_run(repository, state, change.files, ids)

    def _correct_run(
        self, repository: Repository, state: State, change: dict[str, bytes | None], ids: tuple[str, ...]
    ) -> Correct:
        seconds = max(self._least_seconds, TIMES * repository.seconds)

        def run(changed: dict[str, str], wanted: Sequence[str]) -> Transcript:
            return self._run(repository, files_for(state, change, changed, ids), wanted, seconds)

        after = files_for(state, change)
        key = state.digest(after), ids, repository.roots, repository.needs
        return _once(self._guard, self._correct, key, lambda: correct_of(state, ids, run, self._lot))
