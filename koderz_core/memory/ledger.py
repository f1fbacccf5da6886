"""The memories of each journal that a memory server has confirmed or lost: a small SQLite file.

It is written only after a confirmation, so after a crash in between the server is only asked again. The journals are
the truth: without this file koderz offers all memories again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from koderz_core.errors import CortexError
from koderz_core.files import Lock

BUSY_SECONDS = 5.0
FILE_NAME = "mirrored.db"  # in the data folder
_TABLES = """
create table if not exists journals (
    server text not null, file text not null, "offset" integer not null, primary key (server, file)
) without rowid;
create table if not exists acknowledged (
    server text not null, file text not null, kind text not null, memories integer not null,
    primary key (server, file, kind)
) without rowid;
create table if not exists losses (
    server text not null, file text not null, "end" integer not null, kind text not null, title text not null,
    why text not null, stored integer not null, primary key (server, file, "end")
) without rowid;
create table if not exists troubles (server text primary key, at real not null, said text not null) without rowid;
"""


@dataclass(frozen=True, slots=True)
class Loss:
    """A memory that a server did not store, or (``stored``) only in part. ``end``: its position in the journal."""

    end: int
    kind: str
    title: str
    why: str
    stored: bool = False


@dataclass(frozen=True, slots=True)
class Trouble:
    """The last error of a server, and its time (seconds since 1970)."""

    at: float
    said: str


class MirrorLedger:
    """The record of one server. For one thread; several processes may open the same file."""

    def __init__(self, path: Path, server: str) -> None:
        """Raises CortexError if the file cannot be opened."""
        self._path, self._server = path, server
        with self._errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS)
            self._connection.execute("pragma synchronous = off")  # a lost entry is only offered again
            self._connection.executescript(_TABLES)

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def claim(self, file: str) -> Iterator[bool]:
        """Claim a journal: two processes that mirror it at once would store everything twice. False if it is taken."""
        with self._errors():
            folder = self._path.parent / "cache"
            folder.mkdir(exist_ok=True)
            lock = Lock(folder / f"{file}.{self._server}.mirroring")
        with lock:
            yield lock.acquire()

    def add(self, file: str) -> None:
        """Add a journal, to be mirrored from its start, unless it is there."""
        self._write(("insert or ignore into journals values (?, ?, 0)", (self._server, file)))

    def offsets(self) -> Mapping[str, int]:
        """For each journal the offset up to which the server has answered for every memory."""
        return dict(self._read('select file, "offset" from journals where server = ? order by file'))

    def offset(self, file: str) -> int:
        return self.offsets().get(file, 0)

    def advance(self, file: str, offset: int, kinds: Iterable[str], losses: Iterable[Loss]) -> None:
        """Move the offset: the server has stored memories of these kinds, and lost or cut the others."""
        key = (self._server, file)
        self._write(
            ("insert or replace into journals values (?, ?, ?)", (*key, offset)),
            *((_COUNT, (*key, kind)) for kind in kinds),
            *(
                ("insert or replace into losses values (?, ?, ?, ?, ?, ?, ?)", (*key, *astuple(loss)))
                for loss in losses
            ),
        )

    def resolve(self, file: str, loss: Loss) -> None:
        """Count a lost memory as stored."""
        key = (self._server, file)
        self._write(
            ('delete from losses where server = ? and file = ? and "end" = ?', (*key, loss.end)),
            (_COUNT, (*key, loss.kind)),
        )

    def forget(self, file: str) -> None:
        """Delete all entries of a journal, so that it is offered again from its start."""
        key = (self._server, file)
        tables = ("journals", "acknowledged", "losses")
        self._write(*((f"delete from {table} where server = ? and file = ?", key) for table in tables))  # noqa: S608

    def losses(self, file: str) -> tuple[Loss, ...]:
        rows = self._read(
            'select "end", kind, title, why, stored from losses where server = ? and file = ? order by "end"', file
        )
        return tuple(Loss(end, kind, title, why, bool(stored)) for end, kind, title, why, stored in rows)

    def acknowledged(self, file: str) -> Mapping[str, int]:
        """The number of memories of this journal that the server has confirmed, by kind."""
        return dict(self._read("select kind, memories from acknowledged where server = ? and file = ?", file))

    def trouble(self) -> Trouble | None:
        rows = self._read("select at, said from troubles where server = ?")
        return Trouble(*rows[0]) if rows else None

    def set_trouble(self, trouble: Trouble | None) -> None:
        """Record the last error; None after a success."""
        if trouble is None:
            self._write(("delete from troubles where server = ?", (self._server,)))
        else:
            row = (self._server, trouble.at, trouble.said)
            self._write(("insert or replace into troubles values (?, ?, ?)", row))

    def _read(self, sql: str, *more: object) -> list[tuple[Any, ...]]:  # Any: the types of the columns
        with self._errors():
            return self._connection.execute(sql, (self._server, *more)).fetchall()

    def _write(self, *statements: tuple[str, tuple[object, ...]]) -> None:
        with self._errors():
            self._connection.execute("begin immediate")
            try:
                for sql, values in statements:
                    self._connection.execute(sql, values)
                self._connection.execute("commit")
            except BaseException:
                self._connection.execute("rollback")
                raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise CortexError(
                f"{self._path}, the list of memories that memory servers have confirmed, cannot be used: {error}. "
                "Check the free space on the disk, or delete the file. If you delete the file, koderz sends all "
                "memories again."
            ) from error


_COUNT = """
insert into acknowledged values (?, ?, ?, 1) on conflict do update set memories = memories + 1
"""
