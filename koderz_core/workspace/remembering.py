"""What the benchmarks of a workspace leave behind goes to the memory server while they run, in a thread of its own.

The thread only reads journals: whatever the server does, no experiment waits for it or hears of it. What is not
remembered when the workspace is closed is left to the next start and to ``koderz cortex backfill``.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress

from koderz_core import __version__
from koderz_core.config import Settings
from koderz_core.errors import ConfigError, CortexError, JournalError
from koderz_core.export.formats import plain
from koderz_core.memory.client import Client
from koderz_core.memory.ledger import Trouble
from koderz_core.memory.opening import Mirroring, mirroring
from koderz_core.memory.servers import server_of

FIRST_SECONDS = 2.0  # what is over by then starts no server
EVERY_SECONDS = 1.0
LONGEST_SECONDS = 60.0  # between two tries while the server fails
IDLE_SECONDS = 30.0  # after which the server is ended until something happens
END_SECONDS = 0.8  # for what is left when the workspace is closed
CURE = "`koderz cortex backfill` brings what is missing; KODERZ_MEMORY=off remembers nothing."

_LOG = logging.getLogger("koderz")


class Remembering:
    """Starts nothing before ``follow``. May be used from any thread."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._files: dict[str, None] = {}
        self._guard = threading.Lock()  # guards _files, _thread and _client
        self._closing = threading.Event()
        self._end: float | None = None  # monotonic; nothing is begun after that
        self._thread: threading.Thread | None = None
        self._client: Client | None = None

    def follow(self, benchmark: str) -> None:
        """From now on what the journal of this benchmark holds is remembered, unless settings say otherwise."""
        if self._settings.memory == "off":
            return
        with self._guard:
            self._files[f"{benchmark}.jsonl"] = None
            if self._thread is None and not self._closing.is_set():
                self._begin()

    def close(self) -> None:
        """Remember for a moment what is left, then stop: it takes a second. Idempotent."""
        self._end = self._end or time.monotonic() + END_SECONDS
        self._closing.set()
        with self._guard:
            thread, client = self._thread, self._client
        if thread and client:
            client.hurry(END_SECONDS)
            thread.join()

    def abandon(self) -> None:
        """End the server now: for a process that is about to end itself."""
        self._closing.set()
        if client := self._client:
            client.kill()

    def _begin(self) -> None:
        try:
            self._client = Client(server_of(self._settings), __version__)
        except ConfigError as error:
            _LOG.warning("Nothing is remembered: %s", error)
            self._closing.set()
            return
        self._thread = threading.Thread(target=self._run, args=(self._client,), name="remembering", daemon=True)
        self._thread.start()

    def _run(self, client: Client) -> None:
        try:
            self._closing.wait(FIRST_SECONDS)
            with mirroring(self._settings, client) as parts:
                self._mirror(parts)
        except CortexError as error:
            _LOG.warning("What experiments leave behind is not remembered now: %s %s", error, CURE)
        except Exception:  # noqa: BLE001 (the edge of this thread)
            _LOG.exception("A bug of koderz: what experiments leave behind is not remembered now. %s", CURE)

    def _mirror(self, parts: Mirroring) -> None:
        left, pause, busy, warned = list(parts.ledger.begun()), EVERY_SECONDS, time.monotonic(), False
        while True:
            closing, before = self._closing.is_set(), parts.mirror.answered
            try:
                left = self._pass(parts, left)
                pause = EVERY_SECONDS
            except CortexError as error:
                pause = min(2 * pause, LONGEST_SECONDS)
                if not closing:
                    warned = self._tell(parts, error, warned)
            if parts.mirror.answered > before:
                busy = time.monotonic()
            if closing:
                return
            if time.monotonic() - busy > IDLE_SECONDS:
                parts.client.close()
            self._closing.wait(pause)

    def _pass(self, parts: Mirroring, left: list[str]) -> list[str]:
        """Bring what runs here up to date, and what was left before; gives what of that is left now."""
        with self._guard:
            files = list(self._files)
        for file in files:
            parts.ledger.begin(file)
        if self._closing.is_set() and not parts.client.is_open:
            return left  # to start a server takes longer than there is
        for file in (*files, *left):
            if self._is_over():
                return left
            with suppress(JournalError):  # the index of the journals says that to everybody
                parts.mirror.catch_up(file, self._is_over)
        parts.ledger.troubled(None)
        return []

    def _is_over(self) -> bool:
        return self._end is not None and time.monotonic() > self._end

    def _tell(self, parts: Mirroring, error: CortexError, warned: bool) -> bool:
        """Once on the screen, always where ``koderz cortex status`` finds it."""
        parts.ledger.troubled(Trouble(time.time(), str(error)))
        if not warned:
            _LOG.warning("The memory server fails; experiments go on without it. %s %s", plain(str(error)), CURE)
        return True
