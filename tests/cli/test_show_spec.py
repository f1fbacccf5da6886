"""``koderz show-spec``: what prompts were built on, who wrote it and what came of it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.records.notes import SpecRow

MODELS = {"spec": "scripted/strong", "coder": "scripted/weak", "reviewer": "scripted/strong"}


@pytest.fixture(scope="module")
def _recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[SpecRow]]:
    """A data folder, and the specs of its benchmarks as soon as a test has run them."""
    return tmp_path_factory.mktemp("recorded") / "home", []


@pytest.fixture
def specs(_recorded: tuple[Path, list[SpecRow]], tmp_path: Path) -> tuple[SpecRow, SpecRow]:
    """Of two benchmarks on one problem, the second of which reuses the spec of the first; run once for all tests."""
    home, found = _recorded
    if not found:
        found += _run(home)
    shutil.copytree(home, tmp_path / "home")
    written, reused = found
    return written, reused


def _run(home: Path) -> list[SpecRow]:
    with open_workspace(home=home) as workspace:
        found: list[SpecRow] = []
        for seed, more in enumerate(({}, {"reuse_spec": True})):
            plan = workspace.plans.plan(
                Order([Wanted("supervised", MODELS, {"max_iterations": 3, **more})], "1", seed=seed)
            )
            workspace.runs.run(plan)
            found += workspace.results.specs(benchmark=plan.id)
        return found


def test_a_spec_names_who_wrote_it_by_which_prompt_at_what_cost(koderz: Any, specs: tuple[SpecRow, SpecRow]) -> None:
    written, reused = specs
    said = koderz("show-spec", written.experiment).out
    assert f"by scripted/strong (prompt minimal, version {written.wording}), written in {written.experiment}" in said
    assert (said.startswith("SCRIPTED"), written.text in said) == (True, True)
    said = koderz("show-spec", reused.experiment[:10]).out
    assert f"reused from {written.experiment}" in said
    assert "at no cost (the original cost was" in said
    assert f"spec (minimal), reused from {written.experiment}:" in koderz("analyze", reused.experiment).out


def test_a_problem_has_each_spec_once_with_what_was_built_on_it(koderz: Any, specs: tuple[SpecRow, SpecRow]) -> None:
    written, reused = specs
    (one,) = koderz("show-spec", "HumanEval/1", "--json").json
    assert (one["spec"]["experiment"], one["n"]) == (written.experiment, 2)
    solved = [written.outcome, reused.outcome].count("solved")
    assert f"solved: {solved} of 2 experiments that used this spec" in koderz("show-spec", "1", "--model", "strong").out
    refused = koderz("show-spec", "HumanEval/1", "--model", "weak")
    assert (refused.code, "scripted/strong" in refused.err) == (2, True)


def test_spec_models_side_by_side_say_of_how_many_and_what_that_is_worth(
    koderz: Any, specs: tuple[SpecRow, SpecRow]
) -> None:
    (one,) = koderz("show-spec", "--compare", "--json").json["specs"]
    assert (one["specs"], one["rate"]["n"], one["rate"]["problems"]) == (1, 2, 1)
    said = koderz("show-spec", "--compare", specs[1].benchmark).out
    assert "koderz compare" in said
    assert "an oracle rate" in said


def test_an_experiment_without_a_spec_shows_its_problem(koderz: Any) -> None:
    koderz("benchmark", "--problems", "0", "--strategy", "direct", "--coder", "scripted/strong")
    (row,) = koderz("results", "--experiments", "--json").json
    said = koderz("show-spec", row["id"]).out
    assert f"{row['id']} did not use a spec." in said
    assert "def has_close_elements" in said


def test_a_problem_is_shown_as_its_prompts_have_it_without_a_key(koderz: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "planted-openai-key")
    with open_workspace() as workspace:
        dataset = workspace.grading.keep_problem('def f():\n    """Use planted-openai-key."""\n', "assert f() == 1")
        plan = workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/strong"})], "all"), dataset)
        workspace.runs.run(plan)
        (row,) = workspace.results.experiments(plan.id)
    said = koderz("show-spec", row.id).out
    assert ("planted-openai-key" in said, '"""Use [secret]."""' in said) == (False, True)


@pytest.mark.parametrize("asked", [(), ("nothing",), ("--compare", "nothing")])
def test_what_is_not_there_is_wrong_usage(koderz: Any, asked: tuple[str, ...]) -> None:
    assert koderz("show-spec", *asked).code == 2
