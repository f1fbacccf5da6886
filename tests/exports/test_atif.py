"""Trajectories for Harbor: the fields of ATIF 1.7 with their types, and everything that was recorded."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from koderz_core import open_workspace
from koderz_core.config import load_settings
from koderz_core.events import ControlObeyed, Entry, ExperimentStarted, encode
from koderz_core.journal import Journal, read_all

RUN = ("benchmark", "--problems", "0:4", "--coder", "scripted/weak")
SUPERVISED = ("--strategy", "supervised", "--checkpoint-interval", "1", "--max-iterations", "3", "--name", "own")
SUPERVISED += ("--reviewer", "scripted/strong", "--no-baselines")
TEXT, NUMBER, OBJECT = (str,), (int, float), (dict,)
Types = dict[str, tuple[type, ...]]
TRAJECTORY: Types = {"schema_version": TEXT, "session_id": TEXT, "trajectory_id": TEXT, "agent": OBJECT}
TRAJECTORY |= {"steps": (list,), "notes": TEXT, "final_metrics": OBJECT, "extra": OBJECT}
AGENT: Types = {"name": TEXT, "version": TEXT, "model_name": TEXT, "extra": OBJECT}
STEP: Types = {"step_id": (int,), "timestamp": TEXT, "source": TEXT, "message": TEXT, "observation": OBJECT}
AGENT_STEP: Types = {**STEP, "model_name": TEXT, "metrics": OBJECT, "llm_call_count": (int,), "extra": OBJECT}
METRICS: Types = {"prompt_tokens": (int,), "completion_tokens": (int,), "cached_tokens": (int,), "cost_usd": NUMBER}
RESULT: Types = {"content": TEXT, "extra": OBJECT}
FINAL: Types = {f"total_{name}": types for name, types in METRICS.items()} | {"total_steps": (int,)}
REQUIRED = {"schema_version", "agent", "steps", "name", "version", "step_id", "source", "message"}


def check(given: dict[str, Any], types: Types) -> None:
    """As the models of Harbor: no other fields, no missing ones, no wrong types."""
    assert given.keys() <= types.keys()
    assert REQUIRED & types.keys() <= given.keys()
    assert all(isinstance(value, types[name]) and not isinstance(value, bool) for name, value in given.items())


def check_document(document: dict[str, Any]) -> None:
    check(document, TRAJECTORY)
    check(document["agent"], AGENT)
    check(document["final_metrics"], FINAL)
    assert document["final_metrics"]["total_steps"] == len(document["steps"]) > 0
    assert [step["step_id"] for step in document["steps"]] == list(range(1, len(document["steps"]) + 1))
    for step in document["steps"]:
        assert step["source"] in {"system", "user", "agent"}
        check(step, AGENT_STEP if step["source"] == "agent" else {**STEP, "extra": OBJECT})
        assert "metrics" not in step or step["llm_call_count"] == 1
        check(step.get("metrics", {}), METRICS)
        datetime.fromisoformat(step["timestamp"])
        for result in step.get("observation", {"results": []})["results"]:
            check(result, RESULT)


def documents(koderz: Any, *of: str) -> list[dict[str, Any]]:
    assert koderz("export", *of, "--format", "atif", "--out", "logs").code == 0
    return [json.loads(path.read_bytes()) for path in sorted(Path("logs").iterdir())]


@pytest.mark.parametrize(
    "strategy", [SUPERVISED, ("--strategy", "debate"), ("--strategy", "direct"), ("--strategy", "best_of")]
)
def test_every_document_has_the_fields_of_the_format(koderz: Any, strategy: tuple[str, ...]) -> None:
    koderz(*RUN, *strategy)
    found = documents(koderz)
    assert len(found) == 4
    for document in found:
        assert document["schema_version"] == "ATIF-v1.7"
        check_document(document)


def test_calls_reviews_and_tests_are_steps_with_the_recorded_figures(koderz: Any) -> None:
    koderz(*RUN, *SUPERVISED)
    lines = koderz("export", "own", "--format", "json", "--out", "-").out.splitlines()
    rows = {row["id"]: row for row in map(json.loads, lines)}
    reviews = 0
    for document in documents(koderz, "own"):
        row = rows[document["session_id"]]
        calls = [step for step in document["steps"] if step.get("llm_call_count")]
        assert len(calls) == row["calls"]
        totals = document["final_metrics"]
        assert sum(step["metrics"]["prompt_tokens"] for step in calls) == totals["total_prompt_tokens"]
        assert (totals["total_prompt_tokens"], totals["total_cost_usd"]) == (row["input_tokens"], row["cost_usd"])
        assert len([step for step in calls if "observation" in step]) == row["iterations"]
        assert document["extra"]["outcome"] == row["outcome"]
        reviewers = {step["model_name"] for step in calls if step["extra"]["part"] == "checkpoint"}
        assert reviewers <= {"scripted/strong"}
        reviews += len(reviewers)
    assert reviews


def test_the_prompts_of_a_call_are_earlier_steps_and_each_is_written_once(koderz: Any) -> None:
    koderz(*RUN, *SUPERVISED)
    for document in documents(koderz, "own"):
        steps = {step["step_id"]: step for step in document["steps"]}
        prompts = [(step["source"], step["message"]) for step in document["steps"] if step["source"] == "user"]
        assert len(set(prompts)) == len(prompts)
        for step in steps.values():
            sent = step.get("extra", {}).get("prompt_step_ids", [])
            assert all(before < step["step_id"] for before in sent)
            assert "llm_call_count" not in step or "user" in {steps[before]["source"] for before in sent}


def test_the_returned_program_and_its_tests_are_the_last_step(koderz: Any) -> None:
    koderz(*RUN, "--strategy", "direct", "--name", "own")
    for document in documents(koderz, "own"):
        (result,) = document["steps"][-1]["observation"]["results"]
        assert result["extra"]["returned"]
        assert result["extra"]["held_out_passed"] == (document["extra"]["outcome"] == "solved")
        assert "def " in result["extra"]["program"]
        assert " tests passed." in result["content"]


def test_an_imported_result_without_texts_and_tokens_has_no_invented_figures(koderz: Any, tmp_path: Path) -> None:
    line = {"benchmark_id": "b", "model": "vendor/m", "example_id": "a/1", "pass1": 1, "count": 1, "correct": 1}
    (tmp_path / "in.jsonl").write_text(json.dumps(line))
    assert koderz("import", tmp_path / "in.jsonl", "--name", "back").code == 0
    (document,) = documents(koderz, "back")
    check_document(document)
    assert document["final_metrics"] == {"total_steps": len(document["steps"])}
    assert not any("metrics" in step for step in document["steps"])


def test_a_folder_that_exists_is_written_again(koderz: Any) -> None:
    koderz(*RUN, "--strategy", "direct", "--name", "own")
    assert documents(koderz, "own") == documents(koderz, "own")


def test_an_experiment_that_a_pause_keeps_from_starting_is_neither_exported_nor_a_peer(koderz: Any) -> None:
    koderz(*RUN, "--problems", "0:1", "--repeats", "4", "--strategy", "direct", "--name", "own")
    (path,) = load_settings().journals_dir.glob("*.jsonl")
    entries = list(read_all(path))
    *_, last = (place for place, entry in enumerate(entries) if isinstance(entry.event, ExperimentStarted))
    before = entries[:last]
    started = {entry.event.experiment.id for entry in before if isinstance(entry.event, ExperimentStarted)}
    path.write_bytes(b"".join(map(encode, [*before, Entry(entries[last].at, ControlObeyed("pause", None, 1))])))
    journal = Journal(path)  # as the process that runs the benchmark
    with open_workspace() as workspace:
        rows = workspace.results.experiments()
        peers = workspace.experiments.peers(next(row for row in rows if row.id in started))
    found = documents(koderz, "own")
    journal.close()
    assert [row.state for row in rows if row.id not in started] == ["paused"]
    assert (len(started), len(peers)) == (3, 2)
    assert {document["session_id"] for document in found} == started
