"""Whether the log of outbound connections equals an audit of the sockets: one benchmark under ``strace``.

Run: ``python benchmarks/egress.py`` (needs Linux and ``strace``). It serves three model servers (OpenAI's, Anthropic's
and Ollama's protocol) and a webhook on loopback, runs a benchmark against them in a process of its own under
``strace -f -e trace=connect``, and prints the TCP connections that the system saw next to those in the log. Programs
under test have no network; their attempts, and those of the sandbox's self-test, are listed separately.
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
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
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
    r"^(?P<process>\d+) connect\(\d+<TCP(?:v6)?:.*?_port=htons\((?P<port>\d+)\).*?"
    r'(?:inet_addr\(|inet_pton\(AF_INET6, )"(?P<host>[^"]+)"'
)
_BORN = re.compile(r"^(?P<parent>\d+) (?:<\.\.\. )?(?:clone3?|v?fork)\b.*= (?P<child>\d+)")
_BOX = re.compile(r"^(?P<process>\d+) execve\(.*(?:/bwrap\"|/koderz_core/sandbox/inside/)")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--problems", default="0:4")
    parser.add_argument("--keep", type=Path, help="folder for the trace and the log")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        home = given.keep or Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        ports = [stack.enter_context(_serving()) for _ in range(4)]
        trace = home / "strace.txt"
        _run(home, trace, ports, given.problems)
        seen, boxed = _audit(trace)
        logged = _log(home)
    print(f"{'address':24} {'strace':>8} {'log':>8}")
    for address in sorted(seen | logged):
        print(f"{address:24} {seen[address]:8} {logged[address]:8}{'' if seen[address] == logged[address] else '  ✗'}")
    print(f"inside the sandbox: {sum(boxed.values())} attempts to {dict(boxed)}, none of them by koderz itself")
    equal = seen == logged
    print("The log equals the audit." if equal else "The log differs from the audit.")
    sys.exit(0 if equal else 1)


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
            body = json.dumps(ANSWERS.get(self.path, "ok")).encode()
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
    openai, anthropic, ollama, webhook = (f"http://127.0.0.1:{port}" for port in ports)
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
        "KODERZ_TIERS": '{"openai": "frontier", "anthropic": "frontier"}',  # so that these calls are not streamed
        "KODERZ_PATIENCE": "5",
    }
    configurations = (
        "direct coder=openai/served",
        "repair coder=anthropic/served max_iterations=3",
        "best_of coder=ollama/served samples=3",
    )
    options = [word for text in configurations for word in ("--configuration", text)]
    calls = "trace=connect,execve,clone,clone3,fork,vfork"
    command = [strace, "-f", "-yy", "-s", "256", "-e", calls, "-o", str(trace), *KODERZ, "benchmark", *options]
    subprocess.run(
        [*command, "--problems", problems, "--allow-unpriced", "--quiet", "--no-baselines"],
        env=environment,
        check=True,
    )


def _audit(trace: Path) -> tuple[Counter[str], Counter[str]]:
    """How often koderz' processes, and programs in the sandbox, called connect for TCP, by address."""
    parents: dict[str, str] = {}
    boxes: set[str] = set()
    attempts: list[tuple[str, str]] = []
    for line in trace.read_text(errors="replace").splitlines():
        if born := _BORN.match(line):
            parents[born["child"]] = born["parent"]
        elif box := _BOX.match(line):
            boxes.add(box["process"])
        elif attempt := _CONNECT.match(line):
            host = f"[{attempt['host']}]" if ":" in attempt["host"] else attempt["host"]
            attempts.append((attempt["process"], f"{host}:{attempt['port']}"))
    sides: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for process, address in attempts:
        line_of = process
        while line_of not in boxes and line_of in parents:
            line_of = parents[line_of]
        sides[line_of in boxes][address] += 1
    return sides


def _log(home: Path) -> Counter[str]:
    """The connections in the log of the data folder, by the address that was connected to."""
    output = subprocess.run(
        [*KODERZ, "network", "--json", "--data-dir", str(home)], check=True, capture_output=True, text=True
    ).stdout
    logged: Counter[str] = Counter()
    for row in json.loads(output):
        if row["connections"]:
            logged[row["via"] or row["address"]] += row["connections"]
    return logged


if __name__ == "__main__":
    main()
