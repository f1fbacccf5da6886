"""The end of a benchmark: what each tier of models cost, a frontier model alone, and what was saved against it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from chat_server import Server, says, serving_chat

from koderz_core import open_workspace

TWO = ("benchmark", "--problems", "0:2", "--strategy", "direct", "--quiet", "--coder")


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Its models solve the first two problems."""
    with open_workspace() as opened:
        programs = [
            problem.public.prompt + problem.canonical_solution for problem in opened.datasets.load().problems[:2]
        ]
    with serving_chat() as server:
        server.answer = says("```python\n" + "\n".join(programs) + "\n```")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        yield server


def after(title: str, said: str) -> list[str]:
    """The lines of a block, without its title."""
    return said.partition(f"{title}")[2].partition("\n\n")[0].splitlines()[1:]


@pytest.mark.usefixtures("provider")
def test_the_end_says_what_each_tier_took_and_what_was_saved_as_compare_computes_it(koderz: Any) -> None:
    out = koderz(*TWO, "gpt-4o,gpt-4o-mini").out
    _, frontier, small = (line.split("  ") for line in after("Spending by model tier", out))
    assert [cell.strip() for cell in frontier if cell.strip()][1:4] == ["frontier", "2", "32"]
    assert [cell.strip() for cell in small if cell.strip()][1] == "small frontier"
    alone, saved = after("Compared with a frontier model alone", out)
    assert alone.startswith("Frontier model alone: direct gpt-4o solved 100 % [34, 100] of 2 experiments for $0.000")
    (pair,) = koderz("compare", "--format", "json").json["pairs"]
    assert f"saved {100 * pair['saved_share']:.0f} % [" in saved
    assert (
        "on the 2 problems that the frontier model also solved ($0.0000043 instead of $0.000073 per problem)" in saved
    )
    assert saved.endswith(
        "Success rate minus that of the frontier model: +0 percentage points on 2 problems on which both "
        "configurations have a result."
    )


@pytest.mark.usefixtures("provider")
def test_a_baseline_measured_elsewhere_counts_and_is_named(koderz: Any) -> None:
    first = koderz(*TWO, "gpt-4o")
    assert "ompared with a frontier model" not in first.out  # there is nothing to hold against it
    assert "Savings" not in first.out
    told = after("Compared with a frontier model alone", koderz(*TWO, "gpt-4o-mini").out)
    assert told[0].endswith(f"measured in {first.err.partition(':')[0]}.")
    assert "direct gpt-4o-mini: saved" in told[1]


def test_without_a_measured_baseline_nothing_is_saved_and_one_sentence_says_how_to_measure_it(koderz: Any) -> None:
    out = koderz("run", "--problem-id", "HumanEval/0", "--coder", "scripted/strong").out
    told = after("Spending by model tier", out)[-1]
    assert told.startswith(
        "Savings: unknown, because no frontier model was run on these problems with the strategy direct (one answer, "
        "not tested before it is submitted). To measure"
    )
    assert "koderz benchmark --problems HumanEval/0 --configuration 'direct coder=MODEL'" in told
    assert "saved" not in out


def test_a_frontier_model_that_cost_nothing_saves_nothing_and_stays_labelled(
    koderz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KODERZ_TIERS", '{"scripted/strong": "frontier"}')
    out = koderz(*TWO, "scripted/strong,scripted/weak").out
    alone, other = after("Compared with a frontier model alone", out)
    assert "direct SCRIPTED strong" in alone
    assert "SCRIPTED weak: no savings" in other or "savings are unknown" in other
    assert " % saved" not in out
