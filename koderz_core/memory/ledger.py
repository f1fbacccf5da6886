"""What memory servers have acknowledged of each journal, and what they have lost of it: a small SQLite file.

It is only ever written after an acknowledgement, so a crash in between costs nothing but asking the server again. The
journals are the truth: without this file everything is offered anew.
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
    """A memory that a server did not take, or (``stored``) only in part. ``end``: its place in the journal."""

    end: int
    kind: str
    title: str
    why: str
    stored: bool = False


@dataclass(frozen=True, slots=True)
class Trouble:
    """What last went wrong with a server, and when (seconds since 1970)."""

    at: float
    said: str


class MirrorLedger:
    """For one server. Several processes may have one open on the same file; for one thread."""

    def __init__(self, path: Path, server: str) -> None:
        """Raises CortexError if it cannot be opened."""
        self._path, self._server = path, server
        with self._explained():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS)
            self._connection.execute("pragma synchronous = off")  # what it forgets is offered anew
            self._connection.executescript(_TABLES)

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def turn(self, file: str) -> Iterator[bool]:
        """Whether it is ours to mirror this journal while this lasts: two at once would store everything twice."""
        with self._explained():
            folder = self._path.parent / "cache"
            folder.mkdir(exist_ok=True)
            lock = Lock(folder / f"{file}.{self._server}.mirroring")
        with lock:
            yield lock.acquire()

    def begin(self, file: str) -> None:
        """This journal is to be mirrored from its beginning, if that is not known yet."""
        self._write(("insert or ignore into journals values (?, ?, 0)", (self._server, file)))

    def begun(self) -> Mapping[str, int]:
        """Journal -> the offset up to which every memory was offered and answered."""
        return dict(self._read('select file, "offset" from journals where server = ? order by file'))

    def offset(self, file: str) -> int:
        return self.begun().get(file, 0)

    def advance(self, file: str, offset: int, kinds: Iterable[str], losses: Iterable[Loss]) -> None:
        """Up to there all was answered: memories of these kinds are stored, and that is lost or cut."""
        key = (self._server, file)
        self._write(
            ("insert or replace into journals values (?, ?, ?)", (*key, offset)),
            *((_COUNT, (*key, kind)) for kind in kinds),
            *(
                ("insert or replace into losses values (?, ?, ?, ?, ?, ?, ?)", (*key, *astuple(loss)))
                for loss in losses
            ),
        )

    def found(self, file: str, loss: Loss) -> None:
        """What was lost is stored now."""
        key = (self._server, file)
        self._write(
            ('delete from losses where server = ? and file = ? and "end" = ?', (*key, loss.end)),
            (_COUNT, (*key, loss.kind)),
        )

    def forget(self, file: str) -> None:
        """As if nothing of this journal had ever been offered."""
        key = (self._server, file)
        tables = ("journals", "acknowledged", "losses")
        self._write(*((f"delete from {table} where server = ? and file = ?", key) for table in tables))  # noqa: S608

    def losses(self, file: str) -> tuple[Loss, ...]:
        rows = self._read(
            'select "end", kind, title, why, stored from losses where server = ? and file = ? order by "end"', file
        )
        return tuple(Loss(end, kind, title, why, bool(stored)) for end, kind, title, why, stored in rows)

    def acknowledged(self, file: str) -> Mapping[str, int]:
        """Kind -> how many memories of this journal the server has said to have stored."""
        return dict(self._read("select kind, memories from acknowledged where server = ? and file = ?", file))

    def trouble(self) -> Trouble | None:
        rows = self._read("select at, said from troubles where server = ?")
        return Trouble(*rows[0]) if rows else None

    def troubled(self, trouble: Trouble | None) -> None:
        """Remember what went wrong; None: it went well since."""
        if trouble is None:
            self._write(("delete from troubles where server = ?", (self._server,)))
        else:
            told = (self._server, trouble.at, trouble.said)
            self._write(("insert or replace into troubles values (?, ?, ?)", told))

    def _read(self, sql: str, *more: object) -> list[tuple[Any, ...]]:  # Any: the types of the columns
        with self._explained():
            return self._connection.execute(sql, (self._server, *more)).fetchall()

    def _write(self, *statements: tuple[str, tuple[object, ...]]) -> None:
        with self._explained():
            self._connection.execute("begin immediate")
            try:
                for sql, values in statements:
                    self._connection.execute(sql, values)
                self._connection.execute("commit")
            except BaseException:
                self._connection.execute("rollback")
                raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise CortexError(
                f"{self._path}, which tells what is remembered, cannot be used: {error}. Free its disk, or remove it: "
                "all is offered anew then."
            ) from error


_COUNT = """
insert into acknowledged values (?, ?, ?, 1) on conflict do update set memories = memories + 1
"""
