"""Ctrl-C while a benchmark runs in the foreground: the first lets it end in good order, the second ends it now."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import click

from koderz_core.errors import Cancelled, KoderzError
from koderz_core.export.formats import plain
from koderz_core.runner.runner import Runner
from koderz_core.workspace import Workspace

DRAINING = "Stopping: nothing new begins, and what runs ends at its next step. Press Ctrl-C once more to stop now."


class _NowError(Exception):
    """Unwinds what draws on the terminal, so that it is left as it was found."""


class _Signals:
    """How urgently this process was asked to end: 1 is soon, 2 is now. SIGTERM means now."""

    def __init__(self) -> None:
        self.urgency = 0

    def take(self, number: int, _frame: FrameType | None) -> None:
        self.urgency = 2 if number == signal.SIGTERM else self.urgency + 1


@contextmanager
def interruptible(runner: Runner, opened: Workspace) -> Iterator[Callable[[], None]]:
    """While it lasts, signals only tell what is wished; call what it gives several times a second to do that.

    Whoever wants to end now never comes back from that: this process is gone then, with all its children, exit 130.
    """
    signals = _Signals()
    before = [(one, signal.signal(one, signals.take)) for one in (signal.SIGINT, signal.SIGTERM)]

    def heed() -> None:
        if signals.urgency > 1:
            raise _NowError
        if signals.urgency == 1 and not runner.stopping:
            click.echo(DRAINING, file=sys.stderr)  # the live line makes room for what comes that way
            runner.stop()

    try:
        yield heed
    except _NowError:
        _leave(runner, opened)
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _leave(runner: Runner, opened: Workspace) -> None:
    """End this process although threads of it may hang in a call, which nothing in Python can break off."""
    try:
        runner.abandon()
    except KoderzError as error:
        click.echo(f"Error: {plain(str(error))}", err=True)
    opened.abandon()
    click.echo(f"Stopped. What was finished is kept; the same command goes on with {runner.benchmark}.", err=True)
    sys.stdout.flush()
    os._exit(Cancelled.exit_code)
