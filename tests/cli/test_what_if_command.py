"""``koderz what-if`` on recorded attempts of scripted models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from koderz_core.config import load_settings

CONFIGURATIONS = (
    "direct coder=scripted/weak",
    "direct coder=scripted/strong",
    "retry coder=scripted/weak max_iterations=3",
)


@pytest.fixture
def asked(ran_once: Callable[..., None]) -> None:
    given = [part for text in CONFIGURATIONS for part in ("--configuration", text)]
    plan = ("--problems", "0:8", "--name", "asked", "--no-baselines")
    ran_once("benchmark", "--dataset", "humaneval", *plan, *given)


def test_policies_are_simulated_beside_what_was_recorded(koderz: Any, asked: None) -> None:
    policies = ("--policy", "recorded A", "--policy", "retry weak k=1,3", "--wrong-answer", "0.01", "--tune")
    rows = koderz("what-if", "asked", *policies, "--folds", "2", "--json").json["policies"]
    kinds = [row["kind"] for row in rows]
    assert kinds == ["as recorded", "simulated", "simulated", "simulated on other folds", "simulated in hindsight"]
    shown = koderz("what-if", "asked", *policies)
    assert shown.out.count("simulated") > 4
    assert "without new calls to models" in shown.out
    assert "independent draws" in koderz("what-if", "asked").out


def test_bad_options_are_refused(koderz: Any, asked: None) -> None:
    for options, said in (
        (("--tune",), "--tune needs"),
        (("--policy", "retry weak k=9"), "too few recorded answers"),
        (("--policy", "retry nobody"), "Unknown model"),
    ):
        refused = koderz("what-if", "asked", *options)
        assert (refused.code, said in refused.err) == (2, True), refused.err


def test_a_missing_draw_leaves_out_its_problem_if_every_experiment_has_one_iteration(koderz: Any) -> None:
    """No result decided how many draws there are, so to leave out the problem does not bias the others."""
    once = ("--configuration", "retry coder=scripted/never max_iterations=1", "--repeats", "3")
    koderz("benchmark", "--problems", "0:2", "--name", "drawn", "--no-baselines", *once)
    simulated = ("what-if", "drawn", "--policy", "retry never k=3", "--json")
    (whole,) = koderz(*simulated).json["policies"]
    (journal,) = load_settings().journals_dir.glob("*.jsonl")
    journal.write_text(journal.read_text().replace('"outcome":"unsolved"', '"outcome":"error"', 1))
    (partial,) = koderz(*simulated).json["policies"]
    assert (whole["problems"], whole["left_out"]) == (2, [])
    assert (partial["problems"], len(partial["left_out"])) == (1, 1)
