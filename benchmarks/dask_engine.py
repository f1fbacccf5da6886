"""The Dask engine beside threads: calls and graded experiments per second on the same scripted server, in turn.

Run: ``python benchmarks/dask_engine.py`` (Linux, with ``pip install 'koderz[dask]'``). Each run is a benchmark on
HumanEval with a server that takes 300 ms, 64 calls at once, in a process of its own: ``--engine local``, then a
LocalCluster of 4 workers. ``calls``: programs are not judged, so the ideal is known: whole waves of 64 calls.
``graded``: programs are judged in the sandbox. Seconds count from the first call to the end of the last experiment, by
the journal, so the start of the cluster is not part of them. Exits with 1 if the Dask engine misses a target:
90 % of the ideal, and as many graded experiments per second as threads.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from calls_serving import serving, write_answers
from process_tree import Meter, machine

from koderz_core.config import load_settings
from koderz_core.datasets import load

HERE = Path(__file__).parent
AT_ONCE, LATENCY_MS, PROBLEMS = 64, 300, 164
SHARE_LEAST = 0.9


def main() -> None:
    asked = _arguments()
    engines = ("local", f"dask=local:{asked.workers}")
    rates: dict[tuple[str, str], list[float]] = defaultdict(list)
    print(f"{machine()}; {asked.repeats} x {PROBLEMS} experiments, {LATENCY_MS} ms, {AT_ONCE} at once\n")
    print(f"{'kind':10}{'engine':16}{'per second':>12}{'of ideal':>10}{'CPU ms':>8}{'others':>8}")
    with tempfile.TemporaryDirectory() as folder:
        answers = write_answers(load("humaneval", load_settings()).problems, Path(folder))
        for round_ in range(asked.rounds):
            for kind in asked.kinds:
                for engine in engines if round_ % 2 == 0 else reversed(engines):
                    rates[kind, engine].append(_run(engine, kind, asked.repeats, answers, Path(folder)))
    medians = {key: statistics.median(found) for key, found in rates.items()}
    print("\nMedians per second:", {" ".join(key): round(rate, 1) for key, rate in medians.items()})
    sys.exit(sum(_missed(kind, medians, *engines) for kind in asked.kinds) > 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=20, help="repeats of the 164 problems")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--kinds", nargs="+", choices=("calls", "graded"), default=["calls", "graded"])
    return parser.parse_args()


def _run(engine: str, kind: str, repeats: int, answers: Path, work: Path) -> float:
    """Experiments per second; prints its line."""
    with serving(answers, LATENCY_MS) as server, tempfile.TemporaryDirectory(dir=work) as home:
        script = [sys.executable, str(HERE / "dask_engine_runs.py"), engine, str(server.port), str(repeats)]
        path = os.pathsep.join([str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH", "")])
        environment = os.environ | {"PYTHONPATH": path, "KODERZ_MEMORY": "off"}
        meter = Meter()
        done = subprocess.run(
            [*script, str(AT_ONCE), kind, home], env=environment, capture_output=True, text=True, check=False
        )
        spent = meter.spent()
    if done.returncode:
        raise SystemExit(f"{engine} ended with {done.returncode}: {done.stderr[-3000:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    rate, ideal = found["n"] / found["seconds"], found["n"] / (math.ceil(found["n"] / AT_ONCE) * LATENCY_MS / 1000)
    cpu = 1000 * spent.cpu_seconds / found["n"]
    print(f"{kind:10}{engine:16}{rate:12.1f}{rate / ideal:10.2f}{cpu:8.1f}{spent.others:8.0%}", flush=True)
    return rate


def _missed(kind: str, medians: dict[tuple[str, str], float], local: str, dask: str) -> bool:
    rate = medians[kind, dask]
    wanted = SHARE_LEAST * AT_ONCE / (LATENCY_MS / 1000) if kind == "calls" else medians[kind, local]
    if missed := rate < wanted:
        print(f"{kind}: the Dask engine reaches {rate:.1f} per second, {wanted:.1f} are wanted")
    return missed


if __name__ == "__main__":
    main()
