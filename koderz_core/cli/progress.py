"""The live line of a running benchmark: how many solved, what it has cost, when it will be done."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import click
from rich.live import Live
from rich.text import Text

from koderz_core.cli.tables import console as terminal
from koderz_core.events import BenchmarkOpened, CallFinished, CodeTested, Entry, ExperimentFinished
from koderz_core.events.trouble import Troubles
from koderz_core.events.unanswered import Unanswered
from koderz_core.export.formats import duration, money, plain
from koderz_core.export.trouble import Stage, TroubleNotice, trouble_notices
from koderz_core.runner.runner import Runner

BEAT_SECONDS = 0.2  # how often signals are heeded and the line is drawn
BROKEN = "What runs ends at its next step; press Ctrl-C twice to stop now."
PLAIN_SECONDS = 15.0  # how often a line is printed where there is no terminal
SAME_TROUBLE_SECONDS = 30.0  # how often trouble that stays the same is printed there


@dataclass(slots=True)
class _Count:
    solved: int = 0
    ended: int = 0
    failed: int = 0
    iterations: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0


class TroubleLog:
    """Picks the notices to print where lines cannot be redrawn: those that are new, and old ones now and then."""

    def __init__(self) -> None:
        self._printed: dict[str, tuple[Stage, float]] = {}  # by model: what was printed last, and when

    def due(self, notices: Sequence[TroubleNotice], now: float) -> list[TroubleNotice]:
        """Those to print at this moment (seconds); a recovery only after its trouble was printed."""
        due = [one for one in notices if self._is_due(one, now)]
        self._printed |= {one.model: (one.stage, now) for one in due}
        return due

    def _is_due(self, notice: TroubleNotice, now: float) -> bool:
        stage, at = self._printed.get(notice.model, ("recovered", float("-inf")))
        if notice.stage == "recovered" or notice.stage != stage:
            return notice.stage != stage
        return now - at >= SAME_TROUBLE_SECONDS


class Progress:
    """Watches the entries of a runner and draws one line, and one more for each model in trouble."""

    def __init__(self, *, quiet: bool = False, clock: Callable[[], float] = time.time) -> None:
        """``clock``: seconds since 1970."""
        self._clock = clock
        self._planned = 0
        self._quiet = quiet
        self._count = _Count()
        self._unanswered, self._troubles, self._log = Unanswered(), Troubles(), TroubleLog()
        self._guard = threading.Lock()  # guards all three: entries come from every worker thread
        self._begin = time.monotonic()
        self.seconds = 0.0  # that it took, known at its end

    def begin(self, header: BenchmarkOpened) -> None:
        """What is watched from now on is of the benchmark with this header, which need not be said again."""
        self._unanswered.add(Entry(0.0, header))

    def watch(self, entry: Entry) -> None:
        """Count one entry."""
        with self._guard:
            count = self._count
            self._troubles.add(entry)
            for call in self._unanswered.add(entry):
                count.cost_usd += (call.cost and call.cost.usd) or 0.0
            match entry.event:
                case CodeTested():
                    count.iterations += 1
                case CallFinished(cost=cost):
                    count.cost_usd += cost.usd or 0.0
                    count.unpriced += cost.usd is None
                case ExperimentFinished(outcome=outcome):
                    count.ended += 1
                    count.solved += outcome == "solved"
                    count.failed += outcome in ("error", "cancelled")

    @property
    def cost_usd(self) -> float | None:
        """What the calls that were watched have cost; None if one of them has no price."""
        with self._guard:
            return None if self._count.unpriced else self._count.cost_usd

    def follow(self, runner: Runner, heed: Callable[[], None]) -> None:
        """Draw until the runner has ended; what was done before it began is not counted.

        ``heed`` is called at every beat; what it raises ends this. What broke the benchmark is said at once, and raised
        in the end.
        """
        self._planned = runner.remaining
        console = terminal(stderr=True)
        if self._quiet:
            _beat(runner, heed, lambda: None)
        elif console.is_terminal:
            with Live(self._lines(runner), console=console, refresh_per_second=4, transient=True) as live:
                _beat(runner, heed, lambda: live.update(self._lines(runner)))
        else:
            printed = [self._begin]

            def draw() -> None:
                for notice in self._log.due(self._notices(), time.monotonic()):
                    console.print(Text(notice.text), soft_wrap=True)
                if time.monotonic() - printed[0] >= PLAIN_SECONDS:
                    printed[0] = time.monotonic()
                    console.print(self._line(runner))

            _beat(runner, heed, draw)
        self.seconds = time.monotonic() - self._begin

    def _notices(self) -> list[TroubleNotice]:
        with self._guard:
            return trouble_notices(self._troubles.known(), self._clock())

    def _lines(self, runner: Runner) -> Text:
        troubles = (Text(notice.text) for notice in self._notices())
        return Text("\n").join([*troubles, self._line(runner)])

    def _line(self, runner: Runner) -> Text:
        with self._guard:
            count = self._count
            seconds = time.monotonic() - self._begin
            left = (self._planned - count.ended) * seconds / count.ended if count.ended else None
            spent = money(count.cost_usd) + (f" + {count.unpriced} unpriced calls" if count.unpriced else "")
            parts = [
                *(["stopping"] if runner.stopping else ["paused"] if runner.paused else []),
                f"{count.ended}/{self._planned} experiments",
                f"{count.solved} solved",
                *([f"{count.failed} without result"] if count.failed else []),
                f"{count.iterations} iterations",
                spent,
                f"{duration(seconds)} gone",
                f"about {duration(left)} left" if left is not None else "time left not known yet",
            ]
        return Text(" · ".join(parts))


def _beat(runner: Runner, heed: Callable[[], None], draw: Callable[[], None]) -> None:
    fault = None
    while not runner.wait(BEAT_SECONDS):
        if fault is not runner.fault:
            fault = runner.fault
            click.echo(f"{plain(str(fault))} {BROKEN}", file=sys.stderr)
        heed()
        draw()
    draw()
