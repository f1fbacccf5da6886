"""Judging of programs for a workspace: the sandbox, the cache, masking of verdicts, problems that cannot be graded.

A problem that no program could pass here is refused before a model is asked.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from koderz_core.config import Settings
from koderz_core.datasets.sources import require_libraries
from koderz_core.errors import DataError, InfrastructureError
from koderz_core.grading.canonical import Canonical, Expectations
from koderz_core.grading.gates import EXAMPLES
from koderz_core.grading.grader import Grader
from koderz_core.grading.problem_tests import Divider
from koderz_core.grading.testsets import Split, TestPolicy
from koderz_core.records import Dataset, ErrorClass, Plan, Problem, Verdict
from koderz_core.report.formats import plain
from koderz_core.runner.recorder import Redactor
from koderz_core.sandbox.local_judge import Sandbox
from koderz_core.sandbox.reference import answers

LONGEST = 8000  # characters of a list in a remark

_UNDECIDED: frozenset[ErrorClass | None] = frozenset({None, "syntax", "timeout", "memory"})
"""What may keep a right program from passing: it is slow, or its parts do not go together."""
_LOG = logging.getLogger("koderz")
_SHOWN = 5


class Judging:
    """Opens the sandbox when something is to be run; what was computed before needs none."""

    def __init__(self, settings: Settings, sandbox: Sandbox, redactor: Redactor) -> None:
        self._settings, self._sandbox, self._redactor = settings, sandbox, redactor
        folder = settings.cache_dir / "canonical"
        self._divider = Divider(Canonical(folder, sandbox.judge), self._expectations)
        self.gate = self._divider.gate
        self.divide = self._divider.divide

    def grader(self, workers: int) -> Grader:
        """What grades many samples, ``workers`` at a time. Raises SandboxError."""
        return Grader(self._sandbox.judge(), self.divide, workers, self._redactor.verdict, self._policy)

    def may_solve(self, problem: Problem, program: str) -> bool:
        """Whether a program passes the base tests of a problem, or cannot be shown here to give a wrong answer.

        Plus tests are not asked: who passes the base tests is next to a solution, and often one in other words.
        """
        try:
            tests = self.divide(problem, self._policy)
            assert isinstance(tests, Split), "all base tests are a gate of every problem"
            verdict = self._sandbox.judge().check(problem, program, tests.base)
        except InfrastructureError as error:
            _LOG.warning("An example is not shown, as it could not be run on the tests of %s: %s", problem.id, error)
            return True
        return verdict.passed or verdict.error in _UNDECIDED

    def remarks(self, plan: Plan, dataset: Callable[[], Dataset]) -> Iterator[str]:
        """What the gates of a plan leave out, in sentences. Raises DataError, SandboxError, and as ``dataset``."""
        yield from outside(plan)
        if not any(configuration.gate == EXAMPLES for configuration in plan.configurations):
            return
        chosen = [problem for problem in dataset().problems if problem.id in set(plan.problems)]
        untrue = [f"{problem.id}: {example}" for problem in chosen for example in self._divider.untrue(problem)]
        if untrue:
            listed = plain("; ".join(untrue), LONGEST)
            yield f"Examples left out of the gate, as the canonical solution fails them, {len(untrue)}: {listed}."

    @property
    def _policy(self) -> TestPolicy:
        """All base tests, and the time limit that the settings give."""
        own = self._settings.test_timeout if "test_timeout" in self._settings.stated else None
        return TestPolicy(seconds=own, by_canonical=own is None)

    def _expectations(self) -> Expectations:
        reference = partial(answers, boxed=self._sandbox.judge().isolation != "limited")
        return Expectations(self._settings.cache_dir / "expected", reference)


def outside(plan: Plan) -> Iterator[str]:
    """The problems that were chosen and that a gate of the plan cannot be made of, in a sentence."""
    if not plan.outside:
        return
    reasons: dict[str, list[str]] = {}
    for name, reason in plan.outside.items():
        reasons.setdefault(reason, []).append(name)
    listed = plain("; ".join(f"{reason}: {', '.join(names)}" for reason, names in reasons.items()), LONGEST)
    chosen = len(plan.outside) + len(plan.problems)
    yield f"Left out for all configurations, {len(plan.outside)} of {chosen} problems: {listed}."


def require_gradable(problems: Iterable[Problem], check: Callable[[Problem], Verdict]) -> None:
    """Raise DataError if problems that are about using modules cannot be graded here; the others pass unchecked.

    Programs are judged without files, network and other processes, so some such problems have no solution there.
    ``check`` runs the publisher's own.
    """
    chosen = [problem for problem in problems if problem.needs]
    require_libraries(chosen)
    failed = {problem.id: verdict.message for problem in chosen if not (verdict := check(problem)).passed}
    if not failed:
        return
    shown = "; ".join(f"{name} ({message[:120]})" for name, message in list(failed.items())[:_SHOWN])
    raise DataError(
        f"{len(failed)} of the chosen problems cannot be graded here, since even their publisher's solutions fail: "
        f"{shown}{'; …' if len(failed) > _SHOWN else ''}. Programs are judged without files, network and other "
        f"processes. Leave these out: {', '.join(failed)}."
    )
