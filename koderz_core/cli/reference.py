"""Every command with its options as Markdown: ``python -m koderz_core.cli.reference > docs/commands.md``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from koderz_core.cli import commands

HEAD = """# Commands

This page contains the help of every command. `python -m koderz_core.cli.reference` generates this page. Replace words
in capitals with your own values. To get started, see [quickstart.md](quickstart.md).

Every command also accepts `-h` and `--help`."""


def markdown() -> str:
    """The whole reference, the content of docs/commands.md."""
    parts = [HEAD, _prose(commands)]
    for context in _below(click.Context(commands, info_name="koderz")):
        parts += [f"## {context.command_path}", f"`{_usage(context)}`", _prose(context.command), _options(context)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _below(above: click.Context) -> Iterator[click.Context]:
    """A context for every command of a group and of the groups in it, in the order of the group's help."""
    group = above.command
    if not isinstance(group, click.Group):
        return
    for name in group.list_commands(above):
        command = group.get_command(above, name)
        if command is not None:
            context = click.Context(command, info_name=name, parent=above)
            yield context
            yield from _below(context)


def _usage(context: click.Context) -> str:
    return " ".join((context.command_path, *context.command.collect_usage_pieces(context)))


def _prose(command: click.Command) -> str:
    """The help text of a command, one line per paragraph."""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    return "\n\n".join(_escaped(" ".join(paragraph.split())) for paragraph in paragraphs)


def _options(context: click.Context) -> str:
    options = (parameter for parameter in context.command.params if isinstance(parameter, click.Option))
    records = (option.get_help_record(context) for option in options)
    return "\n".join(f"- `{record[0]}`: {_escaped(record[1])}" for record in records if record)


def _escaped(text: str) -> str:
    """Help is plain text: its stars and angle brackets are not markup."""
    return text.replace("*", r"\*").replace("<", r"\<")


if __name__ == "__main__":
    click.echo(markdown(), nl=False)
