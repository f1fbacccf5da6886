"""The texts of notices: short, and without text from models, problems or keys."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from koderz_core.notices.commands import CommandResult
from koderz_core.notices.mask import masked_command, masked_output
from koderz_core.records.progress import SummaryRow
from koderz_core.report.formats import duration, money, numbered, plain

MOST_CONFIGURATIONS = 20
LINES = 5  # of a command's output
LINE_LENGTH = 200

_TERMINAL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]")


@dataclass(frozen=True, slots=True)
class Notice:
    """One message: a title line, and lines below it."""

    title: str
    lines: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join((self.title, *self.lines))


def test_notice(host: str) -> Notice:
    """A notice to check that notices arrive."""
    return Notice("koderz: a test notification", (f"from {host}",))


def benchmark_ended(name: str, status: str, seconds: float, host: str, rows: Sequence[SummaryRow]) -> Notice:
    """``name``: the name and id of the benchmark; ``rows``: the results of its configurations so far."""
    shown, more = rows[:MOST_CONFIGURATIONS], len(rows) - MOST_CONFIGURATIONS
    rest = (f"… and {numbered(more, 'more configuration')}",) if more > 0 else ()
    return Notice(
        f"koderz: {_line(name)} {status}",
        (f"after {duration(seconds)} on {host}", *(_configuration(row) for row in shown), *rest),
    )


def command_ended(command: Sequence[str], ended: CommandResult, host: str) -> Notice:
    """The notice shows the last lines of the output, with secrets masked."""
    return Notice(
        f"koderz: {_line(masked_command(command))} {_manner(ended.code)}",
        (f"after {duration(ended.seconds)} on {host}", *last_lines(ended.tail)),
    )


def last_lines(output: str) -> tuple[str, ...]:
    """The last lines that are not empty, as a terminal shows them. Secrets are masked before lines are cut."""
    shown = "\n".join(_overwritten(_TERMINAL.sub("", output)))
    lines = [line for line in masked_output(shown).splitlines() if line.strip()]
    return tuple(_line(line) for line in lines[-LINES:])


def _overwritten(output: str) -> Iterator[str]:
    """Each line as it was last shown: a progress bar rewrites its line."""
    for line in output.split("\n"):
        yield line.rstrip("\r").rpartition("\r")[2]


def _configuration(row: SummaryRow) -> str:
    without = row.planned - row.solved - row.unsolved - row.errors
    parts = [f"{row.solved} of {numbered(row.planned, 'experiment')} solved"]
    parts += [f"{row.errors} ended with an error"] if row.errors else []
    parts += [f"{without} without a result"] if without else []
    return f"{_line(row.label)}: {', '.join(parts)}, {money(row.cost_usd)}"


def _manner(code: int) -> str:
    if code == 0:
        return "finished"
    try:
        return f"was ended by {signal.Signals(code - 128).name} (exit code {code})"
    except ValueError:
        return f"failed with exit code {code}"


def _line(text: str) -> str:
    line = plain(text.replace("\n", " ").replace("\t", " "))
    return line if len(line) <= LINE_LENGTH else f"{line[: LINE_LENGTH - 1]}…"
