"""The index of the journals: a DuckDB file that no process owns and any process may bring up to date."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from duckdb import DuckDBPyConnection

from koderz_core.files import TEMPORARY
from koderz_core.store.connection import DamagedStoreError, created, held, opened, opened_apart, unwritable
from koderz_core.store.refresh import Ingested, load, outdated, read_states
from koderz_core.store.schema import KEYS, create


def dump(con: DuckDBPyConnection) -> Iterator[bytes]:
    """One JSON line per row: the table's name and the columns in order; tables and rows sorted."""
    for table, key in sorted(KEYS.items()):
        result = con.execute(f"select * from {table} order by {', '.join(key)}")  # noqa: S608 (names of ours)
        while rows := result.fetchmany(1000):
            yield from (msgspec.json.encode((table, *row)) + b"\n" for row in rows)


_LOG = logging.getLogger("koderz")
_PAUSE_SECONDS = 0.05  # between the passes of a long ingest, so that waiting readers get their turn


@dataclass(frozen=True, slots=True)
class Latest:
    """The open index, up to date, and what was new in it."""

    con: DuckDBPyConnection
    ingested: Ingested


@dataclass(frozen=True, slots=True)
class _Pass:
    """One pass over the journals, with the index still open."""

    con: DuckDBPyConnection
    loaded: Ingested
    stack: ExitStack  # closes it


class Store:
    """The index of all journals in one folder. Keeps no file open; safe to use from several threads and processes."""

    def __init__(self, path: Path, journals_dir: Path, patience_seconds: float = 20.0) -> None:
        """``patience_seconds``: how long to wait while another reader uses the file."""
        self.path = path
        self.journals_dir = journals_dir
        self._patience_seconds = patience_seconds

    @contextmanager
    def open(self) -> Iterator[DuckDBPyConnection]:
        """The open index, for a moment: other readers wait meanwhile, so call no other method of this object inside.

        A missing or damaged index is rebuilt from the journals first. Raises StoreError.
        """
        with ExitStack() as stack:
            try:
                con = self._entered(stack)
            except DamagedStoreError as error:
                stack.close()
                self._rebuild(error.fault)
                con = self._entered(stack)
            yield con

    def ingest(self) -> Ingested:
        """Read what is new in every journal. Raises StoreError."""
        with self.latest() as latest:
            return latest.ingested

    @contextmanager
    def latest(self) -> Iterator[Latest]:
        """As ``open``, after reading what is new in every journal; the file is opened once for both."""
        events = 0
        while (step := self._read_on()).loaded.more:
            events += step.loaded.events
            step.stack.close()
            time.sleep(_PAUSE_SECONDS)
        with step.stack:  # not only closed: a fault of the file during a query must pass through it
            yield Latest(step.con, Ingested(events + step.loaded.events, step.loaded.faults))

    @contextmanager
    def apart(self) -> Iterator[Latest]:
        """As ``latest``, on a copy that is deleted at the end, so that a long query does not block other readers.

        Raises StoreError, also if the disk has too little free space for the copy.
        """
        with ExitStack() as stack:
            try:
                folder = TemporaryDirectory(dir=self.path.parent, prefix=f"{TEMPORARY}copy-")
                copy = Path(stack.enter_context(folder)) / self.path.name
                with self.latest() as latest:
                    latest.con.execute("checkpoint")  # all is in the one file then, and no other process may write
                    shutil.copyfile(self.path, copy)
            except OSError as error:
                raise unwritable(self.path, error) from error
            con = stack.enter_context(opened_apart(copy, self._patience_seconds))
            copy.unlink()  # it stays readable until it is closed, and disappears even if this process is killed
            yield Latest(con, latest.ingested)

    def reindex(self) -> Ingested:
        """Rebuild the index from the journals in a new file, which then replaces the old one. Raises StoreError."""
        return self._replace()

    def dump(self) -> bytes:
        """Every row of every table, sorted: identical bytes for two indexes of the same journals."""
        with self.open() as con:
            return b"".join(dump(con))

    def _entered(self, stack: ExitStack) -> DuckDBPyConnection:
        stack.enter_context(held(self.path, self._patience_seconds))
        return stack.enter_context(opened(self.path, self._patience_seconds))

    def _read_on(self) -> _Pass:
        try:
            return self._pass()
        except DamagedStoreError as error:
            rebuilt = self._rebuild(error.fault)
        step = self._pass()
        return replace(step, loaded=replace(step.loaded, events=rebuilt.events + step.loaded.events))

    def _pass(self) -> _Pass:
        with ExitStack() as stack:
            con = self._entered(stack)
            states = read_states(con)
            fault = outdated(self.journals_dir, states)
            if fault is not None:
                raise DamagedStoreError(fault)
            loaded = load(con, self.journals_dir, states)
            return _Pass(con, loaded, stack.pop_all())

    def _rebuild(self, fault: str) -> Ingested:
        level = logging.WARNING if self.path.exists() else logging.INFO  # the first time, every index is missing
        _LOG.log(level, "%s. koderz rebuilds the index from the journals.", fault)
        return self._replace()

    def _replace(self) -> Ingested:
        fresh = self.path.with_name(f"{self.path.name}.fresh")
        with held(fresh, self._patience_seconds), ExitStack() as stack:
            try:
                _forget(fresh)
                with created(fresh) as con:
                    create(con)
                    before = self._load_all(con)
                    stack.enter_context(held(self.path, self._patience_seconds))  # only now: readers wait meanwhile
                    late = self._load_all(con)  # events that were added meanwhile
                    con.execute("checkpoint")
                _forget(self.path)  # and its log, which would damage the new file
                fresh.rename(self.path)
            except OSError as error:
                raise unwritable(self.path, error) from error
        return Ingested(before.events + late.events, late.faults)

    def _load_all(self, con: DuckDBPyConnection) -> Ingested:
        events = 0
        while (loaded := load(con, self.journals_dir)).more:
            events += loaded.events
        return Ingested(events + loaded.events, loaded.faults)


def _forget(path: Path) -> None:
    for file in (path, path.with_name(f"{path.name}.wal")):
        file.unlink(missing_ok=True)
