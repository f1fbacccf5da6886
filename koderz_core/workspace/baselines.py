"""Baselines from elsewhere: what a comparison can be held against, and what measuring it would cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from koderz_core.analysis.configurations import frontier_asked_once
from koderz_core.conditions import HELD_OUT, TIME_LIMIT
from koderz_core.config import Settings
from koderz_core.datasets.selection import chosen_by
from koderz_core.errors import DataError, KoderzError, UnknownNameError
from koderz_core.models.catalogue import resolve
from koderz_core.plan.baselines import DIRECT
from koderz_core.plan.command_line import command_of
from koderz_core.plan.costs import Costs
from koderz_core.plan.order import Order, Wanted, configuration
from koderz_core.records import Dataset, Plan
from koderz_core.records.plans import scripted
from koderz_core.records.progress import SummaryRow
from koderz_core.records.trials import Ground, Measured
from koderz_core.report.formats import plain
from koderz_core.store.results import Results

_SAME = ("coding prompt", "extraction prompt", HELD_OUT, TIME_LIMIT)
"""The conditions under which answers to one question, and their scores, can stand side by side."""


class Baselines:
    """Answers from the settings and from what is in the store; ``dataset`` is the workspace's."""

    def __init__(self, settings: Settings, results: Results, costs: Costs, dataset: Callable[[str], Dataset]) -> None:
        self._settings, self._results, self._costs, self._dataset = settings, results, costs, dataset

    def beside(self, rows: Sequence[SummaryRow]) -> SummaryRow | None:
        """A frontier model that was asked directly, in another benchmark, on all the problems of these configurations.

        What it did on these alone. None if one of them is that already, or there is none. One that supervises in them
        comes first.
        """
        if not rows or frontier_asked_once(rows) or len({row.dataset_sha256 for row in rows}) > 1:
            return None
        grounds = self._results.grounds({row.benchmark for row in rows})
        problems = frozenset[str]().union(*given(rows, grounds))
        fitting = [
            measurement
            for measurement in self._results.measured()
            if measurement.dataset_sha256 == rows[0].dataset_sha256 and _stands_for(measurement, problems, grounds)
        ]
        used = {model for row in rows for members in row.models.values() for model in members}
        fitting = [measurement for measurement in fitting if scripted(used) or not scripted([measurement.model])]
        best = min(fitting, key=lambda one: one.model not in used, default=None)
        if best is None:
            return None
        only = None if problems == set(best.problems) else sorted(problems)
        found = self._results.summaries(best.benchmark, only)
        return next(row for row in found if row.configuration == best.configuration)

    def to_measure(self, rows: Sequence[SummaryRow]) -> str:
        """What to do about the missing baseline of these configurations, and what that would cost."""
        if found := self.beside(rows):
            return f"One was measured on these problems: koderz compare ... {found.benchmark}/{found.configuration}"
        model = next((name for row in rows for name in self._supervisors(row)), None)
        with suppress(KoderzError):  # the dataset may be another one by now, or there may be several
            dataset, ids = self._common_dataset(rows)
            order = Order([Wanted(DIRECT, {"coder": model or "MODEL"})], chosen_by(dataset, ids))
            command = plain(command_of(order, dataset.origin.name))
            if model is None:
                return f"With a frontier model for MODEL this would measure it: {command}"
            asked = (configuration(order.configurations[0], self._settings),)
            price = self._costs.price(Plan(dataset.origin, tuple(sorted(ids)), asked), asked, dataset)
            return f"This would measure it, for {price}: {command}"
        names = {row.dataset for row in rows}
        return (
            "To measure it, ask a frontier model once on the same problems: koderz benchmark --strategy direct --coder "
            f"MODEL --dataset {plain(names.pop()) if len(names) == 1 else 'DATASET'} --problems FIRST:LAST"
        )

    def _common_dataset(self, rows: Sequence[SummaryRow]) -> tuple[Dataset, frozenset[str]]:
        """The dataset of all of them, with the problems that they were given. Raises DataError."""
        dataset = self._dataset(rows[0].dataset)
        if any(row.origin != dataset.origin for row in rows):
            raise DataError("These are not of one dataset as it is now.")
        grounds = self._results.grounds({row.benchmark for row in rows})
        return dataset, frozenset[str]().union(*given(rows, grounds))

    def _supervisors(self, row: SummaryRow) -> Iterator[str]:
        for role, members in row.models.items():
            for model in members:
                with suppress(UnknownNameError):
                    if role != "coder" and resolve(model, self._settings).tier == "frontier":
                        yield model


def _stands_for(one: Measured, problems: frozenset[str], grounds: Sequence[Ground]) -> bool:
    return (
        one.tier == "frontier"
        and problems <= set(one.problems)
        and all(one.conditions.get(name) == ground.conditions.get(name) for name in _SAME for ground in grounds)
    )


def given(rows: Sequence[SummaryRow], grounds: Iterable[Ground]) -> list[frozenset[str]]:
    """The problems that each of these is about, in their order; those of a benchmark without a ground: none."""
    of = {ground.benchmark: frozenset(ground.problems) for ground in grounds}
    return [of.get(row.benchmark, frozenset()) if row.only is None else frozenset(row.only) for row in rows]
