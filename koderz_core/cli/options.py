"""Options that several commands share, and the workspace they open."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import koderz_core
from koderz_core.cli.help import Command, option
from koderz_core.errors import DataError, InfrastructureError, JournalError, UnknownNameError

if TYPE_CHECKING:
    from koderz_core import Workspace


class OutputPath(click.Path):
    """The path of a file to write. Raises DataError for a folder, as for any other path that cannot be written."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # Any: click's
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if path.is_dir():
            raise DataError(f"{path} is a folder and cannot be written. Name a file.")
        return path


def data_dir(command: Command) -> Command:
    """``--data-dir``: the folder of journals, index and weights."""
    folder = click.Path(file_okay=False, path_type=Path)
    return option("Output", "--data-dir", type=folder, help="Data folder, instead of KODERZ_HOME.")(command)


def as_json(command: Command) -> Command:
    """``--json``: for programs instead of people."""
    return option("Output", "--json", "as_json", is_flag=True, help="Print JSON instead of a table.")(command)


def quiet(command: Command) -> Command:
    """``--quiet``: no line per iteration."""
    return option("Output", "--quiet", is_flag=True, help="Do not print a line per iteration.")(command)


@contextmanager
def workspace(data_dir: Path | None, **settings: Any) -> Iterator[Workspace]:  # Any: settings by field name
    """An open workspace under the command line's settings."""
    with koderz_core.open_workspace(home=data_dir, **settings) as opened:
        try:
            yield opened
        except UnknownNameError as error:
            if not opened.results.faults:
                raise
            raise JournalError(
                f"{error} It may be in a journal that cannot be read: {opened.results.faults[0]}"
            ) from error


def report_faults(opened: Workspace) -> int:
    """Print a warning per journal that could not be read completely; returns the exit code."""
    for fault in opened.results.faults:
        click.echo(f"Warning: {fault}", err=True)
    return InfrastructureError.exit_code if opened.results.faults else 0


def print_json(value: object) -> None:
    """Records, or lists and dicts of them, as JSON on standard output."""
    click.echo(json.dumps(value, default=_plain, indent=2, ensure_ascii=True))


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return str(value)
