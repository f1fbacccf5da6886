"""Folding a stretch of a journal into the rows it leaves behind, the last word on each row winning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field

from koderz_core.errors import JournalError
from koderz_core.events import BenchmarkOpened, CallStarted, Entry
from koderz_core.events.trouble import Troubles
from koderz_core.events.unanswered import Unanswered
from koderz_core.records import Tier
from koderz_core.store.changes import Change, Place, Value
from koderz_core.store.ingest import changes, unanswered
from koderz_core.store.schema import KEYS

Key = tuple[Value, ...]
Row = dict[str, Value]


@dataclass(frozen=True, slots=True)
class Known:
    """What the store holds already and this stretch may build on."""

    benchmark: str = ""
    tiers: Mapping[str, Tier] = field(default_factory=dict)
    position: int = 0  # how many events of this journal were folded before
    rows: Mapping[str, Mapping[Key, Row]] = field(default_factory=dict)  # table -> key -> row
    attempts: Mapping[Key, Value] = field(default_factory=dict)  # (experiment, ordinal) -> the attempt begun last
    unanswered: Unanswered = field(default_factory=Unanswered)  # as it stood before this stretch
    troubles: Troubles = field(default_factory=Troubles)  # the same


class Fold:
    """The rows that a stretch of one journal changes. ``journal`` names it in errors."""

    def __init__(self, journal: str, known: Known) -> None:
        self.rows: defaultdict[str, dict[Key, Row]] = defaultdict(dict)
        self.benchmark = known.benchmark
        self._journal = journal
        self._known = known.rows
        self._tiers = known.tiers
        self._position = known.position
        self._attempts = dict(known.attempts)
        self.unanswered, self.troubles = deepcopy(known.unanswered), deepcopy(known.troubles)

    def add(self, entries: Iterable[Entry]) -> None:
        """Fold entries in. Raises JournalError for one that contradicts those before it."""
        told: dict[str, int] = {}
        for entry in entries:
            place = self._place(entry)
            self.troubles.add(entry)
            for call in self.unanswered.add(entry):
                self._apply(unanswered(call))
            for change in changes(entry.event, place):
                self._apply(change)
            if entry.experiment is not None:
                told[entry.experiment] = self._position
            self._position += 1
        for experiment, position in told.items():
            self._place_news(experiment, position)

    def _place(self, entry: Entry) -> Place:
        if isinstance(entry.event, BenchmarkOpened):
            self.benchmark, self._tiers = entry.event.benchmark, entry.event.tiers
        begun = (entry.experiment, entry.ordinal)
        if isinstance(entry.event, CallStarted):
            self._attempts[begun] = entry.event.attempt
        return Place(
            entry.at,
            entry.experiment,
            entry.ordinal,
            self._position,
            self.benchmark,
            self._tiers,
            self._attempts.get(begun),
        )

    def _place_news(self, experiment: str, position: int) -> None:
        """Say where the journal last told something of an experiment."""
        before = self._before("experiments", (experiment,))
        if before is not None:
            self.rows["experiments"][(experiment,)] = {**before, "position": position}

    def _before(self, table: str, key: Key) -> Row | None:
        return self.rows[table].get(key) or self._known.get(table, {}).get(key)

    def _apply(self, change: Change) -> None:
        key = tuple(change.values.get(column) for column in KEYS[change.table])
        before = self._before(change.table, key)
        if None in key or (before is None and change.how == "amend"):
            raise JournalError(
                f"The journal {self._journal} tells how something in {change.table} went on "
                f"({', '.join(str(part) for part in key)}) but not how it began. A line of it is lost: restore the "
                f"file from a copy, or take it out of the folder, then run `koderz reindex`."
            )
        if change.how == "replace" or before is None:
            self.rows[change.table][key] = dict(change.values)
        elif change.how != "insert":
            self.rows[change.table][key] = {**before, **change.values}
