"""The open index that every question to the store is given, with the processes that write the journals."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace
from pathlib import Path

from duckdb import DuckDBPyConnection

from koderz_core.errors import JournalError
from koderz_core.journal import holder
from koderz_core.records import Control
from koderz_core.records.rows import ExperimentRow, State
from koderz_core.store.rows import records


@dataclass(frozen=True, slots=True)
class Held:
    """A pause or a stop that is in effect while its benchmark is being run; ``target`` empty: of the whole of it."""

    benchmark: str
    target: str
    what: Control


class Writers:
    """Which process writes which journal. Make one before the journals are read.

    A writer that has let go by then has written all it had to say, so nobody who ends well looks interrupted.
    Where that cannot be told, nobody counts as the writer, and ``faults`` says why.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._faults: dict[str, str] = {}
        found = {journal.stem: self._holder(journal.stem) for journal in folder.glob("*.jsonl")}
        self._holders = {benchmark: pid for benchmark, pid in found.items() if pid is not None}

    @property
    def faults(self) -> tuple[str, ...]:
        """Whose writers could not be told so far, and the cure."""
        return tuple(self._faults.values())

    @property
    def present(self) -> frozenset[tuple[str, int]]:
        """The benchmarks whose journals were being written, each with the process that did."""
        return frozenset(self._holders.items())

    def of(self, benchmark: str, *, closed: bool) -> int | None:
        """The process that writes a benchmark's journal; unless ``closed`` it may have begun after ``self`` did."""
        pid = self._holders.get(benchmark)
        return self._holder(benchmark) if pid is None and not closed else pid

    def state(self, benchmark: str, state: State) -> State:
        """The state of an experiment with work that nobody does any more told from work that goes on."""
        left = state == "running" and self.of(benchmark, closed=False) is None
        return "interrupted" if left else state

    def told(self, row: ExperimentRow, held: Set[Held]) -> ExperimentRow:
        """The experiment with its ``state`` so told, and what waits because somebody holds it back as ``paused``."""
        if row.state == "finished" or (row.state == "planned" and not held):  # most are
            return row
        state = self.state(row.benchmark, row.state)
        held_back = any(Held(row.benchmark, one, "pause") in held for one in ("", row.configuration, row.id))
        if held_back and state in ("planned", "running") and self.of(row.benchmark, closed=False) is not None:
            state = "paused"
        return row if state == row.state else replace(row, state=state)

    def _holder(self, benchmark: str) -> int | None:
        try:
            return holder(self._folder / f"{benchmark}.jsonl")
        except JournalError as error:
            self._faults[benchmark] = str(error)
            return None


@dataclass(frozen=True, slots=True)
class Index:
    """``writers``: made before the journals were read. ``unread``: journals that could not be read to their end."""

    con: DuckDBPyConnection
    writers: Writers
    unread: tuple[str, ...] = ()


def in_effect(con: DuckDBPyConnection) -> frozenset[Held]:
    """The pauses and stops in effect, as far as the journals tell."""
    return frozenset(records(con, Held, _HELD))


_HELD = """
select benchmark, target, what from controls c
where what != 'resume' and position > coalesce((
    select max(r.position) from controls r
    where r.benchmark = c.benchmark and r.what = 'resume' and r.target in ('', c.target)
), -1)
"""
