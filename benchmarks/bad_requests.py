"""What `koderz serve` answers to requests that no client should send: each must get a 4xx status and no traceback.

Run: ``python benchmarks/bad_requests.py`` (about a minute). The requests are all those of ``tests/serve``, a body that
never ends and one that is too large; the server has a process of its own. Exits with 1 if a request gets another status
or none, or if the server writes a traceback or does not grade afterwards.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests" / "serve"))

from bad_bytes import END, POST, bad_bytes
from bad_fields import AUTHORIZED, TOKEN, bad_requests
from served import ADDING, Served

START = "from koderz_core.cli import main; main()"
LIMITS = ("--queue", "200", "--client-queue", "100")  # as in the tests
CHUNK = b"100000\r\n" + b" " * (1 << 20) + b"\r\n"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", START, "serve", "--port", "0", "--data-dir", folder, *LIMITS]
        server = subprocess.Popen(
            command,
            env=os.environ | {"KODERZ_SERVE_TOKEN": TOKEN},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert server.stdout
        try:
            served = Served(int(server.stdout.readline().split()[4].rpartition(":")[2]))
            found = dict(_statuses(served))
            graded = served.post("/v1/grade", {"programs": [ADDING]}, **AUTHORIZED).status
        finally:
            server.terminate()
            log = server.communicate()[1]
    wrong = {name: status for name, status in found.items() if not 400 <= status < 500}
    for name, status in wrong.items():
        print(f"{name}: {status}")
    counts = ", ".join(f"{number} x {status}" for status, number in sorted(Counter(found.values()).items()))
    print(
        f"{len(found)} kinds of bad requests: {counts}; {log.count('Traceback')} tracebacks; then a good one: {graded}"
    )
    return int(bool(wrong) or "Traceback" in log or graded != 200)


def _statuses(served: Served) -> Iterator[tuple[str, int]]:
    """The name of each bad request, and the status of its answer; 0 if there is none."""
    for bad in bad_requests():
        yield bad.name, served.send(bad.method, bad.path, bad.body, bad.headers).status
    for name, sent in bad_bytes():
        yield f"bytes: {name}", served.status_of(sent)
    head = f"{POST}\r\nTransfer-Encoding: chunked{END}".encode()
    yield "bytes: chunks that are too large together", served.status_of(head + CHUNK * 33)
    yield "bytes: a body that never ends", served.status_of(f"{POST}\r\nContent-Length: 100{END}{{".encode())


if __name__ == "__main__":
    sys.exit(main())
