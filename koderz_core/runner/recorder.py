"""Says what happens: stamps events with time and place, stores each text once, tells the journal, then watchers."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace

from koderz_core.errors import JournalError
from koderz_core.events import Entry, Event, TextStored
from koderz_core.journal import Journal
from koderz_core.records import Memory, Message, Observed, PublicProblem, TestFailure, Verdict
from koderz_core.redaction import redaction_of

_LOG = logging.getLogger("koderz")

Watch = Callable[[Entry], None]
"""Called with every entry that was written, in the thread where it happened: be quick. What it raises is logged."""


class Recorder:
    """Shared by all experiments of a benchmark."""

    def __init__(
        self, journal: Journal, watches: Iterable[Watch], clock: Callable[[], float], known_texts: Iterable[str] = ()
    ) -> None:
        """``clock``: seconds since 1970 (UTC); ``known_texts``: hashes of the texts that were stored before."""
        self._journal = journal
        self._watches = tuple(watches)
        self._clock = clock
        self._texts = set(known_texts)
        self._unsaid: list[Entry] = []  # new texts, which are written together with the next event
        self._guard = threading.Lock()  # guards both: a text must stand in the journal before its first mention

    def say(self, event: Event, experiment: str | None = None, ordinal: int | None = None) -> None:
        """Stamp an event, write it, and tell the watchers. Raises JournalError."""
        entry = Entry(self._clock(), event, experiment, ordinal)
        with self._guard:
            said, self._unsaid = (*self._unsaid, entry), []
            try:
                self._journal.append(*said)
            except JournalError:
                self._texts.difference_update(
                    entry.event.sha256 for entry in said if isinstance(entry.event, TextStored)
                )
                raise
        for one in said:
            for watch in self._watches:
                _tell(watch, one)

    def text(self, text: str) -> str:
        """The hash that events name this text by; a new one is stored before the next event."""
        digest = hashlib.sha256(text.encode()).hexdigest()
        with self._guard:
            if digest not in self._texts:
                self._unsaid.append(Entry(self._clock(), TextStored(digest, text)))
                self._texts.add(digest)
        return digest


def storable(text: str) -> str:
    """What comes from outside may hold lone surrogates, which no journal can: they become question marks."""
    return text.encode("utf-8", "replace").decode()


def _tell(watch: Watch, entry: Entry) -> None:
    """What is only looked at must not break what is looked at."""
    try:
        watch(entry)
    except Exception:  # noqa: BLE001 (the edge to code that only looks on)
        _LOG.exception("A watcher failed at %s; the benchmark goes on", type(entry.event).__name__)


class Voice:
    """A recorder that speaks for one experiment."""

    def __init__(self, recorder: Recorder, experiment: str) -> None:
        self._recorder = recorder
        self.experiment = experiment
        self.text = recorder.text

    def say(self, event: Event, ordinal: int | None = None) -> None:
        self._recorder.say(event, self.experiment, ordinal)


class Redactor:
    """Redacts records of what a strategy is given."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """``secrets``: keys to mask beside what is certainly one."""
        redaction = redaction_of(tuple(secrets))
        self.text, self._prompt = redaction.text, redaction.prompt

    def problem(self, problem: PublicProblem) -> PublicProblem:
        """What a strategy may know of a problem; what programs are judged by stays as it is."""
        return replace(problem, prompt=self._prompt(problem.prompt), preamble=self._prompt(problem.preamble))

    def message(self, message: Message) -> Message:
        """A part of a prompt."""
        return replace(message, content=self._prompt(message.content))

    def memory(self, memory: Memory) -> Memory:
        """Something remembered, which may be older than the redaction of what is remembered."""
        tags = {self.text(name): self.text(value) for name, value in memory.tags.items()}
        return Memory(self.text(memory.text), self.text(memory.origin), tags)

    def verdict(self, verdict: Verdict) -> Verdict:
        """What came of a program: it may have found a key, which an unprivileged one cannot and root can."""
        failures = tuple(self._failure(failure) for failure in verdict.failures)
        return replace(verdict, failures=failures, message=self.text(verdict.message))

    def observed(self, observed: Observed) -> Observed:
        """What a call gave."""
        value = observed.value and self.text(observed.value)
        return replace(observed, value=value, message=self.text(observed.message))

    def _failure(self, failure: TestFailure) -> TestFailure:
        return replace(
            failure,
            source=self.text(failure.source),
            expected=failure.expected and self.text(failure.expected),
            actual=failure.actual and self.text(failure.actual),
            message=self.text(failure.message),
        )


NO_KEYS = Redactor()
"""Where no key is set: masks only what looks like one."""
