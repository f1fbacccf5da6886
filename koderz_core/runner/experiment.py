"""One experiment from start to end: the strategy solves, then the runner scores what it tried."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Literal

from koderz_core.errors import BudgetSpent, Cancelled, ContextError, DataError, JournalError, KoderzError, OverBudget
from koderz_core.events import CandidateScored, ExperimentFinished, ExperimentStarted
from koderz_core.grading.suites import base_and_plus, joined
from koderz_core.grading.testsets import Outside, Split, TestPolicy, Unseen, score_kind, unseen
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
from koderz_core.runner.dependencies import Parts
from koderz_core.runner.history import Tape
from koderz_core.runner.pause import Passage
from koderz_core.runner.recorder import Voice
from koderz_core.runner.session import CUT_SHORT, Session, Subject, Tried
from koderz_core.strategies import create
from koderz_core.strategies.parameters import of_roles

_NO_TESTS = TestSet()


@dataclass(frozen=True, slots=True)
class Work:
    """An experiment with the configuration and the problem that its ids name, the problem's dataset, and its tape.

    ``before``: the error that it ended as, which stands until there is a new result. ``policy``: of its tests.
    """

    experiment: Experiment
    configuration: Configuration
    problem: Problem
    dataset: DatasetOrigin
    tape: Tape
    before: ExperimentFinished | None = None
    policy: TestPolicy = field(default_factory=TestPolicy)


def perform(work: Work, parts: Parts, voice: Voice, passage: Passage) -> ExperimentFinished:
    """Run an experiment: its end, still to be said. What a provider or our own ground did wrong becomes its ``error``.

    Raises JournalError: where nothing can be written, nothing may go on.
    """
    voice.say(ExperimentStarted(work.experiment))
    begin = time.monotonic()
    try:
        finished = _Performance(work, parts, voice, passage).result()
    except Cancelled as stopped:
        reason: StopReason | None = "budget" if isinstance(stopped, BudgetSpent) else None
        finished = work.before or replace(without_result("cancelled"), reason=reason)
    except JournalError:
        raise
    except KoderzError as error:
        finished = without_result("error", str(error))
    if finished is not work.before:
        finished = replace(finished, seconds=work.tape.seconds + time.monotonic() - begin - passage.paused_seconds)
    return finished


def without_result(outcome: Literal["cancelled", "error"], error: str | None = None) -> ExperimentFinished:
    """An end that says nothing about the model."""
    return ExperimentFinished(outcome, reason=None, score_kind=None, code=None, seconds=0.0, error=error)


class _Performance:
    def __init__(self, work: Work, parts: Parts, voice: Voice, passage: Passage) -> None:
        self._work, self._parts, self._voice, self._passage = work, parts, voice, passage
        asked = work.configuration
        self._tests = _divided(work, parts)
        self._strategy: Strategy = create(asked.strategy, asked.parameters)
        most = getattr(self._strategy, "max_iterations", None)  # one of the parameters, if it has such a limit
        tests, dataset = self._tests.gate, work.dataset
        sampling = of_roles(asked.parameters)
        subject = Subject(work.experiment, work.problem, tests, asked.models, dataset, most, asked.feedback, sampling)
        self._cap: StopReason | None = None  # the limit of the configuration that ended the strategy
        self._tried = Tried()
        self._session = Session(subject, parts, voice, work.tape, passage, self._tried)

    def result(self) -> ExperimentFinished:
        returned, over = self._solved()
        held_out = unseen(self._tests, gate_was_seen=self._gate_was_seen)
        failures = {code: self._score(code, code == returned, held_out) for code in self._candidates(returned)}
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
        """What the strategy returns. Where a limit of the configuration ends it: its best tested program, and why."""
        try:
            return self._strategy.solve(self._session), None
        except OverBudget:
            self._cap = "budget"
            return self._tried.best.code, None
        except ContextError as error:
            self._cap = "context"
            return self._tried.best.code, str(error)

    def _candidates(self, returned: str | None) -> list[str]:
        """Every distinct program in the order tried; one that was handed in untested comes last."""
        tried = list(self._tried.verdicts)
        return tried if returned is None or returned in tried else [*tried, returned]

    @property
    def _gate_was_seen(self) -> bool:
        return self._tried.iterations > 0

    def _score(self, code: str, returned: bool, held_out: Unseen) -> ErrorClass | None:
        """What is wrong with a candidate, None if it passes all base tests and, where they count, the plus tests.

        Gate verdicts that are known are not run again. A strategy that never ran the gate is scored on all base tests.
        """
        gate = self._tried.verdicts.get(code)
        if gate is None and self._gate_was_seen:
            gate = self._check(code, self._tests.gate)
        counts = [] if gate is None else self._on_shown(code, gate)
        reached = all(verdict.passed for verdict in counts)
        found = base_and_plus(held_out.base, held_out.plus, lambda tests: self._check(code, tests), reached=reached)
        scored = joined(found) if found else None
        self._voice.say(CandidateScored(self._voice.text(code), returned, gate, scored))
        failed = [verdict for verdict in (*counts, scored) if verdict is not None and not verdict.passed]
        return failed[0].error or "assertion" if failed else None

    def _on_shown(self, code: str, gate: Verdict) -> list[Verdict]:
        """The verdicts on tests whose calls the gate makes too, if any: they count as the held-out ones do."""
        tests = self._tests
        if not tests.within_base:
            return base_and_plus(tests.shown, tests.plus_shown, lambda one: self._check(code, one))
        plus = base_and_plus(_NO_TESTS, tests.plus_shown, lambda one: self._check(code, one), reached=gate.passed)
        return [gate, *plus]

    def _check(self, code: str, tests: TestSet) -> Verdict:
        """One step: many candidates that each run into the time limit can be paused and stopped in between."""
        self._passage.step()
        return self._parts.redact.verdict(self._parts.judge.check(self._work.problem, code, tests))

    def _no_program(self) -> ErrorClass | None:
        if self._cap == "budget":
            return None  # nothing is wrong with a program that was never asked for
        return "context" if self._cap else CUT_SHORT.get(self._tried.last_finish, "extraction")

    def _reason(self, returned: str | None) -> StopReason:
        if self._cap:
            return self._cap
        if returned is None:
            return "gave_up"
        gate = self._tried.verdicts.get(returned)
        return "gate" if gate is not None and gate.passed else "iterations"


def _divided(work: Work, parts: Parts) -> Split:
    """Raises DataError for a problem that the gate cannot be made of, and as ``Divider.divide``."""
    tests = parts.divide(work.problem, work.policy)
    if isinstance(tests, Outside):
        raise DataError(
            f"{work.problem.id} is outside the sample of the gate {work.policy.gate}: {tests.reason}. Leave it out."
        )
    return tests
