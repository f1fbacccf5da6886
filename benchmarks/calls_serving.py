"""Starts ``calls_server.py`` and gives it right and wrong programs for problems."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from koderz_core.records import Problem


@dataclass(frozen=True, slots=True)
class Server:
    """A fresh server; its CPU is subtracted from that of the measured program."""

    port: int
    pid: int


@contextmanager
def serving(answers: Path, latency_ms: int, seen: Path | None = None) -> Iterator[Server]:
    """``seen`` gets a line per request. Raises SystemExit at the end if the server did not know a prompt."""
    command = [sys.executable, str(Path(__file__).with_name("calls_server.py")), str(answers), str(latency_ms)]
    command += [str(seen)] if seen else []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin
        assert server.stdout
        try:
            yield Server(int(server.stdout.readline()), server.pid)
        finally:
            server.stdin.close()
            counts = json.loads(server.stdout.readline())
        if counts.get("unknown"):
            raise SystemExit(f"{counts['unknown']} prompts were not known to the server.")


def write_answers(problems: Iterable[Problem], work: Path) -> Path:
    """The file with the answers of the server."""
    fenced = "Here is the function.\n\n```python\n{}\n```\n".format
    scripted = [
        {
            "prompt": problem.public.prompt,
            "right": fenced(problem.canonical_solution),
            "wrong": fenced(f"{problem.public.prompt}    return None"),
        }
        for problem in problems
    ]
    file = work / "answers.json"
    file.write_text(json.dumps(scripted))
    return file
