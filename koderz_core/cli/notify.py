"""``koderz notify``: run any command unchanged, and send a notice when it has ended."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from functools import partial

import click

from koderz_core.config import load_settings
from koderz_core.errors import ConfigError, UsageError
from koderz_core.notices.commands import run_command
from koderz_core.notices.delivery import UNSET, Notices
from koderz_core.notices.messages import Notice, command_ended, test_notice
from koderz_core.report.formats import plain

NOT_SENT = 1

_say = partial(click.echo, err=True)


@click.command(context_settings={"allow_interspersed_args": False})
@click.option(
    "--test",
    is_flag=True,
    help="Send a test notification and run no command. The exit code is 1 if the notification does not arrive.",
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def notify(test: bool, command: tuple[str, ...]) -> int:
    """Run any command and send a notification when it ends. Write -- before COMMAND.

    The notification contains the duration, the host, the last lines of the output and the exit code, if it is not 0.
    Texts that look like secrets are masked. COMMAND runs without a shell, and its output is shown as usual. koderz
    exits with the exit code of COMMAND, with 127 if COMMAND does not exist, or with 128 plus the signal number if a
    signal ended COMMAND.
    The settings SLACK_WEBHOOK_URL and KODERZ_NOTICES contain the addresses that receive notifications.
    """
    if test:
        return _test()
    if not command:
        raise UsageError("No command was given. For example: koderz notify -- make test")
    notices = _notices()
    ended = run_command(command)
    if ended.trouble:
        _say(f"Error: {plain(ended.trouble)}")
    if notices is not None:
        _send(notices, command_ended(command, ended, platform.node()))
    return ended.code


def _test() -> int:
    notices = Notices(load_settings())
    troubles: Sequence[str] = notices.send(test_notice(platform.node())) if notices.configured else (UNSET.rstrip("."),)
    for trouble in troubles:
        _say(f"Error: the test notification was not sent: {trouble}.")
    if not troubles:
        click.echo("The test notification was sent.")
    return NOT_SENT if troubles else 0


def _notices() -> Notices | None:
    """None, with one warning, if no notice can be sent: the command still runs."""
    try:
        notices = Notices(load_settings())
    except ConfigError as error:
        _say(f"Warning: no notification will be sent. {plain(str(error))}")
        return None
    if not notices.configured:
        _say(f"Warning: no notification will be sent. {UNSET}")
        return None
    return notices


def _send(notices: Notices, notice: Notice) -> None:
    """Ctrl-C ends the wait for the notice. A failure here does not change the exit code of the command."""
    try:
        troubles = notices.send(notice)
    except KeyboardInterrupt:
        troubles = ("interrupted",)
    if troubles:
        _say(f"Warning: a notification did not arrive: {'; '.join(troubles)}.")
