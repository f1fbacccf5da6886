"""What may be spent: never exceeded, whoever asks at the same time, and remembered by the journal."""

from __future__ import annotations

import math
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from koderz_core.errors import BudgetSpent, Cancelled, ModelError, OverBudget, PlanError
from koderz_core.events import CallFailed, CallFinished, CallStarted, Entry
from koderz_core.plan.costs import check_priced
from koderz_core.records import Budget, Cost, Sampling, Usage
from koderz_core.records.plans import check_limits
from koderz_core.runner.budget import PICO, Ledger, Spending

AT_ONCE, TRIALS = 64, 1000


def spend(ledger: Ledger, worst: float, cost: float | None, experiment: str = "exp_a") -> None:
    with ledger.reserved(experiment, worst) as held:
        held.settle_answer(Cost(cost, "a test"))


def test_64_calls_at_once_never_bill_more_than_the_budget_in_1000_trials() -> None:
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for trial in range(TRIALS):
            draw = random.Random(trial)
            cap = draw.uniform(0, 8)
            ledger, billed = Ledger(Budget(cap)), []
            calls = [(worst := draw.uniform(0, 0.5), worst * draw.random() ** 2) for _ in range(AT_ONCE)]

            def call(worst: float, cost: float, ledger: Ledger = ledger, billed: list[float] = billed) -> None:
                try:
                    with ledger.reserved("exp_a", worst) as held:
                        billed.append(cost)
                        time.sleep(1e-4)  # the others come meanwhile
                        held.settle_answer(Cost(cost, "a test"))
                except BudgetSpent:
                    return

            list(threads.map(lambda item: call(*item), calls))
            assert math.fsum(billed) <= cap
            assert len(billed) == AT_ONCE or ledger.used_up


def test_a_call_waits_for_those_under_way_where_they_may_leave_enough() -> None:
    ledger, begun, go_on = Ledger(Budget(1.0)), threading.Event(), threading.Event()

    def first() -> None:
        with ledger.reserved("exp_a", 0.75) as held:
            begun.set()
            go_on.wait(5)
            held.settle_answer(Cost(0.25, "a test"))

    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(first)
        begun.wait(5)
        spend_checked: list[bool] = []
        with ledger.reserved("exp_b", 0.75, lambda: (spend_checked.append(True), go_on.set())[0]):
            assert answer.result() is None
    assert spend_checked
    assert ledger.used_up is None


@pytest.mark.parametrize("budget", [Budget(1.0), Budget(per_experiment_usd=1.0)], ids=["benchmark", "experiment"])
def test_whoever_waits_for_money_can_be_stopped(budget: Budget) -> None:
    ledger = Ledger(budget)

    def stop() -> None:
        raise Cancelled("stopped")

    with (
        ledger.reserved("exp_a", 0.75),
        pytest.raises(Cancelled, match="stopped"),
        ledger.reserved("exp_a", 0.75, stop),
    ):
        raise AssertionError("must not be sent")


def test_once_a_call_does_not_fit_the_benchmark_is_over_even_for_cheaper_ones() -> None:
    ledger = Ledger(Budget(1.0))
    spend(ledger, 0.9, 0.5)
    with pytest.raises(BudgetSpent, match=r"\$1 is used up"):
        spend(ledger, 0.6, 0.1)
    with pytest.raises(BudgetSpent):
        spend(ledger, 0.1, 0.1, "exp_b")


def test_the_budget_of_one_experiment_leaves_the_others_alone() -> None:
    ledger = Ledger(Budget(per_experiment_usd=1.0))
    spend(ledger, 1.0, 0.75)
    with pytest.raises(OverBudget, match="exp_a"):
        spend(ledger, 0.5, 0.1)
    spend(ledger, 1.0, 1.0, "exp_b")
    assert (ledger.left("exp_a"), ledger.left("exp_b"), ledger.left("exp_c")) == (0.25, 0.0, 1.0)


@pytest.mark.parametrize(
    ("status", "left"),
    [(429, 1.0), (503, 1.0), (None, 0.25), (200, 0.25), *((late, 0.25) for late in (408, 504, 524))],
    ids=["busy", "down", "broken off", "odd", "request late", "gateway late", "proxy late"],
)
def test_what_broke_off_counts_whole_and_what_was_refused_counts_nothing(status: int | None, left: float) -> None:
    ledger = Ledger(Budget(per_experiment_usd=1.0))
    with ledger.reserved("exp_a", 0.75) as held:
        held.settle_failure(CallFailed("it failed", 1.0, True, status))
    assert ledger.left("exp_a") == left


