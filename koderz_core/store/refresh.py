"""Reading journals into an open index: the new lines of each, exactly once, in one transaction per chunk.

A chunk is folded into the rows that it changes; the last change of each row counts.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import msgspec
from duckdb import (
    ConstraintException,
    ConversionException,
    DuckDBPyConnection,
    InvalidInputException,
    OutOfRangeException,
)

from koderz_core import journal
from koderz_core.errors import JournalError
from koderz_core.events import BenchmarkOpened, CallStarted, Entry, ExperimentStarted, TextStored
from koderz_core.events.outages import Troubles
from koderz_core.events.unanswered_calls import Unanswered
from koderz_core.records import Tier
from koderz_core.store.benchmarks import troubles
from koderz_core.store.ingest import Change, Place, as_json, changes, unanswered
from koderz_core.store.schema import KEYS, Rows, Value, columns_of, renew

Key = tuple[Value, ...]
Row = dict[str, Value]


@dataclass(frozen=True, slots=True)
class ReadState:
    """The read part of a journal; ``mark``: a hash of its beginning and of the bytes before ``offset``."""

    benchmark: str = ""
    offset: int = 0
    entries: int = 0
    last_at: float = 0.0
    mark: str = ""


@dataclass(slots=True)
class Fold:
    """The rows that a chunk of one journal changes, and the state of the journal, which is at first that before it.

    ``journal``: its name for errors. ``known``: the rows in the index that the chunk may change, by table and key.
    """

    journal: str
    benchmark: str  # empty before the header
    tiers: Mapping[str, Tier]
    position: int  # the number of entries so far
    known: Mapping[str, Mapping[Key, Row]]
    attempts: dict[Key, Value]  # (experiment, ordinal) -> the attempt that started last
    unanswered: Unanswered
    troubles: Troubles
    rows: defaultdict[str, dict[Key, Row]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, entries: Iterable[Entry]) -> None:
        """Fold entries in. Raises JournalError for an entry that contradicts earlier ones."""
        positions: dict[str, int] = {}
        for entry in entries:
            place = self._place(entry)
            self.troubles.add(entry)
            for call in self.unanswered.add(entry):
                self._apply(unanswered(call))
                positions[call.experiment] = self.position  # its totals change, so its followers read it again
            for change in changes(entry.event, place):
                self._apply(change)
            if entry.experiment is not None:
                positions[entry.experiment] = self.position
            self.position += 1
        for experiment, position in positions.items():
            if before := self._before("experiments", (experiment,)):
                self.rows["experiments"][(experiment,)] = {**before, "position": position}

    def _place(self, entry: Entry) -> Place:
        if isinstance(entry.event, BenchmarkOpened):
            self.benchmark, self.tiers = entry.event.benchmark, entry.event.tiers
        call = (entry.experiment, entry.ordinal)
        if isinstance(entry.event, CallStarted):
            self.attempts[call] = entry.event.attempt
        return Place(
            entry.at,
            entry.experiment,
            entry.ordinal,
            self.position,
            self.benchmark,
            self.tiers,
            self.attempts.get(call),
        )

    def _before(self, table: str, key: Key) -> Row | None:
        return self.rows[table].get(key) or self.known.get(table, {}).get(key)

    def _apply(self, change: Change) -> None:
        key = tuple(change.values.get(column) for column in KEYS[change.table])
        before = self._before(change.table, key)
        if None in key or (before is None and change.how == "amend"):
            raise JournalError(
                f"The journal {self.journal} lacks a line: a later line changes the row "
                f"({', '.join(str(part) for part in key)}) in the index table {change.table}, but no "
                "earlier line creates this row. Restore the journal from a backup or move it out of its folder, "
                "then run `koderz reindex`."
            )
        if change.how == "replace" or before is None:
            self.rows[change.table][key] = dict(change.values)
        elif change.how != "insert":
            self.rows[change.table][key] = {**before, **change.values}


def begin_fold(con: DuckDBPyConnection, journal: str, entries: Sequence[Entry], before: ReadState) -> Fold:
    """The fold before ``entries``, with the rows in the index that they may change."""
    is_first = not before.offset  # the index has no rows of the journal
    unanswered = Unanswered() if is_first else unanswered_state(con, before.benchmark)
    opened = [entry.event.benchmark for entry in entries if isinstance(entry.event, BenchmarkOpened)]
    started = {entry.event.experiment.id for entry in entries if isinstance(entry.event, ExperimentStarted)}
    named = {entry.experiment for entry in entries if entry.experiment is not None}
    experiments = sorted({*started, *named, *unanswered.calls})
    texts = [entry.event.sha256 for entry in entries if isinstance(entry.event, TextStored)]
    benchmarks = {} if is_first else _rows(con, "benchmarks", _BENCHMARK, [before.benchmark])
    begun = _rows(con, "experiments", f"{_EXPERIMENTS} id in (select unnest(?))", [experiments]) if experiments else {}
    planned = _rows(con, "experiments", f"{_EXPERIMENTS} benchmark in (select unnest(?))", [opened]) if opened else {}
    has_calls = begun or (experiments and not is_first)
    calls = _rows(con, "calls", _LAST_ATTEMPTS, [experiments]) if has_calls else {}
    known = {
        "benchmarks": benchmarks,
        "experiments": begun | planned,
        "calls": calls,
        "texts": _rows(con, "texts", _TEXTS, [texts]) if texts else {},
    }
    tiers: dict[str, Tier] = {}
    for row in benchmarks.values():
        tiers = msgspec.json.decode(str(row["tiers"]), type=dict[str, Tier])
    attempts: dict[Key, Value] = {(experiment, ordinal): attempt for experiment, ordinal, attempt in calls}
    of_models = Troubles() if is_first else troubles(con, before.benchmark)
    return Fold(journal, before.benchmark, tiers, before.entries, known, attempts, unanswered, of_models)


def unanswered_state(con: DuckDBPyConnection, benchmark: str) -> Unanswered:
    """The state of unanswered calls, as of the last reading of a benchmark's journal."""
    row = con.execute("select unanswered from journals where benchmark = ?", [benchmark]).fetchone()
    return msgspec.json.decode(row[0], type=Unanswered) if row else Unanswered()


