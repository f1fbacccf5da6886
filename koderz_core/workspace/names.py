"""Which benchmark or configuration the word of a person names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from koderz_core.analysis.configurations import letter
from koderz_core.errors import UnknownNameError, UsageError
from koderz_core.records.progress import SummaryRow
from koderz_core.records.rows import BenchmarkRow

if TYPE_CHECKING:
    from koderz_core.store.results import Results

Found = TypeVar("Found")
MOST_SHOWN = 12


def benchmark_named(results: Results, word: str, cure: str = "Give the benchmark instead.") -> str:
    """The id of the benchmark that a word names, as ``Results.find`` has it.

    Raises UnknownNameError; UsageError if several are named so, or an experiment is. Then ``cure`` says what to do, and
    ``{experiment}`` and ``{benchmark}`` in it stand for the ids.
    """
    found = results.find(word)
    if not found.startswith("exp_"):
        return found
    benchmark = results.experiment(found).experiment.benchmark
    raise UsageError(f"{found} is an experiment of {benchmark}. {cure.format(experiment=found, benchmark=benchmark)}")


def configurations_named(results: Results, word: str, benchmarks: Sequence[BenchmarkRow]) -> list[SummaryRow]:
    """All configurations of the benchmark that a word names, or the one of ``benchmark/configuration``.

    The beginning of an id is one of a benchmark here, whatever experiments begin so. Raises UnknownNameError,
    UsageError.
    """
    whole = _benchmarks(word, benchmarks)
    if whole:
        return results.summaries(_only(word, whole, lambda row: row.id).id)
    name, _, configuration = word.rpartition("/")
    within = _benchmarks(name, benchmarks) if name else []
    if within:
        rows = results.summaries(_only(name, within, lambda row: row.id).id)
        return [configuration_named(configuration, rows)]
    if word.startswith("conf_"):
        return [configuration_named(word, results.summaries())]
    raise UnknownNameError("benchmark", word, [row.id for row in benchmarks])


def configuration_named(word: str, rows: Sequence[SummaryRow]) -> SummaryRow:
    """The one of these that a word names: by its letter among them, else by id, label, or the beginning of an id.

    Raises UnknownNameError; UsageError if several are named so.
    """
    name, _, rest = word.rpartition("/")
    among = [row for row in rows if not name or row.benchmark.startswith(name)]
    ways: tuple[Callable[[SummaryRow], bool], ...] = (
        lambda row: row.configuration == rest,
        lambda row: row.label == word,
        lambda row: bool(rest) and (row.configuration.startswith((rest, f"conf_{rest}"))),
    )
    by_letter = {letter(place): row for place, row in enumerate(rows)}
    if word.upper() in by_letter:
        return by_letter[word.upper()]
    found = next((found for way in ways if (found := [row for row in among if way(row)])), [])
    if not found:
        choices = [f"{letter(place)} = {row.label}" for place, row in enumerate(rows)]
        raise UnknownNameError("configuration", word, choices)
    return _only(word, found, lambda row: f"{row.benchmark}/{row.configuration}")


def _benchmarks(word: str, rows: Sequence[BenchmarkRow]) -> list[BenchmarkRow]:
    """By id, else by name, else by the beginning of an id, with or without ``bench_``."""
    ways: tuple[Callable[[BenchmarkRow], bool], ...] = (
        lambda row: row.id == word,
        lambda row: bool(word) and row.name == word,
        lambda row: bool(word) and (row.id.startswith(word) or row.id.partition("_")[2].startswith(word)),
    )
    return next((found for way in ways if (found := [row for row in rows if way(row)])), [])


def _only(word: str, found: Sequence[Found], name: Callable[[Found], str]) -> Found:
    if len(found) == 1:
        return found[0]
    shown = ", ".join(name(one) for one in found[:MOST_SHOWN])
    raise UsageError(
        f"{word!r} fits several: {shown}{', ...' if len(found) > MOST_SHOWN else ''}. Give more of the id."
    )
