"""Workers of a cluster that runs already: versions at the door, their own models, and a cluster that goes away."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dask_runs import outcomes, run, started, wait_for, workers_of
from sample import only_whole

from koderz_core.config import load_settings
from koderz_core.dask_engine.door import differing_isolation, differing_versions
from koderz_core.dask_engine.messages import Hello
from koderz_core.workspace.engines import experiments_by_worker

pytest.importorskip("distributed")

OTHER = "import koderz_core\nkoderz_core.__version__ = '0.0.1'\n"
ORDER = ("benchmark", "--problems", "0:4", "--no-baselines", "--name", "there", "--quiet")


@contextmanager
def cluster(folder: Path, *preloads: str) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a scheduler, and its workers, one per preload; an empty one preloads nothing."""
    folder.mkdir()
    file = folder / "scheduler.json"
    environment = os.environ | {"KODERZ_HOME": str(folder / "home"), "DASK_TEMPORARY_DIRECTORY": str(folder)}
    python = (sys.executable, "-m", "distributed.cli.dask_scheduler")
    places = ("--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0")
    processes = [subprocess.Popen([*python, *places, "--scheduler-file", file], env=environment, cwd=folder)]
    try:
        deadline = time.monotonic() + 60
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        for number, preload in enumerate(preloads):
            script = folder / f"preload_{number}.py"
            script.write_text(preload)
            python = (sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file))
            options = ("--no-nanny", "--nthreads", "2", "--host", "127.0.0.1", "--preload", str(script))
            processes.append(subprocess.Popen([*python, *options], env=environment, cwd=folder))
        yield json.loads(file.read_text())["address"], processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_a_worker_of_another_version_is_refused_with_the_cure_and_alone_it_starts_no_experiment(tmp_path: Path) -> None:
    with cluster(tmp_path / "cluster", "", OTHER) as (address, (fitting, _)):
        order = (*ORDER, "--coder", "scripted/strong", "--engine", f"dask={address}")
        code, said = run(*order, home=tmp_path / "owner")
        fitting.kill()
        fitting.wait()
        refused, alone = run(*order, home=tmp_path / "another")
    assert code == 0, said
    assert "has koderz 0.0.1, but the process that runs the benchmark has" in said
    assert "pip install koderz==" in said
    assert sum(outcomes(tmp_path / "owner").values()) == 4
    assert refused == 3, alone
    assert "No worker can run bench_" in alone
    assert not outcomes(tmp_path / "another")


@only_whole("clusters of Dask")
def test_a_benchmark_continues_after_its_only_worker_was_killed(tmp_path: Path) -> None:
    process = started(*ORDER, "--coder", "scripted/slow", "--engine", "dask=local:1", home=tmp_path)
    wait_for("call_finished", 1, tmp_path)
    for worker in workers_of(process.pid):
        os.kill(worker, signal.SIGKILL)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert sum(outcomes(tmp_path).values()) == 4


@only_whole("clusters of Dask")
@pytest.mark.skipif(not os.environ.get("KODERZ_MODELS_DIR"), reason="KODERZ_MODELS_DIR does not name a folder")
def test_two_workers_with_an_embedded_model_each_share_a_benchmark(tmp_path: Path) -> None:
    short = "direct coder=embedded/smollm2-135m max_tokens=48"
    order = (*ORDER, "--concurrency", "4", "--configuration", short)
    process = started(*order, "--engine", "dask=local:2", home=tmp_path)
    wait_for("call_started", 4, tmp_path)
    (journal,) = (tmp_path / "journals").glob("*.jsonl")
    busy: set[str] = set()
    while process.poll() is None:  # the owner reports the experiments of its workers every second
        shares = experiments_by_worker(load_settings(home=tmp_path), journal.stem)
        busy |= {worker for worker, experiments in shares.items() if experiments}
        time.sleep(0.1)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert len(busy) == 2
    assert sum(outcomes(tmp_path).values()) == 4


@only_whole("clusters of Dask")
def test_workers_grade_like_this_process(tmp_path: Path) -> None:
    samples = tmp_path / "samples.jsonl"
    bodies = (
        "    return any(abs(a - b) < threshold for i, a in enumerate(numbers) for b in numbers[i + 1:])",
        "    return 0",
    )
    samples.write_text("".join(json.dumps({"task_id": "HumanEval/0", "completion": body}) + "\n" for body in bodies))
    rows = {}
    for engine in ("local", "dask=local:1"):
        out = tmp_path / "out.jsonl"
        code, said = run("grade", str(samples), "--out", str(out), "--engine", engine, home=tmp_path / "home")
        assert code == 4, said
        rows[engine] = [json.loads(line) | {"seconds": 0} for line in out.read_text().splitlines()]
        out.unlink()
    assert rows["local"] == rows["dask=local:1"]
    assert [row["passed"] for row in rows["local"]] == [True, False]


@pytest.mark.parametrize(
    ("hello", "cure"),
    [
        (Hello("1.2.3", "3.11.7", "w", "h"), "pip install koderz==9.9.9"),
        (Hello("9.9.9", "3.12.1", "w", "h"), "Start the worker with Python 3.11"),
        (Hello("9.9.9", "3.11.2", "w", "h"), ""),
    ],
)
def test_the_door_compares_versions(hello: Hello, cure: str) -> None:
    refusal = differing_versions(hello, "9.9.9", "3.11.7")
    assert cure in refusal
    assert bool(cure) == bool(refusal)


def test_the_door_wants_the_sandbox_tier_of_the_journal() -> None:
    assert "KODERZ_SANDBOX=strong" in differing_isolation("hardened", "strong")
    assert not differing_isolation("strong", "strong")
