"""Whether Prometheus reads from a running benchmark what the dashboard for Grafana shows and the journal records.

Run: ``python benchmarks/monitoring.py``. It needs ``prometheus`` and ``promtool`` (Debian's package ``prometheus``). It

* checks the configuration and the alert rules of ``deploy/prometheus``, and runs the tests of the rules,
* runs a benchmark with scripted models and with a model on loopback some of whose answers fail, have no token count or
  have no price, next to ``koderz serve``; Prometheus scrapes both every second,
* asks Prometheus each query of ``deploy/grafana/dashboards/koderz.json``: every query must return data,
* compares the sums in Prometheus after the benchmark with those of the journal.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import yaml

from koderz_core import Order, Wanted, Workspace, open_workspace

DEPLOY = Path(__file__).parents[1] / "deploy"
DASHBOARD = DEPLOY / "grafana" / "dashboards" / "koderz.json"
UNPRICED, PRICED = "openai/unpriced", "openai/priced"
PRICES = f"""
["{PRICED}".price]
input_usd_per_mtok = 2000.0
output_usd_per_mtok = 8000.0
source = "a test"
date = 2026-01-01
"""
START = "from koderz_core.cli import main; main()"
TOKEN = "a-token-for-monitoring"
VALUES: Mapping[str, str] = {"$__rate_interval": "10s", "$instance": ".*"}
"""What Grafana puts in place of its variables."""
SCRAPE_SECONDS = 1
ENDED = 60  # of 480 experiments, when the queries are asked
SEEN = (
    f"sum(koderz_experiments_total) >= {ENDED}",
    "rate(koderz_experiments_total[10s]) > 0",
    "rate(koderz_serve_jobs_total[10s]) > 0",
)
WAIT_SECONDS = 60.0
PROGRAM = {"solution": "def add(a, b):\n    return a + b\n", "tests": "assert add(1, 2) == 3"}


def main() -> None:
    _promtool("check", "config", "prometheus.yml")
    _promtool("test", "rules", "rules_test.yml")
    with tempfile.TemporaryDirectory() as name, ExitStack() as opened:
        folder = Path(name)
        (folder / "home").mkdir()
        (folder / "home" / "models.toml").write_text(PRICES)
        url = opened.enter_context(_provider())
        settings: dict[str, Any] = {"openai_api_key": "sk-monitoring", "openai_base_url": f"{url}/v1"}
        settings["tiers"] = {"openai": "small_frontier"}  # otherwise its calls cost electricity of this machine
        workspace = opened.enter_context(
            open_workspace(home=folder / "home", memory="off", metrics_address="0", retries=2, **settings)
        )
        metrics = workspace.monitoring.begin()
        assert metrics
        served = opened.enter_context(_served(folder))
        prometheus = opened.enter_context(_prometheus(folder, [metrics.split("/")[2], served.split("/")[2]]))
        plan = _plan(workspace)
        workspace.runs.start(plan, concurrency=4)
        sent = _until_scraped(prometheus, served)
        empty = _query_panels(prometheus)
        print(f"{sent} programs were graded by koderz serve meanwhile")
        while workspace.runs.is_here(plan.id):
            time.sleep(0.1)
        time.sleep(SCRAPE_SECONDS * 3)
        different = _compare(prometheus, workspace, plan.id)
    sys.exit(bool(empty or different))


def _promtool(*arguments: str) -> None:
    said = subprocess.run(
        ["promtool", *arguments], cwd=DEPLOY / "prometheus", capture_output=True, text=True, check=False
    )
    print(f"promtool {' '.join(arguments)}: {'passed' if said.returncode == 0 else said.stdout + said.stderr}")
    if said.returncode:
        sys.exit(1)


def _plan(workspace: Workspace) -> Any:  # Any: a plan, which is not part of the public interface
    scripted = [
        Wanted("supervised", {"coder": "scripted/weak", "reviewer": "scripted/strong", "spec": "scripted/strong"})
    ]
    answered = [Wanted("direct", {"coder": model}) for model in (UNPRICED, PRICED)]
    return workspace.plans.plan(Order([*scripted, *answered], "0:160", name="monitored"))


ANSWER = {"role": "assistant", "content": "```python\n1\n```"}


@contextmanager
def _provider() -> Iterator[str]:
    """A server with OpenAI's protocol. Of four requests one fails for a moment, and one answer has no token count."""
    numbers = count()

    class Provider(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            number = next(numbers)
            self.rfile.read(int(self.headers["Content-Length"]))
            time.sleep(0.2)
            answer: dict[str, Any] = {
                "id": "x",
                "object": "chat.completion",
                "created": 1,
                "model": "served",
                "choices": [{"index": 0, "finish_reason": "stop", "message": ANSWER}],
            }
            if number % 4 != 1:
                answer["usage"] = {"prompt_tokens": 30, "completion_tokens": 5, "total_tokens": 35}
            body = json.dumps(answer if number % 4 else {"error": {"message": "busy"}}).encode()
            self.send_response(200 if number % 4 else 429)
            self.send_header("Retry-After", "0")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    """``koderz serve`` with a token, which Prometheus must send too."""
    port = _free_port()
    command = [sys.executable, "-c", START, "serve", "--port", str(port), "--data-dir", str(folder / "home")]
    with _process(command, folder, {"KODERZ_SERVE_TOKEN": TOKEN}):
        url = f"http://127.0.0.1:{port}"
        _wait_for(f"{url}/v1/ping")
        yield url


@contextmanager
def _prometheus(folder: Path, targets: Sequence[str]) -> Iterator[str]:
    """Prometheus with the committed configuration, except its targets, its pace and the token."""
    configuration = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    configuration["global"] = {"scrape_interval": f"{SCRAPE_SECONDS}s", "evaluation_interval": "1s"}
    configuration["rule_files"] = [str(DEPLOY / "prometheus" / "rules.yml")]
    configuration["scrape_configs"][0]["static_configs"] = [{"targets": list(targets)}]
    configuration["scrape_configs"][0]["authorization"] = {"credentials": TOKEN}
    file, port = folder / "prometheus.yml", _free_port()
    file.write_text(yaml.safe_dump(configuration))
    flags = [
        f"--config.file={file}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with _process(["prometheus", *flags], folder, {}):
        url = f"http://127.0.0.1:{port}"
        _wait_for(f"{url}/-/ready")
        yield url


@contextmanager
def _process(command: Sequence[str], folder: Path, settings: Mapping[str, str]) -> Iterator[None]:
    with (
        (folder / "processes.log").open("a") as log,
        subprocess.Popen(command, env=os.environ | settings, stdout=log, stderr=log) as process,
    ):
        try:
            yield
        finally:
            process.terminate()
            if process.poll() not in (None, 0):
                print((folder / "processes.log").read_text()[-2000:])


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def _request(url: str, content: object = None) -> Any:  # Any: JSON
    body = None if content is None else json.dumps(content).encode()
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    with urlopen(Request(url, body, headers), timeout=30) as answer:
        text = answer.read()
    return json.loads(text) if text[:1] in (b"{", b"[", b'"') else None


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            _request(url)
            return
        except URLError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def _query(prometheus: str, expression: str) -> Sequence[Any]:  # Any: JSON
    data = _request(f"{prometheus}/api/v1/query?{urlencode({'query': expression})}")["data"]
    found: Sequence[Any] = data["result"]
    return found


def _until_scraped(prometheus: str, served: str) -> int:
    """Send programs to koderz serve until Prometheus knows rates of both processes; return their number.

    A rate needs two scrapes, and the benchmark must have ended ENDED experiments.
    """
    sent = 0
    while not all(_query(prometheus, expression) for expression in SEEN):
        _request(f"{served}/v1/grade", {"programs": [PROGRAM] * 5})
        sent += 5
        time.sleep(0.3)
    return sent


def _query_panels(prometheus: str) -> int:
    """Print the number of series of each query, and return the number of queries without data."""
    empty = 0
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", ()):
            expression = target["expr"]
            for variable, value in VALUES.items():
                expression = expression.replace(variable, value)
            series = [each for each in _query(prometheus, expression) if each["value"][1] != "NaN"]
            empty += not series
            print(f"{'EMPTY' if not series else len(series):>5} series  {panel['title']}: {expression}")
    print(f"queries without data: {empty}")
    return empty


def _compare(prometheus: str, workspace: Workspace, benchmark: str) -> int:
    """Print the sums in Prometheus beside those of the index; return the number of differences."""
    row = next(row for row in workspace.results.benchmarks() if row.id == benchmark)
    experiments = workspace.results.experiments(benchmark)
    known = sum(each.cost_usd for each in experiments if each.cost_usd is not None)
    expected: dict[str, float] = {
        'koderz_experiments_total{outcome="solved"}': row.solved,
        'koderz_experiments_total{outcome="unsolved"}': row.unsolved,
        'koderz_experiments_total{outcome="error"}': row.errors,
        'koderz_calls_total{result="answered"}': row.calls,
        "koderz_unpriced_calls_total": row.unpriced,
        f'koderz_cost_usd_total{{model!="{UNPRICED}"}}': known,
        'koderz_events_total{kind="experiment_finished"}': row.finished,
    }
    different = 0
    for expression, value in expected.items():
        found = sum(float(each["value"][1]) for each in _query(prometheus, f"sum({expression})"))
        different += abs(found - value) > 1e-9
        print(f"{expression}: Prometheus {found:g}, journal {value:g}")
    absent = not _query(prometheus, f'koderz_cost_usd_total{{model="{UNPRICED}"}}')
    print(f"the cost of {UNPRICED}, whose price is unknown, has {'no series' if absent else 'A SERIES'}")
    return different + (not absent)


if __name__ == "__main__":
    main()
