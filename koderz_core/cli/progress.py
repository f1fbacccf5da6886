"""A running benchmark in a terminal: progress lines and bar, the files of ``--debug``, and the time of each phase."""

from __future__ import annotations

import shlex
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from koderz_core.cli.feed import Feed, Line
from koderz_core.cli.options import OutputPath, advised, option, with_options, write_json
from koderz_core.cli.tables import console as terminal
from koderz_core.cli.tables import terminal_table
from koderz_core.errors import KoderzError, UsageError
from koderz_core.events import BenchmarkOpened, Entry, ExperimentFinished
from koderz_core.events.outages import Troubles
from koderz_core.events.tally import Tally, Totals, added
from koderz_core.records import Plan
from koderz_core.report.dump import write
from koderz_core.report.formats import duration, money, numbered, plain
from koderz_core.report.status import Stage, TroubleNotice, trouble_notices
from koderz_core.workspace import Workspace
from koderz_core.workspace.experiments import AT_ONCE, PHASES, Dump, Experiments, Timing
from koderz_core.workspace.runs import Runner

FOLDER = Path("debug")
BEAT_SECONDS = 0.2  # between two checks for signals, and redraws
BROKEN = "The running experiments end before their next model call or test run. Press Ctrl-C twice to stop now."
PLAIN_SECONDS = 15.0  # between two lines where there is no terminal
SAME_TROUBLE_SECONDS = 30.0  # between two notices of the same trouble there
PLAIN_WIDTH = 200  # columns of a line without a terminal
LEAST_BAR, MOST_BAR = 5, 30  # columns

debug_options = with_options(
    option(
        "Output",
        "--debug",
        is_flag=True,
        help=f"Write prompts, answers, programs and results to files in the folder `{FOLDER}`.",
    ),
    option(
        "Output",
        "--debug-dir",
        type=click.Path(file_okay=False, path_type=Path),
        advanced=True,
        help=f"Folder for the files of --debug. Implies --debug.  [default: {FOLDER}]",
    ),
)
timing_options = with_options(
    option(
        "Output",
        "--timing-report",
        is_flag=True,
        advanced=True,
        help="At the end, show how much time each phase took, as `koderz analyze --timing` does.",
    ),
    option(
        "Output",
        "--timing-export",
        type=OutputPath(),
        metavar="FILE",
        advanced=True,
        help="At the end, write the time of each phase to this JSON file.",
    ),
)


def debug_folder(options: dict[str, Any]) -> Path | None:
    """The folder of the files by parsed options; None: no files."""
    folder: Path | None = options["debug_dir"]
    return folder or (FOLDER if options["debug"] else None)


def print_dump(dump: Dump) -> None:
    """Print what has been written, on standard error."""
    files, experiments = numbered(dump.files, "file"), numbered(dump.experiments, "experiment")
    click.echo(f"Wrote {files} of {experiments} to {plain(str(dump.folder))}.", err=True)


class DebugFiles:
    """Watches the entries of a runner; as a context manager it writes the missing files at the end and reports them.

    The files of an experiment are written as soon as it has ended, while its benchmark continues. A failure to write
    does not affect the benchmark: writing stops, and the reason is reported at the end.
    """

    def __init__(self, experiments: Experiments, plan: Plan, folder: Path | None) -> None:
        """``folder`` None: nothing is written. Raises DataError if it cannot be written to."""
        self._experiments = experiments
        self._plan = plan
        self._dump = None if folder is None else Dump(folder)
        self._ended: deque[str] = deque()  # filled by the threads of the runner, emptied by the one that writes
        self._done: set[str] = set()
        self._fault: KoderzError | None = None
        if folder is not None:
            write((), folder)

    def watch(self, entry: Entry) -> None:
        """Note the experiment that has ended."""
        if entry.experiment and isinstance(entry.event, ExperimentFinished):
            self._ended.append(entry.experiment)

    def with_writing(self, heed: Callable[[], None]) -> Callable[[], None]:
        """Return a function that calls ``heed``, and between calls writes the files of a few ended experiments."""

        def both() -> None:
            heed()
            while self._ended:
                self._write([self._ended.popleft() for _ in range(min(AT_ONCE, len(self._ended)))])
                heed()

        return both

    def __enter__(self) -> DebugFiles:
        return self

    def __exit__(self, *_: object) -> None:
        if self._dump is None:
            return
        missing = self._missing()
        for start in range(0, len(missing), AT_ONCE):
            self._write(missing[start : start + AT_ONCE])
        print_dump(self._dump)
        if self._fault:
            later = advised(f"koderz analyze {self._plan.id} --dump {shlex.quote(str(self._dump.folder))}")
            click.echo(f"Some debug files are missing: {plain(f'{self._fault} To write them: {later}')}", err=True)

    def _missing(self) -> list[str]:
        """Experiments that ended since the last write, were recorded before, or broke off."""
        asked = {experiment.id for experiment in self._plan.experiments()} - (self._done - set(self._ended))
        try:
            rows = self._experiments.results.experiments(self._plan.id)
        except KoderzError as error:
            self._fault = self._fault or error
            return []
        return [row.id for row in rows if row.id in asked and row.started_at is not None]

    def _write(self, experiments: Sequence[str]) -> None:
        if self._dump is None or self._fault:
            return
        try:
            self._dump = self._experiments.extend(self._dump, experiments)
            self._done.update(experiments)
        except KoderzError as error:
            self._fault = error


