"""``--debug``: the files of every experiment, written as soon as it has ended while its benchmark goes on."""

from __future__ import annotations

import shlex
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from koderz_core.cli.options import Command
from koderz_core.errors import KoderzError
from koderz_core.events import Entry, ExperimentFinished
from koderz_core.export.dump_writing import write
from koderz_core.export.formats import numbered, plain
from koderz_core.records import Plan
from koderz_core.store.results import Results
from koderz_core.workspace.dumping import AT_ONCE, Dumped

FOLDER = Path("debug")


def debug_options(command: Command) -> Command:
    """``--debug`` and ``--debug-dir``."""
    place = click.option(
        "--debug-dir",
        type=click.Path(file_okay=False, path_type=Path),
        help=f"Where --debug writes; means --debug.  [default: {FOLDER}]",
    )
    switch = click.option("--debug", is_flag=True, help="Write prompts, replies, programs and results, one file each.")
    return switch(place(command))


def debug_folder(options: dict[str, Any]) -> Path | None:
    """Where the files go by what parsed options say; None: there are to be none."""
    folder: Path | None = options["debug_dir"]
    return folder or (FOLDER if options["debug"] else None)


def tell(dumped: Dumped) -> None:
    """Say what has been written, beside the standard output."""
    where = plain(str(dumped.folder))
    click.echo(
        f"Written: {numbered(dumped.files, 'file')} of {numbered(dumped.experiments, 'experiment')} into {where}.",
        err=True,
    )


class DebugFiles:
    """Watches the entries of a runner; as a context manager it writes in the end what is still missing, and says so.

    What keeps it from writing never touches the benchmark: it gives up, and tells why in the end.
    """

    def __init__(self, results: Results, plan: Plan, folder: Path | None) -> None:
        """``folder`` None: nothing is written. Raises DataError for one that cannot be written into."""
        self._results = results
        self._plan = plan
        self._dumped = None if folder is None else Dumped(folder)
        self._ended: deque[str] = deque()  # filled by the threads of the runner, emptied by the one that writes
        self._done: set[str] = set()
        self._fault: KoderzError | None = None
        if folder is not None:
            write((), folder)

    def watch(self, entry: Entry) -> None:
        """Note which experiment has ended."""
        if entry.experiment and isinstance(entry.event, ExperimentFinished):
            self._ended.append(entry.experiment)

    def beside(self, heed: Callable[[], None]) -> Callable[[], None]:
        """What heeds, and writes the files of what has ended meanwhile; it heeds again after every few."""

        def both() -> None:
            heed()
            while self._ended:
                self._write([self._ended.popleft() for _ in range(min(AT_ONCE, len(self._ended)))])
                heed()

        return both

    def __enter__(self) -> DebugFiles:
        return self

    def __exit__(self, *_: object) -> None:
        if self._dumped is None:
            return
        missing = self._missing()
        for start in range(0, len(missing), AT_ONCE):
            self._write(missing[start : start + AT_ONCE])
        tell(self._dumped)
        if self._fault:
            later = f"koderz analyze {self._plan.id} --dump {shlex.quote(str(self._dumped.folder))}"
            click.echo(f"Not all debug files are written: {plain(f'{self._fault} To do it then: {later}')}", err=True)

    def _missing(self) -> list[str]:
        """What ended since the last look, was recorded before, or broke off."""
        asked = {experiment.id for experiment in self._plan.experiments()} - (self._done - set(self._ended))
        try:
            rows = self._results.experiments(self._plan.id)
        except KoderzError as error:
            self._fault = self._fault or error
            return []
        return [row.id for row in rows if row.id in asked and row.state != "planned"]

    def _write(self, experiments: Sequence[str]) -> None:
        if self._dumped is None or self._fault:
            return
        try:
            self._dumped = self._dumped.and_of(self._results, experiments)
            self._done.update(experiments)
        except KoderzError as error:
            self._fault = error
