"""Efforts in configurations: as parameters of roles and steps of ladders, checked when a benchmark is planned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chat_server import serving_chat

from koderz_core.config import Settings
from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.plan.command_line import configuration_of, words_of
from koderz_core.plan.order import Order, Wanted, configuration
from koderz_core.records import Configuration
from koderz_core.workspace import open_workspace


def planned(settings: Settings, text: str) -> Configuration:
    return configuration(configuration_of(text), settings)


def test_an_effort_is_part_of_a_configuration_only_if_it_is_given(settings: Settings) -> None:
    plain, low, high = (
        planned(settings, f"direct coder=gpt-6-luna{effort}")
        for effort in ("", " coder.effort=low", " coder.effort=high")
    )
    assert len({plain.id, low.id, high.id}) == 3
    assert "coder.effort" not in plain.parameters
    assert low.parameters["coder.effort"] == "low"


def test_an_effort_is_written_as_it_is_read(settings: Settings) -> None:
    wanted = configuration_of("cascade coder=gpt-5-mini,gpt-6-luna coder.effort=high,low tester.effort=2048")
    assert wanted.parameters == {"coder.effort": "high,low", "tester.effort": "2048"}
    assert configuration_of(words_of(configuration_of("direct coder=o3 coder.effort=low"))).parameters == {
        "coder.effort": "low"
    }
    equal = [planned(settings, f"escalation coder=o3,gpt-5 coder.effort={text}").id for text in ("low", "low,low")]
    assert len({*equal}) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("direct coder=o3 coder.effort=much", "coder.effort must be a reasoning effort"),
        ("direct coder=gpt-4o coder.effort=low", "does not accept a reasoning effort"),
        ("direct coder=embedded/qwen2.5-coder-0.5b coder.effort=low", "does not accept a reasoning effort"),
        ("direct coder=o3 coder.effort=low,high", "2 values, but the role coder has 1 model"),
        ("escalation coder=o3,gpt-5-mini coder.effort=low,none", "gpt-5-mini cannot .* effort none"),
        ("retry coder=o3 steps=low,max", "effort max"),
        ("retry coder=o3 steps=low coder.effort=high", "Omit coder.effort"),
        ("retry coder=o3 steps=0.3,low", "does not accept a temperature"),
        ("retry coder=o3 coder.effort=low", "does not accept a temperature"),
        ("supervised coder=o3 spec=o3 spec.effort=low reuse_spec=true", "Omit reuse_spec"),
        ("direct coder=claude-haiku-4-5 coder.effort=2048 temperature=0.7", "does not accept a temperature"),
    ],
)
def test_an_effort_that_would_be_ignored_is_refused(settings: Settings, text: str, reason: str) -> None:
    with pytest.raises(PlanError, match=reason):
        planned(settings, text)


@pytest.mark.parametrize("sampling", ["spec.temperature=0.8", "spec.top_p=0.5"])
def test_a_spec_is_not_reused_in_a_configuration_that_writes_specs_in_another_way(
    settings: Settings, sampling: str
) -> None:
    text = "supervised coder=gpt-4o spec=gpt-4o"
    assert planned(settings, f"{text} {sampling}")
    with pytest.raises(PlanError, match="Omit reuse_spec or " + sampling.partition("=")[0].replace(".", "[.]")):
        planned(settings, f"{text} {sampling} reuse_spec=true")
    assert planned(settings, f"{text} spec.temperature=0 reuse_spec=true").parameters["reuse_spec"] is True


def test_an_unknown_role_has_no_effort(settings: Settings) -> None:
    with pytest.raises(UnknownNameError):
        configuration(Wanted("direct", {"coder": "o3"}, {"judge.effort": "low"}), settings)


def test_a_model_without_temperature_may_climb_a_ladder_of_efforts(settings: Settings) -> None:
    assert planned(settings, "retry coder=o3 steps=low*2,high").parameters["steps"] == "low*2,high"
    assert planned(settings, "retry coder=gpt-5.1 coder.effort=none").parameters["coder.effort"] == "none"


def test_every_effort_of_the_command_line_is_a_configuration_that_the_journal_records(koderz: Any) -> None:
    args = ("--problems", "0:1", "--strategy", "direct", "--coder", "scripted/never")
    said = koderz("benchmark", *args, "--effort", "low,256", "--json")
    assert said.code == 0
    assert {row["reasoning_tokens"] for row in said.json} == {100, 256}
    each = "escalation coder=scripted/never,scripted/weak coder.effort=high,none"
    koderz("benchmark", *args)
    koderz("benchmark", "--problems", "0:1", "--configuration", each, "--seed", "3")
    with open_workspace() as workspace:
        texts = [Path(file).read_text() for file in (workspace.settings.home / "journals").glob("*.jsonl")]
    calls = [json.loads(line)["event"] for text in texts for line in text.splitlines() if '"call_started"' in line]
    asked = [(call["model"].rpartition("/")[2], call["sampling"].get("effort")) for call in calls]
    assert sorted(map(str, asked)) == sorted(
        map(str, [("never", "low"), ("never", "256"), ("never", None), ("never", "high"), ("weak", "none")])
    )
    assert sum('"reasoning_tokens"' in text for text in texts) == 2


def test_a_recorded_effort_that_is_refused_here_is_refused_before_the_first_call(settings: Settings) -> None:
    stated = settings.home / "models.toml"
    stated.parent.mkdir(parents=True, exist_ok=True)
    stated.write_text('["vllm/a".capabilities]\neffort = ["low"]\n')
    with serving_chat() as server, open_workspace(home=settings.home, vllm_base_url=server.url) as workspace:
        wanted = configuration_of("retry coder=vllm/a steps=low*2")
        plan = workspace.plans.plan(Order((wanted,), "0:1"))
        stated.unlink()
        for attempt in (workspace.runs.run, workspace.runs.start):
            with pytest.raises(PlanError, match=r"vllm/a cannot take the role coder: .*reasoning effort"):
                attempt(plan)
        assert not server.bodies
