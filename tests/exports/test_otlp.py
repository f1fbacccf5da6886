"""Traces as files in the OTLP JSON format: ids, hierarchy, times and figures of what was recorded."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from chat_server import sends, serving_chat

from koderz_core.exports import genai_conventions as names

SUPERVISED = ("benchmark", "--problems", "0:4", "--coder", "scripted/weak", "--strategy", "supervised", "--name", "own")
REVIEWED = (*SUPERVISED, "--reviewer", "scripted/strong", "--checkpoint-interval", "1", "--max-iterations", "3")
RUN = (*REVIEWED, "--no-baselines")
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
    return [span for span in spans if attributes(span).get(names.OPERATION_NAME) == operation]


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
        row = rows[attributes(root)[names.EXPERIMENT]]
        by_id = {span["spanId"]: span for span in spans}
        assert len(by_id) == len(spans)
        assert {span["traceId"] for span in spans} == {root["traceId"]}
        chats, tests = of_operation(spans, names.CHAT), of_operation(spans, names.EXECUTE_TOOL)
        assert (len(chats), len(tests)) == (row["calls"], row["iterations"])
        for span in (*chats, *tests):
            step = by_id[span["parentSpanId"]]
            assert attributes(step)[names.STEP] in {"spec", "iteration", "checkpoint"}
            assert step["parentSpanId"] == root["spanId"]
            assert root["startTimeUnixNano"] <= step["startTimeUnixNano"] <= span["startTimeUnixNano"]
            assert span["startTimeUnixNano"] <= span["endTimeUnixNano"] <= step["endTimeUnixNano"]
            assert step["endTimeUnixNano"] <= root["endTimeUnixNano"]
        assert sum(int(attributes(chat)[names.INPUT_TOKENS]) for chat in chats) == row["input_tokens"]
        assert attributes(root)[names.COST_USD] == row["cost_usd"]


def test_a_review_is_a_call_of_the_reviewer_in_a_step_of_its_own(koderz: Any) -> None:
    koderz(*RUN)
    reviews = 0
    for spans in exported(koderz):
        for step in spans:
            if attributes(step).get(names.STEP) == "checkpoint":
                (call,) = [span for span in spans if span.get("parentSpanId") == step["spanId"]]
                assert (attributes(call)[names.REQUEST_MODEL], attributes(call)[names.ROLE]) == ("strong", "reviewer")
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
        solved = attributes(root)[names.OUTCOME] == "solved"
        expected = (1.0, "pass") if solved else (0.0, "fail")
        assert (found["gen_ai.evaluation.score.value"], found["gen_ai.evaluation.score.label"]) == expected
        seen[attributes(root)[names.OUTCOME]] += 1
    assert seen == {"solved": 2, "unsolved": 2}


def test_messages_have_the_form_of_the_conventions(koderz: Any) -> None:
    koderz(*RUN)
    for spans in exported(koderz):
        for chat in of_operation(spans, names.CHAT):
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
    (chat,) = of_operation(spans, names.CHAT)
    assert chat["status"]["code"] == root["status"]["code"] == 2
    assert "answered 400" in chat["status"]["message"]
    assert attributes(chat)["error.type"] == "400"
    assert (attributes(chat)[names.PROVIDER_NAME], attributes(chat)[names.REQUEST_MODEL]) == ("vllm", "m")
    assert names.OUTPUT_MESSAGES not in attributes(chat)
    assert "events" not in root


def test_an_unknown_duration_is_a_span_without_length_that_says_so(koderz: Any, tmp_path: Path) -> None:
    line = {"benchmark_id": "b", "model": "vendor/m", "example_id": "a/1", "pass1": 1, "count": 1, "correct": 1}
    (tmp_path / "in.jsonl").write_text(json.dumps(line))
    assert koderz("import", tmp_path / "in.jsonl", "--name", "back").code == 0
    ((root, step, chat),) = exported(koderz, "back")
    for span in (root, chat):
        assert span["startTimeUnixNano"] == span["endTimeUnixNano"]
        assert attributes(span)[names.DURATION_UNKNOWN] is True
    assert attributes(chat)[names.PROVIDER_NAME] == "unknown"
    assert not {names.INPUT_TOKENS, names.COST_USD} & (attributes(chat).keys() | attributes(root).keys())
    assert step["parentSpanId"] == root["spanId"]


def test_all_names_are_of_the_conventions_or_of_koderz(koderz: Any) -> None:
    koderz(*RUN)
    known = {value for name, value in vars(names).items() if name.isupper() and isinstance(value, str)}
    for spans in exported(koderz):
        assert {name for span in spans for name in attributes(span)} <= known
    own = {name for name in known if "." in name and not name.startswith("koderz.")}
    prefixes = ("gen_ai.", "openinference.span.kind", "input.value", "output.value", "error.type", "service.name")
    assert all(name.startswith(prefixes) or name == names.GEN_AI_VERSION for name in own)
