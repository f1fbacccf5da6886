"""What somebody wishes of a benchmark that is being run: obeyed at once, and written down until it is closed."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from koderz_core.errors import JournalError, UsageError
from koderz_core.events import AllowanceSet, ControlObeyed, Event
from koderz_core.records import Allowance, Control
from koderz_core.runner.budget import Ledger
from koderz_core.runner.control import Wish
from koderz_core.runner.crew import Crew
from koderz_core.runner.gate import Gate, Target
from koderz_core.runner.recorder import Recorder

_LOG = logging.getLogger("koderz")


class Steering:
    """Of one running benchmark. May be used from any thread."""

    def __init__(self, benchmark: str, gate: Gate, ledger: Ledger, crew: Crew, recorder: Recorder) -> None:
        self._benchmark = benchmark
        self._gate = gate
        self._ledger = ledger
        self._crew = crew
        self._recorder = recorder
        self._concurrency = 0
        self._closed = False
        self._guard = threading.Lock()  # guards both, and that nothing is said behind the closing line

    def begin(self, concurrency: int, *, tell: bool) -> None:
        """Let that many experiments work at once; ``tell``: and write it down. Raises JournalError."""
        with self._guard:
            self._concurrency = concurrency
            if tell:
                self._recorder.say(AllowanceSet(self._now(), os.getpid()))
            self._gate.resize(concurrency)

    def obey(self, what: Control, target: Target = None, *, by: int) -> None:
        """As ``Runner.obey``."""
        if target not in {None, *self._crew.targets()}:
            raise UsageError(
                f"{target!r} is no configuration or experiment that {self._benchmark} had left to do when it began. "
                f"`koderz results {self._benchmark} --experiments` lists them."
            )
        with self._guard:
            if not self._closed and self._gate.obey(what, target):
                self._say(ControlObeyed(what, target, by))

    def change(self, usd: float | None = None, concurrency: int | None = None, *, by: int) -> None:
        """Let it cost ``usd`` in all from now on, and have that many experiments at work; None leaves it as it is.

        Nothing that is under way is lost: a call ends first, and who has no place any more waits.
        """
        with self._guard:
            before = self._now()
            after = Allowance(before.usd if usd is None else usd, concurrency or before.concurrency)
            if self._closed or after == before:
                return
            self._concurrency = after.concurrency
            self._ledger.change(after.usd)
            self._gate.resize(after.concurrency)
            self._say(AllowanceSet(after, by, before))

    def heed(self, wish: Wish) -> None:
        """Do what is wished. Raises as ``obey``."""
        if wish.what == "change":
            self.change(wish.usd, wish.concurrency, by=wish.by)
        else:
            self.obey(wish.what, wish.target, by=wish.by)

    def grant(self, wish: Wish) -> None:
        """Heed the wish of somebody who is not there to be told: what cannot be done is logged."""
        try:
            self.heed(wish)
        except UsageError as error:
            _LOG.warning("A wish of process %d is passed over: %s", wish.by, error)

    @contextmanager
    def closing(self) -> Iterator[bool]:
        """Whether nobody has closed it before; what is said inside is the last, and others wait for that."""
        with self._guard:
            first, self._closed = not self._closed, True
            yield first

    def _now(self) -> Allowance:
        return Allowance(self._ledger.usd, self._concurrency)

    def _say(self, event: Event) -> None:
        try:
            self._recorder.say(event)
        except JournalError as error:
            self._crew.break_off(error)
