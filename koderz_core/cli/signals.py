"""Ctrl-C during a benchmark in the foreground: the first ends it at the next step, the second ends it now.

SIGTERM also ends it now, and so does a closed terminal (SIGHUP) unless that is ignored, as under nohup.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import click

from koderz_core.errors import Cancelled, KoderzError
from koderz_core.report.formats import plain
from koderz_core.runner.runner import Runner
from koderz_core.workspace import Workspace

NOW = (signal.SIGTERM, signal.SIGHUP)
TELLING_SECONDS = 3.0  # that a last notice may take when the process must end now
DRAINING = (
    "Stopping: running experiments end at their next step, and no new ones start. Press Ctrl-C again to stop now."
)


class _NowError(Exception):
    """Unwinds the code that draws on the terminal, so that it is restored."""


class _Signals:
    """How urgently this process must end: 1 is soon, 2 is now. ``heard``: whether 1 has been passed on."""

    def __init__(self) -> None:
        self.urgency = 0
        self.heard = False

    def take(self, number: int, _frame: FrameType | None) -> None:
        self.urgency = self.urgency + 1 if number == signal.SIGINT else 2


@contextmanager
def interruptible(runner: Runner, opened: Workspace) -> Iterator[Callable[[], None]]:
    """Collect signals inside the block; call the yielded function several times a second to act on them.

    That call does not return if the process must end now: it ends with all its children, with exit code 130.
    """
    signals = _Signals()
    heeded = [one for one in NOW if signal.getsignal(one) is not signal.SIG_IGN]
    before = [(one, signal.signal(one, signals.take)) for one in (signal.SIGINT, *heeded)]

    def heed() -> None:
        if signals.urgency > 1:
            raise _NowError
        if signals.urgency == 1 and not signals.heard:
            signals.heard = True
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
    with suppress(OSError):  # the terminal may be gone
        click.echo(f"Stopped. Finished work is kept. To continue: koderz resume {runner.benchmark}", err=True)
        sys.stdout.flush()
    telling = threading.Thread(target=runner.notify_ended, daemon=True)
    telling.start()
    telling.join(TELLING_SECONDS)
    os._exit(Cancelled.exit_code)


def _abandon(runner: Runner) -> None:
    try:
        runner.abandon()
    except KoderzError as error:
        with suppress(OSError):
            click.echo(f"Error: {plain(str(error))}", err=True)
