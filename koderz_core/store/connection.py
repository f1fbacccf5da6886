"""Opening the store's file for a moment: one user at a time, patiently, and never a damaged one."""

from __future__ import annotations

import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from koderz_core.errors import StoreError
from koderz_core.files import Lock, owner_of
from koderz_core.store.schema import VERSION, version_of

# Nothing may be fetched from outside while a query waits.
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}


class DamagedStoreError(StoreError):
    """The file is not there, is of no koderz or an earlier one, or is damaged: build it anew. ``fault`` says which."""

    def __init__(self, fault: str) -> None:
        super().__init__(f"{fault}. Run `koderz reindex` to build it from the journals.")
        self.fault = fault


@contextmanager
def opened(path: Path, patience_seconds: float) -> Iterator[DuckDBPyConnection]:
    """The store at ``path`` with the tables of this koderz, closed afterwards; the caller holds ``held(path)``.

    Raises DamagedStoreError, or StoreError if another program keeps it open, or it is of a later koderz.
    """
    if not path.is_file():
        raise DamagedStoreError(f"The store {path.name} is not there")
    with failures(path), _ENGINE.attached(path, time.monotonic() + patience_seconds) as con:
        _check(con, path)
        yield con


@contextmanager
def opened_apart(path: Path, patience_seconds: float) -> Iterator[DuckDBPyConnection]:
    """As ``opened``, in a DuckDB of its own: what is set there, a limit of memory say, holds for nobody else."""
    deadline = time.monotonic() + patience_seconds
    with failures(path), _when_free(path, deadline, lambda: duckdb.connect(path, config=_CONFIG)) as con:
        yield con


@contextmanager
def created(path: Path) -> Iterator[DuckDBPyConnection]:
    """A new, still empty database at ``path``, which must not exist. Raises StoreError."""
    with failures(path), duckdb.connect(path, config=_CONFIG) as con:
        yield con


@contextmanager
def held(path: Path, patience_seconds: float) -> Iterator[None]:
    """Keep every other thread and process of koderz away from the store at ``path``.

    The lock is a file of its own, so that the store's file can be replaced. Raises StoreError if others keep it longer
    than ``patience_seconds``, or the folder cannot be written.
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
    """Turn a failure of the file or of its disk into a StoreError; faults in our own SQL pass through."""
    try:
        yield
    except duckdb.Error as error:
        if _is_out_of_room(error):
            raise StoreError(
                f"The store {path.name} failed ({error}). Look for space on the disk and in memory; if it stays so, "
                f"run `koderz reindex`."
            ) from error
        if _is_damage(error):
            raise _damaged(path, error) from error
        raise
    except RuntimeError as error:
        if str(error).startswith("Query interrupted"):  # how DuckDB hands a Ctrl-C on
            raise KeyboardInterrupt from error
        raise


def unwritable(path: Path, error: OSError) -> StoreError:
    """What to tell when the folder of the store at ``path`` refuses a file."""
    return StoreError(
        f"The store {path.name} cannot be written in {path.parent}: {error.strerror or error}. Make the folder "
        f"writable and look for space, or choose another folder with --data-dir."
    )


class _Engine:
    """The one DuckDB of this process. It holds no data: a store is attached for a moment, and free for others then.

    Attaching takes 2 ms where a DuckDB of its own takes 15, all of them the processor's (measured with DuckDB 2.0.1).
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards _shared
        self._shared: DuckDBPyConnection | None = None
        self._numbers = count()

    @contextmanager
    def attached(self, path: Path, deadline: float) -> Iterator[DuckDBPyConnection]:
        """A connection to the store at ``path``, which nobody else of this process may have attached."""
        name = f"store_{next(self._numbers)}"
        file = str(path).replace("'", "''")
        try:
            with self._connection() as con:  # closing it ends what was not committed
                _when_free(path, deadline, lambda: con.execute(f"attach '{file}' as {name} (type duckdb)"))
                con.execute(f"use {name}")
                yield con
        except (duckdb.FatalException, duckdb.InternalException):  # after them a whole DuckDB refuses everything
            self._shared = None
            raise
        finally:
            with self._connection() as con:
                con.execute(f"detach database if exists {name}")

    def _connection(self) -> DuckDBPyConnection:
        with self._lock:
            if self._shared is None:
                self._shared = duckdb.connect(config=_CONFIG)
            return self._shared.cursor()


_ENGINE = _Engine()


def _when_free(path: Path, deadline: float, connect: Callable[[], DuckDBPyConnection]) -> DuckDBPyConnection:
    """What ``connect`` gives, once a program that is not koderz (a database browser, say) lets go of the file."""
    while True:
        try:
            return connect()
        except duckdb.Error as error:
            if "Could not set lock" not in str(error):
                raise _unopened(path, error) from error
            if time.monotonic() > deadline:
                holder = re.search(r"PID (\d+)", str(error))
                raise _busy(path, holder[1] if holder else "") from error
        time.sleep(random.uniform(0.003, 0.03))  # noqa: S311 (no secret: those who wait do not all try at once)


def _busy(path: Path, pid: str) -> StoreError:
    return StoreError(
        f"The store {path.name} is being used by another process (PID {pid or 'unknown'}). Try again, or end that one."
    )


def _unopened(path: Path, error: duckdb.Error) -> StoreError:
    if not os.access(path, os.R_OK | os.W_OK):
        return StoreError(f"The store {path.name} may not be read and written. Mend the rights of the file.")
    if "version number" in str(error):
        return StoreError(f"The store {path.name} was written by another DuckDB ({error}). Run `koderz reindex`.")
    return _damaged(path, error)


def _check(con: DuckDBPyConnection, path: Path) -> None:
    try:
        version = version_of(con)
    except duckdb.CatalogException as error:  # no such table: whatever it is, koderz did not make it
        raise _damaged(path, error) from error
    if version > VERSION:  # whose koderz would build it anew too: the two would never end
        raise StoreError(
            f"The store was written by a later koderz (schema {version}, this one has {VERSION}). Upgrade koderz, or "
            f"run `koderz reindex` to build the store anew from the journals."
        )
    if version < VERSION:
        raise DamagedStoreError(f"The store {path.name} is of an earlier koderz (schema {version})")


def _is_out_of_room(error: duckdb.Error) -> bool:
    """A full disk comes as whatever was being done then: a transaction that fails, or a fatal error at a checkpoint."""
    of_ground = isinstance(error, duckdb.IOException | duckdb.OutOfMemoryException)
    return of_ground or "Could not write file" in str(error)


def _is_damage(error: duckdb.Error) -> bool:
    """Failed checksums come as the plain base class, which nothing else does."""
    return type(error) is duckdb.Error or isinstance(
        error, duckdb.FatalException | duckdb.InternalException | duckdb.SerializationException
    )


def _damaged(path: Path, error: Exception) -> DamagedStoreError:
    return DamagedStoreError(f"The store {path.name} is damaged ({error})")
