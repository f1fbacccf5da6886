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

from koderz_core.errors import JournalError, StoreError
from koderz_core.records.rows import BenchmarkRow
from koderz_core.store.glance import Moment
from koderz_core.store.going import Going
from koderz_core.store.known import Basis
from koderz_core.store.lately import Standing

_LOG = logging.getLogger("koderz")
AHEAD_SECONDS = 10.0  # after these the store is read behind, for those who ask it have to catch up
LATE_SECONDS = 30.0  # after these it is waited for


@dataclass(frozen=True, slots=True)
class Seen:
    """How far the benchmark is that is watched; ``rows``: all of them, the newest first, where that is known too."""

    standing: Standing | None
    rows: Sequence[BenchmarkRow] | None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, when it was asked (seconds since 1970), and how the journals stood then."""

    question: Hashable
    at: float
    moment: Moment


class Ahead:
    """Safe to use from several threads."""

    def __init__(self, journals_dir: Path) -> None:
        self._journals_dir = journals_dir
        self._guard = threading.Lock()  # guards _kept and what is in it
        self._kept: dict[Hashable, _Watched] = {}

    def begin(self, asked: Asked, seen: Seen, basis: Basis | None) -> None:
        """Go on from what the store has answered, for those who ask the same; ``basis`` None: it does not tell."""
        with self._guard:
            self._kept.pop(asked.question, None)
            if basis is not None and seen.standing is not None:
                path = self._journals_dir / f"{seen.standing.row.id}.jsonl"
                self._kept[asked.question] = _Watched(asked, seen, Going(path, seen.standing, basis))
            self._kept = {one: it for one, it in self._kept.items() if not it.is_late(asked.at)}

    def look(self, asked: Asked, renew: Callable[[], object]) -> Seen | None:
        """What the store would answer; None: it has to be asked. ``renew`` asks it, beside whatever else goes on."""
        with self._guard:
            watched = self._kept.get(asked.question)
            if watched is None or watched.rests(asked):
                return None
            del self._kept[asked.question]  # until it has gone well
            seen = watched.seen(asked)
            if seen is not None:
                self._kept[asked.question] = watched
                if watched.is_due(asked.at):
                    threading.Thread(target=_renewed, args=(renew,), name="catching up").start()
            return seen


class _Watched:
    def __init__(self, asked: Asked, seen: Seen, going: Going) -> None:
        self._moment, self._at, self._rows = asked.moment, asked.at, seen.rows or ()
        self._going, self._renewing = going, False

    def rests(self, asked: Asked) -> bool:
        """Whether nothing at all has happened, which everybody remembers; then it is as good as just read."""
        resting = asked.moment == self._moment
        self._at = asked.at if resting else self._at
        return resting

    def is_late(self, now: float) -> bool:
        return not 0 <= now - self._at <= LATE_SECONDS

    def is_due(self, now: float) -> bool:
        """Whether the store should be read anew; True once."""
        due = not self._renewing and now - self._at > AHEAD_SECONDS
        self._renewing = self._renewing or due
        return due

    def seen(self, asked: Asked) -> Seen | None:
        """All as it is now; None where that cannot be told from the journal."""
        try:
            if asked.moment.writers != self._moment.writers or self.is_late(asked.at) or not self._going.go_on():
                return None
        except JournalError:  # the store says what is wrong with it
            return None
        row = self._going.standing.row
        rows = [row if one.id == row.id else one for one in self._rows]
        return Seen(self._going.standing, rows if self._is_alone(asked.moment, f"{row.id}.jsonl") else None)

    def _is_alone(self, moment: Moment, name: str) -> bool:
        """Whether no other journal has said anything."""
        others = [[one for one in journals if one[0] != name] for journals in (moment.journals, self._moment.journals)]
        return others[0] == others[1]


def _renewed(renew: Callable[[], object]) -> None:
    try:
        renew()
    except StoreError as error:  # who looks when it is late asks again, and is told
        _LOG.debug("The store could not be read behind: %s", error)
    except Exception:  # noqa: BLE001 (the edge of a thread)
        _LOG.exception("The store could not be read behind.")
