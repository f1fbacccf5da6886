"""The log of outbound connections: to which address, for what purpose, how many bytes, and which setting allowed it.

Every process appends lines to one file per day (UTC) in the folder ``egress`` of the data folder. A line is written
with one system call, so that lines of several processes do not mix. The first line on an address is written at once;
later counts are collected for ``FLUSH_SECONDS``. Lines contain hosts and ports, but no paths, queries, keys or texts.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from koderz_core.addresses import endpoint, is_loopback
from koderz_core.errors import DataError
from koderz_core.lazy import the_one

FOLDER = "egress"
CONNECT = "connect_tcp.started"
"""The end of the name of httpcore's event before a connection is opened."""
KEPT_DAYS = 7
"""Files of earlier days are deleted when a process first writes to the log."""
FLUSH_SECONDS = 5.0
"""The longest time for which counts are only in memory; a process that is killed loses them, but no address."""

BENCHMARK: ContextVar[str] = ContextVar("koderz_benchmark", default="")
"""The id of the benchmark that the current thread works for."""
_PASSAGE: ContextVar[tuple[EgressLog, Passage] | None] = ContextVar("koderz_passage", default=None)
_PEER: ContextVar[str] = ContextVar("koderz_peer", default="")
_LOG = logging.getLogger("koderz")


class Passage(msgspec.Struct, frozen=True):
    """A decision of the gate. ``address``: host and port, or a name if koderz does not know the address.

    ``setting``: what names the address. ``loopback``: the address is on this machine. ``benchmark``: "" outside
    benchmarks. ``metered`` False: another program connects, so koderz counts neither connections nor bytes.
    """

    address: str
    purpose: str
    setting: str
    loopback: bool
    allowed: bool
    benchmark: str
    metered: bool = True


def passage(url: str, purpose: str, setting: str, *, allowed: bool, metered: bool = True) -> Passage:
    """The decision on an address, for the benchmark of the current thread."""
    return Passage(endpoint(url), purpose, setting, is_loopback(url), allowed, BENCHMARK.get(), metered)


class Counts(msgspec.Struct):
    """``calls``: how often the gate was asked. ``connections``: how many were opened, failed attempts included.

    ``sent``, ``received``: bytes of HTTP, headers included, before encryption.
    """

    calls: int = 0
    connections: int = 0
    sent: int = 0
    received: int = 0

    def add(self, other: Counts) -> None:
        self.calls += other.calls
        self.connections += other.connections
        self.sent += other.sent
        self.received += other.received


class _Line(msgspec.Struct, frozen=True):
    """A line of the log. ``at``: seconds since 1970 (UTC). ``via``: host and port of the proxy, "" without one."""

    at: float
    passage: Passage
    counts: Counts
    via: str = ""


@dataclass(frozen=True, slots=True)
class Traffic:
    """The traffic to one address for one purpose, setting and benchmark, as in ``Passage`` and ``Counts``.

    ``connections``, ``sent_bytes``, ``received_bytes`` None: unknown. ``first_at``, ``last_at``: seconds since 1970.
    ``via``: host and port of the proxy through which connections went, "" without one.
    """

    address: str
    purpose: str
    setting: str
    loopback: bool
    allowed: bool
    benchmark: str
    via: str
    calls: int
    connections: int | None
    sent_bytes: int | None
    received_bytes: int | None
    first_at: float
    last_at: float


