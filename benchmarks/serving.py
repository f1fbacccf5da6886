"""How many programs per second `koderz serve` grades for 8 clients, compared with the grader in one process.

Run: ``python benchmarks/serving.py`` (about two minutes). The grader and the server take turns in the same run on the
same programs: a correct and a wrong one of every HumanEval problem. Clients send one program, or 16, per request over
loopback, each on its own connection. Their processor time counts as well. docs/serving.md has the results.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from koderz_core import Workspace, open_workspace
from koderz_core.grading.grader import Sample
from koderz_core.records import Extracted

CLIENTS = 8
SEED = 5
SIZES = (1, 16)  # programs per request
LEAST = 0.85
RECEIVED_BYTES = 1 << 16
START = "from koderz_core.cli import main; main()"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--programs", type=int, default=328, help="programs per round")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, open_workspace(home=Path(folder, "grader")) as opened:
        samples = _samples(opened)[: asked.programs]
        with _server(Path(folder, "served")) as port:
            found = _measured(opened, port, samples, asked.rounds)
    base = statistics.median(found["grader"])
    print(f"\n{len(samples)} programs, {asked.rounds} rounds, {os.cpu_count()} cores; medians of programs/s:")
    for name, rates in found.items():
        rate = statistics.median(rates)
        print(f"{name:22} {rate:7.1f}  {rate / base:5.2f} x  (min {min(rates):.1f}, max {max(rates):.1f})")
    return int(max(statistics.median(found[_name(size)]) for size in SIZES) < LEAST * base)


def _samples(opened: Workspace) -> list[Sample]:
    problems = opened.datasets.load("humaneval").problems
    both = [
        Sample(0, problem, Extracted(code, "solution"), {"id": expected})
        for problem in problems
        for code, expected in (
            (problem.canonical_solution, "right"),
            (f"{problem.public.prompt}    return None\n", "wrong"),
        )
    ]
    return random.Random(SEED).sample(both, len(both))


@contextmanager
def _server(home: Path) -> Iterator[int]:
    """The port of a running server."""
    command = [sys.executable, "-c", START, "serve", "--port", "0", "--data-dir", str(home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout
            yield int(server.stdout.readline().split()[4].rpartition(":")[2])
        finally:
            server.terminate()


def _measured(opened: Workspace, port: int, samples: Sequence[Sample], rounds: int) -> dict[str, list[float]]:
    """Programs per second of each way, round by round. The first round, which prepares all tests, does not count."""
    with opened.grading.grader(os.cpu_count() or 1) as grader:
        ready = dict(grader.tests({sample.problem.id: sample.problem for sample in samples}.values(), "base"))

        def in_process() -> list[bool]:
            return [
                graded.verdict is not None and graded.verdict.passed is (graded.sample.row["id"] == "right")
                for graded in grader.grade(samples, ready)
            ]

        ways: dict[str, Callable[[], list[bool]]] = {"grader": in_process}
        ways |= {_name(size): partial(_served, port, _requests(samples, size)) for size in SIZES}
        found: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(rounds + 1):
            for name in sorted(ways, key=lambda name: (list(ways).index(name) + number) % len(ways)):
                began = time.perf_counter()
                right = ways[name]()
                seconds = time.perf_counter() - began
                assert len(right) == len(samples)
                if not all(right):
                    print(f"{name}: {right.count(False)} verdicts are wrong", file=sys.stderr)
                if number:
                    found[name].append(len(samples) / seconds)
        return found


def _name(size: int) -> str:
    return f"served, {size} per request"


def _served(port: int, requests: Sequence[Sequence[bytes]]) -> list[bool]:
    """Whether each verdict was right, for clients that each send their own requests."""
    with ThreadPoolExecutor(CLIENTS) as clients:
        return [right for part in clients.map(partial(_client, port), requests) for right in part]


def _requests(samples: Sequence[Sample], size: int) -> list[list[bytes]]:
    """The requests of each client, with ``size`` programs each."""
    parts = [samples[number::CLIENTS] for number in range(CLIENTS)]
    return [[_request(part[start : start + size]) for start in range(0, len(part), size)] for part in parts]


def _request(samples: Sequence[Sample]) -> bytes:
    programs = [
        {"id": sample.row["id"], "dataset": "humaneval", "problem": sample.problem.id, "solution": sample.program.code}
        for sample in samples
    ]
    body = json.dumps({"programs": programs}).encode()
    head = (
        f"POST /v1/grade HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    return head.encode() + b"\r\n\r\n" + body


def _client(port: int, requests: Sequence[bytes]) -> list[bool]:
    """Without a library for HTTP, whose time on the same cores would be as long as the server's."""
    right = list[bool]()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        for request in requests:
            connection.sendall(request)
            answer = connection.recv(RECEIVED_BYTES)
            head, _, body = answer.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split()[0])
            while len(body) < length:
                body += connection.recv(RECEIVED_BYTES)
            right += [result["passed"] is (result["id"] == "right") for result in json.loads(body)["results"]]
    return right


if __name__ == "__main__":
    sys.exit(main())
