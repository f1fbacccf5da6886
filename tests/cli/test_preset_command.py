"""``koderz benchmark --preset``: the presets of the page New run as commands, which options override."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from koderz_core import Order, command_of, open_workspace
from koderz_core.plan.presets import CATALOGUE


@pytest.fixture(autouse=True)
def _no_weights(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Presets are filled with scripted models."""
    monkeypatch.setenv("KODERZ_MODELS_DIR", str(tmp_path / "no weights"))


def planned(koderz: Any, *options: str) -> str:
    said = koderz("benchmark", "--plan-only", *options)
    assert said.code == 0, said.err
    return str(said.out)


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_preset_by_name_is_the_benchmark_of_the_page(koderz: Any, name: str) -> None:
    with open_workspace() as workspace:
        preset = workspace.plans.preset(name, workspace.models.survey())
        order = Order(preset.configurations, preset.problems)
        plan = workspace.plans.propose(order, baselines=True).plan
    command = command_of(order, baselines=True, preset=preset)
    assert command == f"koderz benchmark --preset {name}"
    assert planned(koderz, *shlex.split(command)[2:]).startswith(f"{plan.id}: ")


def test_options_override_what_a_preset_says(koderz: Any) -> None:
    changed = ("--problems", "0:2", "--coder", "scripted/strong", "--max-iterations", "5", "--gate", "examples")
    whole = "supervised coder=scripted/strong max_iterations=5 checkpoint_interval=2 gate=examples"
    written = ("--problems", "0:2", "--configuration", "direct coder=scripted/strong", "--configuration", whole)
    assert planned(koderz, "--preset", "Quick look", *changed) == planned(koderz, *written)
    assert ": 4 problems," in planned(koderz, "--preset", "quick-look", "--end", "4")


def test_an_unknown_preset_and_one_beside_other_strategies_are_wrong_usage(koderz: Any) -> None:
    unknown = koderz("benchmark", "--preset", "xyz")
    assert unknown.code == 2
    assert all(name in unknown.err for name in CATALOGUE)
    for option in (("--strategy", "direct"), ("--mode", "iterative"), ("--configuration", "direct coder=a")):
        said = koderz("benchmark", "--preset", "quick-look", *option)
        assert (said.code, f"Omit {option[0]}, or omit --preset." in said.err) == (2, True)


def test_the_help_names_every_preset(koderz: Any) -> None:
    text = " ".join(koderz("benchmark", "--help").out.split())
    assert f"Ready-made benchmark: {', '.join(CATALOGUE)}." in text


def test_a_parameter_without_an_effect_is_named_before_anything_is_paid(koderz: Any) -> None:
    said = planned(koderz, "--coder", "scripted/weak", "--strategy", "repair", "--checkpoint-interval", "3")
    assert "checkpoint_interval=3 has no effect in repair SCRIPTED weak, because checkpoints is false." in said
    assert "has no effect" not in planned(koderz, "--coder", "scripted/weak", "--strategy", "repair")
