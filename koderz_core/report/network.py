"""Outbound connections in words: a sentence and one table each for other machines, refusals and this machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from koderz_core.egress import Traffic
from koderz_core.report.formats import TextTable, numbered, plain
from koderz_core.times import second

AWAY, REFUSED, HERE = "Addresses beyond this machine", "Refused addresses", "Addresses on this machine (loopback)"
COLUMNS = ("address", "purpose", "calls", "connections", "sent", "received", "setting", "benchmark", "last")
UNKNOWN = "unknown"
NO_SETTING = {True: "no setting needed (loopback address)", False: "no setting"}
"""For an address that no setting names, by whether it is on this machine, as that of an embedded model."""
NOT_COVERED = (
    "Bytes are counted in HTTP messages, before encryption. The tables do not include look-ups of host names (DNS), "
    "or the connections of servers that koderz starts (an Ollama or llama.cpp server, a third-party memory server), of "
    "strategies in your own files, or of your browser. Tested programs have no network in the sandbox tiers strong and "
    "hardened."
)
_UNITS = ("B", "kB", "MB", "GB", "TB")


def size(number: float | None) -> str:
    """``532 B``, ``1.5 kB``, ``20 MB``: decimal units, two significant digits; unknown is ``unknown``."""
    if number is None:
        return UNKNOWN
    place = 0
    while number >= 999.5 and place < len(_UNITS) - 1:
        number, place = number / 1000, place + 1
    return f"{number:.1f} {_UNITS[place]}" if place and number < 9.95 else f"{number:.0f} {_UNITS[place]}"


def tables(rows: Iterable[Traffic]) -> tuple[TextTable, TextTable, TextTable]:
    """The tables ``AWAY``, ``REFUSED`` and ``HERE``, which may be empty."""
    known = list(rows)
    return (
        _table(AWAY, [row for row in known if row.allowed and not row.loopback]),
        _table(REFUSED, [row for row in known if not row.allowed]),
        _table(HERE, [row for row in known if row.allowed and row.loopback]),
    )


def headline(rows: Sequence[Traffic], period: str) -> str:
    """What left this machine in a period, such as ``the last 24 hours``."""
    away = [row for row in rows if row.allowed and not row.loopback]
    refused = sum(row.calls for row in rows if not row.allowed)
    blocked = f" koderz refused {numbered(refused, 'call')}, because KODERZ_OFFLINE is set." if refused else ""
    if not away:
        return f"In {period}, koderz opened no connection beyond this machine.{blocked}"
    sent, received = _total([row.sent_bytes for row in away]), _total([row.received_bytes for row in away])
    return (
        f"In {period}, koderz made {numbered(sum(row.calls for row in away), 'call')} to "
        f"{numbered(len({row.address for row in away}), 'host')} beyond this machine: sent {sent}, received "
        f"{received}.{blocked}"
    )


def _total(numbers: Sequence[int | None]) -> str:
    """``1.5 kB``, or ``at least 1.5 kB`` if some numbers are unknown."""
    known = [number for number in numbers if number is not None]
    least = "at least " if 0 < len(known) < len(numbers) else ""
    return least + (size(sum(known)) if known else UNKNOWN)


def _table(title: str, rows: Iterable[Traffic]) -> TextTable:
    return TextTable(title, COLUMNS, tuple(map(_cells, rows)))


def _cells(row: Traffic) -> tuple[str, ...]:
    return (
        plain(row.address + (f" through the proxy {row.via}" if row.via else "")),
        plain(row.purpose),
        str(row.calls),
        UNKNOWN if row.connections is None else str(row.connections),
        size(row.sent_bytes),
        size(row.received_bytes),
        plain(row.setting or NO_SETTING[row.loopback]) if row.allowed else "refused: KODERZ_OFFLINE is set",
        plain(row.benchmark),
        second(row.last_at),
    )