_BENCHMARK = "select * from benchmarks where id = ?"
_EXPERIMENTS = "select * from experiments where"
_TEXTS = "select sha256 from texts where sha256 in (select unnest(?))"

# Rows are found by a few columns, and only matching rows are read whole: the table may hold a million others.
_LAST_ATTEMPTS = """
select * from calls where rowid in (
    select rowid from calls where experiment in (select unnest(?))
    qualify row_number() over (partition by experiment, ordinal order by position desc) = 1
)
"""


def _rows(con: DuckDBPyConnection, table: str, sql: str, values: Sequence[object]) -> dict[Key, Row]:
    result = con.execute(sql, values)
    columns = [column for column, *_ in result.description or ()]
    rows = [dict(zip(columns, row, strict=True)) for row in result.fetchall()]
    return {tuple(row[column] for column in KEYS[table]): row for row in rows}


PASS_BYTES = 16 << 20
_MARK_BYTES = 512


@dataclass(frozen=True, slots=True)
class Ingested:
    """The number of events read; ``faults``: the journals that could not be read to the end, and what to do.

    ``more``: whether one pass over the journals has left something to read.
    """

    events: int
    faults: tuple[str, ...]
    more: bool = False


def load(con: DuckDBPyConnection, journals_dir: Path, states: Mapping[str, ReadState] | None = None) -> Ingested:
    """Read new lines of every journal, about PASS_BYTES in all, and none past its present end: some grow all the time.

    A journal that cannot be read does not affect the others. ``states``: the result of ``read_states``, if it is known.
    """
    events, left, faults = 0, PASS_BYTES, []
    seen = dict(read_states(con) if states is None else states)
    for path in journal.journals_in(journals_dir):
        at, end = seen.get(path.name, ReadState()), _size(path)
        try:
            while (
                left > 0
                and (end is None or at.offset < end)
                and (after := _load_chunk(con, path, at, is_empty=not seen)).offset > at.offset
            ):
                events, left, at = events + after.entries - at.entries, left - (after.offset - at.offset), after
                seen[path.name] = at
        except JournalError as error:
            faults.append(str(error))
    return Ingested(events, tuple(faults), left <= 0)


def outdated(journals_dir: Path, states: Mapping[str, ReadState]) -> str | None:
    """Why the index must be rebuilt: a journal in it is missing or is a different one now. None: it need not.

    ``states``: the result of ``read_states``.
    """
    present = {path.name for path in journal.journals_in(journals_dir)}
    for file, seen in states.items():
        path = journals_dir / file
        size = _size(path)
        if size is not None and file not in present:
            return f"The shard {file} is part of a merged benchmark now"
        if size is None:
            return f"The journal {file} is missing"
        if size < seen.offset or (size > seen.offset and _mark(path, seen.offset) not in (seen.mark, None)):
            return f"The journal {file} has been replaced"
    return None


