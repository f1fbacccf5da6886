"""A running benchmark as its journal has it: the lines since the index was read, added to what was read there.

Bringing the index up to date takes many times as long as reading the new lines of one journal, and all other readers
wait meanwhile. As long as the new lines only belong to experiments, a watched benchmark is answered from them alone.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection

from koderz_core import journal
from koderz_core.errors import JournalError, StoreError
from koderz_core.events import CandidateScored, CodeTested, Entry, ExperimentStarted, TextStored
from koderz_core.events.outages import Troubles
from koderz_core.events.tally import Call, ExperimentTally, Tally
from koderz_core.records import Experiment
from koderz_core.records.progress import BenchmarkProgress, NewestIteration
from koderz_core.records.rows import BenchmarkRow, ExperimentRow, ScoreRow
from koderz_core.store.answers import Moment
from koderz_core.store.benchmarks import MESSAGE_CHARACTERS, NEWEST, troubles
from koderz_core.store.index import in_effect, records
from koderz_core.store.refresh import unanswered_state
from koderz_core.sums import known_sum

_TOTALS = ("iterations", "calls", "unpriced", "input_tokens", "output_tokens", "cost_usd", "cached")
_TESTS = ("passed", "tests_passed", "tests_total")


@dataclass(frozen=True, slots=True)
class Basis:
    """The state that a benchmark continues from: its journal, read up to ``offset`` (bytes), and what runs in it."""

    offset: int
    tally: Tally
    troubles: Troubles


def basis(con: DuckDBPyConnection, progress: BenchmarkProgress) -> Basis | None:
    """The basis of a benchmark; None if no process runs it or something is paused: its journal is then not enough."""
    row = progress.benchmark
    read = con.execute('select "offset" from journals where file = ?', [f"{row.id}.jsonl"]).fetchone()
    running = row.state == "running" and row.closed_reason is None
    if read is None or not running or any(held.benchmark == row.id for held in in_effect(con)):
        return None
    under_way = [experiment.id for experiment in progress.experiments if experiment.state == "running"]
    tally = Tally(experiments=_tallies(con, under_way), unanswered=unanswered_state(con, row.id))
    return Basis(read[0], tally, troubles(con, row.id))


def _tallies(con: DuckDBPyConnection, ids: Collection[str]) -> dict[str, ExperimentTally]:
    """The tallies of experiments that run, from their rows."""
    planned = records(con, Experiment, _EXPERIMENTS, [list(ids)])
    tallies = {experiment.id: ExperimentTally(experiment, running=True) for experiment in planned}
    for experiment, ordinal, attempt, *call in con.execute(_CALLS, [list(ids)]).fetchall():
        tallies[experiment].start_call(ordinal, attempt, Call(*call))
    for experiment, iteration in con.execute(_ITERATIONS, [list(ids)]).fetchall():
        tallies[experiment].tested.add(iteration)
    for score in records(con, ScoreRow, _SCORES, [list(ids)]):
        scored = CandidateScored(score.code, score.returned, score.gate, score.held_out)
        tallies[score.experiment].scores[score.code] = scored
    return tallies


_EXPERIMENTS = "select id, configuration, problem, repeat, seed from experiments where id in (select unnest(?))"
# Rows are found by their experiment, and only these are read: the tables may hold a million others.
_CALLS = """
select experiment, ordinal, attempt, role, model, state = 'finished', cost_usd, input_tokens, output_tokens,
    cached_from is not null
