"""The tables of the memory file, and how one is opened.

Several servers share one file: SQLite's write-ahead log lets them read while one writes. With ``synchronous = normal``
what was acknowledged is with the operating system: it survives ``kill -9``. A power cut may take the last seconds, and
never breaks the file (https://sqlite.org/pragma.html#pragma_synchronous); waiting for the disk each time would cost
milliseconds per memory where others use it too.

Times are UTC in ISO 8601 with a zone. ``tags`` and ``metadata`` are JSON. A memory without a project belongs to all.
Small columns stand before large ones: SQLite reads a row from its beginning, and ranking needs no content.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from koderz_core.errors import CortexError, UsageError
from koderz_core.files import Lock

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


class MemoryFile(sqlite3.Connection):
    """An open memory file, with the lock that its writers queue at.

    SQLite's own waiting sleeps longer and longer and is not fair: four processes that stored at once on two busy cores
    kept 62 to 138 memories a second by it, and 218 to 565 by queueing here. Who is killed gives the lock back.
    """

    def __init__(self, path: Path, **how: Any) -> None:  # Any: as sqlite3.connect takes it
        self.lock = Lock(Path(f"{path}.lock"))
        super().__init__(path, **how)

    def close(self) -> None:
        super().close()
        self.lock.close()


def open_memories(path: Path, max_megabytes: int) -> MemoryFile:
    """The memory file, made if it is not there. Raises CortexError if it cannot be opened or is somebody else's."""
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
        raise CortexError(f"The memory file {path} cannot be opened: {error}. Free it, or name another one.") from error
    return connection


@contextmanager
def transaction(connection: MemoryFile) -> Iterator[MemoryFile]:
    """All of it or nothing."""
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


def explained(error: sqlite3.Error | UnicodeEncodeError | OverflowError) -> CortexError | UsageError:
    """What SQLite said, in words that say what to do."""
    if isinstance(error, UnicodeEncodeError):
        return UsageError("A text holds half a character (a lone surrogate), so nothing was stored. Cut it elsewhere.")
    if isinstance(error, OverflowError):
        return UsageError("A number is larger than any the memory file can hold. Give one below 2**63.")
    if error.sqlite_errorname == "SQLITE_FULL":
        return CortexError(
            "The memory file, or its disk, is full: nothing was stored. Make room with forget, or let it grow with "
            "koderz cortex serve --max-megabytes."
        )
    return CortexError(f"The memory file cannot be used: {error}. Nothing was stored. Try again, or look at its disk.")


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
            raise CortexError(f"{path} is no memory file of koderz. Name another, and bring yours by import_memories.")
        elif version > VERSION:
            raise CortexError(f"{path} was written by a later koderz (version {version}). Upgrade koderz.")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Two servers that make the same file at the same moment: SQLite lets this switch fail without waiting."""
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
    """One by one, since ``executescript`` would commit the transaction that it stands in."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
