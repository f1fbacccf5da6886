"""Budgets in a running benchmark: how what does not fit ends, and that a crash or a resume never spends more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from koderz_core.errors import ModelError, PlanError
from koderz_core.events import CallFinished, CallStarted, Entry, ExperimentFinished, RemainingRead
from koderz_core.protocols import Context
from koderz_core.records import Budget, Extracted, Message, Remaining
from koderz_core.strategies import STRATEGIES, Supervised

WRONG = "```python\ndef add(a, b):\n    return a - b\n```"
WORST, COST = 0.5, 0.25
Make = Callable[..., Any]  # Any: Bench of conftest.py, which a test module cannot import


def of(entries: list[Entry], kind: type) -> list[Any]:
    return [entry.event for entry in entries if isinstance(entry.event, kind)]


def never_solves(bench: Make, budget: Budget, problems: tuple[str, ...] = ("tiny/0",)) -> Any:
    made = bench(lambda _: WRONG, "supervised", problems, max_iterations=4, spec=False, checkpoints=False)
    made.plan, made.worst_usd = replace(made.plan, budget=budget), WORST
    return made


def test_an_experiment_that_has_used_up_its_budget_is_unsolved_and_says_why(bench: Make) -> None:
    made = never_solves(bench, Budget(per_experiment_usd=1.0), ("tiny/0", "tiny/1"))
    made.go()
    ends = of(made.entries(), ExperimentFinished)
    assert [(end.outcome, end.reason, end.failure) for end in ends] == [("unsolved", "budget", "assertion")] * 2
    assert len(of(made.entries(), CallFinished)) == 2 * 3  # 0.25, 0.25, and 0.5 + 0.5 fits still


@dataclass(frozen=True, slots=True)
class Checking(Supervised):
    """Runs gate tests only with ``checks``, as a router does."""

    checks: bool = False


@pytest.mark.parametrize(("checks", "kind"), [(True, "oracle"), (False, "held_out")])
def test_an_experiment_that_ends_before_its_first_test_has_the_score_kind_of_the_others(
    bench: Make, monkeypatch: pytest.MonkeyPatch, checks: bool, kind: str
) -> None:
    monkeypatch.setitem(STRATEGIES, "supervised", Checking)  # type: ignore[arg-type]  # one of our own
    made = bench(lambda _: WRONG, "supervised", checks=checks)
    made.plan, made.worst_usd = replace(made.plan, budget=Budget(per_experiment_usd=0.1)), WORST
    made.go()
    (end,) = of(made.entries(), ExperimentFinished)
    assert (end.outcome, end.reason, end.score_kind, made.requests) == ("unsolved", "budget", kind, [])


@dataclass(frozen=True, slots=True)
class Insatiable(Supervised):
    """Tests a wrong program and then a right one, and goes on to ask longer and longer questions."""

    def solve(self, ctx: Context) -> str | None:
        for code in ("def add(a, b):\n    return a - b\n", "def add(a, b):\n    return a + b\n"):
            ctx.test(Extracted(code, "fence"))
        for length in range(10):
            ctx.ask("coder", [Message("user", "more " * 10**length)])
        return None


@pytest.mark.parametrize("cap", ["budget", "context"])
def test_where_a_limit_of_the_configuration_ends_the_strategy_its_best_program_so_far_counts(
    bench: Make, monkeypatch: pytest.MonkeyPatch, cap: str
) -> None:
    monkeypatch.setitem(STRATEGIES, "supervised", Insatiable)  # type: ignore[arg-type]  # one of our own
    made = never_solves(bench, Budget(per_experiment_usd=1.0) if cap == "budget" else Budget())
    made.context_tokens = 100 if cap == "context" else None
    made.go()
    (end,) = of(made.entries(), ExperimentFinished)
    assert (end.outcome, end.reason, end.failure) == ("solved", cap, None)
    assert 2 <= len(made.requests) <= 4


def test_an_experiment_whose_money_went_on_calls_that_broke_off_is_an_error_and_not_unsolved(bench: Make) -> None:
    def breaks_off(_: object) -> str:
        raise ModelError("It broke off.", retryable=True)

    made = never_solves(bench, Budget(per_experiment_usd=0.75))
    made.answer = breaks_off
    made.go()
    (end,) = of(made.entries(), ExperimentFinished)
    assert (end.outcome, end.reason, len(made.requests)) == ("error", None, 1)
    assert "is $0.75. Interrupted calls may have cost $0.5 of this budget" in end.error


def test_what_the_benchmarks_budget_keeps_from_its_end_is_cancelled_and_the_rest_never_begun(bench: Make) -> None:
    made = never_solves(bench, Budget(1.25), ("tiny/0", "tiny/1"))
    made.plan = replace(made.plan, repeats=3)
    runner = made.go()
    ends = of(made.entries(), ExperimentFinished)
    assert [(end.outcome, end.reason) for end in ends] == [("unsolved", "iterations"), ("cancelled", "budget")]
    assert "$1.25 is used up" in runner.trouble
    assert made.entries()[-1].event.reason == "stopped"


def test_with_a_larger_budget_it_goes_on_and_what_was_spent_counts(bench: Make) -> None:
    made = never_solves(bench, Budget(0.75))
    made.go()
    again = replace(made, plan=replace(made.plan, budget=Budget(1.25)))
    again.go()
    assert of(again.entries(), ExperimentFinished)[-1].outcome == "unsolved"
    assert len(made.requests) == 4, "no answered call is made again"


def test_wherever_it_was_killed_no_more_is_spent_than_the_budget(bench: Make) -> None:
    made = never_solves(bench, Budget(1.25), ("tiny/0", "tiny/1"))
    made.go()
    lines = made.path.read_bytes().splitlines(keepends=True)
    for kept in range(1, len(lines)):
        made.path.write_bytes(b"".join(lines[:kept]))
        before = len(of(made.entries(), CallStarted)) - len(of(made.entries(), CallFinished))
        made.go()
        billed = before * WORST + len(of(made.entries(), CallFinished)) * COST  # what was under way may cost the most
        assert billed <= 1.25, kept


def test_a_call_says_what_was_reserved_for_it(bench: Make) -> None:
    made = never_solves(bench, Budget())
    made.go()
    assert {call.reserved_usd for call in of(made.entries(), CallStarted)} == {WORST}


@dataclass(frozen=True, slots=True)
class Thrifty(Supervised):
    """Asks what is left before it asks a model."""

    def solve(self, ctx: Context) -> str | None:
        ctx.remaining()
        ctx.ask("coder", [])
        return None if ctx.remaining().cost_usd else "def add(a, b):\n    return a + b"


def test_a_strategy_is_told_what_its_own_budget_has_left_and_the_same_again(
    bench: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STRATEGIES, "supervised", Thrifty)  # type: ignore[arg-type]  # one of our own
    made = never_solves(bench, Budget(5.0, per_experiment_usd=1.0))
    made.go()
    lines = made.path.read_bytes().splitlines(keepends=True)
    made.path.write_bytes(b"".join(line for line in lines if b"_finished" not in line or b"call_" in line))
    made.go()
    told = [read.remaining for read in of(made.entries(), RemainingRead)]
    assert told == [Remaining(4, 1.0), Remaining(4, 0.75)]


def test_a_budget_changes_no_id_but_that_of_an_experiment_is_part_of_what_is_compared(bench: Make) -> None:
    plan = bench(lambda _: WRONG).plan
    assert replace(plan, budget=Budget(1.0, allow_unpriced=True)).id == plan.id
    assert replace(plan, budget=Budget(per_experiment_usd=1.0)).id != plan.id


def test_experiments_under_another_budget_of_their_own_are_not_mixed(bench: Make) -> None:
    made = never_solves(bench, Budget(per_experiment_usd=1.0))
    made.plan = replace(made.plan, name="mine")
    made.go()
    with pytest.raises(PlanError, match="--max-cost-per-experiment 1"):
        replace(made, plan=replace(made.plan, budget=Budget(per_experiment_usd=2.0))).go()


def test_a_pilot_runs_a_few_problems_that_count_and_are_not_asked_again(bench: Make) -> None:
    made = never_solves(bench, Budget(), ("tiny/0", "tiny/1"))
    made.pilot = 1
    piloted = made.go()
    assert (len(piloted.experiments), piloted.left_out) == (1, 1)
    assert made.entries()[-1].event.reason == "stopped"
    asked = len(made.requests)
    replace(made, pilot=None).go()
    assert len(of(made.entries(), ExperimentFinished)) == 2
    assert len(made.requests) == 2 * asked
