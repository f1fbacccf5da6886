"""Bringing journals into an open store: what is new of each, exactly once, a chunk per transaction.

A stretch of a journal is folded into the rows that it leaves behind, the last word on each row winning.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import msgspec
from duckdb import ConversionException, DuckDBPyConnection, InvalidInputException, OutOfRangeException

from koderz_core import journal
from koderz_core.errors import JournalError
from koderz_core.events import BenchmarkOpened, CallStarted, Entry, ExperimentStarted, TextStored
from koderz_core.events.outages import Troubles
from koderz_core.events.unanswered_calls import Unanswered
from koderz_core.records import Tier
from koderz_core.store.benchmarks import troubles
from koderz_core.store.ingest import Change, Place, as_json, changes, unanswered
from koderz_core.store.schema import KEYS, Value, renew

Key = tuple[Value, ...]
Row = dict[str, Value]


@dataclass(frozen=True, slots=True)
class Known:
    """What the store holds already and this stretch may build on."""

    benchmark: str = ""
    tiers: Mapping[str, Tier] = field(default_factory=dict)
    position: int = 0  # how many events of this journal were folded before
    rows: Mapping[str, Mapping[Key, Row]] = field(default_factory=dict)  # table -> key -> row
    attempts: Mapping[Key, Value] = field(default_factory=dict)  # (experiment, ordinal) -> the attempt begun last
    unanswered: Unanswered = field(default_factory=Unanswered)  # as it stood before this stretch
    troubles: Troubles = field(default_factory=Troubles)  # the same


class Fold:
    """The rows that a stretch of one journal changes. ``journal`` names it in errors."""

    def __init__(self, journal: str, known: Known) -> None:
        self.rows: defaultdict[str, dict[Key, Row]] = defaultdict(dict)
        self.benchmark = known.benchmark
        self._journal = journal
        self._known = known.rows
        self._tiers = known.tiers
        self._position = known.position
        self._attempts = dict(known.attempts)
        self.unanswered, self.troubles = known.unanswered, known.troubles

    def add(self, entries: Iterable[Entry]) -> None:
        """Fold entries in. Raises JournalError for one that contradicts those before it."""
        told: dict[str, int] = {}
        for entry in entries:
            place = self._place(entry)
            self.troubles.add(entry)
            for call in self.unanswered.add(entry):
                self._apply(unanswered(call))
            for change in changes(entry.event, place):
                self._apply(change)
            if entry.experiment is not None:
                told[entry.experiment] = self._position
            self._position += 1
        for experiment, position in told.items():
            self._place_news(experiment, position)

    def _place(self, entry: Entry) -> Place:
        if isinstance(entry.event, BenchmarkOpened):
            self.benchmark, self._tiers = entry.event.benchmark, entry.event.tiers
        begun = (entry.experiment, entry.ordinal)
        if isinstance(entry.event, CallStarted):
            self._attempts[begun] = entry.event.attempt
        return Place(
            entry.at,
            entry.experiment,
            entry.ordinal,
            self._position,
            self.benchmark,
            self._tiers,
            self._attempts.get(begun),
        )

    def _place_news(self, experiment: str, position: int) -> None:
        """Say where the journal last told something of an experiment."""
        before = self._before("experiments", (experiment,))
        if before is not None:
            self.rows["experiments"][(experiment,)] = {**before, "position": position}

    def _before(self, table: str, key: Key) -> Row | None:
        return self.rows[table].get(key) or self._known.get(table, {}).get(key)

    def _apply(self, change: Change) -> None:
        key = tuple(change.values.get(column) for column in KEYS[change.table])
        before = self._before(change.table, key)
        if None in key or (before is None and change.how == "amend"):
            raise JournalError(
                f"The journal {self._journal} tells how something in {change.table} went on "
                f"({', '.join(str(part) for part in key)}) but not how it began. A line of it is lost: restore the "
                f"file from a copy, or take it out of the folder, then run `koderz reindex`."
            )
        if change.how == "replace" or before is None:
            self.rows[change.table][key] = dict(change.values)
        elif change.how != "insert":
            self.rows[change.table][key] = {**before, **change.values}


def known(con: DuckDBPyConnection, entries: Sequence[Entry], benchmark: str, position: int) -> Known:
    """The rows that ``entries`` may alter. ``benchmark`` is empty before the header of a journal was read."""
    unanswered = unanswered_state(con, benchmark)
    opened = [entry.event.benchmark for entry in entries if isinstance(entry.event, BenchmarkOpened)]
    experiments = sorted({*_experiments(entries), *unanswered.calls})
    texts = [entry.event.sha256 for entry in entries if isinstance(entry.event, TextStored)]
    benchmarks = _rows(con, "benchmarks", "select * from benchmarks where id = ?", [benchmark])
    calls = _rows(con, "calls", _BEGUN_LAST, [experiments])
    rows = {
        "benchmarks": benchmarks,
        "experiments": _rows(con, "experiments", f"{_EXPERIMENTS} id in (select unnest(?))", [experiments])
        | (_rows(con, "experiments", f"{_EXPERIMENTS} benchmark in (select unnest(?))", [opened]) if opened else {}),
        "calls": calls,
        "texts": _rows(con, "texts", "select sha256 from texts where sha256 in (select unnest(?))", [texts]),
    }
    attempts: dict[Key, Value] = {(experiment, ordinal): attempt for experiment, ordinal, attempt in calls}
    return Known(benchmark, _tiers(benchmarks), position, rows, attempts, unanswered, troubles(con, benchmark))


def _tiers(benchmarks: Mapping[Key, Row]) -> Mapping[str, Tier]:
    tiers: dict[str, Tier] = {}
    for row in benchmarks.values():
        tiers = msgspec.json.decode(str(row["tiers"]), type=dict[str, Tier])
    return tiers


def unanswered_state(con: DuckDBPyConnection, benchmark: str) -> Unanswered:
    """As it stood when the journal of a benchmark was read last."""
    found = con.execute("select unanswered from journals where benchmark = ?", [benchmark]).fetchone()
    return msgspec.json.decode(found[0], type=Unanswered) if found else Unanswered()


_EXPERIMENTS = "select * from experiments where"

# Rows are found by the few columns that tell them, and only those found are read whole: others may be a million.
_BEGUN_LAST = """
select * from calls where rowid in (
    select rowid from calls where experiment in (select unnest(?))
    qualify row_number() over (partition by experiment, ordinal order by position desc) = 1
)
"""


def _experiments(entries: Iterable[Entry]) -> Iterable[str]:
    for entry in entries:
        if isinstance(entry.event, ExperimentStarted):
            yield entry.event.experiment.id
        if entry.experiment is not None:
            yield entry.experiment


def _rows(con: DuckDBPyConnection, table: str, sql: str, values: Sequence[object]) -> dict[Key, Row]:
    found = con.execute(sql, values)
    columns = [column for column, *_ in found.description or ()]
    rows = [dict(zip(columns, row, strict=True)) for row in found.fetchall()]
    return {tuple(row[column] for column in KEYS[table]): row for row in rows}


PASS_BYTES = 16 << 20
_MARK_BYTES = 512


@dataclass(frozen=True, slots=True)
class Loaded:
    """What one pass over the journals brought: events, what could not be read, and whether more is waiting."""

    events: int
    faults: tuple[str, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class _Seen:
    """How far a journal has been read; ``mark`` is a hash of its beginning and of the bytes before ``offset``."""

    benchmark: str = ""
    offset: int = 0
    entries: int = 0
    last_at: float = 0.0
    mark: str = ""


def load(con: DuckDBPyConnection, journals_dir: Path) -> Loaded:
    """Read on in every journal, up to about PASS_BYTES, and no further than it is now: some grow all the time.

    A journal that cannot be read does not stop the others.
    """
    events, left, faults = 0, PASS_BYTES, []
    seen = _seen(con)
    for path in sorted(journals_dir.glob("*.jsonl")):
        at, end = seen.get(path.name, _Seen()), _size(path)
        try:
            while (
                left > 0
                and (end is None or at.offset < end)
                and (after := _load_chunk(con, path, at)).offset > at.offset
            ):
                events, left, at = events + after.entries - at.entries, left - (after.offset - at.offset), after
        except JournalError as error:
            faults.append(str(error))
    return Loaded(events, tuple(faults), left <= 0)


def outdated(con: DuckDBPyConnection, journals_dir: Path) -> str | None:
    """Why the store must be built anew: a journal it has read is gone, or is another one now. None: it need not."""
    if earlier := con.execute("select file from journals where unanswered is null order by file").fetchone():
        return f"The journal {earlier[0]} was read by an earlier koderz, which left out the costs of unanswered calls"
    for file, seen in _seen(con).items():
        path = journals_dir / file
        size = _size(path)
        if size is None:
            return f"The journal {file} is gone"
        if size < seen.offset or (size > seen.offset and _mark(path, seen.offset) not in (seen.mark, None)):
            return f"The journal {file} is not the one that was read before"
    return None


def _seen(con: DuckDBPyConnection) -> dict[str, _Seen]:
    rows = con.execute('select file, benchmark, "offset", entries, last_at, mark from journals').fetchall()
    return {file: _Seen(*columns) for file, *columns in rows}


def _load_chunk(con: DuckDBPyConnection, path: Path, seen: _Seen) -> _Seen:
    """Read the next chunk of one journal and move its offset in the same transaction; returns how far it is now."""
    if _size(path) == seen.offset:
        return seen
    tail = journal.read(path, seen.offset)
    if tail.offset == seen.offset:
        return seen
    fold = Fold(path.name, known(con, tail.entries, seen.benchmark, seen.entries))
    fold.add(tail.entries)
    last_at = tail.entries[-1].at if tail.entries else seen.last_at
    mark = _mark(path, tail.offset) or ""
    after = _Seen(fold.benchmark, tail.offset, seen.entries + len(tail.entries), last_at, mark)
    folded = {"unanswered": as_json(fold.unanswered), "troubles": as_json(fold.troubles)}
    fold.rows["journals"][(path.name,)] = {"file": path.name, **asdict(after), **folded}
    con.begin()
    try:
        for table, rows in fold.rows.items():
            _write(con, table, list(rows.values()))
        renew(con, fold.rows)
    except (ConversionException, InvalidInputException, OutOfRangeException) as error:
        con.rollback()
        raise JournalError(f"The journal {path.name} holds a number that no table can: {error}.") from error
    con.commit()
    return after


def _write(con: DuckDBPyConnection, table: str, rows: Sequence[Row]) -> None:
    """Insert rows or replace those with their keys; no two of ``rows`` may have one key."""
    columns = [column for column, *_ in con.execute(f"select * from {table} limit 0").description]  # noqa: S608 (ours)
    with con.appender(table, action="upsert") as appender:
        appender.append_rows([tuple(row.get(column) for column in columns) for row in rows])


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _mark(path: Path, offset: int) -> str | None:
    """None if the file cannot be read, which reading on will report."""
    try:
        with path.open("rb") as file:
            beginning = file.read(min(_MARK_BYTES, offset))
            file.seek(max(0, offset - _MARK_BYTES))
            return hashlib.sha256(beginning + file.read(min(_MARK_BYTES, offset))).hexdigest()
    except OSError:
        return None