def read_states(con: DuckDBPyConnection) -> dict[str, ReadState]:
    """The read part of each journal, by the name of its file."""
    rows = con.execute('select file, benchmark, "offset", entries, last_at, mark from journals').fetchall()
    return {file: ReadState(*columns) for file, *columns in rows}


def _load_chunk(con: DuckDBPyConnection, path: Path, before: ReadState, *, is_empty: bool) -> ReadState:
    """Read the next chunk of one journal and move its offset in the same transaction; return the new state.

    ``is_empty``: the index has no rows yet.
    """
    if _size(path) == before.offset:
        return before
    tail = journal.read(path, before.offset)
    if tail.offset == before.offset:
        return before
    for entry in tail.entries:
        if isinstance(entry.event, BenchmarkOpened):
            _require_no_copy(path, entry.event.benchmark)
    fold = _first_fold(path.name) if is_empty else begin_fold(con, path.name, tail.entries, before)
    fold.add(tail.entries)
    last_at = tail.entries[-1].at if tail.entries else before.last_at
    mark = _mark(path, tail.offset) or ""
    after = ReadState(fold.benchmark, tail.offset, before.entries + len(tail.entries), last_at, mark)
    folded = {"unanswered": as_json(fold.unanswered), "troubles": as_json(fold.troubles)}
    fold.rows["journals"][(path.name,)] = {"file": path.name, **asdict(after), **folded}
    is_new = not before.offset and not fold.known.get("experiments")
    try:
        _commit(con, path.name, fold.rows, frozenset(KEYS) if is_new else _ONLY_NEW)
    except ConstraintException:  # another journal has lines of the same experiments
        _commit(con, path.name, fold.rows, frozenset())
    return after


def _first_fold(journal: str) -> Fold:
    """The fold before the first entries in an empty index."""
    return Fold(journal, "", {}, 0, {}, {}, Unanswered(), Troubles())


_ONLY_NEW = frozenset({"texts"})
"""The tables to which a chunk only adds rows: a text that the index has is not written again."""


def _commit(con: DuckDBPyConnection, journal: str, changed: Rows, new: frozenset[str]) -> None:
    """Write the rows of a chunk, or none of them if it raises an error.

    ``new``: the tables that have no rows with these keys yet, because inserting takes less time than replacing. Raises
    ConstraintException if one of them has such a row, and JournalError for a number that is out of range.
    """
    con.begin()
    try:
        for table, rows in changed.items():
            if rows:
                _write(con, table, list(rows.values()), "insert" if table in new else "upsert")
        renew(con, changed, is_new="call_totals" in new)
    except (ConversionException, InvalidInputException, OutOfRangeException) as error:
        con.rollback()
        raise JournalError(f"The journal {journal} contains a number that is out of range: {error}.") from error
    except ConstraintException:
        con.rollback()
        raise
    con.commit()


def _require_no_copy(path: Path, benchmark: str) -> None:
    """Refuse a copy, whose rows would replace those of the journal beside it. A journal that was renamed is read."""
    own = path.with_name(f"{benchmark}.jsonl")
    if path != own and own.exists():
        raise JournalError(
            f"The journal {path.name} was not read, because it contains the same benchmark as {own.name}. Move the "
            "copy to another folder."
        )


def _write(
    con: DuckDBPyConnection,
    table: str,
    rows: Sequence[Mapping[str, Value]],
    action: Literal["insert", "upsert"],
) -> None:
    """Insert rows; ``upsert``: or replace rows of the same key. No two of ``rows`` may have the same key."""
    columns = columns_of(con, table)
    with con.appender(table, action=action) as appender:
        appender.append_rows([tuple(row.get(column) for column in columns) for row in rows])


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _mark(path: Path, offset: int) -> str | None:
    """The mark of a journal, None if the file cannot be read: the next reading reports that."""
    try:
        with path.open("rb") as file:
            beginning = file.read(min(_MARK_BYTES, offset))
            file.seek(max(0, offset - _MARK_BYTES))
            return hashlib.sha256(beginning + file.read(min(_MARK_BYTES, offset))).hexdigest()
    except OSError:
        return None