class TroubleLog:
    """Selects the notices to print where lines cannot be redrawn: new ones, and from time to time old ones."""

    def __init__(self) -> None:
        self._printed: dict[str, tuple[Stage, float]] = {}  # by model: what was printed last, and when

    def due(self, notices: Sequence[TroubleNotice], now: float) -> list[TroubleNotice]:
        """The notices to print now (seconds); a recovery only after its trouble was printed."""
        due = [notice for notice in notices if self._is_due(notice, now)]
        self._printed |= {notice.model: (notice.stage, now) for notice in due}
        return due

    def _is_due(self, notice: TroubleNotice, now: float) -> bool:
        stage, at = self._printed.get(notice.model, ("recovered", float("-inf")))
        if notice.stage == "recovered" or notice.stage != stage:
            return notice.stage != stage
        return now - at >= SAME_TROUBLE_SECONDS


class Progress:
    """Watches the entries of a runner, prints their lines, and draws a bar and a line per model in trouble below."""

    def __init__(self, *, silent: bool = False, quiet: bool = False, clock: Callable[[], float] = time.time) -> None:
        """``silent``: nothing is printed; ``quiet``: no line per iteration. ``clock``: seconds since 1970."""
        self._clock = clock
        self._planned = 0
        self._silent, self._quiet = silent, quiet
        self._feed: Feed | None = None
        self._lines: deque[Line] = deque()  # filled by the threads of the runner, emptied by the one that draws
        self._tally, self._ended = Tally(), Totals()  # the experiments that run, and the sum of those that ended
        self._troubles, self._log = Troubles(), TroubleLog()
        self._guard = threading.Lock()  # guards all of these: entries come from every worker thread
        self._begin = self._printed = time.monotonic()
        self.seconds = 0.0  # duration of the run, known at its end

    def begin(self, header: BenchmarkOpened) -> None:
        """Start to watch the benchmark with this header."""
        self._tally.unanswered.open(header)  # no event: a resumed journal has its header already
        self._feed = None if self._silent or self._quiet else Feed(header.plan)

    def watch(self, entry: Entry) -> None:
        """Count one entry."""
        with self._guard:
            self._troubles.add(entry)
            unanswered = self._tally.add(entry)
            if isinstance(entry.event, ExperimentFinished) and entry.experiment in self._tally.experiments:
                self._ended = added([self._ended, self._tally.experiments.pop(entry.experiment).totals])
            if self._feed and (line := self._feed.add(entry, unanswered)):
                self._lines.append(line)

    @property
    def cost_usd(self) -> float | None:
        """The cost of the watched calls; None if one of them has no price."""
        with self._guard:
            return self._totals().cost_usd

    def _totals(self) -> Totals:
        return added([self._ended, *(experiment.totals for experiment in self._tally.experiments.values())])

    def follow(self, runner: Runner, heed: Callable[[], None]) -> None:
        """Draw until the runner has ended; experiments from before are not counted.

        ``heed`` is called at every beat and may raise. An error that broke the benchmark is printed at once, and raised
        at the end.
        """
        self._planned = runner.remaining
        console = terminal(stderr=True)
        if self._silent:
            _beat(runner, heed, lambda: None)
        elif _redraws(console):
            with Live(self._status(runner, console), console=console, refresh_per_second=4, transient=True) as live:

                def redraw() -> None:
                    self._print_lines(console)
                    live.update(self._status(runner, console))

                _beat(runner, heed, redraw)
        else:
            _beat(runner, heed, lambda: self._print(runner, console))
        self.seconds = time.monotonic() - self._begin

    def _print(self, runner: Runner, console: Console) -> None:
        """Print new lines where nothing can be redrawn, and from time to time the progress."""
        self._print_lines(console)
        now = time.monotonic()
        for notice in self._log.due(self._notices(), now):
            console.print(Text(notice.text), soft_wrap=True)
        if now - self._printed >= PLAIN_SECONDS:
            self._printed = now
            console.print(self._line(runner), soft_wrap=True)

    def _print_lines(self, console: Console) -> None:
        """Print all new lines at once: one print per line would slow the benchmark."""
        width = console.width if console.is_terminal else PLAIN_WIDTH
        lines = [self._lines.popleft().within(width) for _ in range(len(self._lines))]
        if lines:
            console.print(Text("\n".join(lines)), soft_wrap=True)

    def _notices(self) -> list[TroubleNotice]:
        with self._guard:
            return trouble_notices(self._troubles.known(), self._clock())

    def _status(self, runner: Runner, console: Console) -> Text:
        """Trouble, then the bar if the terminal has room for it."""
        troubles = (Text(notice.text) for notice in self._notices())
        line = self._line(runner)
        columns = min(MOST_BAR, console.width - line.cell_len - 1)
        done = columns * self._ended.planned // max(1, self._planned)
        bar = Text("━" * done + "─" * (columns - done) + " " if columns >= LEAST_BAR else "")
        return Text("\n").join([*troubles, bar + line])

    def _line(self, runner: Runner) -> Text:
        with self._guard:
            totals, ended = self._totals(), self._ended
            failed = ended.cancelled + ended.errors
            seconds = time.monotonic() - self._begin
            left = (self._planned - ended.planned) * seconds / ended.planned if ended.planned else None
            unpriced = f" + {numbered(totals.unpriced, 'unpriced call')}" if totals.unpriced else ""
            parts = [
                *(["stopping"] if runner.stopping else ["paused"] if runner.paused else []),
                *(["waiting for free memory"] if runner.memory != "enough" else []),
                f"{ended.planned}/{self._planned} experiments",
                f"{ended.solved} solved",
                *([f"{failed} without a result"] if failed else []),
                numbered(totals.iterations, "iteration"),
                money(totals.known_usd) + unpriced,
                f"{duration(seconds)} elapsed",
                f"about {duration(left)} left" if left is not None else "remaining time unknown",
            ]
        return Text(" · ".join(parts))


