"""Queries of the journals. Every answer is up to date, and no file stays open.

A query is a function of the open index, next to its SQL. A line in ``Results`` makes it a method.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from koderz_core.errors import UnknownNameError
from koderz_core.journal import journals_in
from koderz_core.journal.annotations import annotations_folder, read
from koderz_core.records import Outcome
from koderz_core.records.annotations import Annotation
from koderz_core.records.progress import BenchmarkProgress, News, Snapshot, SummaryRow, meant
from koderz_core.records.rows import BenchmarkRow, ExperimentRow
from koderz_core.records.trials import Trial
from koderz_core.store import (
    benchmarks,
    configurations,
    details,
    experiments,
    lookup,
    measurements,
    registrations,
    search,
    trials,
)
from koderz_core.store.answers import Answers, Moment, journals, state
from koderz_core.store.benchmarks import Forecast
from koderz_core.store.experiments import ExperimentCache
from koderz_core.store.frames import FRAMES, Part, Tables
from koderz_core.store.index import Index, Writers
from koderz_core.store.live_tail import LiveTail, Look, Seen, basis
from koderz_core.store.refresh import Ingested
from koderz_core.store.store import Store

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]  # pandas ships no types

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")
AGE_SECONDS, LISTED_SECONDS = 0.25, 1.0  # age of an answer that other readers may get: one benchmark, all of them
LOOK_SECONDS = 0.05  # age of the state of the journals that other readers may get
BESIDE_SECONDS = 2.0  # age of the list next to a watched benchmark, while other benchmarks run too
_ALL = "benchmarks"


def question(
    ask: Callable[Concatenate[Index, Arguments], Answer], *, kept: bool = True
) -> Callable[Concatenate[Results, Arguments], Answer]:
    """Return the method of ``Results`` for a query. ``kept``: cache its answer until the journals change."""

    @wraps(ask)
    def method(self: Results, /, *arguments: Arguments.args, **options: Arguments.kwargs) -> Answer:
        def answer(index: Index) -> Answer:
            return ask(index, *arguments, **options)

        if kept:
            named = tuple((name, _hashable(option)) for name, option in options.items())
            return self._kept((ask, *map(_hashable, arguments), *named), answer)
        with self._index() as index:
            return answer(index)

    return method


def _hashable(argument: Any) -> Hashable:  # Any: an argument of some question
    return argument if isinstance(argument, Hashable) else tuple(argument)


class Results:
    """Queries the store. May be used from several threads and processes. Every method may raise StoreError.

    ``faults``: the journals that the last query could not read to the end, or whose writers it could not determine, and
    what to do; the answers include everything that could be read. ``shared``: the cached answers.
    """

    def __init__(
        self,
        store: Store,
        forecast: Forecast,
        clock: Callable[[], float] = time.time,
        compared: Callable[[str, str | None], DataFrame] | None = None,
    ) -> None:
        """``clock``: seconds since 1970. ``compared``: returns the table of statistics of that name of one benchmark.

        ``compared`` raises UnknownNameError for another table; None: there are no tables of statistics.
        """
        self.store = store
        self._compared = compared
        self._forecast, self._clock = forecast, clock
        self.faults: tuple[str, ...] = ()
        self._cache, self._live = ExperimentCache(), LiveTail(store.journals_dir)
        self.shared = Answers(clock)

    find = question(lookup.find)
    find_problem = question(lookup.find_problem, kept=False)
    renamed_journals = question(lookup.renamed_journals, kept=False)
    neighbours = question(experiments.neighbours)
    experiment = question(details.details)
    several = question(details.several, kept=False)
    texts = question(details.texts, kept=False)
    search = question(search.search)
    summaries = question(configurations.summaries)
    role_costs = question(configurations.role_costs)
    failures = question(trials.failures, kept=False)
    spans = question(trials.spans, kept=False)
    energy_sources = question(trials.energy_sources, kept=False)
    coder_calls = question(trials.coder_calls, kept=False)
    plan = question(benchmarks.plan, kept=False)
    known_spending = question(benchmarks.known_spending)
    recorded_plans = question(registrations.recorded_plans)
    extended = question(registrations.extended)
    decisions = question(registrations.decisions)
    receipt = question(benchmarks.receipt, kept=False)
    measured = question(configurations.measured)
    grounds = question(configurations.grounds)
    specs = question(measurements.specs, kept=False)
    past = question(measurements.past, kept=False)
    past_pairs = question(measurements.past_pairs)
    _benchmarks = question(benchmarks.benchmarks)
    _newest_experiments = question(experiments.experiments)
    _all_experiments = question(experiments.experiments, kept=False)  # they may be many

    def benchmarks(self, since: float | None = None) -> list[BenchmarkRow]:
        """Return all benchmarks, the newest first. Fast enough to be called every second.

        ``since`` (seconds since 1970): accept an answer to another reader that was read after this time.
        """
        if since is None:
            return self._benchmarks()
        return list(self.shared.of(_ALL, since, self._benchmarks, LISTED_SECONDS))

    def benchmark(self, benchmark: str) -> BenchmarkRow:
        """Return the benchmark with this id. Raises UnknownNameError."""
        known = {row.id: row for row in self.benchmarks()}
        if benchmark not in known:
            raise UnknownNameError("benchmark", benchmark, list(known))
        return known[benchmark]

    def progress(self, benchmark: str) -> BenchmarkProgress:
        """Return the progress of the benchmark with this id. Raises UnknownNameError."""
        now = self._clock()
        with self._index() as index:
            (row,) = benchmarks.benchmarks(index, benchmark)
            progress = benchmarks.progress(index, self._cache, row)
        return benchmarks.timed(progress, self._forecast, now)

    def snapshot(self, benchmark: str, since: float) -> Snapshot:
        """Return all benchmarks, and the progress of one (by id; ``""``: a running one, else the newest).

        Fast enough to be called every second by every reader. ``since``: as in ``benchmarks``.
        """
        return self.shared.of(("snapshot", benchmark), since, lambda: self._watch(benchmark), AGE_SECONDS)

    def experiments(
        self,
        benchmark: str | None = None,
        problem: str | None = None,
        outcome: Outcome | None = None,
        limit: int | None = None,
        among: Collection[str] | None = None,
    ) -> list[ExperimentRow]:
        """Return the experiments that match all arguments, the most recently updated first.

        Experiments that have not started come last. ``among``: the ids of experiments, None for all.
        """
        ask = self._all_experiments if limit is None else self._newest_experiments
        return ask(benchmark, problem, outcome, limit, among)

    def annotations(self, benchmark: str | None = None) -> tuple[Annotation, ...]:
        """Return the labels and notes on the experiments of a benchmark (by id; None: of all). Raises JournalError.

        They are not in the index. Those of a merged benchmark include those of its shards. koderz reads all of them
        again after each change; 10,000 take less than 0.1 s of processor time.
        """
        folder = annotations_folder(self.store.journals_dir)
        by_benchmark = self.shared.at(
            folder, journals(folder), lambda: {path.stem: read(path) for path in journals_in(folder)}
        )
        chosen = list(by_benchmark) if benchmark is None else [benchmark]
        return tuple(annotation for name in chosen for annotation in by_benchmark.get(name, ()))

    def trials(self, benchmarks: Collection[str], *, tries: bool = True, apart: bool = False) -> list[Trial]:
        """Return every experiment of these benchmarks (by id), by benchmark, configuration, problem and repeat.

        ``tries`` False: omit the iterations, which takes a fraction of the time. ``apart``: as in ``tables``.
        """
        with self._index(apart=apart) as index:
            return trials.trials(index, benchmarks, tries=tries)

    def reached(self, rows: Sequence[SummaryRow]) -> list[SummaryRow]:
        """Return these configurations; those of a decided sequential benchmark with the problems that decided it only.

        The experiments that were left out are not missing results. Raises StoreError.
        """
        decisions = self.decisions(tuple(dict.fromkeys(row.benchmark for row in rows if row.only is None)))
        limited = {
            (row.benchmark, row.configuration): row
            for benchmark, problems in decisions.items()
            for row in self.summaries(benchmark, self.plan(benchmark).problems[:problems])
        }
        return [limited.get((row.benchmark, row.configuration), row) if row.only is None else row for row in rows]

    def frame(self, table: str = "experiments", benchmark: str | None = None) -> DataFrame:
        """Return a table of ``koderz export`` as a pandas data frame.

        ``experiments``, ``iterations``, ``calls`` and ``labels`` hold recorded rows; the other tables hold statistics
        of configurations. ``benchmark``: its id, the start of its id or its name. None: all benchmarks; for statistics
        the newest. Raises UnknownNameError, UsageError.
        """
        chosen = self.benchmark(self.find(benchmark)).id if benchmark else None
        if self._compared and table not in FRAMES:
            return self._compared(table, chosen)
        with self.tables() as tables:
            return tables.frame(Part(table, [chosen] if chosen else None))

    @contextmanager
    def tables(self, *, apart: bool = False) -> Iterator[Tables]:
        """Open the current tables. Other readers wait until they are closed; ``apart``: open a copy instead."""
        with self._index(apart=apart) as index:
            yield Tables(index.con, index.writers, self.annotations)

    def state(self) -> str:
        """Return a digest that changes when a journal grows; earlier results are then out of date."""
        return state(self.store.journals_dir, self.faults)

    def news(self) -> News:
        """Return the current state of the journals. All readers share one check for some hundredths of a second."""
        return self.shared.of("news", 0.0, lambda: News(self.state(), self._clock()), LOOK_SECONDS)

    def reindex(self) -> Ingested:
        """Rebuild the index from the journals. Raises StoreError."""
        ingested = self.store.reindex()
        self.faults = ingested.faults
        return ingested

    def _watch(self, benchmark: str) -> Snapshot:
        now, writers = self._clock(), Writers(self.store.journals_dir)
        look = Look(("watched", benchmark), now, self._moment(writers))

        def ask(index: Index) -> Seen:
            rows = benchmarks.benchmarks(index)
            row = meant(rows, benchmark)
            progress = None if row is None else benchmarks.progress(index, self._cache, row)
            seen = Seen(progress, rows)
            self._live.begin(look, seen, None if progress is None or index.unread else basis(index.con, progress))
            return seen

        read = partial(self._answered, look.question, ask, writers, look.moment)
        seen = self._live.look(look, read) or read()
        if seen.rows is not None:
            self.shared.tell(_ALL, now, seen.rows)
        progress = None if seen.progress is None else benchmarks.timed(seen.progress, self._forecast, now)
        return Snapshot(tuple(self._beside(seen)), progress)

    def _beside(self, seen: Seen) -> Iterator[BenchmarkRow]:
        """All benchmarks; the watched one in its latest state, even if the others were read at another moment."""
        if seen.rows is not None:
            yield from seen.rows
            return
        own = seen.progress.benchmark if seen.progress else None
        for row in self.shared.of(_ALL, 0.0, self._benchmarks, BESIDE_SECONDS):
            yield own if own and row.id == own.id else row

    def _kept(self, question: Hashable, ask: Callable[[Index], Answer]) -> Answer:
        """The answer of the index, or a kept one if no journal has changed since."""
        writers = Writers(self.store.journals_dir)
        answer = self._answered(question, ask, writers, self._moment(writers))
        return copy(answer) if isinstance(answer, list) else answer

    def _answered(self, question: Hashable, ask: Callable[[Index], Answer], writers: Writers, moment: Moment) -> Answer:
        def read() -> tuple[Answer, tuple[str, ...]]:
            with self._index(writers) as index:
                answer = ask(index)
            faults = (*index.unread, *writers.faults)
            if faults or Writers(self.store.journals_dir).present != moment.writers:
                self.shared.drop(question)
            return answer, faults

        if not self.store.path.is_file():  # it is rebuilt, whatever was answered before
            self.shared.drop(question)
        answer, self.faults = self.shared.at(question, moment, read)
        return answer

    def _moment(self, writers: Writers) -> Moment:
        """The current state. Take it before the journals are read: entries added meanwhile then make it out of date."""
        return Moment(journals(self.store.journals_dir), writers.present)

    @contextmanager
    def _index(self, writers: Writers | None = None, *, apart: bool = False) -> Iterator[Index]:
        writers = writers or Writers(self.store.journals_dir)
        with self.store.apart() if apart else self.store.latest() as latest:
            self.faults = latest.ingested.faults
            yield Index(latest.con, writers, latest.ingested.faults)
        self.faults = (*latest.ingested.faults, *writers.faults)
