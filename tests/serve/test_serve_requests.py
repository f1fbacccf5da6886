"""What `koderz serve` refuses: bad requests, requests of others, and more programs than fit its limits."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from bad_bytes import END, POST, SURE, bad_bytes
from bad_fields import AUTHORIZED, LAUNCH, POSTS, TOKEN, Bad, bad_requests
from sample import thinned
from served import ADDING, Served, serving

from koderz_core import open_workspace
from koderz_core.errors import SandboxError
from koderz_core.events import AllowanceSet, Entry
from koderz_core.grading.grader import Grader, TestKind
from koderz_core.grading.testsets import Split
from koderz_core.journal import Journal
from koderz_core.records import Allowance, Problem
from koderz_core.serve.connection import MOST_HEAD_BYTES
from koderz_core.serve.parts import Limits

SLEEPING = ADDING | {"solution": "import time\ndef add(a, b):\n    time.sleep(0.5)\n    return a + b\n"}


@pytest.fixture
def with_token(tmp_path: Path) -> Iterator[Served]:
    with serving(open_workspace(home=tmp_path / "home", serve_token=TOKEN), Limits(200, 100)) as served:
        yield served


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(open_workspace(home=tmp_path / "home"), Limits(4, 3)) as served:
        yield served


def test_two_hundred_kinds_of_bad_requests_are_refused_with_a_reason_and_never_a_traceback(
    with_token: Served, caplog: pytest.LogCaptureFixture
) -> None:
    requests = list(bad_requests())
    assert len({bad.name for bad in requests}) == len(requests) >= 200
    wrong = {bad.name: fault for bad in requests if (fault := _fault(with_token, bad))}
    assert not wrong, wrong
    assert not caplog.records
    accepted = [with_token.post(path, good, **AUTHORIZED).status for path, good in POSTS.items()]
    assert accepted == [200, 200, 200, 202]  # so each bad request has one fault only


def _fault(served: Served, bad: Bad) -> str:
    """What is wrong with the answer to a bad request, empty if nothing is."""
    answer = served.send(bad.method, bad.path, bad.body, bad.headers)
    if not 400 <= answer.status < 500:
        return f"{answer.status} {answer.text[:300]}"
    error = answer.json["error"]
    fine = answer.json["status"] == answer.status and len(error.split()) > 4 and "Traceback" not in error
    return "" if fine and str(Path(__file__).parents[2]) not in error else error


def test_bytes_that_are_no_valid_request_are_refused(with_token: Served, caplog: pytest.LogCaptureFixture) -> None:
    found = {name: with_token.status_of(sent) for name, sent in thinned(list(bad_bytes()), "malformed requests")}
    assert {name: status for name, status in found.items() if not 400 <= status < 500} == {}
    assert not caplog.records


@pytest.mark.parametrize(
    ("begin", "more"),
    [
        ("GET /", b"a" * 1000),
        (f"GET /v1/ping HTTP/1.1\r\n{SURE}\r\nX: ", b"a" * 1000),
        (f"GET /v1/ping HTTP/1.1\r\n{SURE}", b"\r\nX: y" * 100),
        (f"{POST}\r\nTransfer-Encoding: chunked{END}1\r\n{{\r\n0\r\nX: ", b"a" * 1000),
        (f"{POST}\r\nTransfer-Encoding: chunked{END}1;x=", b"a" * 1000),
        (f"{POST}\r\nTransfer-Encoding: chunked{END}", b"1\r\n{\r\n" * 100),
    ],
    ids=["path", "header", "headers", "trailer", "extension", "tiny parts"],
)
def test_a_request_without_an_end_is_refused_before_it_fills_the_memory(
    with_token: Served, begin: str, more: bytes
) -> None:
    sent = 0
    with socket.create_connection(("127.0.0.1", with_token.port), 60) as connection, suppress(ConnectionError):
        connection.sendall(begin.encode())
        while sent < 100 * MOST_HEAD_BYTES:
            connection.sendall(more)
            sent += len(more)
    assert sent < 100 * MOST_HEAD_BYTES


def test_a_body_that_does_not_arrive_in_time_is_refused(with_token: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("koderz_core.serve.endpoint.BODY_SECONDS", 0.1)
    assert with_token.status_of(f"{POST}\r\nContent-Length: 100{END}{{".encode()) == 408


def test_a_client_with_too_many_programs_waits_and_another_is_still_served(served: Served) -> None:
    first = threading.Thread(target=served.grade, args=[SLEEPING] * 3)
    first.start()
    while not served.get("/v1/status").json["pending"]:
        pass
    refused = served.post("/v1/grade", {"programs": [ADDING]})
    assert refused.status == 429
    assert int(refused.headers["retry-after"]) >= 1
    assert "limit is 3" in refused.json["error"]
    assert served.post("/v1/grade", {"programs": [ADDING]}, **{"X-Koderz-Client": "another"}).status == 200
    full = served.post("/v1/grade", {"programs": [ADDING] * 2}, **{"X-Koderz-Client": "another"})
    first.join()
    assert (full.status, full.json["error"].partition(" has")[0]) == (429, "The server")
    assert served.grade(ADDING)[0]["passed"] is True
    assert served.post("/v1/grade", {"programs": [ADDING] * 4}).status == 413


def test_a_set_token_is_needed_for_every_request_and_without_one_nothing_can_be_launched(
    with_token: Served, served: Served
) -> None:
    assert with_token.get("/v1/ping").status == with_token.get("/openapi.json").status == 401
    assert with_token.get("/v1/ping", **AUTHORIZED).json == "pong"
    launch = {"configurations": [{"strategy": "direct", "models": {"coder": "scripted/strong"}}], "max_cost_usd": 0}
    refused = served.post("/v1/benchmarks", launch)
    assert (refused.status, "KODERZ_SERVE_TOKEN" in refused.json["error"]) == (403, True)


def test_a_budget_that_was_changed_during_the_run_is_never_exceeded_by_a_request_with_the_earlier_one(
    with_token: Served, tmp_path: Path
) -> None:
    launch = LAUNCH | {"problems": "0:1", "max_cost_usd": 5}
    benchmark = with_token.post("/v1/benchmarks", launch, **AUTHORIZED).json["benchmark"]
    while with_token.get("/v1/benchmarks", **AUTHORIZED).json[0]["holder"]:
        time.sleep(0.05)
    path = tmp_path / "home" / "journals" / f"{benchmark}.jsonl"
    journal = Journal(path)
    journal.append(Entry(time.time(), AllowanceSet(Allowance(20.0, 1), 1, Allowance(5.0, 1))))
    journal.close()
    recorded = path.read_bytes()
    refused = with_token.post("/v1/benchmarks", launch, **AUTHORIZED)
    assert (refused.status, path.read_bytes()) == (409, recorded)
    assert f"The budget of {benchmark} was changed to 20.0 US dollars" in refused.json["error"]
    assert with_token.post("/v1/benchmarks", launch | {"max_cost_usd": 20}, **AUTHORIZED).status == 202


def test_an_open_server_accepts_every_host_because_it_has_a_token(tmp_path: Path) -> None:
    workspace = open_workspace(home=tmp_path / "home", serve_token=TOKEN)
    with serving(workspace, is_open=True) as served:
        assert served.get("/v1/ping", Host="koderz.example", **AUTHORIZED).status == 200
        assert served.get("/v1/ping", Host="koderz.example").status == 401


def test_a_bug_is_logged_and_its_answer_has_no_details(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("koderz_core.serve.app.document", lambda _: 1 / 0)
    answer = served.get("/openapi.json")
    assert answer.status == 500
    assert "ZeroDivisionError" not in answer.text
    assert "ZeroDivisionError" in caplog.text


def test_after_a_failure_of_the_sandbox_the_same_request_may_be_sent_again(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests_of, failures = Grader.tests_of, [SandboxError("The worker was lost.")] * 2

    def failing(self: Grader, problem: Problem, tests: TestKind) -> Split:
        if failures:
            raise failures.pop()
        return tests_of(self, problem, tests)

    monkeypatch.setattr(Grader, "tests_of", failing)
    program = {"dataset": "humaneval", "problem": "HumanEval/2", "completion": "    return number % 1.0\n"}
    wrong = served.post("/v1/grade", {"programs": [program, program | {"problem": "HumanEval/999"}]})
    assert (wrong.status, "1 of 2 programs cannot be graded. programs[1]: " in wrong.json["error"]) == (422, True)
    failed = served.post("/v1/grade", {"programs": [ADDING, program]})
    assert (failed.status, failed.json["error"]) == (503, "The worker was lost.")
    assert [result["passed"] for result in served.grade(ADDING, program)] == [True, True]


def test_the_openapi_document_describes_the_records_that_check_requests(served: Served) -> None:
    found = served.get("/openapi.json").json
    body = found["paths"]["/v1/grade"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body == {"$ref": "#/components/schemas/GradeRequest"}
    sent = found["components"]["schemas"]["SentProgram"]
    assert sent["additionalProperties"] is False
    assert sent["properties"]["seconds"]["default"] is None
    names = json.dumps(found).split('"#/components/schemas/')[1:]
    assert {name.partition('"')[0] for name in names} <= set(found["components"]["schemas"])


def test_no_request_can_name_a_file_of_problems_or_a_file_to_execute(with_token: Served, tmp_path: Path) -> None:
    problems, strategy, marker = tmp_path / "own.jsonl", tmp_path / "mine.py", tmp_path / "marker"
    row = {"task_id": "own/0", "prompt": "def f():\n", "entry_point": "f", "canonical_solution": "    return 1\n"}
    problems.write_text(json.dumps(row | {"test": "def check(candidate):\n    assert candidate() == 1\n"}) + "\n")
    strategy.write_text(f"open({str(marker)!r}, 'w')\n")
    program = {"solution": "def f(): return 1", "dataset": str(problems), "problem": "own/0"}
    configuration = {"strategy": f"{strategy}:Mine", "models": {"coder": "scripted/strong"}}
    for path, content, kind in (
        ("/v1/grade", {"programs": [program]}, "dataset"),
        ("/submit", {"dataset": str(problems), "id": 0, "completion": "x"}, "dataset"),
        ("/v1/benchmarks", LAUNCH | {"dataset": str(problems), "problems": "all"}, "dataset"),
        ("/v1/benchmarks", LAUNCH | {"configurations": [configuration]}, "strategy"),
    ):
        answer = with_token.post(path, content, **AUTHORIZED)
        assert 400 <= answer.status < 500
        assert f"Unknown {kind}" in answer.json["error"]
    assert not marker.exists()
