"""Specs, compared by the results of the experiments that were built on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean
from typing import TypeVar

from koderz_core.analysis.rates import ClusteredRate, clustered, counted
from koderz_core.records.marks import Marks, marks_of
from koderz_core.records.notes import SpecRow
from koderz_core.sums import known_mean

Key = TypeVar("Key")
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class SpecResults:
    """One spec with the results built on it: ``n`` experiments with a result, ``solved`` of them solved.

    ``spec``: the row of the experiment that wrote it, or if that is missing, of the first that reused it.
    """

    spec: SpecRow
    solved: int
    n: int


@dataclass(frozen=True, slots=True)
class SpecComparison:
    """The specs of one model and version of their prompt, with the results of one coder and strategy.

    ``words``, ``output_tokens`` and ``cost_usd`` are means over the ``specs``, each counted once even if it was reused;
    None if one of them is unknown. ``rate``: share solved of the experiments with a result; ``marks``: its marks.
    """

    coder: tuple[str, ...]
    strategy: str
    model: str | None
    prompt: str
    wording: str | None
    specs: int
    words: float
    output_tokens: float | None
    cost_usd: float | None
    marks: Marks
    rate: ClusteredRate


def spec_results(rows: Iterable[SpecRow]) -> tuple[SpecResults, ...]:
    """Every spec once, grouped by model and version of its prompt; the newest first."""
    specs = [_results(group) for group in _grouped(rows, lambda row: row.source)]
    newest_first = sorted(specs, key=lambda results: results.spec.at, reverse=True)
    groups = _grouped(newest_first, lambda results: _version(results.spec))
    return tuple(chain.from_iterable(groups))


def compare_specs(rows: Iterable[SpecRow]) -> tuple[SpecComparison, ...]:
    """The specs of each model and version of their prompt, by coder and strategy.

    Even these rates may be of different problems: a fair comparison needs configurations that differ in nothing else.
    An empty answer is not a spec; ``count_empty`` counts these.
    """
    whole = [row for row in rows if row.text.strip()]
    ordered = sorted(whole, key=lambda row: (_coder(row), row.strategy, row.model or "", row.prompt, row.wording or ""))
    return tuple(
        _compared(group) for group in _grouped(ordered, lambda row: (_coder(row), row.strategy, _version(row)))
    )


def count_empty(rows: Iterable[SpecRow]) -> int:
    """How many experiments requested a spec and continued without one, because the answer was empty."""
    return sum(not row.text.strip() for row in rows)


def _grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> Iterable[list[Item]]:
    """Groups in the order of their first items."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups.values()


def _version(row: SpecRow) -> tuple[str | None, str, str | None]:
    return row.model, row.prompt, row.wording


def _coder(row: SpecRow) -> tuple[str, ...]:
    return row.models.get("coder", ())


def _results(rows: Sequence[SpecRow]) -> SpecResults:
    first = min(rows, key=lambda row: (row.origin is not None, row.at))
    return SpecResults(first, sum(row.outcome == "solved" for row in rows), sum(row.scored for row in rows))


def _compared(rows: Sequence[SpecRow]) -> SpecComparison:
    first = rows[0]
    specs = [of_spec.spec for of_spec in spec_results(rows)]
    return SpecComparison(
        coder=_coder(first),
        strategy=first.strategy,
        model=first.model,
        prompt=first.prompt,
        wording=first.wording,
        specs=len(specs),
        words=fmean(spec.words for spec in specs),
        output_tokens=known_mean(spec.output_tokens for spec in specs),
        cost_usd=known_mean(spec.cost_usd for spec in specs),
        marks=marks_of(
            ((_problem(row), row.score_kind) for row in rows if row.scored),
            saw_base_tests=any(row.saw_base_tests for row in rows),
            searched=any(row.searched for row in rows),
        ),
        rate=clustered(counted((_problem(row), row.outcome == "solved") for row in rows if row.scored)),
    )


def _problem(row: SpecRow) -> str:
    """Problems with the same name in two datasets are different."""
    return f"{row.dataset_sha256} {row.problem}"
