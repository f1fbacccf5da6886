"""The context of one experiment: what its strategy may do, metered, journalled and answered from the tape first.

Every step gets an ordinal in program order; a call's seed is a hash of the experiment's seed and the ordinal, so a
strategy that is run again asks exactly the same questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from koderz_core.events import CodeTested, Note
from koderz_core.grading.testsets import no_program
from koderz_core.records import (
    Completion,
    ErrorClass,
    Experiment,
    Extracted,
    Finish,
    Message,
    Problem,
    Request,
    Sampling,
    TestSet,
    Verdict,
    fingerprint,
)
from koderz_core.runner.calls import Calls, announce
from koderz_core.runner.gate import Passage
from koderz_core.runner.parts import Parts
from koderz_core.runner.recorder import Voice
from koderz_core.runner.tape import Tape

CUT_SHORT: Mapping[Finish, ErrorClass] = {"length": "truncated", "refused": "refused"}


@dataclass(frozen=True, slots=True)
class Subject:
    """What a session is about: the experiment, its problem with the gate tests, and the models of each role."""

    experiment: Experiment
    problem: Problem
    gate: TestSet
    models: Mapping[str, tuple[str, ...]]


class Session:
    """Implements Context. Not shared between threads."""

    def __init__(self, subject: Subject, parts: Parts, voice: Voice, tape: Tape, passage: Passage) -> None:
        self.problem = subject.problem.public
        self.random = Random(subject.experiment.seed)  # noqa: S311 (sampling, not secrets)
        self.verdicts: dict[str, Verdict] = {}  # candidate program -> its gate verdict, in the order tried
        self.iterations = 0
        self.last_finish: Finish = "stop"  # how the latest answer ended
        self._subject = subject
        self._parts = parts
        self._voice = voice
        self._tape = tape
        self._passage = passage
        self._ordinal = 0

    def ask(
        self, role: str, messages: Sequence[Message], sampling: Sampling | None = None, member: int = 0
    ) -> Completion:
        ordinal = self._next_ordinal()
        model = self._subject.models[role][member]
        seed = int(fingerprint((self._subject.experiment.seed, ordinal))[:8], 16) >> 1  # servers want signed 32 bit
        request = Request(tuple(messages), sampling or Sampling(), seed)
        key = fingerprint((role, member, model, request))
        completion = self._tape.completion(ordinal, key)
        if completion is None:
            started = announce(self._voice, role, member, model, request, key)
            started = replace(started, attempt=self._tape.attempts.get(ordinal, 0) + 1)
            completion = Calls(self._parts, self._voice, self._passage).ask(started, request, ordinal)
        self.last_finish = completion.finish
        return completion

    def test(self, candidate: Extracted) -> Verdict:
        ordinal = self._next_ordinal()
        self.iterations += 1
        key = fingerprint(candidate)
        verdict = self._tape.verdict(ordinal, key)
        if verdict is None:
            verdict = self._judge(candidate)
            code = None if candidate.code is None else self._voice.text(candidate.code)
            self._voice.say(CodeTested(self.iterations, key, code, candidate.how, verdict), ordinal)
        if candidate.code is not None:
            self.verdicts[candidate.code] = verdict
        return verdict

    def note(self, note: Note) -> None:
        ordinal = self._next_ordinal()
        if ordinal not in self._tape.notes:
            self._voice.say(note, ordinal)

    def _next_ordinal(self) -> int:
        self._passage.step()
        self._ordinal += 1
        return self._ordinal

    def _judge(self, candidate: Extracted) -> Verdict:
        """A program that is broken because its reply was cut short says so."""
        cut_short = CUT_SHORT.get(candidate.finish)
        if candidate.code is None:
            return no_program(self._subject.gate, cut_short or "extraction")
        verdict = self._parts.judge.check(self._subject.problem, candidate.code, self._subject.gate)
        verdict = self._parts.redact.verdict(verdict)
        return replace(verdict, error=cut_short) if cut_short and verdict.error == "syntax" else verdict