from calls
where rowid in (select rowid from calls where experiment in (select unnest(?))) order by position
"""
_ITERATIONS = "select experiment, iteration from iterations where experiment in (select unnest(?))"
_SCORES = """
select * from scores where returned and rowid in (select rowid from scores where experiment in (select unnest(?)))
"""


class LiveBenchmark:
    """A benchmark with ``progress``, its state after the lines read so far. Not safe to use from several threads."""

    def __init__(self, path: Path, progress: BenchmarkProgress, basis: Basis) -> None:
        """``path``: its journal."""
        self.progress = progress
        self._path, self._offset = path, basis.offset
        self._tally, self._troubles = basis.tally, basis.troubles
        self._places = {row.id: place for place, row in enumerate(progress.experiments)}

    def read_on(self) -> bool:
        """Read the new lines; False if some of them do not belong to known experiments. Raises JournalError."""
        entries, offset = self._new()
        for entry in entries:
            if not self._is_known(entry):
                return False
            self._tally.add(entry)
            self._troubles.add(entry)
        if entries:
            self._update({entry.experiment for entry in entries if entry.experiment})
            self._update_latest(entries)
        self._offset = offset
        return True

    def _new(self) -> tuple[list[Entry], int]:
        """The entries since the last reading, and the offset behind them."""
        entries: list[Entry] = []
        offset = self._offset
        while (tail := journal.read(self._path, offset)).offset > offset:
            entries += tail.entries
            offset = tail.offset
        return entries, offset

    def _is_known(self, entry: Entry) -> bool:
        """Whether all earlier rows of its experiment are known: not if it has ended before and starts again."""
        if entry.experiment is None:
            return isinstance(entry.event, TextStored)
        place = self._places.get(entry.experiment)
        starts = isinstance(entry.event, ExperimentStarted)
        if place is not None and starts and self.progress.experiments[place].state == "planned":
            return True
        return place is not None and entry.experiment in self._tally.experiments

    def _update(self, changed: Collection[str]) -> None:
        experiments = list(self.progress.experiments)
        for experiment in changed:
            place = self._places[experiment]
            experiments[place] = _updated(experiments[place], self._tally.experiments[experiment])
        row = _counted(self.progress.benchmark, experiments)
        self.progress = replace(self.progress, benchmark=row, experiments=tuple(experiments))

    def _update_latest(self, entries: Sequence[Entry]) -> None:
        tested = {(iteration.experiment, iteration.iteration): iteration for iteration in self.progress.newest}
        for entry in entries:
            if isinstance(entry.event, CodeTested) and entry.experiment:
                row = self.progress.experiments[self._places[entry.experiment]]
                tested[row.id, entry.event.iteration] = _iteration(row, entry.at, entry.event)
        newest = sorted(tested.values(), key=lambda row: (-row.at, row.experiment, -row.iteration))[:NEWEST]
        known = self._troubles.known()
        self.progress = replace(self.progress, newest=tuple(newest), news_at=entries[-1].at, troubles=known)


def _iteration(row: ExperimentRow, at: float, event: CodeTested) -> NewestIteration:
    verdict = event.verdict
    tests, message = (verdict.passed, verdict.tests_passed, verdict.tests_total), verdict.message[:MESSAGE_CHARACTERS]
    return NewestIteration(row.id, row.problem, row.label, event.iteration, at, *tests, verdict.error, message)


def _updated(row: ExperimentRow, tally: ExperimentTally) -> ExperimentRow:
    """The row of an experiment with what its tally has; ``schema.py`` computes the same in SQL."""
    totals = tally.totals
    changes: dict[str, Any] = {name: getattr(totals, name) for name in _TOTALS}  # Any: columns
    if tally.started_at is not None:
        changes |= {"started_at": tally.started_at}
    if tally.finished is not None:
        changes |= {**asdict(tally.finished), "finished_at": tally.finished_at}
    score = tally.scores.get(changes.get("code", row.code) or "")
    for tests, verdict in (("gate", score and score.gate), ("held_out", score and score.held_out)):
        changes |= {f"{tests}_{name}": getattr(verdict, name) if verdict else None for name in _TESTS}
    verdicts = [verdict for verdict in (score.gate, score.held_out) if verdict] if score else []
    shared = any(verdict.shared for verdict in verdicts) if score else None
    return replace(row, **changes, shared=shared, state="running" if tally.running else "finished")


def _counted(row: BenchmarkRow, experiments: Sequence[ExperimentRow]) -> BenchmarkRow:
    """The row of a benchmark with the totals of its experiments."""
    ended = [experiment for experiment in experiments if experiment.state == "finished"]
    outcomes = Counter(experiment.outcome for experiment in ended)
    started = any(experiment.started_at is not None for experiment in experiments)
    scripted = Counter(experiment.outcome for experiment in ended if experiment.scripted)
    return replace(
        row,
        state="running" if row.state == "queued" and started else row.state,
        finished=len(ended),
        running=sum(experiment.state == "running" for experiment in experiments),
        solved=outcomes["solved"],
        unsolved=outcomes["unsolved"],
        cancelled=outcomes["cancelled"],
        errors=outcomes["error"],
        scripted_results=scripted["solved"] + scripted["unsolved"],
        scripted_failures=scripted["cancelled"] + scripted["error"],
        iterations=sum(experiment.iterations for experiment in experiments),
        calls=sum(experiment.calls for experiment in experiments),
        cost_usd=known_sum(experiment.cost_usd for experiment in experiments),
        unpriced=sum(experiment.unpriced for experiment in experiments),
        cached=sum(experiment.cached for experiment in experiments),
        seconds=sum(experiment.seconds or 0.0 for experiment in experiments),
    )


_LOG = logging.getLogger("koderz")
AHEAD_SECONDS = 10.0  # after these the index is read in the background, so that others find it up to date
LATE_SECONDS = 30.0  # after these a reader waits for the index


@dataclass(frozen=True, slots=True)
class Seen:
    """The state of the watched benchmark; ``rows``: all benchmarks, the newest first, None if not known."""

    progress: BenchmarkProgress | None
    rows: Sequence[BenchmarkRow] | None


@dataclass(frozen=True, slots=True)
class Look:
    """A question, when it was asked (seconds since 1970), and the state of the journals then."""

    question: Hashable
    at: float
    moment: Moment


class LiveTail:
    """The watched benchmarks, by question. Safe to use from several threads."""

    def __init__(self, journals_dir: Path) -> None:
        self._journals_dir = journals_dir
        self._guard = threading.Lock()  # guards _watched and what is in it
        self._watched: dict[Hashable, _Watched] = {}

    def begin(self, look: Look, seen: Seen, basis: Basis | None) -> None:
        """Continue from an answer of the index; ``basis`` None: the journal alone is not enough."""
        with self._guard:
            self._watched.pop(look.question, None)
            if basis is not None and seen.progress is not None:
                path = self._journals_dir / f"{seen.progress.benchmark.id}.jsonl"
                self._watched[look.question] = _Watched(look, seen, LiveBenchmark(path, seen.progress, basis))
            self._watched = {
                question: watched for question, watched in self._watched.items() if not watched.is_late(look.at)
            }

    def look(self, look: Look, renew: Callable[[], object]) -> Seen | None:
        """The answer of the index, from the journal; None: ask the index. ``renew`` asks it in the background."""
        with self._guard:
            watched = self._watched.get(look.question)
            if watched is None or watched.rests(look):
                return None
            del self._watched[look.question]  # until the reading has succeeded
            seen = watched.seen(look)
            if seen is not None:
                self._watched[look.question] = watched
                if watched.is_due(look.at):
                    threading.Thread(target=_renewed, args=(renew,), name="catching up").start()
            return seen


class _Watched:
    def __init__(self, look: Look, seen: Seen, live: LiveBenchmark) -> None:
        self._moment, self._at, self._rows = look.moment, look.at, seen.rows or ()
        self._live, self._renewing = live, False

    def rests(self, look: Look) -> bool:
        """Whether no journal has changed; the kept answer of the index is then as good as a new one."""
        resting = look.moment == self._moment
        self._at = look.at if resting else self._at
        return resting

    def is_late(self, now: float) -> bool:
        return not 0 <= now - self._at <= LATE_SECONDS

    def is_due(self, now: float) -> bool:
        """Whether the index should be read again; True once."""
        due = not self._renewing and now - self._at > AHEAD_SECONDS
        self._renewing = self._renewing or due
        return due

    def seen(self, look: Look) -> Seen | None:
        """The current state; None if the journal alone is not enough."""
        try:
            if look.moment.writers != self._moment.writers or self.is_late(look.at) or not self._live.read_on():
                return None
        except JournalError:  # the index reports the reason
            return None
        row = self._live.progress.benchmark
        rows = [row if benchmark.id == row.id else benchmark for benchmark in self._rows]
        return Seen(self._live.progress, rows if self._is_alone(look.moment, f"{row.id}.jsonl") else None)

    def _is_alone(self, moment: Moment, name: str) -> bool:
        """Whether no other journal has changed."""
        before, now = (
            [journal for journal in journals if journal[0] != name]
            for journals in (self._moment.journals, moment.journals)
        )
        return before == now


def _renewed(renew: Callable[[], object]) -> None:
    try:
        renew()
    except StoreError as error:  # a reader that comes late asks again, and gets the error
        _LOG.debug(
            "The index could not be updated in the background (%s). The next read of the index reports the error.",
            error,
        )
    except Exception:  # noqa: BLE001 (the edge of a thread)
        _LOG.exception("The index could not be updated in the background. The next read of the index updates it.")
