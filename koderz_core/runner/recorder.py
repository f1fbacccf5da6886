"""Records events: stamps them with time and place, stores each text once, writes the journal, then calls watchers."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from koderz_core.events import Entry, Event, TextStored, texts_of
from koderz_core.journal import Journal
from koderz_core.records import Memory, Message, Observed, ProgramRun, PublicProblem, TestFailure, Verdict
from koderz_core.redaction import redaction_of

_LOG = logging.getLogger("koderz")

Watch = Callable[[Entry], None]
"""Called with every written entry, in the thread of its event, so it must be fast. Its exceptions are logged."""


class Receiver(Protocol):
    """Receives events and texts: a recorder, or a connection to the process that has one."""

    def say(self, event: Event, experiment: str | None = None, ordinal: int | None = None) -> None:
        """Take an event. Raises JournalError."""

    def text(self, text: str) -> str:
        """The hash by which events refer to this text."""


class Recorder:
    """Writes the events of all experiments of a benchmark."""

    def __init__(
        self, journal: Journal, watches: Iterable[Watch], clock: Callable[[], float], known_texts: Iterable[str] = ()
    ) -> None:
        """``clock``: seconds since 1970 (UTC); ``known_texts``: hashes of the texts that the journal already holds."""
        self._journal = journal
        self._watches = tuple(watches)
        self._clock = clock
        self._texts = set(known_texts)
        self._pending: list[Entry] = []  # new texts, which are written together with the next event
        self._unwritten: dict[str, Entry] = {}  # by hash: texts that failed, which are written with the next mention
        self._guard = threading.Lock()  # guards all three: a text must be in the journal before its first mention

    def say(self, event: Event, experiment: str | None = None, ordinal: int | None = None) -> None:
        """Stamp an event, write it, and call the watchers. Raises JournalError."""
        entry = Entry(self._clock(), event, experiment, ordinal)
        with self._guard:
            again = [self._unwritten[text] for text in dict.fromkeys(texts_of(event)) if text in self._unwritten]
            entries, self._pending = (*again, *self._pending, entry), []
            texts = {text.event.sha256: text for text in entries if isinstance(text.event, TextStored)}
            self._unwritten |= texts
            self._journal.append(*entries)
            for sha256 in texts:
                del self._unwritten[sha256]
        for written in entries:
            for watch in self._watches:
                try:
                    watch(written)
                except Exception:  # noqa: BLE001 (the edge to code that only watches: it must not break a benchmark)
                    _LOG.exception(
                        "The progress display or the debug files may be incomplete, because an error occurred when "
                        "koderz passed the event %s to them. The benchmark continues.",
                        type(written.event).__name__,
                    )

    def text(self, text: str) -> str:
        """The hash by which events refer to this text; a new text is stored before the next event."""
        digest = hashlib.sha256(text.encode()).hexdigest()
        with self._guard:
            if digest not in self._texts:
                self._pending.append(Entry(self._clock(), TextStored(digest, text)))
                self._texts.add(digest)
        return digest


def storable(text: str) -> str:
    """Replace lone surrogates, which no journal can hold, with question marks."""
    return text.encode("utf-8", "replace").decode()


class Voice:
    """The recorder as one experiment uses it: its events are stamped with the experiment's id."""

    def __init__(self, recorder: Receiver, experiment: str) -> None:
        self._recorder = recorder
        self.experiment = experiment
        self.text = recorder.text

    def say(self, event: Event, ordinal: int | None = None) -> None:
        self._recorder.say(event, self.experiment, ordinal)


class Redactor:
    """Masks keys in all records that a strategy receives, except answers of models."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """``secrets``: keys to mask in addition to those recognised by their pattern."""
        redaction = redaction_of(tuple(secrets))
        self.text, self._prompt = redaction.text, redaction.prompt

    def problem(self, problem: PublicProblem) -> PublicProblem:
        """The public part of a problem, redacted; its tests stay as they are."""
        prompt, preamble, given = map(self._prompt, (problem.prompt, problem.preamble, problem.given))
        return replace(problem, prompt=prompt, preamble=preamble, given=given)

    def message(self, message: Message) -> Message:
        """A part of a prompt."""
        return replace(message, content=self._prompt(message.content))

    def memory(self, memory: Memory) -> Memory:
        """Something remembered, which may be older than the redaction of what is remembered."""
        tags = {self.text(name): self.text(value) for name, value in memory.tags.items()}
        return Memory(self.text(memory.text), self.text(memory.origin), tags)

    def verdict(self, verdict: Verdict) -> Verdict:
        """The verdict on a program, which may have read a key if koderz runs as root."""
        failures = tuple(self._failure(failure) for failure in verdict.failures)
        return replace(verdict, failures=failures, message=self.text(verdict.message))

    def observed(self, observed: Observed) -> Observed:
        """The result of a call of a program."""
        value = observed.value and self.text(observed.value)
        return replace(observed, value=value, message=self.text(observed.message))

    def run(self, run: ProgramRun) -> ProgramRun:
        """What a whole program did."""
        return replace(run, output=self.text(run.output), message=self.text(run.message))

    def _failure(self, failure: TestFailure) -> TestFailure:
        return replace(
            failure,
            source=self.text(failure.source),
            expected=failure.expected and self.text(failure.expected),
            actual=failure.actual and self.text(failure.actual),
            message=self.text(failure.message),
        )


NO_KEYS = Redactor()
"""Used if no key is set: masks only texts that look like a key."""
