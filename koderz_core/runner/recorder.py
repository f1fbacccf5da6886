"""Says what happens: stamps events with time and place, stores each text once, tells journal and watchers."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable

from koderz_core.events import Entry, Event, TextStored

Watch = Callable[[Entry], None]
"""Called with every entry, in the thread where it happened; must be quick."""


class Recorder:
    """Shared by all experiments of a benchmark."""

    def __init__(self, sinks: Iterable[Watch], clock: Callable[[], float], known_texts: Iterable[str] = ()) -> None:
        """``sinks`` are called in order, so put the journal first. ``clock``: seconds since 1970 (UTC)."""
        self._sinks = tuple(sinks)
        self._clock = clock
        self._texts = set(known_texts)
        self._guard = threading.Lock()  # guards _texts: a text must stand in the journal before its first mention

    def say(self, event: Event, experiment: str | None = None, ordinal: int | None = None) -> None:
        """Stamp an event and pass it on."""
        entry = Entry(self._clock(), event, experiment, ordinal)
        for sink in self._sinks:
            sink(entry)

    def text(self, text: str) -> str:
        """The hash that events name this text by; stores it if it is new."""
        digest = hashlib.sha256(text.encode()).hexdigest()
        with self._guard:
            if digest not in self._texts:
                self.say(TextStored(digest, text))
                self._texts.add(digest)
        return digest


class Voice:
    """A recorder that speaks for one experiment."""

    def __init__(self, recorder: Recorder, experiment: str) -> None:
        self._recorder = recorder
        self._experiment = experiment
        self.text = recorder.text

    def say(self, event: Event, ordinal: int | None = None) -> None:
        self._recorder.say(event, self._experiment, ordinal)
