"""``koderz notify``: run any command as it is, and send a notice when it has ended."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from functools import partial

import click

from koderz_core.config import load_settings
from koderz_core.errors import ConfigError, UsageError
from koderz_core.export.formats import plain
from koderz_core.notices.commands import perform
from koderz_core.notices.sending import UNSET, Notices
from koderz_core.notices.wording import Notice, command_ended, test_notice

NOT_SENT = 1

_say = partial(click.echo, err=True)


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("--test", is_flag=True, help="Only send a notice, to see that it arrives; exits with 1 if it does not.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def notify(test: bool, command: tuple[str, ...]) -> int:
    """Run COMMAND with its arguments and send a notice when it has ended: how, after how long, where, its last lines.

    Write -- before it. It runs without a shell, its output appears as ever, and its exit code stays what it is: 128
    and the signal's number if a signal ended it, 127 if there is no such command. What looks like a secret is masked
    in the notice. Where notices go: SLACK_WEBHOOK_URL, KODERZ_NOTICES.
    """
    if test:
        return _test()
    if not command:
        raise UsageError("What is to be run? For example: koderz notify -- make test")
    notices = _notices()
    ended = perform(command)
    if ended.trouble:
        _say(f"Error: {plain(ended.trouble)}")
    if notices is not None:
        _send(notices, command_ended(command, ended, platform.node()))
    return ended.code


def _test() -> int:
    notices = Notices(load_settings())
    troubles: Sequence[str] = notices.send(test_notice(platform.node())) if notices.wanted else (UNSET.rstrip("."),)
    for trouble in troubles:
        _say(f"Error: no notice was sent: {trouble}.")
    if not troubles:
        click.echo("The test notice was sent.")
    return NOT_SENT if troubles else 0


def _notices() -> Notices | None:
    """None, and one warning, if none can be sent: the command is run all the same."""
    try:
        notices = Notices(load_settings())
    except ConfigError as error:
        _say(f"Warning: no notice will be sent. {plain(str(error))}")
        return None
    if not notices.wanted:
        _say(f"Warning: no notice will be sent. {UNSET}")
        return None
    return notices


def _send(notices: Notices, notice: Notice) -> None:
    """Whoever presses Ctrl-C does not want to wait for it any more; nothing of this is the command's fault."""
    try:
        troubles = notices.send(notice)
    except KeyboardInterrupt:
        troubles = ("interrupted",)
    if troubles:
        _say(f"Warning: a notice did not arrive: {'; '.join(troubles)}.")
