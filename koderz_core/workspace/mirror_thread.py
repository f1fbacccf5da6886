"""A thread that copies memories from the journals of running benchmarks to the memory server.

The thread only reads journals: whatever the server does, no experiment waits for it or is affected. A command that
ends by itself waits some seconds for the rest; the next start and ``koderz cortex backfill`` complete it.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress
from pathlib import Path

from koderz_core import __version__
from koderz_core.config import Settings
from koderz_core.errors import ConfigError, CortexError, JournalError
from koderz_core.memory.client import Client, server_of
from koderz_core.memory.ledger import Trouble
from koderz_core.memory.mirror import Mirror, open_mirror
from koderz_core.report.formats import plain

EVERY_SECONDS = 1.0
LONGEST_SECONDS = 60.0  # between two attempts while the server fails
IDLE_SECONDS = 30.0  # after which the server is ended until there is something to copy
HASTY_SECONDS = 0.8  # for the rest when a signal closes the workspace, or the server has failed
PATIENT_SECONDS = 10.0  # for the rest when a command has done its work; the server may still be starting
CURE = "To add the missing memories, run `koderz cortex backfill`. To turn the memory off, set KODERZ_MEMORY=off."

_LOG = logging.getLogger("koderz")


class MirrorThread:
    """Copies memories to the memory server. Starts its thread at the first ``follow``. May be used from any thread."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._files: dict[str, None] = {}
        self._guard = threading.Lock()  # guards _files, _thread and _client
        self._closing = threading.Event()
        self._end: float | None = None  # monotonic; nothing is started after that
        self._patient = False
        self._failing = False
        self._thread: threading.Thread | None = None
        self._client: Client | None = None

    def follow(self, benchmark: str) -> None:
        """Copy memories from the journal of this benchmark from now on, unless the settings turn the memory off."""
        if self._settings.memory == "off":
            return
        with self._guard:
            self._files[f"{benchmark}.jsonl"] = None
            if self._thread is None and not self._closing.is_set():
                self._start()

    def close(self, *, patient: bool = False) -> None:
        """Copy the remaining memories, then stop: within ``PATIENT_SECONDS`` if ``patient``, else at once. Idempotent.

        If ``patient``, log the benchmarks whose memories are still incomplete after that time.
        """
        self._patient = patient and not self._failing
        seconds = PATIENT_SECONDS if self._patient else HASTY_SECONDS
        self._end = self._end or time.monotonic() + seconds
        self._closing.set()
        with self._guard:
            thread, client = self._thread, self._client
        if thread and client:
            client.limit(seconds)
            thread.join()

    def abandon(self) -> None:
        """Kill the memory server at once, because this process is about to exit."""
        self._closing.set()
        if client := self._client:
            client.kill()

    def _start(self) -> None:
        try:
            self._client = Client(server_of(self._settings), __version__)
        except ConfigError as error:
            _LOG.warning("This process stores no memories: %s", error)
            self._closing.set()
            return
        self._thread = threading.Thread(target=self._run, args=(self._client,), name="mirror", daemon=True)
        self._thread.start()

    def _run(self, client: Client) -> None:
        try:
            with open_mirror(self._settings, client) as parts:
                self._mirror(parts)
                if self._patient:
                    self._report_missing(parts)
        except CortexError as error:
            _LOG.warning("Memories of experiments cannot be stored at the moment: %s %s", error, CURE)
        except Exception:  # noqa: BLE001 (the edge of this thread)
            _LOG.exception("A bug in koderz: memories of experiments cannot be stored at the moment. %s", CURE)

    def _mirror(self, parts: Mirror) -> None:
        left, pause, busy, warned = list(parts.ledger.offsets()), EVERY_SECONDS, time.monotonic(), False
        while True:
            closing, before = self._closing.is_set(), parts.answered
            try:
                left = self._pass(parts, left)
                pause, self._failing = EVERY_SECONDS, False
            except CortexError as error:
                pause, self._failing = min(2 * pause, LONGEST_SECONDS), True
                if not closing:
                    warned = self._report_error(parts, error, warned)
            if parts.answered > before:
                busy = time.monotonic()
            if closing:
                return
            if time.monotonic() - busy > IDLE_SECONDS:
                parts.client.close()
            self._closing.wait(pause)

    def _pass(self, parts: Mirror, left: list[str]) -> list[str]:
        """Copy from the followed journals, then from those ``left`` by earlier processes; returns those still left."""
        with self._guard:
            files = list(self._files)
        for file in files:
            parts.ledger.add(file)
        if self._closing.is_set():
            if not (self._patient or parts.client.is_open):
                return left  # starting a server would take too long
            left = []  # of earlier benchmarks: no command waits for these
        for file in (*files, *left):
            if self._is_over():
                return left
            with suppress(JournalError):  # the index reports that
                parts.catch_up(file, self._is_over)
        parts.ledger.set_trouble(None)
        return []

    def _report_missing(self, parts: Mirror) -> None:
        with self._guard:
            files = list(self._files)
        missing = [file for file in files if parts.is_behind(file)]
        if missing:
            names = ", ".join(Path(file).stem for file in missing)
            _LOG.warning(
                "Some memories of these benchmarks are not stored yet: %s. koderz will store the missing memories "
                "during the next benchmark. %s",
                names,
                CURE,
            )

    def _is_over(self) -> bool:
        return self._end is not None and time.monotonic() > self._end

    def _report_error(self, parts: Mirror, error: CortexError, warned: bool) -> bool:
        """Report an error: once on the screen, always for ``koderz cortex status``. Returns True: it was reported."""
        parts.ledger.set_trouble(Trouble(time.time(), str(error)))
        if not warned:
            _LOG.warning("The memory server failed; experiments continue without it. %s %s", plain(str(error)), CURE)
        return True
