"""pass@k on the command line, of repeats and of samples within experiments."""

from __future__ import annotations

from typing import Any

import pytest

SAMPLED = "best_of coder=scripted/weak samples=3 judge=false"


@pytest.fixture
def sampled(koderz: Any) -> None:
    configurations = ("--configuration", SAMPLED, "--configuration", "retry coder=scripted/weak max_iterations=3")
    ran = koderz("benchmark", "--problems", "0:4", "--repeats", "2", "--no-baselines", *configurations)
    assert ran.code == 0, ran.err


def test_repeats_are_draws_and_so_are_the_samples_of_best_of_alone(koderz: Any, sampled: None) -> None:
    found = koderz("compare", "--pass-at-k", "--format", "json").json["pass_at_k"]
    lines = [(row["label"].split()[0], row["draws"], row["k"], row["problems"]) for row in found["rates"]]
    assert {line for line in lines if line[2] == 2} == {
        ("best_of", "experiments", 2, 4),
        ("best_of", "samples", 2, 4),
        ("retry", "experiments", 2, 4),
    }
    assert max(k for *_, kind, k, _ in [("", *line[1:]) for line in lines] if kind == "samples") == 6
    assert {row["source"] for row in found["rates"]} == {"measured"}
    assert [row["coverage"] >= row["selected"] for row in found["selection"]] == [True, True]
    refusal = "nothing is extrapolated from the draws (samples), because fewer than 18 problems"
    assert any(refusal in line for line in found["remarks"])


def test_the_tables_are_shown_on_request_alone(koderz: Any, sampled: None) -> None:
    told = koderz("compare", "--pass-at-k").out
    assert "pass@k and pass^k" in told
    assert "Coverage and selection among the tested programs" in told
    assert "pass^k" not in koderz("compare").out
    assert koderz("compare", "--pass-at-k", "--format", "csv").code == 2