def test_a_failed_call_whose_cost_is_known_counts_that_now_and_after_a_crash() -> None:
    failed = CallFailed("late", 300.0, True, cost=Cost(0.25, "65 W"))
    ledger, spending = Ledger(Budget(per_experiment_usd=1.0)), Spending()
    with ledger.reserved("exp_a", 0.75) as held:
        held.settle_failure(failed)
    for event in (started(0.75), failed):
        spending.add(Entry(0.0, event, "exp_a", 1))
    assert ledger.left("exp_a") == Ledger(Budget(per_experiment_usd=1.0), spending).left("exp_a") == 0.75


def test_an_experiment_whose_money_was_lost_on_calls_that_broke_off_is_not_its_models_failure() -> None:
    ledger = Ledger(Budget(per_experiment_usd=1.0))
    with ledger.reserved("exp_a", 0.75) as held:
        held.settle_failure(CallFailed("broke off", 1.0, True))
    with pytest.raises(ModelError, match=r"exp_a is \$1\. Interrupted calls may have cost \$0.75 of this budget"):
        spend(ledger, 0.75, 0.1)
    spend(ledger, 0.25, 0.25)
    with pytest.raises(OverBudget):  # this would not fit even if nothing had been lost
        spend(ledger, 1.0, 0.1)


def test_what_was_lost_before_a_crash_is_known_afterwards() -> None:
    spending = Spending()
    spending.add(Entry(0.0, started(0.75), "exp_a", 1))
    ledger = Ledger(Budget(per_experiment_usd=1.0), spending)
    with pytest.raises(ModelError, match="This error is not a failure of the models"):
        spend(ledger, 0.5, 0.1)


def test_an_answer_of_unknown_cost_counts_as_the_most_it_can_have_cost() -> None:
    ledger = Ledger(Budget(per_experiment_usd=1.0))
    spend(ledger, 0.75, None)
    assert ledger.left("exp_a") == 0.25


def test_a_call_that_ends_in_an_exception_counts_whole() -> None:
    ledger = Ledger(Budget(per_experiment_usd=1.0))
    with pytest.raises(ZeroDivisionError), ledger.reserved("exp_a", 0.75):
        raise ZeroDivisionError
    assert ledger.left("exp_a") == 0.25


def test_a_call_without_a_known_price_is_refused_under_a_budget_unless_it_is_allowed() -> None:
    with pytest.raises(PlanError, match="--allow-unpriced"), Ledger(Budget(1.0)).reserved("exp_a", None):
        raise AssertionError("must not be sent")
    with Ledger(Budget(1.0, allow_unpriced=True)).reserved("exp_a", None):
        pass
    with Ledger().reserved("exp_a", None):
        pass


def test_models_without_a_price_are_named_before_anything_is_asked() -> None:
    with pytest.raises(PlanError, match="openai/new"):
        check_priced(Budget(1.0), ["openai/new"])
    check_priced(Budget(1.0, allow_unpriced=True), ["openai/new"])
    check_priced(Budget(), ["openai/new"])


@pytest.mark.parametrize("usd", [-1.0, math.nan, math.inf])
def test_a_budget_is_an_amount_of_money(usd: float) -> None:
    with pytest.raises(PlanError, match="0 or more"):
        check_limits(Budget(usd))


def started(reserved: float | None, attempt: int = 1) -> CallStarted:
    return CallStarted("coder", 0, "m", "hash", (), Sampling(), 0, attempt, reserved)


def finished(usd: float | None) -> CallFinished:
    return CallFinished("text", "stop", Usage(), Cost(usd, "a test"), 1.0, None, Sampling())


@pytest.mark.parametrize(
    ("told", "usd"),
    [
        ([started(0.75), finished(0.5)], 0.5),
        ([started(0.75), finished(None)], 0.75),
        ([started(0.75)], 0.75),
        ([started(0.75), started(0.75, 2), finished(0.5)], 1.25),
        ([started(0.75), CallFailed("busy", 1.0, True, 429), started(0.75, 2), finished(0.5)], 0.5),
        ([started(0.75), CallFailed("broke off", 1.0, True)], 0.75),
        ([started(0.75), CallFailed("nothing answers", 1.0, True, arrived=False)], 0.0),
        ([started(None), finished(None)], 0.0),
    ],
    ids=[
        "settled",
        "unknown",
        "crashed",
        "crashed and repeated",
        "refused",
        "broken off",
        "unreachable",
        "never priced",
    ],
)
def test_a_journal_tells_what_was_spent(told: list[CallStarted | CallFinished | CallFailed], usd: float) -> None:
    spending = Spending()
    for event in told:
        spending.add(Entry(0.0, event, "exp_a", 1))
    assert spending.total()["exp_a"] == usd * PICO
