"""What the journals say, asked one question at a time: each answer is up to date, and nothing stays open behind it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from koderz_core.errors import UnknownNameError
from koderz_core.records import Outcome
from koderz_core.records.forecasts import Past, PastPair, Receipt
from koderz_core.records.notes import SpecRow
from koderz_core.records.progress import BenchmarkProgress, Neighbours, Snapshot, SummaryRow
from koderz_core.records.rows import BenchmarkRow, ExperimentDetails, ExperimentRow, Span
from koderz_core.records.trials import Ground, Measured, Trial
from koderz_core.store.ahead import Ahead, Asked, Glance, Moment, Seen, Shared
from koderz_core.store.benchmarks import Forecast, Writers
from koderz_core.store.details import Naming, Several, details_of, several_of
from koderz_core.store.experiments import Followed
from koderz_core.store.frames import Part, Tables
from koderz_core.store.queries import Reader
from koderz_core.store.store import Ingested, Store

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]  # pandas ships no types

Answer = TypeVar("Answer")
Ask = Callable[[Reader, Writers], Answer]
AGE_SECONDS, LISTED_SECONDS = 0.25, 1.0  # of what was just read for somebody else: one benchmark, the list of all
BESIDE_SECONDS = 2.0  # of the list of all beside a benchmark that is watched, while others go on too
_ALL = "benchmarks"


class Results:
    """Safe to ask from several threads and processes. Every question may raise StoreError.

    ``faults`` names the journals that could not be read to their end when a question was last asked, or whose writers
    could not be told, and the cure; all that could be read is in the answers. ``shared``: what several look at.
    """

    def __init__(self, store: Store, forecast: Forecast, clock: Callable[[], float] = time.time) -> None:
        """``clock``: seconds since 1970."""
        self.store = store
        self._forecast, self._clock = forecast, clock
        self.faults: tuple[str, ...] = ()
        self._followed, self._ahead = Followed(), Ahead(store.journals_dir)
        self._glance, self.shared = Glance(store), Shared(clock)

    def find(self, text: str) -> str:
        """The id of the one benchmark of that name, else of what begins so. Raises UnknownNameError, UsageError."""
        return self._known(("find", text), lambda reader, _: reader.find(text))

    def find_problem(self, name: str | None) -> str | None:
        """The id of a problem of some experiment, ``3`` is ``HumanEval/3``; None of None. Raises UnknownNameError."""
        if name is None:
            return None
        with self._reader() as reader:
            return reader.find_problem(name)

    def benchmarks(self, since: float | None = None) -> list[BenchmarkRow]:
        """All benchmarks, the newest first; made to be asked every second.

        ``since`` (seconds since 1970): what was just read for somebody else will do, if not read before that.
        """
        read = partial(self._known, _ALL, Reader.benchmarks)
        return list(read() if since is None else self.shared.of(_ALL, since, read, LISTED_SECONDS))

    def benchmark(self, benchmark: str) -> BenchmarkRow:
        """The benchmark of that id. Raises UnknownNameError."""
        known = {row.id: row for row in self.benchmarks()}
        if benchmark not in known:
            raise UnknownNameError("benchmark", benchmark, list(known))
        return known[benchmark]

    def progress(self, benchmark: str) -> BenchmarkProgress:
        """How far the benchmark of that id is now. Raises UnknownNameError."""
        writers, now = Writers(self.store.journals_dir), self._clock()
        with self._reader(writers) as reader:
            row = reader.benchmarks(writers, benchmark)[0]
            standing = reader.standing(writers, self._followed, row)
        return standing.progress(self._forecast, now)

    def snapshot(self, benchmark: str, since: float) -> Snapshot:
        """All benchmarks and how far one of them is: that of an id or, without one, what runs, else the newest.

        Made to be asked every second by all who look at it. ``since`` as ``benchmarks`` has it.
        """
        return self.shared.of(("watched", benchmark), since, lambda: self._watch(benchmark), AGE_SECONDS)

    def neighbours(self, experiment: str) -> Neighbours:
        """The experiments before and after the one of that id, as ``progress`` orders them. Raises UnknownNameError."""
        return self._known(("neighbours", experiment), lambda reader, _: reader.neighbours(experiment))

    def summaries(
        self, of: str | Collection[str] | None = None, only: Collection[str] | None = None
    ) -> list[SummaryRow]:
        """One row per configuration of a benchmark (by id), of several in that order, of all; ``only``: of problems."""
        benchmarks = [of] if isinstance(of, str) else of
        question = ("summaries", *(None if one is None else tuple(one) for one in (benchmarks, only)))
        return list(self._known(question, lambda reader, writers: reader.summaries(writers, benchmarks, only)))

    def trials(self, benchmarks: Collection[str], *, tries: bool = True, apart: bool = False) -> list[Trial]:
        """Every experiment of these benchmarks (by id), by benchmark, configuration, problem and repeat.

        ``tries`` False: without what was tried, which takes a fraction of the time. ``apart``: as ``tables`` has it.
        """
        with self._reader(apart=apart) as reader:
            return reader.trials(benchmarks, tries=tries)

    def failures(self, benchmark: str) -> dict[str, dict[str, int]]:
        """Configuration id -> error class -> how often an iteration, or an untested program, failed with it."""
        with self._reader() as reader:
            return reader.failures(benchmark)

    def experiments(
        self,
        benchmark: str | None = None,
        problem: str | None = None,
        outcome: Outcome | None = None,
        limit: int | None = None,
    ) -> list[ExperimentRow]:
        """Experiments that fit all that is given, the one with the newest news first."""

        def ask(reader: Reader, writers: Writers) -> list[ExperimentRow]:
            held = reader.held()
            return [writers.told(row, held) for row in reader.experiments(benchmark, problem, outcome, limit)]

        question = ("experiments", benchmark, problem, outcome, limit)
        return list(self._known(question, ask, keep=limit is not None))

    def experiment(self, experiment: str) -> ExperimentDetails:
        """Everything about the experiment of that id. Raises UnknownNameError."""
        return self._known(("experiment", experiment), lambda reader, writers: details_of(reader, writers, experiment))

    def several(self, experiments: Iterable[str], named: Naming) -> Several:
        """Everything about the experiments of these ids, read at one moment, with the texts that are ``named`` of them.

        A text that no journal holds is left out. Raises UnknownNameError. Everybody else waits meanwhile: ask for few.
        """
        writers = Writers(self.store.journals_dir)
        with self._reader(writers) as reader:
            return several_of(reader, writers, experiments, named)

    def specs(
        self, benchmark: str | None = None, problem: str | None = None, experiment: str | None = None
    ) -> list[SpecRow]:
        """The specs that experiments were built on which fit all that is given (by id), the newest first."""
        with self._reader() as reader:
            return reader.specs(benchmark, problem, experiment)

    def measured(self) -> list[Measured]:
        """The registry of baselines: every model that was asked directly, without a spec; the newest first."""
        return list(self._known("measured", lambda reader, _: reader.measured()))

    def grounds(self, benchmarks: Collection[str]) -> list[Ground]:
        """What these benchmarks (by id) are about and under which conditions."""
        return list(self._known(("grounds", tuple(benchmarks)), lambda reader, _: reader.grounds(benchmarks)))

    def past(self, strategies: Iterable[str]) -> list[Past]:
        """What experiments of these strategies took that came to a result, the newest of each configuration."""
        with self._reader() as reader:
            return reader.past(strategies)

    def past_pairs(self, dataset_sha256: str, *, scripted: bool) -> list[PastPair]:
        """Every two configurations of a benchmark on this dataset that have enough problems in common."""
        asked = ("past pairs", dataset_sha256, scripted)
        return list(self._known(asked, lambda reader, _: reader.past_pairs(dataset_sha256, scripted=scripted)))

    def receipt(self, benchmark: str) -> Receipt | None:
        """What a benchmark (by id) has come to, beside what was foretold; None before its end, or if nothing was."""
        with self._reader() as reader:
            return reader.receipt(benchmark)

    def texts(self, hashes: Iterable[str]) -> Mapping[str, str]:
        """SHA-256 -> the text that rows name so; those that no journal holds are left out."""
        with self._reader() as reader:
            return reader.texts(hashes)

    def spans(self, benchmark: str) -> list[Span]:
        """When the parts of the ended experiments of a benchmark (by id) went on."""
        with self._reader() as reader:
            return reader.spans(benchmark)

    def frame(self, table: str = "experiments", benchmark: str | None = None) -> DataFrame:
        """``experiments``, ``iterations`` or ``calls`` as a pandas data frame. Raises UnknownNameError."""
        with self.tables() as tables:
            return tables.frame(Part(table, [benchmark] if benchmark else None))

    @contextmanager
    def tables(self, *, apart: bool = False) -> Iterator[Tables]:
        """The tables as they are now. Everybody else waits until they are closed, unless they are a copy ``apart``."""
        writers = Writers(self.store.journals_dir)
        with self._reader(writers, apart=apart) as reader:
            yield reader.tables(writers)

    def state(self) -> str:
        """A text that is another one as soon as a journal says more: what was computed before is then out of date."""
        return self._glance.state(self.faults)

    def reindex(self) -> Ingested:
        """Build the index anew from the journals. Raises StoreError."""
        ingested = self.store.reindex()
        self.faults = ingested.faults
        return ingested

    def _watch(self, benchmark: str) -> Snapshot:
        now, writers = self._clock(), Writers(self.store.journals_dir)
        asked = Asked(("watched", benchmark), now, self._glance.moment(writers))

        def look(reader: Reader, writers: Writers) -> Seen:
            seen = reader.watched(writers, self._followed, benchmark)
            self._ahead.begin(asked, seen, None if self.faults else reader.basis(seen.standing))
            return seen

        read = partial(self._answered, asked.question, look, writers, asked.moment)
        seen = self._ahead.look(asked, read) or read()
        if seen.rows is not None:
            self.shared.tell(_ALL, now, seen.rows)
        progress = None if seen.standing is None else seen.standing.progress(self._forecast, now)
        return Snapshot(tuple(self._beside(seen)), progress)

    def _beside(self, seen: Seen) -> Iterator[BenchmarkRow]:
        """All benchmarks; the watched one as it was seen, where the others were read at another moment."""
        if seen.rows is not None:
            yield from seen.rows
            return
        known = partial(self._known, _ALL, Reader.benchmarks)
        own = seen.standing.row if seen.standing else None
        for row in self.shared.of(_ALL, 0.0, known, BESIDE_SECONDS):
            yield own if own and row.id == own.id else row

    def _known(self, question: Hashable, ask: Ask[Answer], *, keep: bool = True) -> Answer:
        """What the store answers, or has answered since anything last happened."""
        writers = Writers(self.store.journals_dir)
        return self._answered(question, ask, writers, self._glance.moment(writers), keep=keep)

    def _answered(
        self, question: Hashable, ask: Ask[Answer], writers: Writers, now: Moment, *, keep: bool = True
    ) -> Answer:
        last: Answer | None = self._glance.last(question, now)
        if last is not None:
            self.faults = ()
            return last
        with self._reader(writers) as reader:
            answer = ask(reader, writers)
        if keep and not self.faults and Writers(self.store.journals_dir).present == now.writers:
            self._glance.keep(question, now, answer)
        return answer

    @contextmanager
    def _reader(self, writers: Writers | None = None, *, apart: bool = False) -> Iterator[Reader]:
        with self.store.apart() if apart else self.store.latest() as latest:
            self.faults = latest.ingested.faults
            yield Reader(latest.con)
        if writers is not None:
            self.faults = (*latest.ingested.faults, *writers.faults)
