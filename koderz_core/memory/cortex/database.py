"""The memory file: its tables, how it is opened and changed, and an open memory with its project and limits.

Several servers share one file: SQLite's write-ahead log lets them read while one writes. With ``synchronous = normal``
a confirmed memory has reached the operating system, so it survives ``kill -9``. A power cut may lose the last seconds,
but never damages the file (https://sqlite.org/pragma.html#pragma_synchronous). Waiting for the disk at every memory
would cost milliseconds each on a disk that other programs use too.

Times are UTC in ISO 8601 with a zone. ``tags`` and ``metadata`` are JSON. A memory without a project belongs to all.
Small columns come before large ones: SQLite reads a row from its start, and ranking does not need the content.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from koderz_core.errors import CortexError, UsageError
from koderz_core.files import Lock
from koderz_core.memory.cortex.search import Filters, StoredMemory

FILE_NAME = "cortex.db"  # in the data folder
DEFAULT_PROJECT = "koderz"
EVERYWHERE = "*"
MAX_CHARS = 1_000_000
MAX_MEGABYTES = 4096
BUSY_SECONDS = 30.0
VERSION = 1
APPLICATION_ID = 0x6B6F6478  # "kodx" (https://sqlite.org/pragma.html#pragma_application_id)
PAGE_BYTES = 4096

_TABLES = """
create table memories (
    id integer primary key autoincrement,
    type text not null check (type in ('short_term', 'long_term', 'episodic')),
    category text not null, project text, scope text not null check (scope in ('project', 'global')),
    salience real not null check (salience between 0 and 1), decayed_score real not null,
    access_count integer not null default 0, created_at text not null, last_accessed text not null,
    transferable integer not null default 0,
    title text not null, tags text not null default '[]', content text not null, metadata text
);
create index memories_by_time on memories (created_at);
create index memories_by_salience on memories (salience, created_at);
create index memories_by_decay on memories (decayed_score);
create table memory_tags (tag text not null, memory_id integer not null, primary key (tag, memory_id)) without rowid;
create virtual table memories_fts using fts5 (
    title, content, tags, content = 'memories', content_rowid = 'id', tokenize = 'porter unicode61'
);
create trigger memories_added after insert on memories begin
    insert into memories_fts (rowid, title, content, tags) values (new.id, new.title, new.content, new.tags);
    insert or ignore into memory_tags select value, new.id from json_each(new.tags);
end;
create trigger memories_deleted after delete on memories begin
    insert into memories_fts (memories_fts, rowid, title, content, tags)
    values ('delete', old.id, old.title, old.content, old.tags);
    delete from memory_tags where memory_id = old.id and tag in (select value from json_each(old.tags));
end;
create table memory_links (
    id integer primary key autoincrement,
    source_id integer not null references memories on delete cascade,
    target_id integer not null references memories on delete cascade,
    relationship text not null, strength real not null, created_at text not null,
    unique (source_id, target_id, relationship)
);
create index memory_links_by_target on memory_links (target_id);
create table sessions (
    id integer primary key autoincrement, project text, started_at text not null, ended_at text, summary text
);
"""


@dataclass(frozen=True, slots=True)
class CortexLimits:
    """The most characters of one memory with its metadata, and the largest size of the file.

    ``remember`` refuses a memory that exceeds them.
    """

    chars: int = MAX_CHARS
    megabytes: int = MAX_MEGABYTES


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a tool: the text that clients of claude-cortex-core read, and the same as JSON."""

    text: str
    content: Mapping[str, object]


@dataclass(slots=True)
class Cortex:
    """An open memory. For one thread at a time; several processes may open the same file."""

    path: Path
    limits: CortexLimits = field(default_factory=CortexLimits)
    project: str = DEFAULT_PROJECT
    project_source: str = "default"
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    connection: MemoryFile = field(init=False)

    def __post_init__(self) -> None:
        self.connection = open_memories(self.path, self.limits.megabytes)

    def close(self) -> None:
        self.connection.close()

    def now(self) -> str:
        return timestamp(self.clock())

    def scope(self, project: str | None) -> str | None:
        """The project to use: the active one if ``project`` is None. Returns None for all projects."""
        chosen = self.project if project is None else project
        return None if chosen == EVERYWHERE else chosen

    def filters(self, project: str | None, *, include_global: bool = True) -> Filters:
        return Filters(project=self.scope(project), include_global=include_global)

    def fetch(self, number: object, what: str = "id") -> StoredMemory:
        """The memory with that id. Raises UsageError if there is none."""
        row = self.connection.execute("select * from memories where id = ?", (whole_number(number, what),)).fetchone()
        if row is None:
            raise UsageError(f"There is no memory {number:.0f}. Find its id with recall.")
        return StoredMemory.of(row)


