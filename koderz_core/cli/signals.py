"""Ctrl-C during a benchmark in the foreground: the first ends it at the next step, the second ends it now.

SIGTERM also ends it now, and so does a closed terminal (SIGHUP) unless that is ignored, as under nohup.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import click

from koderz_core.cli.options import advised
from koderz_core.errors import Cancelled, KoderzError
from koderz_core.report.formats import plain
from koderz_core.workspace import Workspace
from koderz_core.workspace.runs import Runner

NOW = (signal.SIGTERM, signal.SIGHUP)
LAST_SECONDS = 3.0  # for a last notice and the last metrics when the process must end now
DRAINING = (
    "Stopping: each running experiment ends before its next model call or test run, and no new experiments start. "
    "Press Ctrl-C again to stop immediately."
)


class _NowError(Exception):
    """Leaves the code that draws on the terminal, so that the terminal is restored."""


class _Signals:
    """How urgently this process must end: 1 is soon, 2 is now. ``passed_on``: whether the runner knows of 1."""

    def __init__(self) -> None:
        self.urgency = 0
        self.passed_on = False

    def take(self, number: int, _frame: FrameType | None) -> None:
        self.urgency = self.urgency + 1 if number == signal.SIGINT else 2


@contextmanager
def interruptible(runner: Runner, opened: Workspace) -> Iterator[Callable[[], None]]:
    """Collect signals inside the block; call the yielded function several times a second to act on them.

    That call does not return if the process must end now: it ends with all its children, with exit code 130.
    """
    signals = _Signals()
    ending = [number for number in NOW if signal.getsignal(number) is not signal.SIG_IGN]
    before = [(number, signal.signal(number, signals.take)) for number in (signal.SIGINT, *ending)]

    def heed() -> None:
        if signals.urgency > 1:
            raise _NowError
        if signals.urgency == 1 and not signals.passed_on:
            signals.passed_on = True
            click.echo(DRAINING, file=sys.stderr)  # the live line makes room for text on this stream
            runner.stop()

    try:
        yield heed
    except _NowError:
        _leave(runner, opened)
    except OSError:
        if signals.urgency < 2:
            raise
        _leave(runner, opened)  # the terminal could not be restored because it is closed
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _leave(runner: Runner, opened: Workspace) -> None:
    """End this process although its threads may hang in calls, which Python cannot interrupt."""
    _abandon(runner)
    opened.abandon()
    task = bool(opened.settings.records)  # of the workbench, which `koderz resume` does not know
    again = "run the same command" if task else advised(f"koderz resume {runner.benchmark}")
    with suppress(OSError):  # the terminal may be gone
        click.echo(f"Stopped. Finished work is kept. To continue: {again}", err=True)
        sys.stdout.flush()
    deadline = time.monotonic() + LAST_SECONDS
    last = [threading.Thread(target=act, daemon=True) for act in (runner.notify_ended, opened.monitoring.close)]
    for thread in last:
        thread.start()
    for thread in last:
        thread.join(max(0.0, deadline - time.monotonic()))
    os._exit(Cancelled.exit_code)


def _abandon(runner: Runner) -> None:
    try:
        runner.abandon()
    except KoderzError as error:
        with suppress(OSError):
            click.echo(f"Error: {plain(str(error))}", err=True)