def _redraws(console: Console) -> bool:
    """Whether the console can redraw lines, and plain ones are not requested (NO_COLOR, TERM=dumb)."""
    return console.file.isatty() and console.is_terminal and not (console.is_dumb_terminal or console.no_color)


def _beat(runner: Runner, heed: Callable[[], None], draw: Callable[[], None]) -> None:
    fault = None
    while not runner.wait(BEAT_SECONDS):
        if fault is not runner.fault:
            fault = runner.fault
            click.echo(f"{plain(str(fault))} {BROKEN}", file=sys.stderr)
        heed()
        draw()
    draw()


def check_timing(options: Mapping[str, Any], *, as_json: bool) -> None:
    """Raise UsageError for a table of times among JSON."""
    if as_json and options["timing_report"]:
        raise UsageError("--timing-report is not available with --json. Use --timing-export FILE, which writes JSON.")


def show_timing(opened: Workspace, benchmark: str, options: Mapping[str, Any]) -> None:
    """Print and write the times that the options ask for. Raises DataError for a file that cannot be written."""
    path: Path | None = options["timing_export"]
    if not (path or options["timing_report"]):
        return
    rows = opened.experiments.timings(benchmark)
    if options["timing_report"]:
        click.echo()
        print_timings(rows)
    if path:
        write_json(path, rows)


def print_timings(rows: Sequence[Timing]) -> None:
    """One line per configuration: seconds and share of each phase."""
    table = terminal_table()
    for name in ("configuration", "n", "time", *PHASES):
        table.add_column(name, justify="left" if name == "configuration" else "right")
    for row in rows:
        shares = [f"{duration(row.phases[phase])} ({row.phases[phase] / (row.seconds or 1):.0%})" for phase in PHASES]
        table.add_row(plain(row.label), str(row.experiments), duration(row.seconds), *shares)
    terminal().print(table)
    terminal().print(
        "The last column (journal) contains all other time, such as the time to write the journal and to wait for a "
        "worker.",
        style="dim",
    )
