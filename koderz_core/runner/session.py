"""The context of one experiment: everything that its strategy may do, metered, journalled and replayed from the tape.

Each step is executed once: its answer goes into the journal, and a replayed step gets the recorded answer. Every step
has an ordinal in program order. The seed of a call is a hash of the experiment's seed and the ordinal, so a strategy
that runs again asks exactly the same questions.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from random import Random

from koderz_core.egress import BENCHMARK
from koderz_core.errors import InfrastructureError, PlanError
from koderz_core.events import CodeTested, MemoryRecalled, Note, ProgramProbed, RemainingRead
from koderz_core.grading.gates import visible
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
from koderz_core.records.marks import NO_SEARCH
from koderz_core.runner.dependencies import Dependencies
from koderz_core.runner.history import Answer, Tape
from koderz_core.runner.recorder import Voice, storable
from koderz_core.runner.retry import Calls, announce
from koderz_core.runner.scheduler import Slot
from koderz_core.strategies.course import Best
from koderz_core.strategies.parameters import with_overrides

_LOG = logging.getLogger("koderz")
CUT_SHORT: Mapping[Finish, ErrorClass] = {"length": "truncated", "refused": "refused", "timeout": "turn_timeout"}
MOST_AT_ONCE = 8  # calls that one experiment makes at the same time


@dataclass(frozen=True, slots=True)
class Subject:
    """The experiment of a session, its problem with the gate tests, the models of each role, and the dataset.

    ``max_iterations`` None: its strategy has no such limit. ``feedback``: how much of a verdict the strategy sees.
    ``sampling``: role -> sampling parameters that override those of the strategy. ``search``: the site that the
    strategy may search. ``turn_seconds``: the time limit of each call; None: only the settings limit it.
    """

    experiment: Experiment
    problem: Problem
    gate: TestSet
    models: Mapping[str, tuple[str, ...]]
    dataset: DatasetOrigin
    max_iterations: int | None = None
    feedback: str = "full"
    sampling: Mapping[str, Mapping[str, Scalar]] = field(default_factory=dict)
    search: str = NO_SEARCH
    turn_seconds: float | None = None


@dataclass(slots=True)
class SessionState:
    """What a session keeps for scoring. No strategy sees it: the verdicts are whole, whatever the feedback.

    ``verdicts``: each tested program with its verdict on the gate tests, in the order tested. ``best`` of them is
    returned if a limit of the configuration ends the strategy. ``last_finish``: how the latest answer ended.
    """

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    best: Best = field(default_factory=Best)
    iterations: int = 0
    last_finish: Finish = "stop"


@dataclass(frozen=True, slots=True)
class _Question:
    """A call with its ordinal and the hash of its request; ``recorded``: the answer on the tape, if any."""

    ordinal: int
    ask: Ask
    model: str
    request: Request
    key: str
    recorded: Completion | None


class Session:
    """Implements Context for the thread of the strategy, with no other public names.

    The threads of ``ask_many`` use only objects that are safe for threads: models, live text, the voice and the slot.
    """

    def __init__(
        self, subject: Subject, dependencies: Dependencies, voice: Voice, tape: Tape, slot: Slot, state: SessionState
    ) -> None:
        self.problem = dependencies.redact.problem(subject.problem.public)
        self.random = Random(subject.experiment.seed)  # noqa: S311 (sampling, not secrets)
        self._state = state
        self._subject = subject
        self._dependencies = dependencies
        self._voice = voice
        self._tape = tape
        self._slot = slot
        self._ordinal = 0

    def ask(
        self, role: str, messages: Sequence[Message], sampling: Sampling | None = None, member: int = 0
    ) -> Completion:
        completion = self._complete(self._question(Ask(role, messages, sampling, member)))
        self._state.last_finish = completion.finish
        return completion

    def members(self, role: str) -> int:
        return len(self._subject.models.get(role, ()))

    def ask_many(self, asks: Sequence[Ask]) -> list[Completion]:
        questions = [self._question(ask) for ask in asks]
        with ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix=self._voice.experiment) as threads:
            answers = [threads.submit(self._complete, question) for question in questions]
        completions = [answer.result() for answer in answers]
        for completion in completions:
            self._state.last_finish = completion.finish
        return completions

    def test(self, candidate: Extracted) -> Verdict:
        self._state.iterations += 1
        key = fingerprint(candidate)
        verdict = self._step(key, Verdict, lambda ordinal: self._test(candidate, key, ordinal))
        if candidate.code is not None:
            self._state.verdicts[candidate.code] = self._state.best.keep(candidate, verdict)
        return visible(verdict, self._subject.feedback)

    def probe(self, code: str, calls: Sequence[str]) -> list[Observed]:
        stored = tuple(storable(call) for call in calls)
        key = fingerprint(("probe", code, stored))
        return list(self._step(key, tuple, lambda ordinal: self._probe(code, stored, key, ordinal)))

    def recall(self, query: Query) -> Sequence[Memory]:
        if query.kind == "web" and query.tags.get("site") != self._subject.search:  # rates would not be marked
            raise PlanError("A strategy may search only the site that its parameter `search` names.")
        key = fingerprint(("recall", query))
        return self._step(key, tuple, lambda ordinal: self._recall(query, key, ordinal))

    def remaining(self) -> Remaining:
        return self._step("", Remaining, self._remaining)

    def note(self, note: Note) -> None:
        self._step(fingerprint(note), type(note), lambda ordinal: self._note(note, ordinal))

    def _step(self, request: str, kind: type[Answer], take: Callable[[int], Answer]) -> Answer:
        """The recorded answer of the next step; without one, the answer of ``take`` at the step's ordinal."""
        ordinal = self._next_ordinal()
        recorded = self._tape.answer(ordinal, request, kind)
        return take(ordinal) if recorded is None else recorded

    def _next_ordinal(self) -> int:
        self._slot.step()
        self._ordinal += 1
        return self._ordinal

    def _question(self, ask: Ask) -> _Question:
        ordinal = self._next_ordinal()
        model = self._subject.models[ask.role][ask.member]
        seed = int(fingerprint((self._subject.experiment.seed, ordinal))[:8], 16) >> 1  # servers want signed 32 bit
        sampling = with_overrides(ask.sampling or Sampling(), self._subject.sampling.get(ask.role, {}), ask.member)
        asked = Request(tuple(ask.messages), sampling, seed, self._subject.turn_seconds)
        key = fingerprint((ask.role, ask.member, model, asked))
        request = replace(asked, messages=tuple(map(self._dependencies.redact.message, ask.messages)))
        return _Question(ordinal, ask, model, request, key, self._tape.answer(ordinal, key, Completion))

    def _complete(self, question: _Question) -> Completion:
        if question.recorded is not None:
            return question.recorded
        self._slot.step()  # again: the call may have waited for a thread
        ask, ordinal = question.ask, question.ordinal
        started = announce(self._voice, ask.role, ask.member, question.model, question.request, question.key)
        started = replace(started, attempt=self._tape.attempts.get(ordinal, 0) + 1)
        experiment = self._subject.experiment
        place = (self._subject.dataset.sha256, experiment.configuration, experiment.problem, experiment.repeat)
        make = self._dependencies.calls or Calls
        calls = make(self._dependencies, self._voice, self._slot, (*place, experiment.seed))
        return calls.ask(started, question.request, ordinal)

    def _test(self, candidate: Extracted, key: str, ordinal: int) -> Verdict:
        verdict = self._judge(candidate)
        code = None if candidate.code is None else self._voice.text(candidate.code)
        self._voice.say(CodeTested(self._state.iterations, key, code, candidate.how, verdict), ordinal)
        return verdict

    def _judge(self, candidate: Extracted) -> Verdict:
        """Test a program; a syntax error of a reply that was cut short counts as ``truncated`` or ``refused``."""
        cut_short = CUT_SHORT.get(candidate.finish)
        if candidate.code is None:
            return no_program(self._subject.gate, cut_short or "extraction", candidate.reason)
        verdict = self._dependencies.judge.check(self._subject.problem, candidate.code, self._subject.gate)
        verdict = self._dependencies.redact.verdict(verdict)
        return replace(verdict, error=cut_short) if cut_short and verdict.error == "syntax" else verdict

    def _probe(self, code: str, calls: Sequence[str], key: str, ordinal: int) -> tuple[Observed, ...]:
        begin = time.monotonic()
        steps = self._dependencies.judge.probe(self._subject.problem.public, code, calls)
        observed = tuple(self._dependencies.redact.observed(step) for step in steps)
        self._voice.say(ProgramProbed(key, self._voice.text(code), observed, time.monotonic() - begin), ordinal)
        return observed

    def _recall(self, query: Query, key: str, ordinal: int) -> tuple[Memory, ...]:
        begin = time.monotonic()
        recalled, fault = self._memories(query)
        memories = tuple(self._dependencies.redact.memory(_storable(memory)) for memory in recalled[: query.limit])
        refs = tuple(MemoryRef(self._voice.text(memory.text), memory.origin, memory.tags) for memory in memories)
        self._voice.say(MemoryRecalled(key, query, refs, time.monotonic() - begin, storable(fault)), ordinal)
        return memories

    def _memories(self, query: Query) -> tuple[Sequence[Memory], str]:
        """The memories and the fault of the lookup, if any: no experiment ends because memory is unavailable."""
        subject = self._subject
        asker = Asker(subject.experiment.id, subject.problem.id, subject.dataset, subject.models)
        BENCHMARK.set(self._dependencies.benchmark)
        try:
            return self._dependencies.recall(query, asker), ""
        except InfrastructureError as error:
            what = "search results" if query.kind == "web" else "memories"
            _LOG.warning("%s continues without %s, because they could not be read: %s", asker.experiment, what, error)
            return (), self._dependencies.redact.text(str(error))

    def _remaining(self, ordinal: int) -> Remaining:
        limit = self._subject.max_iterations
        iterations = None if limit is None else max(0, limit - self._state.iterations)
        remaining = Remaining(iterations, self._dependencies.ledger.left(self._subject.experiment.id))
        self._voice.say(RemainingRead(remaining), ordinal)
        return remaining

    def _note(self, note: Note, ordinal: int) -> Note:
        self._voice.say(note, ordinal)
        return note


def _storable(memory: Memory) -> Memory:
    """The memory as the journal can restore it."""
    tags = {storable(name): storable(value) for name, value in memory.tags.items()}
    return Memory(storable(memory.text), storable(memory.origin), tags)
