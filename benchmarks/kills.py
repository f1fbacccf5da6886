"""What kill -9 costs: a benchmark is killed at random moments, started again each time, and compared with a calm one.

Run: ``python benchmarks/kills.py`` (Linux) with ``--coder embedded/smollm2-135m`` for a real model. A benchmark that
ends before all kills are spent is followed by one with another seed. In the end no answered call may have been asked
again, the index must equal one made anew, no child process may have outlived its parent and, where the model follows a
script, every experiment must have ended as in a benchmark that nobody killed.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from koderz_core import Workspace, open_workspace
from koderz_core.events import CallFinished, CallStarted
from koderz_core.journal import read_all

KODERZ = str(Path(sys.executable).with_name("koderz"))
ADOPT_ORPHANS = 36  # prctl(2), PR_SET_CHILD_SUBREAPER
GRACE_SECONDS = 5.0  # how long a child may take to see that its parent is gone
SOONEST_SECONDS = 0.2
FAILED = (1, 2, 3)


@dataclass(slots=True)
class Toll:
    """What the kills have cost so far."""

    kills: int = 0
    benchmarks: int = 0
    calls: int = 0
    lingered_seconds: float = 0.0
    faults: list[str] = field(default_factory=list)


def main() -> None:
    asked = _arguments()
    ctypes.CDLL(None, use_errno=True).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)
    random, toll = Random(asked.seed), Toll()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = str(Path(folder, "tmp"))
        Path(folder, "tmp").mkdir()
        while toll.kills < asked.kills:
            toll.benchmarks += 1
            order = _order(asked, seed=toll.benchmarks)
            home = Path(folder, f"killed-{toll.benchmarks}")
            _suffer([*order, "--data-dir", str(home)], home, asked, random, toll)
            with open_workspace(home=home) as killed:
                toll.faults += _check(killed, home, toll)
                if asked.coder.startswith("scripted/"):
                    toll.faults += _compare(
                        killed, [*order, "--data-dir", str(Path(folder, "calm"))], Path(folder, "calm")
                    )
        left = len(list(Path(folder, "tmp").iterdir()))
    print(*toll.faults, sep="\n", end="\n" if toll.faults else "")
    print(
        f"{asked.coder}: {toll.kills} kills over {toll.benchmarks} benchmarks with {toll.calls} calls; "
        f"{len(toll.faults)} faults; children gone after {toll.lingered_seconds:.2f} s at most; "
        f"{left} temporary folders left"
    )
    sys.exit(bool(toll.faults))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--coder", default="scripted/slow")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--latest", type=float, default=3.0, help="seconds after which it is killed at the latest")
    parser.add_argument("--problems", default="0:10")
    parser.add_argument("--max-iterations", default="5")
    return parser.parse_args()


def _order(asked: argparse.Namespace, seed: int) -> list[str]:
    what = ("--problems", asked.problems, "--strategy", "direct,supervised", "--coder", asked.coder)
    how = ("--max-iterations", asked.max_iterations, "--checkpoint-interval", "2", "--seed", str(seed))
    return [KODERZ, "benchmark", *what, *how]


def _suffer(command: Sequence[str], home: Path, asked: argparse.Namespace, random: Random, toll: Toll) -> None:
    """Kill and start again until it ends by itself."""
    while True:
        moment = random.uniform(SOONEST_SECONDS, asked.latest) if toll.kills < asked.kills else None
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            try:
                said = process.communicate(timeout=moment)[1]
            except subprocess.TimeoutExpired:
                process.kill()
                said = process.communicate()[1]
        toll.faults += [line for line in said.splitlines() if line.startswith(("Error", "Traceback", "This is a bug"))]
        toll.faults += _orphans(toll)
        if process.returncode >= 0:
            toll.faults += [f"it ended with {process.returncode}"] if process.returncode in FAILED else []
            return
        toll.kills += 1
        with open_workspace(home=home) as watching:  # somebody looks on, so that the index grows in steps
            watching.results.benchmarks()


def _orphans(toll: Toll) -> Iterator[str]:
    """The children that outlive the process that was killed; whoever is orphaned becomes ours."""
    began = time.monotonic()
    while (left := _children()) and time.monotonic() - began < GRACE_SECONDS:
        time.sleep(0.01)
    toll.lingered_seconds = max(toll.lingered_seconds, time.monotonic() - began)
    for pid in left:
        yield f"process {pid} outlived its parent: {Path(f'/proc/{pid}/cmdline').read_text().replace(chr(0), ' ')}"
        os.kill(pid, 9)


def _children() -> list[int]:
    """Our children that live; the dead among them are buried."""
    living = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(parent) == os.getpid():
            pid = int(stat.parent.name)
            os.waitpid(pid, os.WNOHANG) if state == "Z" else living.append(pid)
    return living


def _check(killed: Workspace, home: Path, toll: Toll) -> Iterator[str]:
    (journal,) = (home / "journals").glob("*.jsonl")
    answers, again = Counter[tuple[str | None, int | None]](), 0
    for entry in read_all(journal):
        step = (entry.experiment, entry.ordinal)
        again += isinstance(entry.event, CallStarted) and answers[step] > 0
        answers[step] += isinstance(entry.event, CallFinished)
    calls = {step: times for step, times in answers.items() if times}
    toll.calls += len(calls)
    if again or any(times > 1 for times in calls.values()):
        yield f"{journal.stem}: {again} calls were asked again although they had been answered"
    (row,) = killed.results.benchmarks()
    if (row.state, row.solved + row.unsolved) != ("finished", row.planned):
        yield f"{row.id} is {row.state} with {row.solved + row.unsolved} of {row.planned} results"
    grown = killed.results.store.dump()
    killed.results.reindex()
    if killed.results.store.dump() != grown:
        yield f"{row.id}: the index is not what the journal says"


def _compare(killed: Workspace, command: Sequence[str], home: Path) -> Iterator[str]:
    """What differs from the same benchmark left in peace."""
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    (row,) = killed.results.benchmarks()
    with open_workspace(home=home) as calm:
        expected, got = _results(calm, row.id), _results(killed, row.id)
    if expected != got:
        unlike = [experiment for experiment in expected if expected[experiment] != got.get(experiment)]
        yield f"{row.id}: {len(unlike)} of {len(expected)} experiments ended otherwise, the first is {unlike[0]}"


def _results(workspace: Workspace, benchmark: str) -> dict[str, tuple[object, ...]]:
    """How each experiment ended, without what depends on the clock."""
    return {
        row.id: (
            row.outcome,
            row.code,
            row.failure,
            row.iterations,
            row.calls,
            row.input_tokens,
            row.output_tokens,
            row.gate_tests_passed,
            row.held_out_tests_passed,
        )
        for row in workspace.results.experiments(benchmark)
    }


if __name__ == "__main__":
    main()
