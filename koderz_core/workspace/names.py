"""Names that a user types for benchmarks and configurations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from koderz_core.analysis.configurations import figures_of, letter, usual_baseline
from koderz_core.errors import UnknownNameError, UsageError
from koderz_core.records.progress import SummaryRow
from koderz_core.records.rows import BenchmarkRow

if TYPE_CHECKING:
    from koderz_core.store.results import Results

__all__ = ["Names", "configuration_named", "figures_of", "letter", "usual_baseline"]

Row = TypeVar("Row")
MOST_SHOWN = 12


@dataclass(frozen=True)
class Names:
    """Resolves the names of benchmarks and configurations. Raises StoreError if the results cannot be read."""

    results: Results

    def benchmark(self, name: str, cure: str = "Give the id of the benchmark instead.") -> str:
        """Return the id of the benchmark with this name, found as by ``Results.find``.

        Raises UnknownNameError. Raises UsageError if several benchmarks match, or if the name is that of an experiment.
        In that case, the message ends with ``cure``, in which ``{experiment}`` and ``{benchmark}`` are replaced by the
        ids.
        """
        found = self.results.find(name)
        if not found.startswith("exp_"):
            return found
        benchmark = self.results.experiment(found).experiment.benchmark
        cure = cure.format(experiment=found, benchmark=benchmark)
        raise UsageError(f"{found} is an experiment of {benchmark}. {cure}")

    def configurations(self, name: str, benchmarks: Sequence[BenchmarkRow]) -> list[SummaryRow]:
        """Return all configurations of a benchmark, or the configuration named ``benchmark/configuration``.

        The start of an id refers to a benchmark, even if ids of experiments start in the same way. Raises
        UnknownNameError, UsageError.
        """
        whole = _benchmarks(name, benchmarks)
        if whole:
            return self.results.summaries(_only(name, whole, lambda row: row.id).id)
        benchmark, _, configuration = name.rpartition("/")
        within = _benchmarks(benchmark, benchmarks) if benchmark else []
        if within:
            rows = self.results.summaries(_only(benchmark, within, lambda row: row.id).id)
            return [configuration_named(configuration, rows)]
        if name.startswith("conf_"):
            return [configuration_named(name, self.results.summaries())]
        raise UnknownNameError("benchmark", name, [row.id for row in benchmarks])


def configuration_named(name: str, rows: Sequence[SummaryRow]) -> SummaryRow:
    """Return the row with this letter; if there is none, with this id, label, or start of an id.

    Raises UnknownNameError; UsageError if several rows match.
    """
    benchmark, _, configuration = name.rpartition("/")
    among = [row for row in rows if not benchmark or row.benchmark.startswith(benchmark)]
    ways: tuple[Callable[[SummaryRow], bool], ...] = (
        lambda row: row.configuration == configuration,
        lambda row: row.label == name,
        lambda row: bool(configuration) and row.configuration.startswith((configuration, f"conf_{configuration}")),
    )
    by_letter = {letter(place): row for place, row in enumerate(rows)}
    if name.upper() in by_letter:
        return by_letter[name.upper()]
    found = next((found for way in ways if (found := [row for row in among if way(row)])), [])
    if not found:
        choices = [f"{letter(place)} = {row.label}" for place, row in enumerate(rows)]
        raise UnknownNameError("configuration", name, choices)
    return _only(name, found, lambda row: f"{row.benchmark}/{row.configuration}")


def _benchmarks(name: str, rows: Sequence[BenchmarkRow]) -> list[BenchmarkRow]:
    """By id, else by name, else by the start of an id, with or without ``bench_``."""
    ways: tuple[Callable[[BenchmarkRow], bool], ...] = (
        lambda row: row.id == name,
        lambda row: bool(name) and row.name == name,
        lambda row: bool(name) and (row.id.startswith(name) or row.id.partition("_")[2].startswith(name)),
    )
    return next((found for way in ways if (found := [row for row in rows if way(row)])), [])


def _only(name: str, rows: Sequence[Row], id_of: Callable[[Row], str]) -> Row:
    if len(rows) == 1:
        return rows[0]
    shown = ", ".join(id_of(row) for row in rows[:MOST_SHOWN])
    more = " and others" if len(rows) > MOST_SHOWN else ""
    raise UsageError(f"{name!r} matches several ids: {shown}{more}. Give more characters of the id.")
