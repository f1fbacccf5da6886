"""Specs by what came of the experiments that were built on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

from koderz_core.analysis.rates import ClusteredRate, clustered
from koderz_core.records.marks import Marks, marks_of
from koderz_core.records.notes import SpecRow
from koderz_core.sums import all_known

Key = TypeVar("Key")
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Built:
    """One spec with what was built on it: ``n`` experiments that came to a result, of which ``solved``.

    ``spec`` is the row of the experiment that wrote it or, where that is not here, of the first that reused it.
    """

    spec: SpecRow
    solved: int
    n: int


@dataclass(frozen=True, slots=True)
class ComparedSpecs:
    """The specs of one model by one version of their prompt, as far as one coder solved by them with one strategy.

    ``words``, ``output_tokens`` and ``cost_usd`` are means over the ``specs``, each counted once however often it was
    reused; None if one of them is not known. ``rate``: solved, of the experiments with a result; ``marks``: by which
    tests.
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


def built(rows: Iterable[SpecRow]) -> tuple[Built, ...]:
    """Every spec once, those of one model and version of its prompt together; of both the newest first."""
    found = [_built(of) for of in _grouped(rows, lambda row: row.source)]
    newest_first = sorted(found, key=lambda one: one.spec.at, reverse=True)
    return tuple(one for of in _grouped(newest_first, lambda one: _version(one.spec)) for one in of)


def compare_specs(rows: Iterable[SpecRow]) -> tuple[ComparedSpecs, ...]:
    """The specs of each model and version of their prompt, by coder and strategy: rates of others are not comparable.

    Even these need not be of the same problems: only configurations that differ in nothing else are held against each
    other fairly. An answer that was empty is no spec, and nothing was built on it: ``without`` tells of those.
    """
    whole = [row for row in rows if row.text.strip()]
    ordered = sorted(whole, key=lambda row: (_coder(row), row.strategy, row.model or "", row.prompt, row.wording or ""))
    return tuple(_compared(of) for of in _grouped(ordered, lambda row: (_coder(row), row.strategy, _version(row))))


def without(rows: Iterable[SpecRow]) -> int:
    """How many experiments asked for a spec and went on without, as the answer was empty."""
    return sum(not row.text.strip() for row in rows)


def _grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> Iterable[list[Item]]:
    """In the order in which the groups first appear."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups.values()


def _version(row: SpecRow) -> tuple[str | None, str, str | None]:
    return row.model, row.prompt, row.wording


def _coder(row: SpecRow) -> tuple[str, ...]:
    return row.models.get("coder", ())


def _built(rows: Sequence[SpecRow]) -> Built:
    first = min(rows, key=lambda row: (row.origin is not None, row.at))
    return Built(first, sum(row.outcome == "solved" for row in rows), sum(row.scored for row in rows))


def _compared(rows: Sequence[SpecRow]) -> ComparedSpecs:
    one = rows[0]
    specs = [each.spec for each in built(rows)]
    return ComparedSpecs(
        coder=_coder(one),
        strategy=one.strategy,
        model=one.model,
        prompt=one.prompt,
        wording=one.wording,
        specs=len(specs),
        words=fmean(spec.words for spec in specs),
        output_tokens=_mean([spec.output_tokens for spec in specs]),
        cost_usd=_mean([spec.cost_usd for spec in specs]),
        marks=marks_of(
            ((_problem(row), row.score_kind) for row in rows if row.scored),
            saw_base_tests=any(row.saw_base_tests for row in rows),
        ),
        rate=clustered(_by_problem(rows)),
    )


def _by_problem(rows: Iterable[SpecRow]) -> dict[str, tuple[int, int]]:
    """Problems of one name in two datasets are two problems."""
    counts: dict[str, tuple[int, int]] = {}
    for row in rows:
        if row.scored:
            solved, n = counts.get(_problem(row), (0, 0))
            counts[_problem(row)] = solved + (row.outcome == "solved"), n + 1
    return counts


def _problem(row: SpecRow) -> str:
    return f"{row.dataset_sha256} {row.problem}"


def _mean(values: Sequence[float | None]) -> float | None:
    known = all_known(values)
    return fmean(known) if known else None
