"""Budgets, forecasts and pilots on the command line: nothing is paid that was not allowed, and all of it is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_server import Server, serving_chat, streams

from koderz_core.config import load_settings

SMALL = ("benchmark", "--problems", "0:6", "--coder", "scripted/strong")
PAID = ("benchmark", "--problems", "0:3", "--coder", "vllm/it", "--concurrency", "1")
PRICED = """
["vllm/it".price]
input_usd_per_mtok = 0
output_usd_per_mtok = 1000
source = "a test"
date = 2026-01-01
"""


@pytest.fixture
def paid(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A model of which a token costs a tenth of a cent: an answer at most $1.024, what it says half a cent."""
    home = load_settings().home
    home.mkdir(parents=True)
    (home / "models.toml").write_text(PRICED)
    with serving_chat() as server:
        server.answer = streams({"content": "No idea."})
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        yield server


def test_plan_only_tells_what_it_comes_to_and_runs_nothing(koderz: Any) -> None:
    said = koderz(*SMALL, "--plan-only")
    assert said.code == 0
    assert "6 problems, 6 experiments" in said.out
    assert "No estimate of calls, cost and time yet" in said.out
    assert "--pilot" in said.out
    assert "No results yet" in koderz("results").out


def test_a_pilot_counts_tells_what_the_rest_takes_and_is_compared_with_what_that_took(koderz: Any) -> None:
    first = koderz(*SMALL, "--pilot", "3")
    assert first.code == 0
    assert "Remaining: 3 experiments. Estimated calls: about 3, 90th percentile 3." in first.out
    assert "Cost: about $0.00, 90th percentile $0.00." in first.out
    assert "leaves out 3 experiments of the benchmark. To run the whole benchmark: koderz resume bench_" in first.err
    assert "It cost $0.00 and took" in first.err
    (benchmark,) = {row["benchmark"] for row in koderz("results", "--json").json}
    assert koderz("analyze", benchmark, "--json").json["receipt"] is None
    then = koderz(*SMALL)
    assert "3 of them already done" in then.err
    assert "It cost $0.00 (estimate: about $0.00, 90th percentile $0.00) and took" in then.err
    told = koderz("analyze", benchmark, "--json").json["receipt"]
    assert (told["forecast"]["experiments"], told["cost_usd"]) == (3, 0.0)
    assert told["seconds"] > 0
    assert "(estimate: about $0.00" in koderz("analyze", benchmark).out


def test_a_pilot_of_a_fork_tells_what_the_rest_of_the_fork_takes(koderz: Any) -> None:
    koderz(*SMALL)
    assert "Remaining: 3 experiments." in koderz(*SMALL, "--fork", "--pilot", "3").out


FAILING = """from dataclasses import dataclass


@dataclass(frozen=True)
class Failing:
    def roles(self):
        return ("coder",)

    def solve(self, ctx):
        raise RuntimeError
"""


def test_plan_only_counts_what_the_same_command_would_run(koderz: Any) -> None:
    Path("mine.py").write_text(FAILING)
    words = ("benchmark", "--problems", "0:2", "--strategy", "mine.py:Failing", "--coder", "scripted/strong")
    koderz(*words)
    options = ((), ("--retry-errors",), ("--fork",))
    assert [koderz(*words, *more, "--plan-only", "--json").json["experiments"] for more in options] == [0, 2, 2]


def test_plan_only_says_what_the_plan_can_show(koderz: Any) -> None:
    said = koderz(*SMALL, "--plan-only").out
    assert "With 6 problems, a difference below 89 percentage points will usually not be detected" in said
    assert koderz(*SMALL, "--plan-only", "--json").json["can_show"] in said


@pytest.mark.parametrize("command", [("benchmark", "--problems", "0:1", "--plan-only"), ("run", "--problem-id", "0")])
def test_a_plan_in_which_no_review_can_take_place_says_so(koderz: Any, command: tuple[str, ...]) -> None:
    said = koderz(*command, "--coder", "scripted/strong", "--strategy", "supervised", "--max-iterations", "5")
    assert (
        "No review will take place in supervised SCRIPTED strong: its checkpoint_interval is 5" in said.out + said.err
    )


def test_plan_only_goes_by_how_much_earlier_pairs_differed(koderz: Any) -> None:
    pair = ("benchmark", "--coder", "scripted/weak", "--strategy", "direct,repair", "--problems")
    assert "as in koderz' own study" in koderz(*pair, "20:60", "--plan-only").out
    koderz(*pair, "0:20")
    said = koderz(*pair, "20:60", "--plan-only").out
    assert "as did one earlier pair of configurations with the strategies and models of this plan on humaneval." in said
    assert "as in koderz' own study" in koderz(*pair, "20:60", "--coder", "ollama/other", "--plan-only").out


def test_a_forecast_as_json_has_nothing_that_is_not_known(koderz: Any) -> None:
    forecast = koderz(*SMALL, "--plan-only", "--json").json
    assert (forecast["experiments"], forecast["cost_usd"], len(forecast["unknown"])) == (6, None, 1)


def test_a_call_that_may_cost_more_than_the_budget_is_never_sent(koderz: Any, paid: Server) -> None:
    said = koderz(*PAID, "--max-cost", "1")
    assert (said.code, paid.bodies) == (5, [])
    assert "The budget of $1 is used up" in said.err
    assert "Experiments without a result: 3 of 3." in said.err


def test_a_budget_that_is_used_up_is_no_interruption_and_with_a_larger_one_resume_goes_on(
    koderz: Any, paid: Server
) -> None:
    said = koderz(*PAID, "--max-cost", "1.03")
    assert said.code == 5
    without = "Experiments without a result: 1 of 3. To continue with a larger budget: koderz resume bench_"
    assert without in said.err
    assert "--max-cost USD" in said.err
    assert len(paid.bodies) == 2, "two answers of half a cent, and the third would not fit any more"
    (benchmark,) = {row["benchmark"] for row in koderz("results", "--json").json}
    assert koderz("resume", benchmark).code == 5
    assert koderz("resume", benchmark, "--max-cost", "5").code == 0
    assert len(paid.bodies) == 3


def test_an_experiment_over_its_own_budget_is_unsolved_and_counts(koderz: Any, paid: Server) -> None:
    assert koderz(*PAID, "--max-cost-per-experiment", "1").code == 0
    rows = koderz("results", "--experiments", "--json").json
    assert {(row["outcome"], row["reason"]) for row in rows} == {("unsolved", "budget")}


def test_a_model_without_a_price_is_refused_under_a_budget_unless_it_is_allowed(
    koderz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    command = ("benchmark", "--problems", "0:1", "--coder", "openai/nobody-knows")
    refused = koderz(*command, "--max-cost", "1")
    assert refused.code == 2
    assert "openai/nobody-knows" in refused.err
    assert "--allow-unpriced" in refused.err
    assert (koderz(*command, "--max-cost", "1", "--plan-only").code, refused.out) == (2, "")
    assert "No price is known for openai/nobody-knows" in koderz(*command, "--plan-only").out


@pytest.mark.parametrize("usd", ["-1", "nan"])
def test_a_budget_is_an_amount_of_money(koderz: Any, usd: str) -> None:
    assert koderz(*SMALL, "--max-cost", usd).code == 2
