"""The open index that every query gets, with the processes that write journals; SQL rows as records."""

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
class Hold:
    """A pause or a stop that is in effect while its benchmark runs; ``target`` empty: for the whole benchmark."""

    benchmark: str
    target: str
    what: Control


class Writers:
    """The process that writes each journal. Create it before the journals are read.

    A writer that has closed its journal by then has written everything, so a benchmark that ended properly never looks
    interrupted. A journal whose writer cannot be determined counts as having none, and ``faults`` gives the reason.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._faults: dict[str, str] = {}
        found = {journal.stem: self._holder(journal.stem) for journal in folder.glob("*.jsonl")}
        self._holders = {benchmark: pid for benchmark, pid in found.items() if pid is not None}

    @property
    def faults(self) -> tuple[str, ...]:
        """The journals whose writers could not be determined so far, and what to do."""
        return tuple(self._faults.values())

    @property
    def present(self) -> frozenset[tuple[str, int]]:
        """The benchmarks whose journals were being written, each with its process."""
        return frozenset(self._holders.items())

    def of(self, benchmark: str, *, closed: bool) -> int | None:
        """The process that writes a benchmark's journal; unless it is ``closed``, one that started later counts too."""
        pid = self._holders.get(benchmark)
        return self._holder(benchmark) if pid is None and not closed else pid

    def state(self, benchmark: str, state: State) -> State:
        """The state of an experiment, which is ``interrupted`` if it was running and its benchmark has no writer."""
        abandoned = state == "running" and self.of(benchmark, closed=False) is None
        return "interrupted" if abandoned else state

    def shown(self, row: ExperimentRow, held: Set[Hold]) -> ExperimentRow:
        """The experiment with ``state`` as above, or ``paused`` if a pause keeps it waiting."""
        if row.state == "finished" or (row.state == "planned" and not held):  # most are
            return row
        state = self.state(row.benchmark, row.state)
        held_back = any(Hold(row.benchmark, target, "pause") in held for target in ("", row.configuration, row.id))
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
    """``writers``: from before the journals were read. ``unread``: faults of journals that were not read to the end."""

    con: DuckDBPyConnection
    writers: Writers
    unread: tuple[str, ...] = ()


def in_effect(con: DuckDBPyConnection) -> frozenset[Hold]:
    """The pauses and stops in effect, according to the journals."""
    return frozenset(records(con, Hold, _HELD))


_HELD = """
select benchmark, target, what from controls c
where what != 'resume' and position > coalesce((
    select max(r.position) from controls r
    where r.benchmark = c.benchmark and r.what = 'resume' and r.target in ('', c.target)
), -1)
"""
