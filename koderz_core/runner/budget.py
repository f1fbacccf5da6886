"""Budgets: the highest cost that a call can have is reserved before the call and settled afterwards.

A call is sent only if its reservation fits into the budget, so the bill never exceeds a budget, however many calls run
at the same time. A call without a recorded end, such as one interrupted by a crash, counts as spent.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from koderz_core.errors import BudgetSpent, ModelError, OverBudget, PlanError
from koderz_core.events import CallFailed, CallFinished, CallStarted, Entry
from koderz_core.records import Budget, Cost, Request

WorstCase = Callable[[str, Request], float | None]
"""Maps a model id and a request to the highest cost of one call in US dollars; None: unknown."""

NO_LIMIT = Budget()
PICO = 10**12  # money is counted in whole picodollars, because sums of floats drift
CHECK_SECONDS = 0.2  # how often a waiting call checks whether it has been stopped
_FIRST_ERROR_STATUS = 400
_TIMED_OUT = frozenset({408, 504, 524})  # a server or gateway stopped waiting for an answer, which may be billed


@dataclass(slots=True)
class Reservation:
    """The amount that is reserved for one attempt of a call, and the amount that it counts as once it has ended.

    Both in picodollars. An attempt counts in full until its end is known. ``lost``: it brought no answer.
    """

    held: int
    counts: int
    lost: bool = True

    def settle_answer(self, cost: Cost) -> None:
        """Settle an attempt that was answered."""
        self.counts, self.lost = of_answer(cost, self.held), False

    def settle_failure(self, failure: CallFailed) -> None:
        """Settle an attempt that failed."""
        self.counts = of_failure(failure, self.held)


@dataclass(slots=True)
class Spending:
    """The cost of the calls in a journal, by experiment, computed from its entries in order."""

    settled: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))  # picodollars
    _lost: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))  # of these, without an answer
    _open: dict[tuple[str, int | None], int] = field(default_factory=dict)  # attempts without an end so far

    def add(self, entry: Entry) -> None:
        """Add an entry; only those of calls count."""
        place, event = (entry.experiment or "", entry.ordinal), entry.event
        match event:
            case CallStarted():
                self._lose(place[0], self._open.get(place, 0))  # the attempt before it was interrupted by a crash
                self._open[place] = _up(event.reserved_usd or 0.0)
            case CallFinished():
                self.settled[place[0]] += of_answer(event.cost, self._open.pop(place, 0))
            case CallFailed():
                self._lose(place[0], of_failure(event, self._open.pop(place, 0)))

    def total(self) -> Mapping[str, int]:
        """Picodollars by experiment; an attempt without an end counts with its whole reservation."""
        return self._with_open(self.settled)

    def lost(self) -> Mapping[str, int]:
        """The part of ``total`` that brought no answer."""
        return self._with_open(self._lost)

    def _lose(self, experiment: str, amount: int) -> None:
        self.settled[experiment] += amount
        self._lost[experiment] += amount

    def _with_open(self, known: Mapping[str, int]) -> Mapping[str, int]:
        total = defaultdict(int, known)
        for (experiment, _), reserved in self._open.items():
            total[experiment] += reserved
        return total


def of_answer(cost: Cost, reserved: int) -> int:
    """The picodollars that an answer counts as: its cost, or its whole reservation if the cost is unknown."""
    return reserved if cost.usd is None else _up(cost.usd)


def of_failure(failure: CallFailed, reserved: int) -> int:
    """The picodollars that a failed attempt counts as.

    Its cost if that is known, as for local models. Otherwise 0 if the provider was not reached or refused the request,
    because no provider bills that. The whole reservation if the answer was interrupted or a server stopped waiting for
    it, because the call may have been billed.
    """
    if failure.cost is not None and failure.cost.usd is not None:
        return _up(failure.cost.usd)
    status = failure.status
    refused = status is not None and status >= _FIRST_ERROR_STATUS and status not in _TIMED_OUT
    return 0 if refused or not failure.arrived else reserved


class Ledger:
    """The money spent and reserved by a benchmark and each experiment. May be used from any thread."""

    def __init__(self, budget: Budget = NO_LIMIT, before: Spending | None = None) -> None:
        """``before``: the earlier spending of the experiments."""
        before = before or Spending()
        self._budget = budget
        self._limit, self._each = _floor(budget.usd), _floor(budget.per_experiment_usd)
        self._changed = threading.Condition()  # guards all below; a call that waits for money waits for it
        self._spent, self._lost = defaultdict(int, before.total()), defaultdict(int, before.lost())
        self._reserved: defaultdict[str, int] = defaultdict(int)
        self._all_spent, self._all_reserved = sum(self._spent.values()), 0
        self.used_up: str | None = None  # the message, set permanently once a call did not fit into the budget

    @contextmanager
    def reserved(
        self, experiment: str, usd: float | None, check: Callable[[], None] = lambda: None
    ) -> Iterator[Reservation]:
        """Reserve ``usd`` for one attempt; wait for running calls if they may leave enough, calling ``check``.

        Raises OverBudget (the experiment's budget is used up), ModelError (used up by calls that broke off),
        BudgetSpent (the benchmark's budget is used up), PlanError (unknown cost), and what ``check`` raises.
        """
        if usd is None and self._budget.limits and not self._budget.allow_unpriced:
            raise PlanError(
                "The maximum cost of this call is unknown, so koderz cannot check it against the budget. Set a price "
                "for the model and a token limit for the call, or allow calls of unknown cost with --allow-unpriced."
            )
        amount = _up(usd or 0.0)
        held = Reservation(amount, amount)
        with self._changed:
            while not self._fits(experiment, amount):
                check()
                self._changed.wait(CHECK_SECONDS)
            self._hold(experiment, amount)
        try:
            yield held
        finally:
            with self._changed:
                self._hold(experiment, -amount)
                self._spent[experiment] += held.counts
                self._lost[experiment] += held.counts if held.lost else 0
                self._all_spent += held.counts
                self._changed.notify_all()

    def change(self, usd: float | None) -> None:
        """Set the total budget of the benchmark. Experiments that did not fit before stay without a result."""
        with self._changed:
            self._budget = replace(self._budget, usd=usd)
            self._limit = _floor(usd)
            self._changed.notify_all()

    @property
    def usd(self) -> float | None:
        """The total budget of the benchmark in US dollars; None: there is no limit."""
        return self._budget.usd

    def left(self, experiment: str) -> float | None:
        """US dollars that an experiment may still spend of its own budget; None: there is no limit.

        The rest of the benchmark's budget is not included: other experiments must not influence a strategy.
        """
        if self._each is None:
            return None
        with self._changed:
            return max(0, self._each - self._spent[experiment] - self._reserved[experiment]) / PICO

    def _fits(self, experiment: str, amount: int) -> bool:
        """Whether the amount fits now. Raises OverBudget, ModelError or BudgetSpent if it never will."""
        if self._each is not None and self._spent[experiment] + amount > self._each:
            if self._spent[experiment] - self._lost[experiment] + amount <= self._each:
                raise ModelError(_lost_message(experiment, self._each, self._lost[experiment]))
            raise OverBudget(f"The next call of {experiment} could exceed the budget of this experiment.")
        if self.used_up is None and self._limit is not None and self._all_spent + amount > self._limit:
            self.used_up = _used_up_message(self._limit, self._all_spent, amount)
            self._changed.notify_all()
        if self.used_up is not None:
            raise BudgetSpent(self.used_up)
        return (self._each is None or self._spent[experiment] + self._reserved[experiment] + amount <= self._each) and (
            self._limit is None or self._all_spent + self._all_reserved + amount <= self._limit
        )

    def _hold(self, experiment: str, picodollars: int) -> None:
        self._reserved[experiment] += picodollars
        self._all_reserved += picodollars


def _used_up_message(limit: int, spent: int, amount: int) -> str:
    return (
        f"The budget of ${limit / PICO:g} is used up: ${spent / PICO:.6g} is spent, and the next call may cost "
        f"${amount / PICO:.6g}. Experiments without a result count as cancelled. Resume them with a larger --max-cost."
    )


def _lost_message(experiment: str, limit: int, lost: int) -> str:
    return (
        f"The budget of {experiment} is ${limit / PICO:g}. Interrupted calls may have cost ${lost / PICO:.6g} of this "
        "budget, and the remaining amount is too small for the next call. This error is not a failure of the models. "
        "To start again with a full budget, run the benchmark again with --fork."
    )


def _up(usd: float) -> int:
    """Picodollars, rounded up: spending is never understated."""
    numerator, denominator = usd.as_integer_ratio()
    return -(-numerator * PICO // denominator)


def _floor(usd: float | None) -> int | None:
    """Picodollars, rounded down: a limit is never overstated."""
    if usd is None:
        return None
    numerator, denominator = usd.as_integer_ratio()
    return numerator * PICO // denominator
