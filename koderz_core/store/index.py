"""The open index that every query gets, with the processes that write journals; SQL rows as records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypeVar

import msgspec
from duckdb import DuckDBPyConnection

from koderz_core.errors import JournalError
from koderz_core.journal import holder
from koderz_core.records import OF_VARIANT, Control
from koderz_core.records.marks import SEARCHED_SITES, SHOW_BASE_TESTS, SHOW_NO_ATTEMPTS
from koderz_core.records.rows import ExperimentRow, State

Record = TypeVar("Record")
Values = Sequence[object] | Mapping[str, object]


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
        holders = {journal.stem: self._holder(journal.stem) for journal in folder.glob("*.jsonl")}
        self._holders = {benchmark: pid for benchmark, pid in holders.items() if pid is not None}

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


def records(con: DuckDBPyConnection, record: type[Record], sql: str, values: Values = ()) -> list[Record]:
    """The rows of a query, each as a frozen record with its columns."""
    return msgspec.convert(mappings(con, sql, values), list[record])  # type: ignore[valid-type]  # known when it runs


def mappings(con: DuckDBPyConnection, sql: str, values: Values = ()) -> list[dict[str, object]]:
    """The rows of a query by column, with JSON decoded; equal texts are decoded once, as thousands may be equal."""
    result = con.execute(sql, values)
    columns = [name for name, *_ in result.description or ()]
    decoded = [name for name, kind, *_ in result.description or () if str(kind) == "JSON"]
    decode = cache(msgspec.json.decode)
    rows: list[dict[str, object]] = [dict(zip(columns, row, strict=True)) for row in result.fetchall()]
    for row in rows:
        row |= {name: decode(text) for name in decoded if (text := row[name]) is not None}
    return rows


_SILENT = ", ".join(f"'{name}'" for name in sorted(SHOW_NO_ATTEMPTS))
_SHOWING = ", ".join(f"'{name}'" for name in sorted(SHOW_BASE_TESTS))
SAW_BASE_TESTS = f"""
(split_part(b.dataset, '{OF_VARIANT}', 1) in ({_SHOWING})
    or f.gate <> 'examples' and f.feedback = 'full' and f.strategy not in ({_SILENT})
    and coalesce(try_cast(f.parameters ->> if(f.strategy = 'beam', '$.depth', '$.max_iterations') as double), 2) > 1
    and (coalesce(f.parameters ->> '$.previous_error', 'true') = 'true' or json_exists(f.models, '$.reviewer')))
"""
"""Whether prompts of a configuration ``f`` of a benchmark ``b`` contain base tests with their expected values.

They do after a failed program, or if the text of each problem shows a base test.

Examples are part of the problem's text anyway. Feedback other than ``full`` gives the program's result, not the
expected one. A strategy that koderz does not know counts as one that shows its feedback. A spec is written before the
first test; a reviewer sees the same feedback as the coder, and may repeat it.
"""
SEARCHED = f"coalesce(f.parameters ->> '$.search', '') in {SEARCHED_SITES}"
"""Whether prompts of a configuration ``f`` contain results of a web search."""
