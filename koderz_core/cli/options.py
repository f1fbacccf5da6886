"""Options that several commands share, their help in groups, the workspace that they open, and the yes of a user."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import click
import msgspec

import koderz_core
from koderz_core.errors import DataError, InfrastructureError, JournalError, KoderzError, UnknownNameError, UsageError
from koderz_core.files import replace_file

if TYPE_CHECKING:
    from koderz_core import Workspace

Command = TypeVar("Command", bound=Callable[..., Any])  # Any: click calls a command with its own options
Option = Callable[[Any], Any]  # Any: click's decorators take and give any command
Group = Literal["Problems", "Models and roles", "Strategy", "Budget and limits", "Output"]
GROUPS: tuple[Group, ...] = get_args(Group)
ADVANCED = tuple(f"Advanced: {group.lower()}" for group in GROUPS)
NAMES_WIDTH = 24  # columns; the text of an option with a longer name begins on the next line
HUMANEVAL_FILE = "HumanEval file to use instead of the file that comes with koderz."
SHOW_ALL = f"{__name__}.show_all"  # key in the meta of click's context


class GroupedOption(click.Option):
    """An option with the title of its section. ``GroupedCommand`` shows an advanced one only with ``--help-all``."""

    def __init__(self, *args: Any, group: Group, advanced: bool, **settings: Any) -> None:  # Any: click's
        super().__init__(*args, **settings)
        self.title = ADVANCED[GROUPS.index(group)] if advanced else group


def option(group: Group, *names: str, advanced: bool = False, **settings: Any) -> Callable[[Command], Command]:
    """``click.option`` in a group. In the help of a plain command the group has no effect."""
    return click.option(*names, cls=GroupedOption, group=group, advanced=advanced, **settings)


def with_options(*options: Option) -> Callable[[Command], Command]:
    """A decorator that adds these options, which the help shows in this order."""

    def decorate(command: Command) -> Command:
        for each in reversed(options):
            command = each(command)
        return command

    return decorate


class GroupedCommand(click.Command):
    """A command with so many options that its help shows them in groups and hides the advanced ones.

    ``--help`` then fits on one screen, and ``--help-all`` shows every option.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:  # Any: click's
        super().__init__(*args, **settings)
        help_all = click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_all,
            help="Show this message with all options, then exit.",
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
            formatter.write_text(f"--help-all shows {hidden} more options.")


def _title(option: click.Option) -> str:
    return option.title if isinstance(option, GroupedOption) else "Output"


