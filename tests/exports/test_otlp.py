"""Traces as files in the OTLP JSON format: ids, hierarchy, times and figures of what was recorded."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from chat_server import sends, serving_chat

SUPERVISED = ("benchmark", "--problems", "0:4", "--coder", "scripted/weak", "--strategy", "supervised", "--name", "own")
REVIEWED = (*SUPERVISED, "--reviewer", "scripted/strong", "--checkpoint-interval", "1", "--max-iterations", "3")
RUN = (*REVIEWED, "--no-baselines")
GEN_AI = """
operation.name agent.name provider.name request.model request.reasoning.level request.temperature request.top_p
request.max_tokens request.seed response.finish_reasons response.time_to_first_chunk usage.input_tokens
usage.output_tokens usage.cache_read.input_tokens usage.reasoning.output_tokens usage.cache_write.input_tokens
input.messages output.messages tool.name tool.type tool.call.arguments tool.call.result
"""
OWN = """
version benchmark benchmark.id dataset problem repeat experiment configuration.id strategy parameters outcome
stop_reason scripted cost_usd cost_source duration_unknown step step.number step.reason step.speaker step.round
call.role call.member call.ordinal call.attempt call.state call.tier tests.passed tests.total tests.succeeded
program.returned
"""
NAMES = {
    "error.type",
    "openinference.span.kind",
    "input.value",
    "output.value",
    *(f"gen_ai.{name}" for name in GEN_AI.split()),
    *(f"koderz.{name}" for name in OWN.split()),
}
"""Of attributes: those of the conventions that ``exports.spans`` names, and those of koderz."""
Span = dict[str, Any]


def exported(koderz: Any, *of: str) -> list[list[Span]]:
    """The spans of each trace."""
    said = koderz("export", *of, "--format", "otlp", "--out", "-")
    assert said.code == 0, said.err
    of_lines = [json.loads(line)["resourceSpans"] for line in said.out.splitlines()]
    return [[span for part in line for scope in part["scopeSpans"] for span in scope["spans"]] for line in of_lines]


def attributes(span: Span) -> dict[str, Any]:
    """By name; a value as in JSON."""
    return {each["key"]: next(iter(each["value"].values())) for each in span["attributes"]}


def of_operation(spans: list[Span], operation: str) -> list[Span]:
    return [span for span in spans if attributes(span).get("gen_ai.operation.name") == operation]


def test_the_file_has_the_encoding_of_the_format(koderz: Any) -> None:
    koderz(*RUN)
    for spans in exported(koderz):
        for span in spans:
            assert re.fullmatch("[0-9a-f]{32}", span["traceId"])
            assert re.fullmatch("[0-9a-f]{16}", span["spanId"])
            assert re.fullmatch("[0-9]{19}", span["startTimeUnixNano"])
            assert span["kind"] in {1, 3}
            values = [each["value"] for each in span["attributes"]]
            assert all(isinstance(value["intValue"], str) for value in values if "intValue" in value)


def test_a_trace_has_every_call_and_test_of_its_experiment_below_its_step(koderz: Any) -> None:
    koderz(*RUN)
    lines = koderz("export", "own", "--format", "json", "--out", "-").out.splitlines()
    rows = {row["id"]: row for row in map(json.loads, lines)}
    traces = exported(koderz, "own")
    assert len(traces) == len(rows) == 4
    for spans in traces:
        (root,) = [span for span in spans if "parentSpanId" not in span]
        row = rows[attributes(root)["koderz.experiment"]]
        by_id = {span["spanId"]: span for span in spans}
        assert len(by_id) == len(spans)
        assert {span["traceId"] for span in spans} == {root["traceId"]}
        chats, tests = of_operation(spans, "chat"), of_operation(spans, "execute_tool")
        assert (len(chats), len(tests)) == (row["calls"], row["iterations"])
        for span in (*chats, *tests):
            step = by_id[span["parentSpanId"]]
            assert attributes(step)["koderz.step"] in {"spec", "iteration", "checkpoint"}
            assert step["parentSpanId"] == root["spanId"]
            assert root["startTimeUnixNano"] <= step["startTimeUnixNano"] <= span["startTimeUnixNano"]
            assert span["startTimeUnixNano"] <= span["endTimeUnixNano"] <= step["endTimeUnixNano"]
            assert step["endTimeUnixNano"] <= root["endTimeUnixNano"]
        assert sum(int(attributes(chat)["gen_ai.usage.input_tokens"]) for chat in chats) == row["input_tokens"]
        assert attributes(root)["koderz.cost_usd"] == row["cost_usd"]


def test_a_review_is_a_call_of_the_reviewer_in_a_step_of_its_own(koderz: Any) -> None:
    koderz(*RUN)
    reviews = 0
    for spans in exported(koderz):
        for step in spans:
            if attributes(step).get("koderz.step") == "checkpoint":
                (call,) = [span for span in spans if span.get("parentSpanId") == step["spanId"]]
                assert (attributes(call)["gen_ai.request.model"], attributes(call)["koderz.call.role"]) == (
                    "strong",
                    "reviewer",
                )
                reviews += 1
    assert reviews


def test_the_root_has_the_score_as_the_result_of_an_evaluation(koderz: Any) -> None:
    koderz("benchmark", "--problems", "0:4", "--coder", "scripted/weak")
    seen = Counter[str]()
    for root, *_ in exported(koderz):
        (event,) = root["events"]
        found = attributes(event)
        assert event["name"] == "gen_ai.evaluation.result"
        assert found["gen_ai.evaluation.name"] == "held_out"
        solved = attributes(root)["koderz.outcome"] == "solved"
        expected = (1.0, "pass") if solved else (0.0, "fail")
        assert (found["gen_ai.evaluation.score.value"], found["gen_ai.evaluation.score.label"]) == expected
        seen[attributes(root)["koderz.outcome"]] += 1
    assert seen == {"solved": 2, "unsolved": 2}


def test_messages_have_the_form_of_the_conventions(koderz: Any) -> None:
    koderz(*RUN)
    for spans in exported(koderz):
        for chat in of_operation(spans, "chat"):
            sent = json.loads(attributes(chat)["gen_ai.input.messages"])
            (answer,) = json.loads(attributes(chat)["gen_ai.output.messages"])
            assert {part["type"] for message in (*sent, answer) for part in message["parts"]} == {"text"}
            assert sent[-1]["role"] == "user"
            assert answer["role"] == "assistant"
            assert "SCRIPTED" in answer["parts"][0]["content"]


def test_an_attempt_that_failed_is_a_span_with_an_error(koderz: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving_chat() as server:
        server.models, server.answer = ("m",), sends(400, {"error": {"message": "no such thing"}})
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        koderz("benchmark", "--problems", "0:1", "--coder", "vllm/m")
    ((root, *spans),) = exported(koderz)
    (chat,) = of_operation(spans, "chat")
    assert chat["status"]["code"] == root["status"]["code"] == 2
    assert "answered 400" in chat["status"]["message"]
    assert attributes(chat)["error.type"] == "400"
    assert (attributes(chat)["gen_ai.provider.name"], attributes(chat)["gen_ai.request.model"]) == ("vllm", "m")
    assert "gen_ai.output.messages" not in attributes(chat)
    assert "events" not in root


def test_an_unknown_duration_is_a_span_without_length_that_says_so(koderz: Any, tmp_path: Path) -> None:
    line = {"benchmark_id": "b", "model": "vendor/m", "example_id": "a/1", "pass1": 1, "count": 1, "correct": 1}
    (tmp_path / "in.jsonl").write_text(json.dumps(line))
    assert koderz("import", tmp_path / "in.jsonl", "--name", "back").code == 0
    ((root, step, chat),) = exported(koderz, "back")
    for span in (root, step, chat):
        assert span["startTimeUnixNano"] == span["endTimeUnixNano"]
        assert attributes(span)["koderz.duration_unknown"] is True
    assert attributes(chat)["gen_ai.provider.name"] == "unknown"
    assert not {"gen_ai.usage.input_tokens", "koderz.cost_usd"} & (attributes(chat).keys() | attributes(root).keys())
    assert step["parentSpanId"] == root["spanId"]


def test_all_names_are_of_the_conventions_or_of_koderz(koderz: Any) -> None:
    koderz(*RUN)
    for spans in exported(koderz):
        assert {name for span in spans for name in attributes(span)} <= NAMES
