"""Whether real receivers of OpenTelemetry traces get every span that koderz sends, also if it is sent twice.

Run: ``python benchmarks/receivers.py --mlflow PATH/mlflow --phoenix PATH/phoenix`` with the programs of the packages
``mlflow`` and ``arize-phoenix``, each in an environment of its own. It runs a small benchmark with scripted models,
starts each receiver on loopback with an empty folder, sends the traces twice, and compares the numbers of traces and
spans in the receiver's own API with those of koderz.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from koderz_core import Order, Wanted, open_workspace
from koderz_core.report.export_request import ExportOrder

WAIT_SECONDS = 180.0  # for a receiver, which creates its database first
SETTLE_SECONDS = 5.0  # for a receiver that answers before it stores
COUNTS = '{"query": "{projects{edges{node{traceCount recordCount}}}}"}'
PLACES = {"locations": [{"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": "0"}}]}
Counts = tuple[int, int]
"""Traces and spans."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mlflow", type=Path)
    parser.add_argument("--phoenix", type=Path)
    given = parser.parse_args()
    faults = 0
    with tempfile.TemporaryDirectory() as folder, open_workspace(home=Path(folder) / "home", memory="off") as opened:
        wanted = [Wanted(name, {"coder": "scripted/weak"}) for name in ("direct", "supervised", "debate")]
        opened.runs.run(opened.plans.plan(Order(wanted, "0:6")))
        for name, program, headers in (
            ("mlflow", given.mlflow, ("x-mlflow-experiment-id=0",)),
            ("phoenix", given.phoenix, ()),
        ):
            if program is None:
                continue
            with _receiver(name, program, Path(folder)) as url:
                for _ in range(2):
                    sent = opened.exports.send(ExportOrder(form="otlp"), url, headers)
                    time.sleep(SETTLE_SECONDS)
                    found = _mlflow(url) if name == "mlflow" else _phoenix(url)
                    faults += found != (sent.traces, sent.spans)
                    print(
                        f"{name}: sent {sent.traces} traces with {sent.spans} spans, found {found[0]} with {found[1]}"
                    )
    sys.exit(bool(faults))


@contextmanager
def _receiver(name: str, program: Path, folder: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    url = f"http://127.0.0.1:{port}"
    arguments = {
        "mlflow": ("server", "--host", "127.0.0.1", "--port", port, "--backend-store-uri", f"sqlite:///{folder}/m.db"),
        "phoenix": ("serve",),
    }
    settings = {"PHOENIX_HOST": "127.0.0.1", "PHOENIX_PORT": port, "PHOENIX_WORKING_DIR": str(folder)}
    settings |= {"PHOENIX_GRPC_PORT": "0", "PHOENIX_TELEMETRY_ENABLED": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
    process = subprocess.Popen(
        [program, *arguments[name]],
        env=os.environ | settings,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(url)
        yield url
    finally:
        process.terminate()
        process.wait()


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            urlopen(url).close()
            return
        except URLError:
            if time.monotonic() > deadline:
                raise
            time.sleep(1.0)


def _mlflow(url: str) -> Counts:
    traces = _asked(f"{url}/api/3.0/mlflow/traces/search", json.dumps({**PLACES, "max_results": 500}))["traces"]
    whole = [_asked(f"{url}/api/3.0/mlflow/traces/get?trace_id={trace['trace_id']}")["trace"] for trace in traces]
    return len(whole), sum(len(trace["spans"]) for trace in whole)


def _phoenix(url: str) -> Counts:
    ((project),) = _asked(f"{url}/graphql", COUNTS)["data"]["projects"]["edges"]
    return project["node"]["traceCount"], project["node"]["recordCount"]


def _asked(url: str, body: str | None = None) -> Mapping[str, Any]:  # Any: JSON
    request = Request(url, body.encode() if body else None, {"Content-Type": "application/json"})
    with urlopen(request) as answer:
        found: Mapping[str, Any] = json.load(answer)
    return found


if __name__ == "__main__":
    main()
