"""Whether the log of outbound connections equals an audit of the sockets: one benchmark under ``strace``.

Run: ``python benchmarks/egress.py`` (needs Linux and ``strace``). It serves three model servers (OpenAI's, Anthropic's
and Ollama's protocol), a webhook and a site to search on loopback. It runs a benchmark against them in a process of its
own under ``strace -f``, and prints the TCP connections and bytes that the system saw next to those in the log. Programs
under test have no network; the attempts of the sandbox's self-test are listed separately.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

KODERZ = (sys.executable, "-c", "from koderz_core.cli import main; main()")
PROGRAM = "```python\ndef solve(*arguments):\n    return arguments\n```"
ANSWERS: dict[str, object] = {
    "/v1/models": {"data": [{"id": "served"}]},
    "/api/tags": {"models": [{"name": "served"}]},
    "/v1/chat/completions": {
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": PROGRAM}}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10},
    },
    "/v1/messages": {
        "type": "message",
        "role": "assistant",
        "model": "served",
        "content": [{"type": "text", "text": PROGRAM}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 5, "output_tokens": 5},
    },
    "/search/advanced": {"items": []},
    "/api/chat": {
        "model": "served",
        "message": {"role": "assistant", "content": PROGRAM},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 5,
        "eval_count": 5,
    },
}
_CONNECT = re.compile(
    r"^\d+ +connect\(\d+<TCP(?:v6)?:.*?_port=htons\((?P<port>\d+)\).*?"
    r'(?:inet_addr\(|inet_pton\(AF_INET6, )"(?P<host>[^"]+)"'
)
_MOVED = re.compile(r"^\d+ +(?P<call>sendto|recvfrom)\(\d+<TCP(?:v6)?:\[[^]]*->(?P<address>[^]>]+)\]>")
_RESULT = re.compile(r"\) += (\d+)$")
_BORN = re.compile(r"^\d+ +(?:<\.\.\. )?(?:clone3?|v?fork)\b.*= (?P<child>\d+)")
_BOX = re.compile(r"^\d+ +execve\(.*(?:/bwrap\"|/koderz_core/sandbox/inside/)")


@dataclass(slots=True)
class Traffic:
    """TCP connections that were opened, and bytes."""

    connections: int = 0
    sent: int = 0
    received: int = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--problems", default="0:4")
    parser.add_argument("--keep", type=Path, help="folder for the trace and the log")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        home = given.keep or Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        ports = [stack.enter_context(_serving()) for _ in range(5)]
        trace = home / "strace.txt"
        _run(home, trace, ports, given.problems)
        seen, boxed = _audit(trace)
        logged = _log(home)
    print(f"\n{'':24} {'connections':>20} {'bytes sent':>20} {'bytes received':>20}")
    print(f"{'address':24}" + f" {'strace':>10} {'log':>9}" * 3)
    for address in sorted(seen.keys() | logged.keys()):
        one, other = seen.get(address, Traffic()), logged.get(address, Traffic())
        pairs = zip(astuple(one), astuple(other), strict=True)
        print(f"{address:24}" + "".join(f" {a:10} {b:9}" for a, b in pairs) + ("" if one == other else "  differs"))
    inside = sum(traffic.connections for traffic in boxed.values())
    print(f"Inside the sandbox, {inside} more attempts to connect: {', '.join(boxed) or 'none'}.")
    print("The log equals the audit." if seen == logged else "The log differs from the audit.")
    sys.exit(seen != logged)


@contextmanager
def _serving() -> Iterator[int]:
    """A server that answers in all three protocols; its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self._answer()

        def _answer(self) -> None:
            body = json.dumps(ANSWERS.get(self.path.partition("?")[0], "ok")).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()


def _run(home: Path, trace: Path, ports: list[int], problems: str) -> None:
    strace = shutil.which("strace")
    if strace is None:
        sys.exit("strace is not installed.")
    openai, anthropic, ollama, webhook, search = (f"http://127.0.0.1:{port}" for port in ports)
    environment = {
        **os.environ,
        "KODERZ_HOME": str(home),
        "KODERZ_MEMORY": "off",
        "OPENAI_BASE_URL": f"{openai}/v1",
        "OPENAI_API_KEY": "sk-audit",
        "ANTHROPIC_BASE_URL": anthropic,
        "ANTHROPIC_API_KEY": "sk-audit",
        "OLLAMA_BASE_URL": ollama,
        "SLACK_WEBHOOK_URL": f"{webhook}/hook",
        "KODERZ_STACKEXCHANGE_BASE_URL": search,
        "KODERZ_TIERS": '{"openai": "frontier", "anthropic": "frontier"}',  # so that these calls are not streamed
        "KODERZ_PATIENCE": "5",
    }
    configurations = (
        "direct coder=openai/served",
        "repair coder=anthropic/served max_iterations=3",
        "best_of coder=ollama/served samples=3",
        "direct coder=anthropic/served search=stackoverflow",
    )
    options = [word for text in configurations for word in ("--configuration", text)]
    calls = "trace=connect,sendto,recvfrom,execve,clone,clone3,fork,vfork"
    command = [strace, "-f", "-yy", "-s", "256", "-e", calls, "-o", str(trace), *KODERZ, "benchmark", *options]
    subprocess.run(
        [*command, "--problems", problems, "--allow-unpriced", "--allow-search", "--quiet", "--no-baselines"],
        env=environment,
        check=True,
    )


def _audit(trace: Path) -> tuple[dict[str, Traffic], dict[str, Traffic]]:
    """The TCP traffic of koderz' own processes, and of programs in the sandbox, by address."""
    parents: dict[str, str] = {}
    boxes: set[str] = set()
    found: list[tuple[str, str, Traffic]] = []
    open_calls: dict[str, tuple[str, str]] = {}  # process -> call and address, of a call that another line completes
    for line in trace.read_text(errors="replace").splitlines():
        process = line.partition(" ")[0]
        if born := _BORN.match(line):
            parents[born["child"]] = process
        elif _BOX.match(line):
            boxes.add(process)
        elif attempt := _CONNECT.match(line):
            host = f"[{attempt['host']}]" if ":" in attempt["host"] else attempt["host"]
            found.append((process, f"{host}:{attempt['port']}", Traffic(1)))
        elif moved := _MOVED.match(line):
            open_calls[process] = (moved["call"], moved["address"])
        if process in open_calls and (result := _RESULT.search(line)):
            call, address = open_calls.pop(process)
            number = int(result[1])
            found.append((process, address, Traffic(0, *((number, 0) if call == "sendto" else (0, number)))))
    sides: tuple[dict[str, Traffic], dict[str, Traffic]] = ({}, {})
    for process, address, traffic in found:
        total = sides[_is_boxed(process, parents, boxes)].setdefault(address, Traffic())
        total.connections += traffic.connections
        total.sent += traffic.sent
        total.received += traffic.received
    return sides


def _is_boxed(process: str, parents: dict[str, str], boxes: set[str]) -> bool:
    while process not in boxes and process in parents:
        process = parents[process]
    return process in boxes


def _log(home: Path) -> dict[str, Traffic]:
    """The traffic in the log of the data folder, by the address that was connected to."""
    command = [*KODERZ, "network", "--json", "--data-dir", str(home)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    logged: dict[str, Traffic] = {}
    for row in json.loads(output):
        total = logged.setdefault(row["via"] or row["address"], Traffic())
        total.connections += row["connections"]
        total.sent += row["sent_bytes"]
        total.received += row["received_bytes"]
    return logged


if __name__ == "__main__":
    main()
