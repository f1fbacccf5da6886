"""``koderz change`` from another process than the one that runs the benchmark, and what is told of it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.config import load_settings
from koderz_core.events import AllowanceSet, BenchmarkOpened, Entry
from koderz_core.journal import Journal
from koderz_core.records import Allowance
from koderz_core.store.results import Results
from koderz_core.store.store import Store

WORDS = ("--strategy", "supervised", "--coder", "scripted/stubborn", "--max-iterations", "25", "--no-baselines")
BUDGET = ("--max-cost", "5", "--allow-unpriced", "--concurrency", "1")


@pytest.fixture
def results() -> Results:
    settings = load_settings()
    return Results(Store(settings.store_path, settings.journals_dir), lambda *_: None)


@pytest.fixture
def running(results: Results) -> Iterator[str]:
    """The id of a benchmark that a process of its own is busy with, one experiment at a time."""
    command = [sys.executable, "-c", "from koderz_core.cli import main; main()", "benchmark", "--problems", "0:2"]
    with subprocess.Popen([*command, *WORDS, *BUDGET], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        assert eventually(lambda: [row for row in results.benchmarks() if row.running], 60.0)
        yield results.benchmarks()[0].id
        process.kill()


def eventually(claim: Callable[[], object], seconds: float = 15.0) -> bool:
    deadline = time.monotonic() + seconds
    while not claim() and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(claim())


def test_what_another_process_may_take_is_changed_obeyed_and_told(koderz: Any, running: str, results: Results) -> None:
    before = results.benchmark(running)
    assert (before.budget_usd, before.concurrency, before.running) == (5.0, 1, 1)
    said = koderz("change", running[:10], "--max-cost", "2.5", "--concurrency", "2")
    assert (said.code, said.err) == (0, "")
    assert f"will set a budget of $2.50 and a concurrency of 2 for {running} within two seconds." in said.out
    assert eventually(lambda: results.benchmark(running).running == 2)
    assert results.benchmark(running).budget_usd == 2.5
    assert "budget $5.00 → $2.50, concurrency 1 → 2 (process" in koderz("analyze", running).out
    (told,) = koderz("analyze", running, "--json").json["changes"]
    assert (told["before"], told["after"]) == ({"usd": 5.0, "concurrency": 1}, {"usd": 2.5, "concurrency": 2})


def test_a_plan_is_shown_with_the_budget_that_was_changed_during_the_run(koderz: Any, results: Results) -> None:
    pair = ("--configuration", "direct coder=scripted/weak", "--configuration", "direct coder=scripted/strong")
    order = ("benchmark", *pair, "--problems", "0:1", "--register", "--max-cost", "5")
    planned = koderz(*order, "--plan-only", "--json").json["registration"]
    koderz(*order)
    (row,) = results.benchmarks()
    journal = Journal(load_settings().journals_dir / f"{row.id}.jsonl")
    journal.append(Entry(time.time(), AllowanceSet(Allowance(20.0, 1), 1, Allowance(5.0, 1))))
    journal.close()
    said = koderz(*order, "--plan-only", "--json")
    assert said.json["registration"] == planned  # its hash is the published one
    assert "The budget was changed to $20.00 while the benchmark was running." in said.err


def test_what_nobody_runs_or_nothing_is_said_of_cannot_be_changed(koderz: Any, results: Results) -> None:
    koderz("benchmark", "--problems", "0:1", "--coder", "scripted/strong", "--allow-unpriced", "--max-cost", "1")
    (row,) = results.benchmarks()
    (experiment,) = results.experiments(row.id)
    for words, message in (
        ((row.id, "--concurrency", "2"), "is not running, so there is nothing to change."),
        ((row.id,), "Give a new budget"),
        (
            (experiment.id, "--concurrency", "2"),
            f"is an experiment of {row.id}. Give the id of the benchmark: {row.id}",
        ),
        ((row.id, "--max-cost", "nan"), "nan is not a finite number"),
    ):
        said = koderz("change", *words)
        assert said.code == 2
        assert message in said.err


def test_a_first_budget_that_a_model_without_a_price_would_escape_is_refused(
    koderz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order([Wanted("direct", {"coder": "openai/nobody-knows"})], "0:1"))
    opened = BenchmarkOpened(1, "0", plan.id, plan, {}, "", "none", {})
    journal = Journal(load_settings().journals_dir / f"{plan.id}.jsonl")
    journal.append(Entry(0.0, opened))
    said = koderz("change", plan.id, "--max-cost", "1")
    journal.close()
    assert said.code == 2
    assert "so a budget cannot limit the cost" in said.err