def _show_all(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        context.meta[SHOW_ALL] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


class Whole(click.IntRange):
    """A whole number between bounds. Help and messages use its name."""

    name = "integer"


class Number(click.FloatRange):
    """A finite number between bounds: click accepts nan and infinity, which pass no comparison."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # Any: click's
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value} is not a finite number.", param, ctx)


class OutputPath(click.Path):
    """The path of a file to write. Raises DataError for a folder, as for any other path that cannot be written.

    ``or_folder``: a folder is allowed too.
    """

    def __init__(self, *, or_folder: bool = False) -> None:
        super().__init__(path_type=Path)
        self._or_folder = or_folder

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # Any: click's
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not self._or_folder:
            check_no_folder(path)
        return path


def check_no_folder(path: Path) -> None:
    """Raise DataError for a folder where a file is to be written."""
    if path.is_dir():
        raise DataError(f"{path} is a folder and cannot be written. Give the path of a file.")


def check_overwrite(path: Path, *, force: bool, option: str = "") -> None:
    """Raise DataError for a file that exists, unless ``--force`` is given; ``option`` names another file."""
    if path.exists() and not force:
        other = f"another file with {option}" if option else "another file"
        raise DataError(f"{path} exists. To overwrite it, add --force. To keep it, choose {other}.")


def check_tasks_file(path: Path, *, force: bool) -> None:
    """Raise DataError for a path at which no dataset file of tasks can be written: making tasks takes long."""
    if not path.name.endswith(".jsonl"):
        raise DataError(f"{path} does not end with .jsonl. Choose a file name with this ending.")
    check_writable(path)
    check_overwrite(path, force=force)


def check_writable(path: Path) -> None:
    """Raise DataError for a file in a folder that does not exist or is read-only, before a command that takes long."""
    if not os.access(path.absolute().parent, os.W_OK | os.X_OK):
        raise DataError(
            f"{path} cannot be written: its folder does not exist, or you have no permission to write to this folder. "
            "Create the folder, or choose another one."
        )


def agrees(question: str, advice: str, *, yes: bool, ask: bool = True) -> bool:
    """Whether the user agrees that a file is written: by ``--yes``, or by an answer in a terminal.

    Otherwise print ``advice``. ``ask=False`` asks no question. Both texts may contain only harmless characters.
    """
    if yes or (ask and sys.stdin.isatty() and click.confirm(question, err=True)):
        return True
    click.echo(advice, err=True)
    return False


data_dir = option(
    "Output",
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Data folder to use instead of the one in KODERZ_HOME.",
)
WITHOUT_DATA_DIR = frozenset({"strategies", "notify"})
"""The commands without the option ``--data-dir``."""
as_json = option("Output", "--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
quiet = option("Output", "--quiet", is_flag=True, help="Do not print a line per iteration.")
fail_under = option(
    "Output",
    "--fail-under",
    type=Number(0, 100),
    help="Exit with code 4 if a configuration solves less than this percentage of its experiments.",
)
mapping = option(
    "Problems",
    "--map",
    "mapping",
    multiple=True,
    advanced=True,
    metavar="FIELD=COLUMN",
    help="Dataset column that contains the field FIELD. FIELD:=VALUE sets the same value for all rows. Repeatable.",
)
workers = click.option(
    "--workers",
    type=Whole(1),
    default=os.cpu_count() or 1,
    show_default="one per core",
    help="Number of programs to grade at the same time.",
)
grading_engine = click.option(
    "--engine",
    metavar="ENGINE",
    default="local",
    show_default=True,
    help="Where programs are graded: local, or dask[=ADDRESS|local:N|slurm:FILE]. See docs/scale.md.",
)


def advised(command: str) -> str:
    """A command, or a text that ends with a command, with ``--data-dir`` added if the running command was given it."""
    context = click.get_current_context(silent=True)
    return command + _data_dir_option(context.params.get("data_dir") if context else None)


def _data_dir_option(folder: Path | None) -> str:
    from koderz_core.report.formats import plain  # noqa: PLC0415 (not every command needs what it imports)

    return "" if folder is None else f" --data-dir {plain(shlex.quote(str(folder)))}"


@contextmanager
def workspace(data_dir: Path | None, **settings: Any) -> Iterator[Workspace]:  # Any: settings by field name
    """An open workspace under the command line's settings."""
    with _completed_advice(data_dir), koderz_core.open_workspace(home=data_dir, **settings) as opened:
        try:
            yield opened
        except UnknownNameError as error:
            if opened.results.faults:
                fault = opened.results.faults[0]
                raise JournalError(f"{error} The name may be in a journal that cannot be read: {fault}") from error
            if not error.kind.startswith("benchmark"):
                raise
            raise UsageError(
                f"{error} koderz searched the data folder {opened.settings.home}. To use another data folder, add "
                "--data-dir FOLDER, or set KODERZ_HOME."
            ) from error


@contextmanager
def _completed_advice(data_dir: Path | None) -> Iterator[None]:
    """Add a note to an error that advises commands: without ``--data-dir``, they would use another data folder."""
    from koderz_core.cli import COMMANDS  # noqa: PLC0415 (imports this file)

    try:
        yield
    except KoderzError as error:
        names = "|".join(set(COMMANDS) - WITHOUT_DATA_DIR)
        advises = re.search(rf"(?:: |`)koderz (?:{names})\b", str(error))
        if data_dir is not None and advises and not re.search("--data-dir|data folder", str(error)):
            error.add_note(f" Add{_data_dir_option(data_dir)} to the commands in this message.")
        raise


def report_faults(opened: Workspace) -> int:
    """Print a warning per journal that could not be read completely; returns the exit code."""
    from koderz_core.report.formats import plain  # noqa: PLC0415 (not every command needs what it imports)

    for fault in opened.results.faults:
        click.echo(f"Warning: {plain(fault)}", err=True)
    return InfrastructureError.exit_code if opened.results.faults else 0


def print_json(value: object, *, more: bool = False) -> None:
    """Records, or lists and dicts of them, as JSON on standard output. ``more``: whether a limit leaves some out."""
    click.echo(_json(value))
    if more:
        click.echo("… and more lines (--limit 0 shows all)", err=True)


def write_json(path: Path, value: object) -> None:
    """Records, or lists and dicts of them, as a JSON file. Raises DataError."""
    try:
        replace_file(path, f"{_json(value)}\n".encode(), private=False)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}. Choose another file.") from error
    click.echo(f"Written: {path}", err=True)


def _json(value: object) -> str:
    return json.dumps(value, default=_as_json, indent=2, ensure_ascii=True)


def _as_json(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return msgspec.to_builtins(value, enc_hook=str)
    return str(value)
