"""Says what happens: stamps events with time and place, stores each text once, tells the journal, then watchers."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Iterable

from koderz_core.errors import JournalError
from koderz_core.events import Entry, Event, TextStored
from koderz_core.journal import Journal

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
                self._texts.difference_update(one.event.sha256 for one in said if isinstance(one.event, TextStored))
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
