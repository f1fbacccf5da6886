"""Opening the index for a moment: one user at a time, with a time to wait, and never a damaged file."""

from __future__ import annotations

import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from koderz_core.errors import StoreError
from koderz_core.files import Lock, owner_of
from koderz_core.store.schema import VERSION, version_of

# A query must not download extensions.
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}


class DamagedStoreError(StoreError):
    """The file is missing, damaged, or not from this koderz, so the index must be rebuilt; ``fault``: the reason."""

    def __init__(self, fault: str) -> None:
        super().__init__(f"{fault}. Run `koderz reindex` to build the index from the journals.")
        self.fault = fault


@contextmanager
def opened(path: Path, patience_seconds: float) -> Iterator[DuckDBPyConnection]:
    """The index at ``path`` with the tables of this koderz, closed afterwards; the caller must hold ``held(path)``.

    Raises DamagedStoreError, or StoreError if another program keeps it open or a later koderz wrote it.
    """
    if not path.is_file():
        raise DamagedStoreError(f"The index {path.name} is missing")
    with failures(path), _ENGINE.attached(path, time.monotonic() + patience_seconds) as con:
        _check(con, path)
        yield con


@contextmanager
def opened_apart(path: Path, patience_seconds: float) -> Iterator[DuckDBPyConnection]:
    """As ``opened``, in a separate DuckDB, whose settings, such as a memory limit, do not affect other connections."""
    deadline = time.monotonic() + patience_seconds
    with failures(path), _when_free(path, deadline, lambda: duckdb.connect(path, config=_CONFIG)) as con:
        yield con


@contextmanager
def created(path: Path) -> Iterator[DuckDBPyConnection]:
    """A new, still empty database at ``path``, which must not exist. Raises StoreError."""
    with failures(path), _ENGINE.attached(path, time.monotonic()) as con:
        yield con