class EgressLog:
    """Writes the log of one data folder. Thread-safe. Errors of the disk end no work: the log warns once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._guard = threading.Lock()  # guards everything below
        self._pending: dict[tuple[Passage, str], Counts] = {}
        self._known: set[tuple[Passage, str]] = set()
        self._timer: threading.Timer | None = None
        self._warned = False
        atexit.register(self.flush)

    def add(self, of: Passage, counts: Counts, via: str = "") -> None:
        """Count traffic."""
        key = (of, "" if via == of.address else via)
        with self._guard:
            self._pending.setdefault(key, Counts()).add(counts)
            if key not in self._known:
                self._known.add(key)
                self._write()
            elif self._timer is None:
                self._timer = threading.Timer(FLUSH_SECONDS, self.flush)
                self._timer.daemon = True
                with suppress(RuntimeError):  # no thread can start while the interpreter ends; atexit flushes
                    self._timer.start()

    def flush(self) -> None:
        """Write all counts."""
        with self._guard:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._pending:
                self._write()

    def _write(self) -> None:
        if not self._folder.parent.exists() and all(of.loopback for of, _ in self._pending):
            return  # to look for local servers makes no data folder: its path may be mistyped
        now = time.time()
        path = self._folder / f"{datetime.fromtimestamp(now, UTC).date()}.jsonl"
        try:
            if not path.exists():
                self._folder.mkdir(parents=True, exist_ok=True)
                _prune(self._folder, now)
            file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                for of, via in list(self._pending):  # a count leaves with its line: the disk may be full after it
                    line = msgspec.json.encode(_Line(now, of, self._pending[of, via], via))
                    os.write(file, line + b"\n")
                    del self._pending[of, via]
            finally:
                os.close(file)
        except OSError as error:
            if not self._warned:
                self._warned = True
                _LOG.warning(
                    "The log of outbound connections in %s cannot be written (%s).", self._folder, error.strerror
                )


def log_in(home: Path) -> EgressLog:
    """The log of a data folder, one object per process."""
    folder = (home / FOLDER).absolute()
    return the_one(f"egress log of {folder}", lambda: EgressLog(folder))


def record(log: EgressLog, of: Passage) -> None:
    """Count a decision of the gate. Traffic that ``trace`` sees in this thread belongs to it, until the next one."""
    log.add(of, Counts(calls=1))
    _PASSAGE.set((log, of) if of.allowed and of.metered else None)


def trace(name: str, info: Mapping[str, Any]) -> None:  # Any: objects of httpcore or httpcore2
    """The extension "trace" of a request of httpx or httpx2: counts connections, and bytes on their streams."""
    if name.endswith(CONNECT):
        host = str(info["host"])
        _PEER.set(f"[{host}]:{info['port']}" if ":" in host else f"{host}:{info['port']}")
        _count(Counts(connections=1), _PEER.get())
    elif name.endswith(("connect_tcp.complete", "start_tls.complete")):
        _meter(info["return_value"], _PEER.get())


def traced(request: Any) -> None:  # Any: a request of httpx or httpx2
    """An event hook of a client, which sets the extension."""
    request.extensions["trace"] = trace


def _count(counts: Counts, peer: str) -> None:
    if current := _PASSAGE.get():
        log, of = current
        log.add(of, counts, via=peer)


def _meter(stream: Any, peer: str) -> None:  # Any: a network stream of either library
    """Count the bytes of a connection; each belongs to the passage of the thread that reads or writes it."""
    read, write = stream.read, stream.write

    def metered_read(*arguments: Any, **options: Any) -> bytes:  # Any: those of the stream
        data: bytes = read(*arguments, **options)
        _count(Counts(received=len(data)), peer)
        return data

    def metered_write(buffer: bytes, *arguments: Any, **options: Any) -> None:  # Any: those of the stream
        write(buffer, *arguments, **options)
        _count(Counts(sent=len(buffer)), peer)

    stream.read, stream.write = metered_read, metered_write


def read(home: Path, since: float) -> list[Traffic]:
    """All traffic that was logged after ``since`` (seconds since 1970), addresses beyond this machine first.

    Raises DataError if the log cannot be read.
    """
    totals: dict[tuple[Passage, str], tuple[Counts, float, float]] = {}
    for line in _lines(home / FOLDER, since):
        key = (line.passage, line.via)
        counts, first_at, last_at = totals.get(key, (Counts(), line.at, line.at))
        counts.add(line.counts)
        totals[key] = (counts, min(first_at, line.at), max(last_at, line.at))
    rows = [_traffic(of, via, *total) for (of, via), total in totals.items()]
    return sorted(rows, key=lambda row: (row.loopback, row.allowed, row.address, row.purpose, row.benchmark))


def _lines(folder: Path, since: float) -> Iterator[_Line]:
    """The lines after ``since``; a damaged line, as after a full disk, is omitted."""
    decode = msgspec.json.Decoder(_Line).decode
    first = datetime.fromtimestamp(max(0.0, since), UTC).date()
    for path in sorted(folder.glob("*.jsonl")):
        if (day := _day(path)) is None or day < first:
            continue
        for text in _content(path).splitlines():
            with suppress(msgspec.MsgspecError, UnicodeDecodeError):
                line = decode(text)
                if line.at >= since:
                    yield line


def _content(path: Path) -> bytes:
    """The content of a file, empty if another process has deleted it. Raises DataError."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}). Check its permissions.") from error


def _traffic(of: Passage, via: str, counts: Counts, first_at: float, last_at: float) -> Traffic:
    known = of.metered or not of.allowed
    return Traffic(
        of.address,
        of.purpose,
        of.setting,
        of.loopback,
        of.allowed,
        of.benchmark,
        via,
        counts.calls,
        counts.connections if known else None,
        counts.sent if known else None,
        counts.received if known else None,
        first_at,
        last_at,
    )


def _day(path: Path) -> date | None:
    try:
        return date.fromisoformat(path.stem)
    except ValueError:
        return None


def _prune(folder: Path, now: float) -> None:
    oldest = datetime.fromtimestamp(now, UTC).date() - timedelta(days=KEPT_DAYS)
    for path in folder.glob("*.jsonl"):
        if (day := _day(path)) is not None and day < oldest:
            path.unlink(missing_ok=True)
