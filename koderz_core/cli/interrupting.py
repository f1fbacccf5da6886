"""Ctrl-C while a benchmark runs in the foreground: the first lets it end in good order, the second ends it now.

So does a SIGTERM, and a terminal that is closed (SIGHUP) unless that is ignored, as under nohup.
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
from koderz_core.export.formats import plain
from koderz_core.runner.runner import Runner
from koderz_core.workspace import Workspace

NOW = (signal.SIGTERM, signal.SIGHUP)
TELLING_SECONDS = 3.0  # what a last notice may take when somebody wants the end now
DRAINING = "Stopping: nothing new begins, and what runs ends at its next step. Press Ctrl-C once more to stop now."


class _NowError(Exception):
    """Unwinds what draws on the terminal, so that it is left as it was found."""


class _Signals:
    """How urgently this process was asked to end: 1 is soon, 2 is now. ``heard``: whether soon has been passed on."""

    def __init__(self) -> None:
        self.urgency = 0
        self.heard = False

    def take(self, number: int, _frame: FrameType | None) -> None:
        self.urgency = self.urgency + 1 if number == signal.SIGINT else 2


@contextmanager
def interruptible(runner: Runner, opened: Workspace) -> Iterator[Callable[[], None]]:
    """While it lasts, signals only tell what is wished; call what it gives several times a second to do that.

    Whoever wants to end now never comes back from that: this process is gone then, with all its children, exit 130.
    """
    signals = _Signals()
    heeded = [one for one in NOW if signal.getsignal(one) is not signal.SIG_IGN]
    before = [(one, signal.signal(one, signals.take)) for one in (signal.SIGINT, *heeded)]

    def heed() -> None:
        if signals.urgency > 1:
            raise _NowError
        if signals.urgency == 1 and not signals.heard:
            signals.heard = True
            click.echo(DRAINING, file=sys.stderr)  # the live line makes room for what comes that way
            runner.stop()

    try:
        yield heed
    except _NowError:
        _leave(runner, opened)
    except OSError:
        if signals.urgency < 2:
            raise
        _leave(runner, opened)  # what draws could not leave the terminal as it was found: that is closed
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _leave(runner: Runner, opened: Workspace) -> None:
    """End this process although threads of it may hang in a call, which nothing in Python can break off."""
    _abandon(runner)
    opened.abandon()
    with suppress(OSError):  # the terminal may be gone
        click.echo(f"Stopped. What was finished is kept. To go on: koderz resume {runner.benchmark}", err=True)
        sys.stdout.flush()
    telling = threading.Thread(target=runner.tell_ended, daemon=True)
    telling.start()
    telling.join(TELLING_SECONDS)
    os._exit(Cancelled.exit_code)


def _abandon(runner: Runner) -> None:
    try:
        runner.abandon()
    except KoderzError as error:
        with suppress(OSError):
            click.echo(f"Error: {plain(str(error))}", err=True)
