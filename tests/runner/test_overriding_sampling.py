"""Sampling of a single role: asked of all its calls, recorded, refused where it would mean nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from koderz_core.config import load_settings
from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.events import CallStarted
from koderz_core.plan.ablations import with_ablations
from koderz_core.plan.command_line import configuration_of, words_of
from koderz_core.plan.order import Wanted, configuration
from koderz_core.records import Sampling
from koderz_core.strategies.labels import labels

WRONG = "```python\ndef add(a, b):\n    return a - b\n```"
CODER = {"coder": "scripted/weak"}


def planned(**parameters: Any) -> Any:
    return configuration(Wanted("swarm", CODER, parameters), load_settings())


def test_what_is_asked_of_a_role_holds_for_its_calls_and_no_others(bench: Callable[..., Any]) -> None:
    over = {"critic.temperature": 0.5, "critic.top_p": 0.9, "refiner.max_tokens": 64}
    made = bench(lambda _: WRONG, "swarm", max_iterations=2, **over)
    made.go()
    calls = [entry.event for entry in made.entries() if isinstance(entry.event, CallStarted)]
    assert {call.role: call.sampling for call in calls} == {
        "tester": Sampling(0.0, max_tokens=2048),
        "coder": Sampling(0.0, max_tokens=1024),
        "critic": Sampling(0.5, 0.9, 2048),
        "refiner": Sampling(0.8, max_tokens=64),
    }


def test_it_makes_a_configuration_of_its_own_with_a_label_of_its_own_and_without_it_none_changes() -> None:
    plain, warm = planned(), planned(**{"critic.temperature": 1})
    assert plain.id == planned(max_iterations=5).id != warm.id == planned(**{"critic.temperature": 1.0}).id
    assert "critic.temperature=1.0" in labels([plain, warm])[warm.id]


def test_it_can_be_written_and_read_back() -> None:
    text = "swarm coder=scripted/weak critic.temperature=0.5 refiner.max_tokens=64"
    wanted = configuration_of(text)
    assert wanted.parameters == {"critic.temperature": 0.5, "refiner.max_tokens": 64}
    assert words_of(wanted) == text


def test_an_ablation_keeps_it_while_its_role_is_asked_and_is_one_of_that_configuration_only() -> None:
    plain, warm = Wanted("supervised", CODER), Wanted("supervised", CODER, {"spec.temperature": 0.7})
    grid = with_ablations([(plain, ["no-checkpoints"]), (warm, ["no-checkpoints"])])
    assert [ablation.parameters for ablation in grid][2:] == [
        warm.parameters,
        {**warm.parameters, "checkpoints": False},
    ]
    assert [ablation.parameters for ablation in with_ablations([(warm, ["no-spec"])])][1:] == [{"spec": False}]
    with pytest.raises(UnknownNameError, match="Unknown role of this configuration: 'spec'"):
        configuration(Wanted("repair", CODER, {"spec.temperature": 0.7}), load_settings())


@pytest.mark.parametrize("value", [-1, 3, True, "hot", None])
def test_a_value_out_of_place_is_refused(value: Any) -> None:
    with pytest.raises(PlanError, match=r"critic\.temperature must be a number from 0 to 2"):
        planned(**{"critic.temperature": value})


def test_what_nobody_would_heed_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="sampling parameter of a role: 'top_k'"):
        planned(**{"critic.top_k": 5})
    models = {**CODER, "critic": "o3"}
    with pytest.raises(
        PlanError, match=r"it does not accept temperature .*, but critic\.temperature is 0\.5\. Omit critic"
    ):
        configuration(Wanted("swarm", models, {"critic.temperature": 0.5}), load_settings())
