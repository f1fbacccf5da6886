"""What runs, seen ahead of the store: what a journal has said since the store was read, added to what was read there.

Bringing the store up to date takes many times as long as reading the new lines of one journal, and everybody else waits
meanwhile. As long as these tell only how experiments go on, whoever watches a benchmark is answered from them alone.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

from duckdb import DuckDBPyConnection

from koderz_core.errors import JournalError
from koderz_core.records.rows import BenchmarkRow
from koderz_core.store.benchmarks import in_effect
from koderz_core.store.fold import Known
from koderz_core.store.glance import Moment
from koderz_core.store.going import Going
from koderz_core.store.known import known_of
from koderz_core.store.lately import Standing

_LOG = logging.getLogger("koderz")
AHEAD_SECONDS = 10.0  # after these the store is read behind, for those who ask it have to catch up
ELSEWHERE_SECONDS = 1.0  # the same where other journals say something, too: their benchmarks stand beside it
LATE = 3  # times these, and the store has to be waited for
MOST_KEPT = 4  # benchmarks; each has its experiments in common with what was read of the store


@dataclass(frozen=True, slots=True)
class Seen:
    """All benchmarks as they were ``at`` (seconds since 1970), the newest first; how far the one is that was meant."""

    at: float
    rows: Sequence[BenchmarkRow]
    standing: Standing | None


@dataclass(frozen=True, slots=True)
class Basis:
    """What the store told, to go on from.

    ``moment``: how the journals stood just before; ``offset``: how far that of the benchmark is in it, in bytes;
    ``known``: the rows of every experiment that somebody is at.
    """

    moment: Moment
    seen: Seen
    standing: Standing
    offset: int
    known: Known


def basis(con: DuckDBPyConnection, moment: Moment, seen: Seen) -> Basis | None:
    """What is to be known for going on from what was just ``seen``; None where only the store tells how that goes on.

    So it is of what nobody runs, or somebody holds back, and where models keep failing.
    """
    if (standing := seen.standing) is None:
        return None
    row, name = standing.row, f"{standing.row.id}.jsonl"
    journals = con.execute('select file, "offset" from journals where benchmark = ?', [row.id]).fetchall()
    told = row.state == "running" and row.closed_reason is None and not standing.late.failing
    if not told or [file for file, _ in journals] != [name] or any(one.benchmark == row.id for one in in_effect(con)):
        return None
    going = [one.id for one in standing.experiments if one.state == "running"]
    return Basis(moment, seen, standing, journals[0][1], known_of(con, row.id, going))


class Ahead:
    """Safe to use from several threads."""

    def __init__(self, journals_dir: Path) -> None:
        self._journals_dir = journals_dir
        self._guard = threading.Lock()  # guards _kept and what is in it
        self._kept: dict[Hashable, _Watched] = {}

    def begin(self, question: Hashable, found: Basis | None) -> None:
        """Go on from there for those who ask this; None: from nothing."""
        with self._guard:
            self._kept.pop(question, None)
            if found is not None:
                self._kept[question] = _Watched(found, self._journals_dir)
            while len(self._kept) > MOST_KEPT:
                del self._kept[next(iter(self._kept))]

    def look(self, question: Hashable, moment: Moment, now: float, renew: Callable[[], object]) -> Seen | None:
        """What the store would answer ``now``, at this ``moment`` of the journals; None: it has to be asked.

        ``renew`` asks it; that is done beside whatever else goes on when it is due.
        """
        with self._guard:
            watched = self._kept.get(question)
            seen = watched.seen(moment, now) if watched else None
            if watched is None or seen is None:
                self._kept.pop(question, None)
            elif watched.is_due(moment, now):
                threading.Thread(target=_renewed, args=(renew,), name="catching up", daemon=True).start()
        return seen


class _Watched:
    def __init__(self, found: Basis, journals_dir: Path) -> None:
        self._path = journals_dir / f"{found.standing.row.id}.jsonl"
        self._going = Going(self._path, found.offset, found.standing, found.known)
        self._basis, self._renewing = found, False

    def seen(self, moment: Moment, now: float) -> Seen | None:
        """All as it is now; None where that cannot be told from the journal."""
        then, alone = self._basis.seen, self._alone(moment)
        late = LATE * (AHEAD_SECONDS if alone else ELSEWHERE_SECONDS)
        try:
            if (
                moment.writers != self._basis.moment.writers
                or not 0 <= now - then.at <= late
                or not self._going.go_on()
            ):
                return None
        except JournalError:  # the store says what is wrong with it
            return None
        row = self._going.standing.row
        rows = [row if one.id == row.id else one for one in then.rows]
        return Seen(now if alone else then.at, rows, self._going.standing)

    def is_due(self, moment: Moment, now: float) -> bool:
        """Whether the store should be read anew; True once."""
        if self._renewing or now - self._basis.seen.at <= _due(alone=self._alone(moment)):
            return False
        self._renewing = True
        return True

    def _alone(self, moment: Moment) -> bool:
        """Whether no other journal has said anything."""
        return _others(moment, self._path.name) == _others(self._basis.moment, self._path.name)


def _due(*, alone: bool) -> float:
    return AHEAD_SECONDS if alone else ELSEWHERE_SECONDS


def _renewed(renew: Callable[[], object]) -> None:
    try:
        renew()
    except Exception as error:  # noqa: BLE001 (the edge of a thread: who looks when it is late asks again, and is told)
        _LOG.debug("The store could not be read behind: %s", error)


def _others(moment: Moment, name: str) -> list[tuple[str, int, int]]:
    return [one for one in moment.journals if one[0] != name]
