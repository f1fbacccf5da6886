"""Baselines of a plan: which it needs, which are measured already, and what measuring the others would cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from koderz_core.analysis.pairs import frontier_asked_once
from koderz_core.config import Settings
from koderz_core.datasets.selection import chosen_by
from koderz_core.errors import DataError, KoderzError, StoreError, UnknownNameError
from koderz_core.export.formats import money, plain
from koderz_core.models.catalogue import resolve
from koderz_core.records import Configuration, Dataset, Plan
from koderz_core.records.plans import scripted
from koderz_core.records.progress import SummaryRow
from koderz_core.records.trials import Ground, Measured
from koderz_core.runner.baselines import DIRECT, baselines, is_stronger, sought
from koderz_core.runner.conditions import HELD_OUT, TIME_LIMIT
from koderz_core.runner.planning import Order, Wanted, configuration
from koderz_core.runner.wording import command_of
from koderz_core.store.baselines import baseline_for
from koderz_core.store.labels import labels
from koderz_core.store.results import Results
from koderz_core.workspace.costs import Costs
from koderz_core.workspace.selecting import selected

_SAME = ("coding prompt", "extraction prompt", HELD_OUT, TIME_LIMIT)
"""The conditions under which answers to one question, and their scores, can stand side by side."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A plan with the baselines ``added`` to it, and those ``reused``: measured before and not asked again.

    ``told``: both in sentences.
    """

    plan: Plan
    added: tuple[Configuration, ...] = ()
    reused: tuple[Measured, ...] = ()
    told: tuple[str, ...] = ()


class Baselines:
    """Answers from the settings and from what is in the store; ``plan`` and ``dataset`` are the workspace's."""

    def __init__(
        self,
        settings: Settings,
        results: Results,
        costs: Costs,
        plan: Callable[[Order, str], Plan],
        dataset: Callable[[str], Dataset],
    ) -> None:
        self._settings, self._results, self._costs = settings, results, costs
        self._plan, self._dataset = plan, dataset

    def offer(self, order: Order, dataset: str = "humaneval") -> Offer:
        """What an order comes to with the baselines that it lacks. Raises as ``Workspace.plan``.

        A stronger model that was measured on all these problems, by the same prompts and sampling, is not asked again,
        unless the benchmark has begun to measure it itself: the same order finds the same benchmark again.
        """
        order = selected(order, self._dataset(dataset), self._settings, self._results.store)
        lacking = self.lacking(order)
        if not lacking:
            return Offer(self._plan(order, dataset))
        plan = self._plan(_with(order, lacking), dataset)
        added = plan.configurations[-len(lacking) :]
        measured = {one.id: found for one in added if (found := self._measured(plan, one))}
        if measured:
            pairs = zip(lacking, added, strict=True)
            plan = self._plan(_with(order, [wanted for wanted, one in pairs if one.id not in measured]), dataset)
            added = tuple(one for one in added if one.id not in measured)
        reused = tuple(measured.values())
        return Offer(plan, added, reused, tuple(self._told(plan, added, reused)))

    def lacking(self, order: Order) -> tuple[Wanted, ...]:
        """The baselines that an order lacks. Raises as ``offer``."""
        return baselines(order, self._settings)

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
            one
            for one in self._results.measured()
            if one.dataset_sha256 == rows[0].dataset_sha256 and _stands_for(one, problems, grounds)
        ]
        used = {model for row in rows for members in row.models.values() for model in members}
        fitting = [one for one in fitting if scripted(used) or not scripted([one.model])]
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
            price = self._price(Plan(dataset.origin, tuple(sorted(ids)), asked), asked)
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

    def _measured(self, plan: Plan, one: Configuration) -> Measured | None:
        """None too if the store cannot be asked: a benchmark needs only its journal."""
        if not is_stronger(one.models["coder"][0], self._settings):
            return None
        try:
            if any(row.configuration == one.id for row in self._results.summaries(plan.id)):
                return None
            return baseline_for(self._results.measured(), sought(plan, one, self._settings))
        except StoreError:
            return None

    def _told(self, plan: Plan, added: Sequence[Configuration], reused: Iterable[Measured]) -> Iterator[str]:
        if added:
            named = labels(plan.configurations)
            listed = ", ".join(plain(named[one.id]) for one in added)
            yield f"Baselines, to know what supervision adds: {listed}, for {self._price(plan, added)}."
        for one in reused:
            n, solved, usd = one.of(frozenset(plan.problems))
            day = datetime.fromtimestamp(one.at, UTC).date()
            yield (
                f"Not asked again: {plain(one.label)} solved {solved} of {n} on these problems for {money(usd)} each, "
                f"measured in {one.benchmark} on {day}."
            )

    def _price(self, plan: Plan, asked: Sequence[Configuration]) -> str:
        """As past ones were; else what no answer can exceed."""
        with suppress(StoreError):
            told = self._costs.forecast(plan, of=asked)
            if not told.experiments:
                return "nothing more, as all of it is measured"
            if told.cost_usd is not None:
                return f"about {money(told.cost_usd.p50)}, in 9 of 10 cases at most {money(told.cost_usd.p90)}"
        wanted = set(plan.problems)
        problems = [one.public for one in self._dataset(plan.dataset.name).problems if one.id in wanted]
        usd = self._costs.at_most(asked, problems)
        return "a price that is not known" if usd is None else f"at most {money(usd * plan.repeats)}"


def _with(order: Order, more: Iterable[Wanted]) -> Order:
    return replace(order, configurations=[*order.configurations, *more])


def _stands_for(one: Measured, problems: frozenset[str], grounds: Sequence[Ground]) -> bool:
    return (
        one.tier == "frontier"
        and problems <= set(one.problems)
        and all(one.conditions.get(name) == ground.conditions.get(name) for name in _SAME for ground in grounds)
    )


def given(rows: Sequence[SummaryRow], grounds: Iterable[Ground]) -> list[frozenset[str]]:
    """The problems that each of these is about, in their order; those of a benchmark without a ground: none."""
    of = {one.benchmark: frozenset(one.problems) for one in grounds}
    return [of.get(row.benchmark, frozenset()) if row.only is None else frozenset(row.only) for row in rows]
