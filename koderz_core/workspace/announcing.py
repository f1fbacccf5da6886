"""Runners whose end is told to whoever asked for that: in the command line and in the dashboard alike."""

from __future__ import annotations

import logging
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from koderz_core.config import Settings
from koderz_core.errors import KoderzError
from koderz_core.journal import Journal
from koderz_core.notices.delivery import Notices
from koderz_core.notices.messages import benchmark_ended
from koderz_core.records.progress import SummaryRow
from koderz_core.runner.recorder import Watch
from koderz_core.runner.runner import Assignment, Provide, Runner
from koderz_core.store.results import Results

_LOG = logging.getLogger("koderz")


class Announcing:
    """Makes runners. A notice that does not arrive is a warning in the log, and delays the end by seconds at most."""

    def __init__(
        self,
        settings: Settings,
        results: Results,
        follow: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``follow`` hears the id of every benchmark whose journal has been opened."""
        self._settings = settings
        self._follow = follow
        self._results = results
        self._notices = Notices(settings)
        self._clock = clock

    def runner(self, assignment: Assignment, provide: Provide, watches: Iterable[Watch]) -> Runner:
        """A runner that has its journal. Raises as ``Runner``, and JournalError."""
        journal = Journal(self._settings.journals_dir / f"{assignment.header.benchmark}.jsonl")
        try:
            runner = Runner(assignment, journal, provide, watches, partial(self._tell, self._clock()))
            self._follow(runner.benchmark)
            return runner
        except BaseException:
            journal.close()
            raise

    def _tell(self, begun: float, runner: Runner) -> None:
        if not (self._notices.configured and runner.remaining):
            return
        name = f"{runner.asked.name} ({runner.benchmark})" if runner.asked.name else runner.benchmark
        seconds = self._clock() - begun
        notice = benchmark_ended(name, status(runner), seconds, platform.node(), self._rows(runner.benchmark))
        if troubles := self._notices.send(notice):
            _LOG.warning("A notice of the end of %s did not arrive: %s.", runner.benchmark, "; ".join(troubles))

    def _rows(self, benchmark: str) -> Sequence[SummaryRow]:
        try:
            return self._results.summaries(benchmark)
        except KoderzError as error:
            _LOG.warning("The notice of the end of %s is without its results: %s", benchmark, error)
            return ()


def status(runner: Runner) -> str:
    """How it ended. Of what went wrong only the kind is told: the text may quote anything."""
    if runner.fault is not None:
        return f"failed ({type(runner.fault).__name__})"
    if runner.bugs:
        return f"ended with a bug of koderz ({type(runner.bugs[0]).__name__})"
    if runner.used_up:
        return "used up its budget"
    return "was stopped" if runner.stopping else "finished"
