"""The context of one experiment: what its strategy may do, metered, journalled and answered from the tape first.

A step is answered once: when it was taken, its answer goes into the journal, and whoever takes it again is told that.
Every step gets an ordinal in program order; a call's seed is a hash of the experiment's seed and the ordinal, so a
strategy that is run again asks exactly the same questions.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from random import Random

from koderz_core.errors import InfrastructureError
from koderz_core.events import CodeTested, MemoryRecalled, Note, ProgramProbed, RemainingRead
from koderz_core.grading.feedback_policy import visible
from koderz_core.grading.testsets import no_program
from koderz_core.records import (
    Ask,
    Asker,
    Completion,
    DatasetOrigin,
    ErrorClass,
    Experiment,
    Extracted,
    Finish,
    Memory,
    MemoryRef,
    Message,
    Observed,
    Problem,
    Query,
    Remaining,
    Request,
    Sampling,
    Scalar,
    TestSet,
    Verdict,
    fingerprint,
)
from koderz_core.runner.calls.retry import Calls, announce
from koderz_core.runner.dependencies import Parts
from koderz_core.runner.history import Answer, Tape
from koderz_core.runner.pause import Passage
from koderz_core.runner.recorder import Voice, storable
from koderz_core.strategies.course import Best
from koderz_core.strategies.parameters import applied

_LOG = logging.getLogger("koderz")
CUT_SHORT: Mapping[Finish, ErrorClass] = {"length": "truncated", "refused": "refused"}
MOST_AT_ONCE = 8  # calls that one experiment makes at the same time


@dataclass(frozen=True, slots=True)
class Subject:
    """What a session is about: the experiment, its problem with the gate tests, the models of each role, the dataset.

    ``max_iterations`` None: its strategy has no such limit. ``feedback``: the policy of what it is told of a verdict.
    ``sampling``: role -> what a person asks of it, over what the strategy does.
    """

    experiment: Experiment
    problem: Problem
    gate: TestSet
    models: Mapping[str, tuple[str, ...]]
    dataset: DatasetOrigin
    max_iterations: int | None = None
    feedback: str = "full"
    sampling: Mapping[str, Mapping[str, Scalar]] = field(default_factory=dict)


@dataclass(slots=True)
class Tried:
    """What the runner goes by once a strategy has ended, and no strategy is told: verdicts are whole here.

    ``verdicts``: each candidate program with that on the gate, in the order tried; ``best`` of them is returned where
    a limit of the configuration ends the strategy. ``last_finish``: how the latest answer ended.
    """

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    best: Best = field(default_factory=Best)
    iterations: int = 0
    last_finish: Finish = "stop"


@dataclass(frozen=True, slots=True)
class _Question:
    """A call with its place and the hash of all of it; ``recorded``: the answer, if it was answered before."""

    ordinal: int
    ask: Ask
    model: str
    request: Request
    key: str
    recorded: Completion | None


class Session:
    """Implements Context for one thread, the strategy's, which finds nothing more on it under a public name.

    The threads of ``ask_many`` touch only what any thread may: models, the live text, the voice and the passage.
    """

    def __init__(
        self, subject: Subject, parts: Parts, voice: Voice, tape: Tape, passage: Passage, tried: Tried
    ) -> None:
        self.problem = parts.redact.problem(subject.problem.public)
        self.random = Random(subject.experiment.seed)  # noqa: S311 (sampling, not secrets)
        self._tried = tried
        self._subject = subject
        self._parts = parts
        self._voice = voice
        self._tape = tape
        self._passage = passage
        self._ordinal = 0

    def ask(
        self, role: str, messages: Sequence[Message], sampling: Sampling | None = None, member: int = 0
    ) -> Completion:
        completion = self._complete(self._question(Ask(role, messages, sampling, member)))
        self._tried.last_finish = completion.finish
        return completion

    def members(self, role: str) -> int:
        return len(self._subject.models.get(role, ()))

    def ask_many(self, asks: Sequence[Ask]) -> list[Completion]:
        questions = [self._question(ask) for ask in asks]
        with ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix=self._voice.experiment) as threads:
            asked = [threads.submit(self._complete, question) for question in questions]
        completions = [answer.result() for answer in asked]
        for completion in completions:
            self._tried.last_finish = completion.finish
        return completions

    def test(self, candidate: Extracted) -> Verdict:
        self._tried.iterations += 1
        key = fingerprint(candidate)
        verdict = self._step(key, Verdict, lambda ordinal: self._tested(candidate, key, ordinal))
        if candidate.code is not None:
            self._tried.verdicts[candidate.code] = self._tried.best.keep(candidate, verdict)
        return visible(verdict, self._subject.feedback)

    def probe(self, code: str, calls: Sequence[str]) -> list[Observed]:
        asked = tuple(storable(call) for call in calls)
        key = fingerprint(("probe", code, asked))
        return list(self._step(key, tuple, lambda ordinal: self._probed(code, asked, key, ordinal)))

    def recall(self, query: Query) -> Sequence[Memory]:
        key = fingerprint(("recall", query))
        return self._step(key, tuple, lambda ordinal: self._recalled(query, key, ordinal))

    def remaining(self) -> Remaining:
        return self._step("", Remaining, self._read)

    def note(self, note: Note) -> None:
        self._step(fingerprint(note), type(note), lambda ordinal: self._noted(note, ordinal))

    def _step(self, request: str, kind: type[Answer], take: Callable[[int], Answer]) -> Answer:
        """The recorded answer; where there is none, what taking the step at its ordinal gives."""
        ordinal = self._next_ordinal()
        recorded = self._tape.answer(ordinal, request, kind)
        return take(ordinal) if recorded is None else recorded

    def _next_ordinal(self) -> int:
        self._passage.step()
        self._ordinal += 1
        return self._ordinal

    def _question(self, ask: Ask) -> _Question:
        ordinal = self._next_ordinal()
        model = self._subject.models[ask.role][ask.member]
        seed = int(fingerprint((self._subject.experiment.seed, ordinal))[:8], 16) >> 1  # servers want signed 32 bit
        sampling = applied(ask.sampling or Sampling(), self._subject.sampling.get(ask.role, {}))
        key = fingerprint((ask.role, ask.member, model, Request(tuple(ask.messages), sampling, seed)))
        request = Request(tuple(map(self._parts.redact.message, ask.messages)), sampling, seed)
        return _Question(ordinal, ask, model, request, key, self._tape.answer(ordinal, key, Completion))

    def _complete(self, question: _Question) -> Completion:
        if question.recorded is not None:
            return question.recorded
        self._passage.step()  # it may have had to wait for a thread
        ask, ordinal = question.ask, question.ordinal
        started = announce(self._voice, ask.role, ask.member, question.model, question.request, question.key)
        started = replace(started, attempt=self._tape.attempts.get(ordinal, 0) + 1)
        return Calls(self._parts, self._voice, self._passage).ask(started, question.request, ordinal)

    def _tested(self, candidate: Extracted, key: str, ordinal: int) -> Verdict:
        verdict = self._judge(candidate)
        code = None if candidate.code is None else self._voice.text(candidate.code)
        self._voice.say(CodeTested(self._tried.iterations, key, code, candidate.how, verdict), ordinal)
        return verdict

    def _judge(self, candidate: Extracted) -> Verdict:
        """A program that is broken because its reply was cut short says so."""
        cut_short = CUT_SHORT.get(candidate.finish)
        if candidate.code is None:
            return no_program(self._subject.gate, cut_short or "extraction")
        verdict = self._parts.judge.check(self._subject.problem, candidate.code, self._subject.gate)
        verdict = self._parts.redact.verdict(verdict)
        return replace(verdict, error=cut_short) if cut_short and verdict.error == "syntax" else verdict

    def _probed(self, code: str, calls: Sequence[str], key: str, ordinal: int) -> tuple[Observed, ...]:
        begin = time.monotonic()
        seen = self._parts.judge.probe(self._subject.problem.public, code, calls)
        observed = tuple(self._parts.redact.observed(step) for step in seen)
        self._voice.say(ProgramProbed(key, self._voice.text(code), observed, time.monotonic() - begin), ordinal)
        return observed

    def _recalled(self, query: Query, key: str, ordinal: int) -> tuple[Memory, ...]:
        begin = time.monotonic()
        found, fault = self._remembered(query)
        memories = tuple(self._parts.redact.memory(_kept(memory)) for memory in found[: query.limit])
        named = tuple(MemoryRef(self._voice.text(memory.text), memory.origin, memory.tags) for memory in memories)
        self._voice.say(MemoryRecalled(key, query, named, time.monotonic() - begin, storable(fault)), ordinal)
        return memories

    def _remembered(self, query: Query) -> tuple[Sequence[Memory], str]:
        """With what kept it from being looked up: no experiment ends because a memory is out of reach."""
        about = self._subject
        asker = Asker(about.experiment.id, about.problem.id, about.dataset, about.models)
        try:
            return self._parts.recall(query, asker), ""
        except InfrastructureError as error:
            _LOG.warning("Nothing could be recalled for %s, which goes on without: %s", asker.experiment, error)
            return (), self._parts.redact.text(str(error))

    def _read(self, ordinal: int) -> Remaining:
        limit = self._subject.max_iterations
        iterations = None if limit is None else max(0, limit - self._tried.iterations)
        remaining = Remaining(iterations, self._parts.ledger.left(self._subject.experiment.id))
        self._voice.say(RemainingRead(remaining), ordinal)
        return remaining

    def _noted(self, note: Note, ordinal: int) -> Note:
        self._voice.say(note, ordinal)
        return note


def _kept(memory: Memory) -> Memory:
    """As the journal can give it back."""
    tags = {storable(name): storable(value) for name, value in memory.tags.items()}
    return Memory(storable(memory.text), storable(memory.origin), tags)
