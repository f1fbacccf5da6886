"""Requests that no client should send, each with a name. Every one must be answered with a 4xx status and a reason."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from served import ADDING, JSON

TOKEN = "a-token-for-tests-only"
AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}
USUAL = JSON | AUTHORIZED
CODE = {"language": "python", "code": "print(1)"}
SUBMIT = {"dataset": "humaneval", "id": 0, "completion": "    return True"}
DIRECT = {"strategy": "direct", "models": {"coder": "scripted/strong"}}
LAUNCH = {"configurations": [DIRECT], "max_cost_usd": 0}
POSTS: Mapping[str, Any] = {  # Any: JSON
    "/v1/grade": {"programs": [ADDING]},
    "/submit": SUBMIT,
    "/run_code": CODE,
    "/v1/benchmarks": LAUNCH,
}
NOT_JSON = (
    b"", b"{", b"nul", b"{'a': 1}", b"[1, 2", b'{"a": 1}}', b"\xff\xfe{}", b'{"a": "\xff"}', b"[" * 100_000,
    b'{"dataset": "\\ud800"}', b'{"seconds": 1e}', b"\xef\xbb\xbf{}", b"{}{}", b'{"a": 01}', b'{"a": "\0"}', b"{\0}",
    b'{"a":' * 50_000,
    '{"a": 1}'.encode("utf-16"), b'{"a": NaN}', b"a=1&b=2", b'{"a": "\\ud800x', b'"' * 3, b'{"a" 1}',
)  # fmt: skip
OTHER_TYPES = ([], [1], "text", 1, 1.5, None, True, {})
HEADERS: Mapping[str, Mapping[str, str]] = {
    "no content type": {"Content-Type": ""},
    "plain text": {"Content-Type": "text/plain"},
    "a form": {"Content-Type": "application/x-www-form-urlencoded"},
    "compressed": {"Content-Encoding": "gzip"},
    "from a website": {"Origin": "https://example.com"},
    "from a file": {"Origin": "null"},
    "from this server": {"Origin": "http://127.0.0.1:8765"},
    "another host": {"Host": "example.com"},
    "a host that looks like this machine": {"Host": "127.0.0.1.example.com"},
    "a host in brackets": {"Host": "[::1"},
    "no host": {"Host": ""},
    "no token": {"Authorization": ""},
    "another token": {"Authorization": "Bearer another-token"},
    "a part of the token": {"Authorization": f"Bearer {TOKEN[:-1]}"},
    "a longer token": {"Authorization": f"Bearer {TOKEN}x"},
    "a token of another scheme": {"Authorization": f"Basic {TOKEN}"},
    "a token that is not ASCII": {"Authorization": "Bearer \xfcberall"},
    "a client with spaces": {"X-Koderz-Client": "a b"},
    "a client without a name": {"X-Koderz-Client": ""},
    "a client with a long name": {"X-Koderz-Client": "a" * 65},
    "too large": {"Content-Length": str(1 << 30)},
}
PROGRAMS: Mapping[str, Mapping[str, object]] = {
    **{
        f"{name} is {value!r}": ADDING | {name: value}
        for name in ("solution", "tests", "dataset", "problem", "id", "answer", "completion")
        for value in (1, ["x"], {"a": "b"}, True)
    },
    **{f"seconds are {value!r}": ADDING | {"seconds": value} for value in (0, -1, 61, 1e300, "x", [])},
    "an unknown field": ADDING | {"timeout": 3},
    "no program": {"tests": "assert add(1, 2) == 3"},
    "two programs": ADDING | {"answer": "x"},
    "no tests": {"solution": "x"},
    "tests and a dataset": ADDING | {"dataset": "humaneval"},
    "tests and a problem": ADDING | {"problem": "HumanEval/0"},
    "a dataset without a problem": {"solution": "x", "dataset": "humaneval"},
    "a problem without a dataset": {"solution": "x", "problem": "HumanEval/0"},
    "seconds for a dataset": {"solution": "x", "dataset": "humaneval", "problem": "HumanEval/0", "seconds": 3},
    "a completion of nothing": {"completion": "x", "tests": "assert add(1, 2) == 3"},
    "an unknown dataset": {"solution": "x", "dataset": "humanevil", "problem": "HumanEval/0"},
    "an unknown problem": {"solution": "x", "dataset": "humaneval", "problem": "HumanEval/999"},
    "a file as a dataset": {"solution": "x", "dataset": "/etc/passwd", "problem": "root"},
    "a file above": {"solution": "x", "dataset": "../problems.jsonl", "problem": "1"},
    "an unknown variant": {"solution": "x", "dataset": "humaneval, variant inverted", "problem": "HumanEval/0"},
    "a dataset with a null byte": {"solution": "x", "dataset": "humaneval\0", "problem": "HumanEval/0"},
    "a dataset in another case": {"solution": "x", "dataset": "HumanEval", "problem": "HumanEval/0"},
    "a problem above": {"solution": "x", "dataset": "humaneval", "problem": "../../etc/passwd"},
    "a problem with a null byte": {"solution": "x", "dataset": "humaneval", "problem": "HumanEval/0\0"},
    "a long problem": {"solution": "x", "dataset": "humaneval", "problem": "0" * 301},
    "a long id": ADDING | {"id": "0" * 301},
    "an id of many digits": ADDING | {"id": 10**4000},
    "tests that repeat without end": ADDING | {"tests": "assert add(1, 2) == 3 if True else yield"},
    "tests without an assert": ADDING | {"tests": "add(1, 2)"},
    "tests that are not Python": ADDING | {"tests": "assert add(1, 2 =="},
    "tests that never run": ADDING | {"tests": "def helper():\n    assert add(1, 2) == 3"},
    "asynchronous tests": ADDING | {"tests": "async def f():\n    assert add(1, 2) == 3\nf()"},
    "tests of nothing": ADDING | {"tests": "assert 1 == 1"},
    "tests with a null byte": ADDING | {"tests": "assert add(1, 2) == 3\0"},
    "tests that are too long": ADDING | {"tests": "assert add(1, 2) == 3\n" * 10_000},
    "deep tests": ADDING | {"tests": f"assert add({'(' * 5000}1{')' * 5000}, 2) == 3"},
    "tests of deep signs": ADDING | {"tests": f"assert add({'-' * 50_000}1, 2) == 3"},
    "a return outside": ADDING | {"tests": "assert add(1, 2) == 3\nyield 1"},
    "a check without a parameter": ADDING | {"tests": "def check():\n    assert add(1, 2) == 3"},
    "a program that is too long": ADDING | {"solution": "x" * 1_000_001},
}
FIELDS: Mapping[str, Mapping[str, Mapping[str, object]]] = {
    "/submit": {
        **{f"id {value!r}": {"id": value} for value in (1.5, None, [], True, 999, "none", "x" * 400)},
        **{f"dataset {value!r}": {"dataset": value} for value in ("none", "", "a.jsonl", 1, None)},
        **{f"completion {value!r}": {"completion": value} for value in (1, None, [])},
        **{
            f"config {value!r}": {"config": value}
            for value in (
                [],
                "x",
                {"language": "cpp"},
                {"custom_extract_logic": "x"},
                {"provided_data": {"id": 1}},
                {"run_timeout": 5},
                {"extra": {"a": 1}},
                {"unknown": 1},
                {"is_fewshot": 3},
                {"dataset_type": "X"},
            )
        },
    },
    "/run_code": {
        **{f"language {value!r}": {"language": value} for value in ("cpp", "", "Python", "pytest", 1, None)},
        **{f"code {value!r}": {"code": value} for value in (1, None, [], "x" * 1_000_001)},
        **{f"timeout {value!r}": {"run_timeout": value} for value in (0, -1, 61, "x", None)},
        **{f"stdin {value!r}": {"stdin": value} for value in (1, [], {})},
        "a file": {"files": {"a.txt": "YQ=="}},
        "a file to fetch": {"fetch_files": ["a.txt"]},
        "an argument": {"args": ["-x"]},
        "other memory": {"memory_limit_MB": 4096},
        "an unknown field": {"command": "rm"},
    },
    "/v1/benchmarks": {
        **{f"budget {value!r}": {"max_cost_usd": value} for value in (-1, "x", None, [])},
        **{f"seed {value!r}": {"seed": value} for value in (-1, 1.5, "x", 1 << 70)},
        **{f"repeats {value!r}": {"repeats": value} for value in (0, 1001, "x")},
        **{f"concurrency {value!r}": {"concurrency": value} for value in (0, 1001, "x")},
        **{f"dataset {value!r}": {"dataset": value} for value in ("none", "../a.jsonl", "/tmp/a.jsonl", 1)},
        **{f"problems {value!r}": {"problems": value} for value in ("none", "9:1", "", 1)},
        "no configuration": {"configurations": []},
        "too many configurations": {"configurations": [DIRECT] * 101},
        "the same configuration twice": {"configurations": [DIRECT, DIRECT]},
        "an unknown field": {"command": "rm"},
        **{
            f"configuration with {name} {value!r}": {"configurations": [DIRECT | {name: value}]}
            for name, values in {
                "strategy": ("none", "mine.py:Mine", "/tmp/mine.py:Mine", 1),
                "models": ({}, {"chef": "scripted/strong"}, {"coder": "no-such-model"}, {"coder": []}, 1),
                "parameters": ({"unknown": 1}, {"temperature": "hot"}, 1),
                "gate": ("none", 1),
                "feedback": ("none", 1),
            }.items()
            for value in values
        },
    },
}
PATHS = (
    "/", "/v1", "/v1/grade/", "/grade", "/submit/1", "/../etc/passwd", "/%2e%2e/etc/passwd", "/v1/tables", "/docs",
    "/v1/benchmarks/none", "/v1/benchmarks/none/experiments", "/v1/benchmarks/%00", "/v1/benchmarks/a%20b",
    "/v1/benchmarks?limit=1", "/v1/benchmarks/none/experiments?limit=0", "/v1/benchmarks/none/experiments?limit=x",
    "/v1/benchmarks/none/experiments?limit=1&limit=2", "/v1/benchmarks/none/experiments?solved=maybe",
    "/v1/tables/none", "/v1/tables/experiments?columns=none", "/v1/tables/experiments?of=none",
    "/v1/tables/experiments?unknown=1", "/v1/tables/pairs", "/v1/comparison", "/v1/comparison?of=none",
    "/v1/comparison?baseline=A&baseline=B", "/v1/comparison?same_problems=maybe", "/v1/status?x=1", "/openapi.json?x=",
    "/v1/benchmarks/..", "/v1/benchmarks/..%2f..%2f..%2fetc%2fpasswd", "/v1/benchmarks/%2fetc%2fpasswd",
    "/v1/benchmarks/%ff%fe",
    "/v1/benchmarks/%ed%a0%80", "/v1/benchmarks/" + "a" * 20_000, "/v1/benchmarks/none/experiments?problem=%00",
    "/v1/benchmarks/none/experiments?problem=%ff", "/v1/benchmarks/none/experiments?limit=1e9",
    "/v1/benchmarks/none/experiments?limit=" + "9" * 5000, "/v1/benchmarks/none/experiments?=", "/v1/benchmarks/*",
    "/v1/benchmarks/none'%20or%201=1--", "/v1/tables/..%2f..%2fkeys", "/v1/tables/%00",
    "/v1/tables/experiments?of=..%2f..%2fa",
    "/v1/tables/experiments?columns=none%00", "/v1/tables/experiments?" + "of=none&" * 5000, "//v1/ping", "/v1/ping%00",
    "/V1/PING", "/v1//ping", "/v1/./ping", "/v1/ping;a=b", "/v1/grade", "/submit", "/run_code", "/.env", "/.git/config",
    "/v1/ping#a?b", "/openapi.json/", "/favicon.ico", "/metrics.php",
)  # fmt: skip


@dataclass(frozen=True)
class Bad:
    """A request that must not be accepted."""

    name: str
    method: str
    path: str
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def bad_requests() -> Iterator[Bad]:
    """All of them."""
    for path, good in POSTS.items():
        yield from _bad_posts(path, good)
        yield from (
            Bad(f"{method} {path}", method, path, b"", AUTHORIZED)
            for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "post", "get")
        )
    for name, program in PROGRAMS.items():
        yield _post(f"program: {name}", "/v1/grade", {"programs": [ADDING, program]})
    for number in (0, 101, 10_001):
        yield _post(f"{number} programs", "/v1/grade", {"programs": [ADDING] * number})
    for path in PATHS:
        yield Bad(f"GET {path}", "GET", path, b"", AUTHORIZED)


def _bad_posts(path: str, good: Mapping[str, Any]) -> Iterator[Bad]:  # Any: JSON
    for body in NOT_JSON:
        yield Bad(f"{path}: {body[:12]!r} is not JSON", "POST", path, body, USUAL)
    for other in OTHER_TYPES:
        yield _post(f"{path}: another type {other!r}", path, other)
    for name, headers in HEADERS.items():
        yield Bad(f"{path}: {name}", "POST", path, json.dumps(good).encode(), USUAL | headers)
    for missing in good:
        rest = {name: value for name, value in good.items() if name != missing}
        yield _post(f"{path}: without {missing}", path, rest)
    for name, fields in FIELDS.get(path, {}).items():
        yield _post(f"{path}: {name}", path, {**good, **fields})


def _post(name: str, path: str, content: object) -> Bad:
    return Bad(name, "POST", path, json.dumps(content).encode(), USUAL)
