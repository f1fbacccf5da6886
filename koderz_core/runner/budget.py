"""Money: what the most expensive answer to a call would cost is reserved before it is sent, and settled after.

A call is admitted only if that still fits, so what is billed never exceeds a budget, however many calls are made at the
same time. What a journal does not tell the end of, such as a call under way at a crash, counts as spent.
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
"""Model id and request to the most that one call can cost in US dollars; None: not known."""

NO_LIMIT = Budget()
PICO = 10**12  # money is counted in whole picodollars: sums of floats drift
CHECK_SECONDS = 0.2  # how often one that waits looks whether it has been stopped
_FIRST_ERROR_STATUS = 400


def nothing_known(_model: str, _request: Request) -> float | None:
    """The worst case where there are no prices."""
    return None


@dataclass(slots=True)
class Reservation:
    """What is held for one attempt of a call, and what that counts as: all of it, until it is told what became of it.

    Both in picodollars. ``lost``: nothing was had for it.
    """

    held: int
    counts: int
    lost: bool = True

    def answered(self, cost: Cost) -> None:
        """The attempt was answered and cost that."""
        self.counts, self.lost = of_answer(cost, self.held), False

    def failed(self, failure: CallFailed) -> None:
        """The attempt failed."""
        self.counts = of_failure(failure, self.held)


@dataclass(slots=True)
class Spending:
    """What the calls of a journal have cost, by experiment, told by its entries in order."""

    settled: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))  # picodollars
    _lost: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))  # of these, for nothing
    _open: dict[tuple[str, int | None], int] = field(default_factory=dict)  # attempts without an end so far

    def add(self, entry: Entry) -> None:
        """Take note of an entry; only those of calls matter."""
        place, event = (entry.experiment or "", entry.ordinal), entry.event
        match event:
            case CallStarted():
                self._lose(place[0], self._open.get(place, 0))  # an attempt before it was cut off by a crash
                self._open[place] = _up(event.reserved_usd or 0.0)
            case CallFinished():
                self.settled[place[0]] += of_answer(event.cost, self._open.pop(place, 0))
            case CallFailed():
                self._lose(place[0], of_failure(event, self._open.pop(place, 0)))

    def total(self) -> Mapping[str, int]:
        """Picodollars by experiment; what has no end counts with all that was reserved for it."""
        return self._with_open(self.settled)

    def lost(self) -> Mapping[str, int]:
        """What of that bought no answer."""
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
    """What an answer counts as: its cost, or all that was reserved for it if that is not known. In picodollars."""
    return reserved if cost.usd is None else _up(cost.usd)


def of_failure(failure: CallFailed, reserved: int) -> int:
    """What a failed attempt counts as, in picodollars.

    Its cost where that is known, as of work on this machine. Else nothing if it reached nobody or was refused: no
    provider bills that. What broke off may have been billed whole.
    """
    if failure.cost is not None and failure.cost.usd is not None:
        return _up(failure.cost.usd)
    refused = failure.status is not None and failure.status >= _FIRST_ERROR_STATUS
    return 0 if refused or not failure.arrived else reserved


class Ledger:
    """The accounts of a benchmark and its experiments. May be used from any thread."""

    def __init__(self, budget: Budget = NO_LIMIT, before: Spending | None = None) -> None:
        """``before``: what experiments have spent already."""
        before = before or Spending()
        self._budget = budget
        self._limit, self._each = _floor(budget.usd), _floor(budget.per_experiment_usd)
        self._changed = threading.Condition()  # guards all below; who waits for money waits for it
        self._spent, self._lost = defaultdict(int, before.total()), defaultdict(int, before.lost())
        self._reserved: defaultdict[str, int] = defaultdict(int)
        self._all_spent, self._all_reserved = sum(self._spent.values()), 0
        self.used_up: str | None = None  # what to say once a call did not fit the benchmark's budget, for good

    @contextmanager
    def reserved(
        self, experiment: str, usd: float | None, check: Callable[[], None] = lambda: None
    ) -> Iterator[Reservation]:
        """Hold ``usd`` for one attempt; where calls under way may leave enough, wait for them, calling ``check``.

        Raises OverBudget (the experiment's), ModelError (that is lost on calls that broke off), BudgetSpent (the
        benchmark's), PlanError (unknown), what ``check`` raises.
        """
        if usd is None and self._budget.limits and not self._budget.allow_unpriced:
            raise PlanError(
                "What this call can cost at most is not known, so no budget can hold it. Give the model a price and "
                "the call a limit of tokens, or allow it: --allow-unpriced."
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
        """The benchmark may cost that much in all from now on. What has not fitted before stays without a result."""
        with self._changed:
            self._budget = replace(self._budget, usd=usd)
            self._limit = _floor(usd)
            self._changed.notify_all()

    @property
    def usd(self) -> float | None:
        """What the benchmark may cost in all, in US dollars; None: there is no limit."""
        return self._budget.usd

    def left(self, experiment: str) -> float | None:
        """US dollars that an experiment may still spend of its own budget; None: there is no limit.

        What the whole benchmark has left is not told: how others fare must not change what a strategy does.
        """
        if self._each is None:
            return None
        with self._changed:
            return max(0, self._each - self._spent[experiment] - self._reserved[experiment]) / PICO

    def _fits(self, experiment: str, amount: int) -> bool:
        """Whether there is enough now. Raises OverBudget, ModelError, BudgetSpent if there never will be."""
        if self._each is not None and self._spent[experiment] + amount > self._each:
            if self._spent[experiment] - self._lost[experiment] + amount <= self._each:
                raise ModelError(_told_of_loss(experiment, self._each, self._lost[experiment]))
            raise OverBudget(f"The budget of {experiment} does not hold its next call.")
        if self.used_up is None and self._limit is not None and self._all_spent + amount > self._limit:
            self.used_up = _told(self._limit, self._all_spent, amount)
            self._changed.notify_all()
        if self.used_up is not None:
            raise BudgetSpent(self.used_up)
        return (self._each is None or self._spent[experiment] + self._reserved[experiment] + amount <= self._each) and (
            self._limit is None or self._all_spent + self._all_reserved + amount <= self._limit
        )

    def _hold(self, experiment: str, picodollars: int) -> None:
        self._reserved[experiment] += picodollars
        self._all_reserved += picodollars


def _told(limit: int, spent: int, amount: int) -> str:
    return (
        f"The budget of ${limit / PICO:g} is used up: ${spent / PICO:.6g} is spent, and the next call may cost "
        f"${amount / PICO:.6g}. What has no result counts as cancelled and can be taken up with a larger --max-cost."
    )


def _told_of_loss(experiment: str, limit: int, lost: int) -> str:
    return (
        f"Calls that broke off may have cost ${lost / PICO:.6g} of the ${limit / PICO:g} that {experiment} may spend, "
        f"so its next call is not sent. That is not its models' fault: start anew with --fork."
    )


def _up(usd: float) -> int:
    """Picodollars, rounded up: what is spent is never understated."""
    numerator, denominator = usd.as_integer_ratio()
    return -(-numerator * PICO // denominator)


def _floor(usd: float | None) -> int | None:
    """Picodollars, rounded down: a limit is never overstated."""
    if usd is None:
        return None
    numerator, denominator = usd.as_integer_ratio()
    return numerator * PICO // denominator