@contextmanager
def held(path: Path, patience_seconds: float) -> Iterator[None]:
    """Keep every other thread and process of koderz from using the index at ``path``.

    The lock is a separate file, so that the index file can be replaced. Raises StoreError if the lock is not free
    within ``patience_seconds``, or if the folder is not writable.
    """
    file = path.with_name(f"{path.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = Lock(file, names_owner=True)
        acquired = lock.acquire(patience_seconds)
    except OSError as error:
        raise unwritable(path, error) from error
    with lock:
        if not acquired:
            raise _busy(path, str(owner_of(file) or ""))
        yield


@contextmanager
def failures(path: Path) -> Iterator[None]:
    """Turn a failure of the file or its disk into a StoreError; errors in the SQL of koderz pass through."""
    try:
        yield
    except duckdb.Error as error:
        if _is_out_of_room(error):
            raise StoreError(
                f"The index {path.name} could not be read or written ({error}). There is too little free disk space or "
                "memory. Delete files or end other programs, then try again. If the error occurs again, run `koderz "
                "reindex`."
            ) from error
        if _is_damage(error):
            raise _damaged(path, error) from error
        raise
    except RuntimeError as error:
        if str(error).startswith("Query interrupted"):  # how DuckDB reports a Ctrl-C
            raise KeyboardInterrupt from error
        raise


def unwritable(path: Path, error: OSError) -> StoreError:
    """The error for an index at ``path`` whose folder is not writable."""
    return StoreError(
        f"The index {path.name} cannot be written in {path.parent}: {error.strerror or error}. Check the "
        "permissions of this folder and the free space on its disk, or choose another folder with --data-dir."
    )


MOST_ATTACHED = 100  # indexes per DuckDB: DuckDB 2.0.1 keeps memory of each, also after it is detached


class _Engine:
    """The shared DuckDB of this process. It has no data: an index is attached for a moment, and is free for others
    then.

    Attaching takes 2 ms of processor time; a separate DuckDB takes 18 (measured with DuckDB 2.0.1).
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards all below
        self._shared: DuckDBPyConnection | None = None
        self._number = 0

    @contextmanager
    def attached(self, path: Path, deadline: float) -> Iterator[DuckDBPyConnection]:
        """A connection to the index at ``path``, which no other thread of this process may have attached."""
        file = str(path).replace("'", "''")
        shared: DuckDBPyConnection | None
        shared, name = self._turn()
        try:
            with shared.cursor() as con:  # closing it rolls back
                _when_free(path, deadline, lambda: con.execute(f"attach '{file}' as {name} (type duckdb)"))
                con.execute(f"use {name}")
                yield con
        except (duckdb.FatalException, duckdb.InternalException):  # after them DuckDB refuses every query
            self._shared = shared = None
            raise
        finally:
            if shared is not None:
                with shared.cursor() as con:
                    con.execute(f"detach database if exists {name}")

    def _turn(self) -> tuple[DuckDBPyConnection, str]:
        """The DuckDB for the next index, and a name for the index; a replaced one lives until its indexes are left."""
        with self._lock:
            if self._shared is None or self._number % MOST_ATTACHED == 0:
                self._shared = duckdb.connect(config=_CONFIG)
            self._number += 1
            return self._shared, f"store_{self._number}"


_ENGINE = _Engine()


def _when_free(path: Path, deadline: float, connect: Callable[[], DuckDBPyConnection]) -> DuckDBPyConnection:
    """The result of ``connect``, as soon as another program, such as a database browser, has closed the file."""
    while True:
        try:
            return connect()
        except duckdb.Error as error:
            if _UNWRITTEN in str(error):
                raise
            if "Could not set lock" not in str(error):
                raise _unopened(path, error) from error
            if time.monotonic() > deadline:
                holder = re.search(r"PID (\d+)", str(error))
                raise _busy(path, holder[1] if holder else "") from error
        time.sleep(random.uniform(0.003, 0.03))  # noqa: S311 (no secret: waiting processes must not retry at the same time)


def _busy(path: Path, pid: str) -> StoreError:
    return StoreError(
        f"The index {path.name} is being used by another process (PID {pid or 'unknown'}). Try again later, or end "
        "that process."
    )


def _unopened(path: Path, error: duckdb.Error) -> StoreError:
    if not os.access(path, os.R_OK | os.W_OK):
        return StoreError(
            f"koderz has no permission to read and write the index {path.name}. Change the permissions of this file."
        )
    if "version number" in str(error):
        return StoreError(
            f"The index {path.name} was written by another version of DuckDB ({error}). Run `koderz reindex`."
        )
    return _damaged(path, error)


def _check(con: DuckDBPyConnection, path: Path) -> None:
    try:
        version = version_of(con)
    except duckdb.CatalogException as error:  # no such table, so koderz did not create it
        raise _damaged(path, error) from error
    if version > VERSION:  # the later koderz would rebuild it too, and the two would never stop
        raise StoreError(
            f"The index was written by a later version of koderz (schema {version}; this version uses schema "
            f"{VERSION}). Upgrade koderz, or run `koderz reindex` to rebuild the index from the journals."
        )
    if version < VERSION:
        raise DamagedStoreError(f"The index {path.name} was written by an earlier version of koderz (schema {version})")


def _is_out_of_room(error: duckdb.Error) -> bool:
    """Whether disk or memory is full. DuckDB reports it as a failed transaction or a fatal error of a checkpoint."""
    return isinstance(error, duckdb.IOException | duckdb.OutOfMemoryException) or _UNWRITTEN in str(error)


_UNWRITTEN = "Could not write file"


def _is_damage(error: duckdb.Error) -> bool:
    """Whether the file is damaged. Failed checksums are the only errors of the plain base class."""
    return type(error) is duckdb.Error or isinstance(
        error, duckdb.FatalException | duckdb.InternalException | duckdb.SerializationException
    )


def _damaged(path: Path, error: Exception) -> DamagedStoreError:
    return DamagedStoreError(f"The index {path.name} is damaged ({error})")
