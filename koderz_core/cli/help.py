"""Help in groups: ``--help`` fits on one screen, ``--help-all`` shows every option."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar, get_args

import click

Command = TypeVar("Command", bound=Callable[..., Any])  # Any: click calls a command with its own options
Group = Literal["Problems", "Models and roles", "Strategy", "Budget and limits", "Output"]
GROUPS: tuple[Group, ...] = get_args(Group)
ADVANCED = tuple(f"Advanced: {group.lower()}" for group in GROUPS)
NAMES_WIDTH = 24  # columns; the text of an option with a longer name begins on the next line
SHOW_ALL = f"{__name__}.show_all"  # key in the meta of click's context


class GroupedOption(click.Option):
    """An option with the title of its section. ``GroupedCommand`` shows an advanced one only with ``--help-all``."""

    def __init__(self, *args: Any, group: Group, advanced: bool, **settings: Any) -> None:  # Any: click's
        super().__init__(*args, **settings)
        self.title = ADVANCED[GROUPS.index(group)] if advanced else group


def option(group: Group, *names: str, advanced: bool = False, **settings: Any) -> Callable[[Command], Command]:
    """``click.option`` in a group. In the help of a plain command the group has no effect."""
    return click.option(*names, cls=GroupedOption, group=group, advanced=advanced, **settings)


class GroupedCommand(click.Command):
    """A command with so many options that its help shows them in groups and hides the advanced ones."""

    def __init__(self, *args: Any, **settings: Any) -> None:  # Any: click's
        super().__init__(*args, **settings)
        help_all = click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_all,
            help="Show this message with all options and exit.",
        )
        self.params.append(help_all)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section per group, and how many options are hidden."""
        titles = (*GROUPS, *ADVANCED) if ctx.meta.get(SHOW_ALL) else GROUPS
        options = [parameter for parameter in self.get_params(ctx) if isinstance(parameter, click.Option)]
        records = [(_title(option), record) for option in options if (record := option.get_help_record(ctx))]
        for title in titles:
            if rows := [record for section, record in records if section == title]:
                with formatter.section(title):
                    formatter.write_dl(rows, col_max=NAMES_WIDTH)
        if hidden := sum(section not in titles for section, _ in records):
            formatter.write_paragraph()
            formatter.write_text(f"{hidden} more options: --help-all")


def _title(option: click.Option) -> str:
    return option.title if isinstance(option, GroupedOption) else "Output"


def _show_all(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        context.meta[SHOW_ALL] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()
