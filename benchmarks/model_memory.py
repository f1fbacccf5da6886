"""What the scheduler of models and the memory watchdog do where memory is scarce.

Run: ``python benchmarks/model_memory.py order`` (the weights of two embedded models, some minutes) or ``python
benchmarks/model_memory.py watchdog`` (Linux, as root: it makes a control group; under a minute).

``order`` runs the same benchmark of two models twice, with a limit that holds only one of them: in koderz' order and in
that of the plan. It counts how often models were loaded. ``watchdog`` runs scripted experiments in a control group with
a limit while a part of its memory is taken and given back. It shows how many experiments ended at each level. Exits
with 1 if a model was loaded more than once, if an experiment was lost, if one started or ended at the level *critical*,
or if the kernel killed a process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from koderz_core import Order, Wanted, open_workspace
from koderz_core.models.free_memory import GB, read_memory, reserve_bytes
from koderz_core.models.residency import Residency

MODELS = ("embedded/smollm2-135m", "embedded/qwen2.5-coder-0.5b")
MODELS_GB = 1.5  # holds only one of them
GROUPS = Path("/sys/fs/cgroup")
LIMIT = 800 << 20
REPEATS = 8
HELD_SECONDS = 3.0
PIECE = 4 << 20
SETTLING_SECONDS = 0.5  # a pause begins before the next call or test
CRITICAL = "critical"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=("order", "watchdog", "inside"))
    parser.add_argument("--problems", default="0:6", help="of ``order``")
    parser.add_argument("--home", type=Path, help="of the process in the control group, which this script starts")
    asked = parser.parse_args()
    if asked.what == "inside":
        return _inside(asked.home)
    with tempfile.TemporaryDirectory() as folder:
        return _order(Path(folder), asked.problems) if asked.what == "order" else _watchdog(Path(folder))


def _order(folder: Path, problems: str) -> int:
    chosen = _loads(folder / "chosen", problems, "koderz' order")
    Residency.loads = _any  # type: ignore[method-assign, assignment]
    naive = _loads(folder / "naive", problems, "the order of the plan")
    return int(chosen > len(MODELS) or chosen >= naive)


def _any(_residency: Residency, models: frozenset[str]) -> int | None:  # noqa: ARG001 (as ``Residency.loads``)
    """As if every experiment could start next without a load."""
    return 0


def _loads(home: Path, problems: str, name: str) -> int:
    """How many models were loaded for the benchmark."""
    with open_workspace(home=home, model_memory_gb=MODELS_GB) as opened:
        wanted = [Wanted("direct", {"coder": model}) for model in MODELS]
        plan = opened.plans.plan(Order(wanted, problems, name=name))
        began = time.monotonic()
        result = opened.runs.run(plan, 2)
        seconds = time.monotonic() - began
        loads = opened.models.residency.load_counts()
        outcomes = Counter(row.outcome for row in opened.results.experiments(result.benchmark))
    print(f"{name}: {sum(loads.values())} loads in {seconds:.0f} s {loads}; {dict(outcomes)}", flush=True)
    return sum(loads.values())


def _watchdog(home: Path) -> int:
    with _group(LIMIT) as group:
        enter = 'echo $$ > "$1/cgroup.procs"; shift; exec "$@"'
        again = [sys.executable, __file__, "inside", "--home", str(home)]
        code = subprocess.run(["sh", "-c", enter, "sh", str(group), *again], check=False).returncode
        killed = _killed(group)
    print(f"killed by the kernel: {killed}")
    return int(bool(code) or bool(killed))


@contextmanager
def _group(limit: int) -> Iterator[Path]:
    """A control group with a limit of memory, of version 1 or 2."""
    old = (GROUPS / "memory").is_dir()
    group = (GROUPS / "memory" if old else GROUPS) / f"koderz-{os.getpid()}"
    if not old:
        (GROUPS / "cgroup.subtree_control").write_text("+memory")
    group.mkdir()
    try:
        (group / ("memory.limit_in_bytes" if old else "memory.max")).write_text(str(limit))
        yield group
    finally:
        for _ in range(50):  # until its last process is gone
            with suppress(OSError):
                group.rmdir()
                break
            time.sleep(0.1)


def _killed(group: Path) -> int:
    for name in ("memory.oom_control", "memory.events"):
        with suppress(OSError):
            rows = dict(line.split() for line in (group / name).read_text().splitlines())
            return int(rows["oom_kill"])
    return -1


def _inside(home: Path) -> int:
    with open_workspace(home=home) as opened:
        plan = opened.plans.plan(Order([Wanted("direct", {"coder": "scripted/strong"})], "all", repeats=REPEATS))
        pressure = threading.Thread(target=_press, args=(reserve_bytes(LIMIT, opened.settings),))
        pressure.start()
        opened.runs.run(plan, 2)
        pressure.join()
        (journal,) = opened.settings.journals_dir.glob("*.jsonl")
        rows = [json.loads(line) for line in journal.read_text().splitlines()]
    spans = list(_spans(rows))
    print(f"limit {LIMIT / GB:.2f} GB, {len(plan.experiments())} experiments")
    print("level      began at  free MB   for s   experiments started and ended")
    for level, at, free, seconds, seen in spans:
        shown = f"{free / 1e6:7.0f}" if free else "       "
        print(f"{level:9} {at:8.1f} s  {shown} {seconds:7.1f}   {seen['experiment_started']:5} {seen[ENDED]:5}")
    ended = sum(seen[ENDED] for *_, seen in spans)
    paused = [seen for level, *_, seen in spans if level == CRITICAL]
    lost = ended != len(plan.experiments())
    return int(lost or not paused or any(seen["experiment_started"] or seen[ENDED] for seen in paused))


ENDED = "experiment_finished"
Span = tuple[str, float, int, float, Counter[str]]


def _spans(rows: Sequence[dict[str, Any]]) -> Iterator[Span]:  # Any: JSON
    """Each level: when it began, the free memory, its seconds, and how many events of a kind it had.

    Events in the first moments of a pause belong to the level before, because calls and tests are not interrupted.
    """
    began = rows[0]["at"]
    level, at, free, seen = "enough", began, 0, Counter[str]()
    changed: list[tuple[str, float, int]] = []
    for row in rows:
        now = row["at"]
        if changed and now > changed[0][1] + (0 if changed[0][0] == "enough" else SETTLING_SECONDS):
            following = changed.pop()
            yield level, at - began, free, following[1] - at, seen
            (level, at, free), seen = following, Counter()
        if row["kind"] == "memory_level_changed":
            event = row["event"]
            changed = [(event["level"], now, event["free_bytes"])]
        seen[row["kind"]] += 1
    yield level, at - began, free, now - at, seen


def _press(reserve: int) -> None:
    """Take memory until it is low, then until it is critical, and give it back."""
    taken: list[bytearray] = []
    for share in (0.8, 0.4):  # of the reserve
        time.sleep(HELD_SECONDS)
        while (memory := read_memory()) and memory.free_bytes > share * reserve:
            taken.append(bytearray(b"\1") * PIECE)
    time.sleep(HELD_SECONDS)
    while taken and (memory := read_memory()) and memory.free_bytes < 0.9 * reserve:
        taken.pop()
    time.sleep(HELD_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