class MemoryFile(sqlite3.Connection):
    """A connection to the memory file, and the lock at which writers queue.

    SQLite's own waiting sleeps longer and longer and is not fair: with it, four processes that stored at once on two
    busy cores stored 62 to 138 memories a second, and 218 to 565 with this lock. A killed process releases the lock.
    """

    def __init__(self, path: Path, **how: Any) -> None:  # Any: as sqlite3.connect takes it
        self.lock = Lock(Path(f"{path}.lock"))
        super().__init__(path, **how)

    def close(self) -> None:
        super().close()
        self.lock.close()


def open_memories(path: Path, max_megabytes: int) -> MemoryFile:
    """Open the memory file, and create it if it is missing.

    Raises CortexError if that fails or if the file belongs to another program.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = MemoryFile(path, isolation_level=None, timeout=BUSY_SECONDS)
        connection.row_factory = sqlite3.Row
        try:
            _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
        connection.execute(f"pragma max_page_count = {max_megabytes * 2**20 // PAGE_BYTES}")
    except (OSError, sqlite3.Error) as error:
        raise CortexError(
            f"The memory file {path} cannot be opened: {error}. Check the free space on its disk, close the program "
            "that uses the file, or name another file."
        ) from error
    return connection


@contextmanager
def transaction(connection: MemoryFile) -> Iterator[MemoryFile]:
    """Apply all changes of the block, or none if it raises."""
    connection.lock.acquire(None)
    try:
        connection.execute("begin immediate")
        yield connection
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:  # SQLite itself rolls back when the disk is full
            connection.execute("rollback")
        raise
    finally:
        connection.lock.release()


def koderz_error(error: sqlite3.Error | UnicodeEncodeError | OverflowError) -> CortexError | UsageError:
    """An error of koderz for an error of SQLite, with what to do about it."""
    if isinstance(error, UnicodeEncodeError):
        return UsageError(
            "A text contains half a character (a lone surrogate), so nothing was stored. Cut the text elsewhere."
        )
    if isinstance(error, OverflowError):
        return UsageError("A number is too large for the memory file. Give one below 2**63.")
    if error.sqlite_errorname == "SQLITE_FULL":
        return CortexError(
            "The memory file or its disk is full, so nothing was stored. Delete memories with forget, or raise the "
            "limit with koderz cortex serve --max-megabytes."
        )
    return CortexError(f"The memory file cannot be used: {error}. Nothing was stored. Try again, or check its disk.")


def whole_number(number: object, what: str) -> int:
    """The number as an integer: JSON has one type of number, but an id or a count is a whole one."""
    if isinstance(number, int | float) and 0 < number < 2**63 and number == int(number):
        return int(number)
    raise UsageError(f"{what} is {number}, but must be a whole number from 1 to 2**63 - 1.")


def timestamp(moment: datetime) -> str:
    """UTC with milliseconds, so that texts sort by time. A moment without a zone counts as UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _prepare(connection: MemoryFile, path: Path) -> None:
    connection.execute("pragma synchronous = normal")
    connection.execute("pragma foreign_keys = on")
    _write_ahead(connection)
    with transaction(connection):
        (version,) = connection.execute("pragma user_version").fetchone()
        (application,) = connection.execute("pragma application_id").fetchone()
        (tables,) = connection.execute("select count(*) from sqlite_schema").fetchone()
        if not tables:
            for statement in _statements(_TABLES):
                connection.execute(statement)
            connection.execute(f"pragma application_id = {APPLICATION_ID}")
            connection.execute(f"pragma user_version = {VERSION}")
        elif application != APPLICATION_ID:
            raise CortexError(
                f"{path} is not a memory file of koderz. Name another file, and import yours with import_memories."
            )
        elif version > VERSION:
            raise CortexError(f"{path} was written by a later koderz (version {version}). Upgrade koderz.")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Retry the switch: SQLite lets it fail without waiting if two servers create the same file at the same time."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _statements(script: str) -> Iterator[str]:
    """One statement at a time, because ``executescript`` would commit the open transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
