"""What notices say: short, and nothing that a model, a problem or a key could have put there."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from koderz_core.notices.commands import CommandResult
from koderz_core.notices.mask import masked_command, masked_output
from koderz_core.records.progress import SummaryRow
from koderz_core.report.formats import duration, money, plain

MOST_CONFIGURATIONS = 20
LINES = 5  # of a command's output
LINE_LENGTH = 200

_TERMINAL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]")


@dataclass(frozen=True, slots=True)
class Notice:
    """One message: its title is a line of its own above the others."""

    title: str
    lines: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join((self.title, *self.lines))


def test_notice(host: str) -> Notice:
    """To see that notices arrive."""
    return Notice("koderz: a test notice", (f"from {host}",))


def benchmark_ended(name: str, status: str, seconds: float, host: str, rows: Sequence[SummaryRow]) -> Notice:
    """``name``: of the benchmark and its id; ``rows``: what each of its configurations came to so far."""
    shown, more = rows[:MOST_CONFIGURATIONS], len(rows) - MOST_CONFIGURATIONS
    rest = (f"… and {more} more configurations",) if more > 0 else ()
    return Notice(
        f"koderz: {_line(name)} {status}",
        (f"after {duration(seconds)} on {host}", *(_configuration(row) for row in shown), *rest),
    )


def command_ended(command: Sequence[str], ended: CommandResult, host: str) -> Notice:
    """The last lines of the output are shown, secrets masked."""
    return Notice(
        f"koderz: {_line(masked_command(command))} {_manner(ended.code)}",
        (f"after {duration(ended.seconds)} on {host}", *last_lines(ended.tail)),
    )


def last_lines(output: str) -> tuple[str, ...]:
    """The last lines that say something, as a terminal shows them, with secrets masked before anything is cut."""
    shown = "\n".join(_overwritten(_TERMINAL.sub("", output)))
    lines = [line for line in masked_output(shown).splitlines() if line.strip()]
    return tuple(_line(line) for line in lines[-LINES:])


def _overwritten(output: str) -> Iterator[str]:
    """Each line as it was seen last: a progress line goes back to its beginning again and again."""
    for line in output.split("\n"):
        yield line.rstrip("\r").rpartition("\r")[2]


def _configuration(row: SummaryRow) -> str:
    without = row.planned - row.solved - row.unsolved - row.errors
    said = [f"{row.solved} of {row.planned} solved"]
    said += [f"{row.errors} ended as error"] if row.errors else []
    said += [f"{without} without a result"] if without else []
    return f"{_line(row.label)}: {', '.join(said)}, {money(row.cost_usd)}"


def _manner(code: int) -> str:
    if code == 0:
        return "finished"
    try:
        return f"was ended by {signal.Signals(code - 128).name} (exit code {code})"
    except ValueError:
        return f"failed with exit code {code}"


def _line(text: str) -> str:
    kept = plain(text.replace("\n", " ").replace("\t", " "))
    return kept if len(kept) <= LINE_LENGTH else f"{kept[: LINE_LENGTH - 1]}…"
