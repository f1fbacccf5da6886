"""``koderz problems``: what came of each problem, the hardest first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.cli import tables

LETTERS = ("--only-by", "A", "--between", "A", "B")


@pytest.fixture
def recorded() -> str:
    """``strong`` and ``weak`` models, asked directly, on four problems of which the weak one fails some."""
    models = ("scripted/strong", "scripted/weak")
    order = Order([Wanted("direct", {"coder": model}) for model in models], "0:4")
    with open_workspace() as workspace:
        plan = workspace.plans.plan(order)
        workspace.runs.run(plan)
    return plan.id


def test_every_problem_has_a_line_with_a_sign_for_each_configuration(koderz: Any, recorded: str) -> None:
    said = koderz("problems", recorded[:10])
    assert said.code == 0
    assert said.out.count("HumanEval/") == 4
    assert "4 of 4 problems." in said.out


def test_a_narrow_terminal_shows_each_sign_below_its_letter(
    koderz: Any, recorded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "PIPED_WIDTH", 36)
    said = koderz("problems", recorded).out.partition("4 of 4 problems")[0]
    assert "…" not in said
    signs = [line.split() for line in said.splitlines() if line.endswith(("A  B", "✓", "✗"))]
    assert signs[-5] == ["problem", "cost", "A", "B"]
    assert [len(line) for line in signs[-4:]] == [4] * 4


def test_what_only_one_solved_is_where_the_two_differ(koderz: Any, recorded: str) -> None:
    only = koderz("problems", "--only-by", "A", "--json").json
    between = koderz("problems", "--between", "A", "B", "--json").json
    assert {(row["letter"], row["solved"]) for row in only} == {("A", 1), ("B", 0)}
    assert {row["problem"] for row in only} == {row["problem"] for row in between}


def test_rows_that_problems_of_two_datasets_share_are_warned_of(koderz: Any, tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    file.write_text("task,who,ok\nt/0,alpha,1\n")
    for dataset in ("one", "other"):
        koderz("import", file, "--map", f"problem=task,model=who,passed=ok,dataset:={dataset}", "--name", dataset)
    assert "share one row" not in koderz("problems", "one").out
    assert "share one row, although they may be different" in koderz("problems", "one", "other").out


def test_two_ways_to_choose_at_once_are_refused(koderz: Any, recorded: str) -> None:
    said = koderz("problems", *LETTERS)
    assert (said.code, "Use one of them" in said.err) == (2, True)


def test_an_unknown_configuration_is_answered_with_those_there_are(koderz: Any, recorded: str) -> None:
    said = koderz("problems", "--only-by", "nobody")
    assert (said.code, "A = direct" in said.err) == (2, True)


def test_without_anything_recorded_it_says_how_to_begin(koderz: Any) -> None:
    said = koderz("problems")
    assert (said.code, "koderz quickstart" in said.err) == (2, True)
