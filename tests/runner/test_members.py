"""A role has one or more models: a strategy can tell how many, and none is ignored in silence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from koderz_core.config import load_settings
from koderz_core.errors import PlanError
from koderz_core.events import SpecWritten
from koderz_core.plan.order import Wanted, configuration
from koderz_core.protocols import Context
from koderz_core.strategies import PRESETS, STRATEGIES, facts_of

LADDERS = [name for name in sorted((*STRATEGIES, *PRESETS)) if facts_of(name).needs_several_coders]


@dataclass(frozen=True)
class Telling:
    """Tells how many models two roles have."""

    def roles(self) -> tuple[str, ...]:
        return ("coder",)

    def solve(self, ctx: Context) -> str | None:
        ctx.note(SpecWritten(f"{ctx.members('coder')} and {ctx.members('reviewer')}"))
        return None


def test_a_strategy_can_tell_how_many_models_a_role_has(
    bench: Callable[..., Any],  # Any: Bench of conftest.py, which a test module cannot import
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(STRATEGIES, "telling", Telling)  # type: ignore[arg-type]
    made = bench(lambda _: "", "telling")
    two = replace(made.plan.configurations[0], models={"coder": ("scripted/it", "scripted/it")})
    made.plan = replace(made.plan, configurations=(two,))
    made.go()
    assert [entry.event.text for entry in made.entries() if isinstance(entry.event, SpecWritten)] == ["2 and 0"]


@pytest.mark.parametrize("strategy", sorted(name for name in STRATEGIES if "coder" not in facts_of(name).several))
def test_a_model_that_no_strategy_would_ask_is_refused(strategy: str) -> None:
    wanted = Wanted(strategy, {"coder": ["scripted/weak", "scripted/strong"]})
    with pytest.raises(
        PlanError, match=f"{strategy} uses only one model as coder, so scripted/strong would be ignored"
    ):
        configuration(wanted, load_settings())


@pytest.mark.parametrize("strategy", LADDERS)
def test_a_strategy_that_goes_from_coder_to_coder_needs_two(strategy: str) -> None:
    with pytest.raises(PlanError, match=f"{strategy} asks one coder after the other, so it needs several"):
        configuration(Wanted(strategy, {"coder": "scripted/weak"}), load_settings())


@pytest.mark.parametrize("strategy", ["retry", "warming", "escalation", "cascade"])
def test_every_coder_of_a_ladder_is_recorded_and_the_first_fills_the_other_roles(strategy: str) -> None:
    made = configuration(Wanted(strategy, {"coder": ["scripted/weak", "scripted/strong"]}), load_settings())
    assert made.models["coder"] == ("scripted/weak", "scripted/strong")
    assert {made.models[role] for role in made.models if role != "coder"} <= {("scripted/weak",)}
