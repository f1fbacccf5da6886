"""One experiment from start to end: the strategy solves, then the runner scores what it tried."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from typing import Literal

from koderz_core.errors import Cancelled, KoderzError
from koderz_core.events import CandidateScored, ExperimentFinished, ExperimentStarted
from koderz_core.grading.testsets import score_kind, scoring, split
from koderz_core.records import Configuration, Experiment, Problem, StopReason, TestSet, Verdict
from koderz_core.runner.parts import Parts
from koderz_core.runner.recorder import Voice
from koderz_core.runner.session import Session, Subject
from koderz_core.runner.tape import Tape
from koderz_core.strategies import create


@dataclass(frozen=True, slots=True)
class Work:
    """An experiment with the configuration and the problem that its ids name, and its tape."""

    experiment: Experiment
    configuration: Configuration
    problem: Problem
    tape: Tape


def perform(work: Work, parts: Parts, voice: Voice, stopping: threading.Event) -> ExperimentFinished:
    """Run an experiment and say how it ended; what a provider or our own ground did wrong becomes its ``error``."""
    voice.say(ExperimentStarted(work.experiment))
    begin = time.monotonic()
    try:
        finished = _Performance(work, parts, voice, stopping).result()
    except Cancelled:
        finished = without_result("cancelled")
    except KoderzError as error:
        finished = without_result("error", str(error))
    finished = replace(finished, seconds=work.tape.seconds + time.monotonic() - begin)
    voice.say(finished)
    return finished


def without_result(outcome: Literal["cancelled", "error"], error: str | None = None) -> ExperimentFinished:
    """An end that says nothing about the model."""
    return ExperimentFinished(outcome, reason=None, score_kind=None, code=None, seconds=0.0, error=error)


class _Performance:
    def __init__(self, work: Work, parts: Parts, voice: Voice, stopping: threading.Event) -> None:
        self._work, self._parts, self._voice = work, parts, voice
        self._tests = split(work.problem, work.configuration.gate)
        subject = Subject(work.experiment, work.problem, self._tests.gate, work.configuration.models)
        self._session = Session(subject, parts, voice, work.tape, stopping)

    def result(self) -> ExperimentFinished:
        configuration = self._work.configuration
        returned = create(configuration.strategy, configuration.parameters).solve(self._session)
        held_out = scoring(self._tests, gate_was_seen=self._session.iterations > 0)
        scores = {code: self._score(code, code == returned, held_out) for code in self._candidates(returned)}
        solved = returned is not None and scores[returned].passed
        return ExperimentFinished(
            outcome="solved" if solved else "unsolved",
            reason=self._reason(returned),
            score_kind=score_kind(held_out),
            code=None if returned is None else self._voice.text(returned),
            seconds=0.0,
        )

    def _candidates(self, returned: str | None) -> list[str]:
        """Every distinct program in the order tried; one that was handed in untested comes last."""
        tried = list(self._session.verdicts)
        return tried if returned is None or returned in tried else [*tried, returned]

    def _score(self, code: str, returned: bool, held_out: TestSet) -> Verdict:
        """The verdict that counts for one candidate. Gate verdicts are known already: they are not run again."""
        gate = self._session.verdicts.get(code)
        unseen = self._parts.judge.check(self._work.problem, code, held_out) if held_out or gate is None else None
        self._voice.say(CandidateScored(self._voice.text(code), returned, gate, unseen))
        return unseen or gate  # type: ignore[return-value]  # one of them is there: see the line above

    def _reason(self, returned: str | None) -> StopReason:
        if returned is None:
            return "gave_up"
        gate = self._session.verdicts.get(returned)
        return "gate" if gate is not None and gate.passed else "iterations"
