"""What the journals say, asked one question at a time: each answer is up to date, and nothing stays open behind it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from koderz_core.errors import UnknownNameError
from koderz_core.records import Outcome
from koderz_core.records.rows import ExperimentDetails, ExperimentRow, SummaryRow
from koderz_core.store.queries import Reader
from koderz_core.store.store import Ingested, Store

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]  # pandas ships no types


class Results:
    """Safe to ask from several threads and processes. Every question may raise StoreError.

    ``faults`` names the journals that could not be read to their end when a question was last asked, and the cure;
    all that could be read is in the answers.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.faults: tuple[str, ...] = ()

    def find(self, prefix: str) -> str:
        """The id of the one benchmark or experiment that begins so. Raises UnknownNameError, UsageError."""
        with self._reader() as reader:
            return reader.find(prefix)

    def find_problem(self, name: str | None) -> str | None:
        """The id of a problem that some experiment is on; ``3`` is short for ``HumanEval/3``. None stays None.

        Raises UnknownNameError.
        """
        if name is None:
            return None
        with self._reader() as reader:
            known = reader.problems()
        fitting = [one for one in known if one == name or one.rpartition("/")[2] == name]
        if not fitting:
            raise UnknownNameError("problem in these results", name, known)
        return fitting[0]

    def summaries(self, benchmark: str | None = None) -> list[SummaryRow]:
        """One row per benchmark (or only that one) and configuration, the newest benchmark first."""
        with self._reader() as reader:
            return reader.summaries(benchmark)

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
        with self._reader() as reader:
            return reader.experiments(benchmark, problem, outcome, limit)

    def experiment(self, experiment: str) -> ExperimentDetails:
        """Everything about the experiment of that id. Raises UnknownNameError."""
        with self._reader() as reader:
            scores = reader.scores(experiment)
            return ExperimentDetails(
                experiment=reader.experiment(experiment),
                iterations=reader.iterations(experiment),
                calls=reader.calls(experiment),
                notes=reader.notes(experiment),
                scores=scores,
                programs={score.code: reader.text(score.code) for score in scores},
            )

    def frame(self, table: str = "experiments", benchmark: str | None = None) -> DataFrame:
        """``experiments``, ``iterations`` or ``calls`` as a pandas data frame. Raises UnknownNameError."""
        with self._reader() as reader:
            return reader.frame(table, benchmark)

    def reindex(self) -> Ingested:
        """Build the index anew from the journals. Raises StoreError."""
        ingested = self.store.reindex()
        self.faults = ingested.faults
        return ingested

    @contextmanager
    def _reader(self) -> Iterator[Reader]:
        self.faults = self.store.ingest().faults
        with self.store.open() as con:
            yield Reader(con)
