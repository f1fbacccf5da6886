"""One experiment from start to end: the strategy solves the problem, then the runner scores all its programs."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Literal

from koderz_core.errors import BudgetSpent, Cancelled, ContextError, DataError, JournalError, KoderzError, OverBudget
from koderz_core.events import CandidateScored, ExperimentFinished, ExperimentStarted
from koderz_core.grading.suites import base_and_plus, joined
from koderz_core.grading.testsets import Outside, Split, TestPolicy, Unseen, score_kind, unseen
from koderz_core.prompts.programs import shape
from koderz_core.protocols import Strategy
from koderz_core.records import (
    Configuration,
    DatasetOrigin,
    ErrorClass,
    Experiment,
    Problem,
    StopReason,
    TestSet,
    Verdict,
)
from koderz_core.records.marks import NO_SEARCH
from koderz_core.runner.dependencies import Dependencies
from koderz_core.runner.history import Tape
from koderz_core.runner.recorder import Voice
from koderz_core.runner.scheduler import Slot
from koderz_core.runner.session import CUT_SHORT, Session, SessionState, Subject
from koderz_core.strategies import create, facts_of
from koderz_core.strategies.parameters import overrides_by_role

_NO_TESTS = TestSet()


@dataclass(frozen=True, slots=True)
class Task:
    """An experiment to run, with its configuration, problem and dataset, and the tape of its recorded steps.

    ``before``: its earlier error, which counts until there is a new result. ``policy``: how its tests are divided.
    """

    experiment: Experiment
    configuration: Configuration
    problem: Problem
    dataset: DatasetOrigin
    tape: Tape
    before: ExperimentFinished | None = None
    policy: TestPolicy = field(default_factory=TestPolicy)


def perform(task: Task, dependencies: Dependencies, voice: Voice, slot: Slot) -> ExperimentFinished:
    """Run an experiment and return its end, which the caller records. Faults of providers or koderz end it as error.

    Raises JournalError: without a journal, nothing may continue.
    """
    voice.say(ExperimentStarted(task.experiment))
    begin = time.monotonic()
    try:
        finished = _Performance(task, dependencies, voice, slot).result()
    except Cancelled as stopped:
        reason: StopReason | None = "budget" if isinstance(stopped, BudgetSpent) else None
        finished = task.before or replace(without_result("cancelled"), reason=reason)
    except JournalError:
        raise
    except KoderzError as error:
        finished = without_result("error", str(error))
    if finished is not task.before:
        finished = replace(finished, seconds=task.tape.seconds + time.monotonic() - begin - slot.paused_seconds)
    return finished


def without_result(outcome: Literal["cancelled", "error"], error: str | None = None) -> ExperimentFinished:
    """An end that is not a result of the model."""
    return ExperimentFinished(outcome, reason=None, score_kind=None, code=None, seconds=0.0, error=error)


class _Performance:
    def __init__(self, task: Task, dependencies: Dependencies, voice: Voice, slot: Slot) -> None:
        self._task, self._dependencies, self._voice, self._slot = task, dependencies, voice, slot
        chosen = task.configuration
        self._tests = _divided(task, dependencies)
        self._strategy: Strategy = create(chosen.strategy, chosen.parameters)
        most = getattr(self._strategy, "max_iterations", None)  # a parameter of strategies with such a limit
        tests, dataset = self._tests.gate, task.dataset
        sampling = overrides_by_role(chosen.parameters)
        subject = Subject(
            task.experiment,
            task.problem,
            tests,
            chosen.models,
            dataset,
            most,
            chosen.feedback,
            sampling,
            search=str(chosen.parameters.get("search", NO_SEARCH)),
            turn_seconds=getattr(self._strategy, "turn_timeout", 0.0) or None,  # likewise
        )
        self._cap: StopReason | None = None  # the limit of the configuration that ended the strategy
        self._runs_gate = facts_of(chosen.strategy).tests_programs and bool(getattr(self._strategy, "checks", True))
        self._has_program = True
        self._state = SessionState()
        self._session = Session(subject, dependencies, voice, task.tape, slot, self._state)

    def result(self) -> ExperimentFinished:
        returned, over = self._solved()
        self._has_program = returned is not None
        held_out = unseen(self._tests, gate_was_seen=self._gate_was_seen)
        programs = [*self._state.verdicts, *([] if returned is None else [returned])]  # in the order tested
        failures = {code: self._score(code, code == returned, held_out) for code in dict.fromkeys(programs)}
        failure = self._no_program() if returned is None else failures[returned]
        return ExperimentFinished(
            outcome="unsolved" if returned is None or failure else "solved",
            reason=self._reason(returned),
            score_kind=score_kind(held_out),
            code=None if returned is None else self._voice.text(returned),
            seconds=0.0,
            failure=failure,
            error=over,
        )

    def _solved(self) -> tuple[str | None, str | None]:
        """The program that the strategy returns; if a limit ends the strategy, its best tested program and the error.

        Only an exceeded context has an error text.
        """
        try:
            return self._strategy.solve(self._session), None
        except OverBudget:
            self._cap = "budget"
            return self._state.best.code, None
        except ContextError as error:
            self._cap = "context"
            return self._state.best.code, str(error)

    @property
    def _gate_was_seen(self) -> bool:
        """Whether the strategy ran the gate tests, or would have run them if it had had a program."""
        return self._state.iterations > 0 or (self._runs_gate and not self._has_program)

    def _score(self, code: str, returned: bool, held_out: Unseen) -> ErrorClass | None:
        """The error class of a program, None if it passes all base tests and, where they count, the plus tests.

        Known gate verdicts are reused. A strategy that never ran the gate tests is scored on all base tests.
        """
        gate = self._state.verdicts.get(code)
        if gate is None and self._gate_was_seen:
            gate = self._check(code, self._tests.gate)
        counts = self._on_text(code) if gate is None else self._on_shown(code, gate)
        reached = all(verdict.passed for verdict in counts)
        verdicts = base_and_plus(held_out.base, held_out.plus, lambda tests: self._check(code, tests), reached=reached)
        scored = joined(verdicts) if verdicts else None
        self._voice.say(CandidateScored(self._voice.text(code), returned, gate, scored))
        failed = [verdict for verdict in (*counts, scored) if verdict is not None and not verdict.passed]
        return failed[0].error or "assertion" if failed else None

    def _on_text(self, code: str) -> list[Verdict]:
        """The verdict on base tests that the text of the problem shows, if any: they count, but are not held out."""
        return base_and_plus(self._tests.in_text, _NO_TESTS, lambda part: self._check(code, part))

    def _on_shown(self, code: str, gate: Verdict) -> list[Verdict]:
        """The verdicts on tests that make a call of the gate too, if any: they count like held-out tests."""
        tests = self._tests
        if not tests.within_base:
            return base_and_plus(tests.shown, tests.plus_shown, lambda part: self._check(code, part))
        plus = base_and_plus(_NO_TESTS, tests.plus_shown, lambda part: self._check(code, part), reached=gate.passed)
        return [gate, *plus]

    def _check(self, code: str, tests: TestSet) -> Verdict:
        """Test in one step: the benchmark can be paused and stopped between programs that reach the time limit."""
        self._slot.step()
        return self._dependencies.redact.verdict(self._dependencies.judge.check(self._task.problem, code, tests))

    def _no_program(self) -> ErrorClass | None:
        if self._cap == "budget":
            return None  # a program that was never asked for has no error
        return "context" if self._cap else CUT_SHORT.get(self._state.last_finish, "extraction")

    def _reason(self, returned: str | None) -> StopReason:
        if self._cap:
            return self._cap
        if returned is None:
            return "gave_up"
        form = shape(returned)  # a strategy may test only one of several programs with the same form
        passed = (code for code, verdict in self._state.verdicts.items() if verdict.passed)
        return "gate" if any(code == returned or shape(code) == form for code in passed) else "iterations"


def _divided(task: Task, dependencies: Dependencies) -> Split:
    """Raises DataError if the problem's tests cannot be divided by the gate, and as ``Divider.divide``."""
    tests = dependencies.divide(task.problem, task.policy)
    if isinstance(tests, Outside):
        raise DataError(
            f"{task.problem.id} cannot be used with the gate {task.policy.gate}: {tests.reason}. Omit this problem."
        )
    return tests
