"""What runs, seen ahead of the store: what a journal has said since the store was read, added to what was read there.

Bringing the store up to date takes many times as long as reading the new lines of one journal, and everybody else waits
meanwhile. As long as these tell only how experiments go on, whoever watches a benchmark is answered from them alone.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from koderz_core import journal
from koderz_core.errors import JournalError, StoreError
from koderz_core.events import (
    CallFailed,
    CallFinished,
    CallStarted,
    CandidateScored,
    CodeTested,
    Entry,
    ExperimentFinished,
    ExperimentStarted,
    ProgramProbed,
    RemainingRead,
    TextStored,
)
from koderz_core.records.progress import NewestIteration
from koderz_core.records.rows import BenchmarkRow, ExperimentRow
from koderz_core.store.answers import Moment
from koderz_core.store.benchmarks import MESSAGE_CHARACTERS, NEWEST, Standing
from koderz_core.store.ingest import NOTES
from koderz_core.store.refresh import Basis, Fold, Row
from koderz_core.sums import known_sum

_COUNTED = (ExperimentStarted, CallStarted, CallFinished, CallFailed, CodeTested, CandidateScored, ExperimentFinished)
_PASSED_OVER = (TextStored, ProgramProbed, RemainingRead, *NOTES)
_TESTED = ("passed", "tests_passed", "tests_total")
_SCORED = (*(f"{tests}_{what}" for tests in ("gate", "held_out") for what in _TESTED), "shared")
_TOKENS = ("input_tokens", "output_tokens")
_OWN = ("state", "outcome", "reason", "score_kind", "code", "seconds", "started_at", "finished_at", "failure", "error")


class Going:
    """How far a benchmark is, ``standing`` so when it has last gone on. Not safe to use from several threads."""

    def __init__(self, path: Path, standing: Standing, basis: Basis) -> None:
        """``path``: its journal."""
        self.standing = standing
        self._path, self._offset = path, basis.offset
        self._known, self._fold = basis.known.rows, Fold(path.name, basis.known)
        self._places = {row.id: place for place, row in enumerate(standing.experiments)}

    def go_on(self) -> bool:
        """Read what is new; False if it tells more than how experiments go on. Raises JournalError."""
        entries, offset = self._new()
        counted = [entry for entry in entries if isinstance(entry.event, _COUNTED)]
        told = {entry.experiment for entry in counted if entry.experiment}
        begun = {entry.experiment for entry in counted if isinstance(entry.event, ExperimentStarted)}
        if any(not isinstance(entry.event, (*_COUNTED, *_PASSED_OVER)) for entry in entries):
            return False
        if not all(self._knows(one, begun=one in begun) for one in told):
            return False
        if entries:
            self._fold.add(counted)
            self._count(told)
            self._come_last(counted, entries[-1].at)
        self._offset = offset
        return True

    def _new(self) -> tuple[list[Entry], int]:
        """All that has been said since, and how far the journal is then."""
        entries: list[Entry] = []
        offset = self._offset
        while (tail := journal.read(self._path, offset)).offset > offset:
            entries += tail.entries
            offset = tail.offset
        return entries, offset

    def _knows(self, experiment: str, *, begun: bool) -> bool:
        """Whether all of its rows are known: none of one that was only planned so far and is ``begun`` now."""
        key, place = (experiment,), self._places.get(experiment)
        known = key in self._fold.rows["experiments"] or key in self._known["experiments"]
        return place is not None and (known or (begun and self.standing.experiments[place].state == "planned"))

    def _count(self, told: Collection[str]) -> None:
        rows = {table: self._rows(table, told) for table in ("experiments", "calls", "iterations", "scores")}
        experiments = list(self.standing.experiments)
        for experiment in told:
            place = self._places[experiment]
            experiments[place] = _summed(
                experiments[place], {table: found[experiment] for table, found in rows.items()}
            )
        row = _counted(self.standing.row, experiments)
        self.standing = replace(self.standing, row=row, experiments=tuple(experiments))

    def _rows(self, table: str, experiments: Collection[str]) -> Mapping[str, list[Row]]:
        """Those of each of these experiments, in the order of their keys."""
        found: defaultdict[str, list[Row]] = defaultdict(list)
        rows = {**self._known.get(table, {}), **self._fold.rows[table]}
        for key in sorted(key for key in rows if key[0] in experiments):
            found[str(key[0])].append(rows[key])
        return found

    def _come_last(self, entries: Iterable[Entry], at: float) -> None:
        late = self.standing.late
        tried = {(one.experiment, one.iteration): one for one in late.newest}
        for entry in entries:
            if isinstance(entry.event, CodeTested) and entry.experiment:
                row = self.standing.experiments[self._places[entry.experiment]]
                tried[row.id, entry.event.iteration] = _iteration(row, entry.at, entry.event)
        newest = sorted(tried.values(), key=lambda one: (-one.at, one.experiment, -one.iteration))[:NEWEST]
        late = replace(late, newest=tuple(newest), news_at=at, troubles=self._fold.troubles.known())
        self.standing = replace(self.standing, late=late)


def _iteration(row: ExperimentRow, at: float, event: CodeTested) -> NewestIteration:
    verdict = event.verdict
    tests, message = (verdict.passed, verdict.tests_passed, verdict.tests_total), verdict.message[:MESSAGE_CHARACTERS]
    return NewestIteration(row.id, row.problem, row.label, event.iteration, at, *tests, verdict.error, message)


def _summed(row: ExperimentRow, rows: Mapping[str, list[dict[str, Any]]]) -> ExperimentRow:  # Any: columns
    """An experiment as its rows have it; ``schema.py`` says the same in SQL."""
    (now,) = rows["experiments"]
    calls = [call for call in rows["calls"] if call["state"] == "finished"]
    costs = [call.get("cost_usd") for call in rows["calls"] if _has_cost(call)]
    score = next((row for row in rows["scores"] if row["code"] == now.get("code")), {})
    more: dict[str, Any] = {name: now.get(name) for name in _OWN}
    more |= {name: known_sum(call.get(name) for call in calls) for name in _TOKENS}
    more["cost_usd"] = known_sum(costs)
    more |= {name: score.get(name) for name in _SCORED}
    unpriced = sum(call.get("cost_usd") is None for call in calls)
    return replace(row, **more, iterations=len(rows["iterations"]), calls=len(calls), unpriced=unpriced)


def _has_cost(call: Row) -> bool:
    return call["state"] == "finished" or call.get("cost_usd") is not None


def _counted(row: BenchmarkRow, experiments: Sequence[ExperimentRow]) -> BenchmarkRow:
    """A benchmark as its experiments have it."""
    ended = Counter(experiment.outcome for experiment in experiments if experiment.state == "finished")
    begun = any(experiment.started_at is not None for experiment in experiments)
    scripted = [experiment for experiment in experiments if experiment.scripted and experiment.state == "finished"]
    return replace(
        row,
        state="running" if row.state == "queued" and begun else row.state,
        finished=ended.total(),
        running=sum(experiment.state == "running" for experiment in experiments),
        solved=ended["solved"],
        unsolved=ended["unsolved"],
        cancelled=ended["cancelled"],
        errors=ended["error"],
        scripted_results=sum(experiment.outcome in ("solved", "unsolved") for experiment in scripted),
        scripted_failures=sum(experiment.outcome in ("cancelled", "error") for experiment in scripted),
        iterations=sum(experiment.iterations for experiment in experiments),
        calls=sum(experiment.calls for experiment in experiments),
        cost_usd=known_sum(experiment.cost_usd for experiment in experiments),
        unpriced=sum(experiment.unpriced for experiment in experiments),
        seconds=sum(experiment.seconds or 0.0 for experiment in experiments),
    )


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
        rows = [row if benchmark.id == row.id else benchmark for benchmark in self._rows]
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
