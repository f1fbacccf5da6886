"""The cost of random kills: benchmarks are killed, resumed to their end, and compared with an undisturbed one.

Run: ``python benchmarks/chaos.py`` (Linux; 100 runs; ``--filling`` as root fills the disk instead of killing). Each run
is a real ``koderz benchmark`` of 60 experiments with a scripted server, killed at a random moment; half of them are
killed again while they resume. docs/durability.md explains the counts. Exits with 1 if any count is not 0; ``--only K``
repeats run K with the same moments. ``--coder embedded/smollm2-135m`` uses a real model, whose results are not
compared.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from calls_serving import serving, write_answers
from chaos_counts import Standing, Told, different, index_drifted, lost, repeated, standing, totals
from chaos_strikes import Ended, Strike, drawn, make_room, orphans, small_disk, started
from process_tree import ADOPT_ORPHANS, machine

from koderz_core import open_workspace
from koderz_core.config import load_settings
from koderz_core.datasets import load
from koderz_core.journal import holder

KODERZ = str(Path(sys.executable).with_name("koderz"))
SCRIPTED = "vllm/scripted"
STRATEGIES = ("direct", "supervised max_iterations=4 checkpoint_interval=1", "best_of samples=3")
LATENCY_MS = 40
COUNTS = ("lost", "repeated", "different", "orphans", "faults")


@dataclass(slots=True)
class Run:
    """``ended``, ``answered``: results and answers in the journal at the last kill. The other fields are faults."""

    struck: list[str] = field(default_factory=list)
    ended: int = 0
    answered: int = 0
    lost: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Calm:
    """The undisturbed run: the results that every other run must reach, and the files that it leaves."""

    standing: Standing
    totals: Told
    files: frozenset[str]
    seconds: float


@dataclass(frozen=True, slots=True)
class Ground:
    """What all runs share: a folder, the server's process and its requests, how koderz is started."""

    work: Path
    server: int
    environment: dict[str, str]
    order: Sequence[str]
    compares: bool

    @property
    def temporary(self) -> Path:
        return self.work / "tmp"

    @property
    def seen(self) -> list[str]:
        return (self.work / "seen").read_text().split()


def main() -> None:
    asked = _arguments()
    ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        if asked.filling and (reason := _no_disk(Path(folder))):
            sys.exit(f"Skipped: no small disk can be mounted here: {reason}")
        (Path(folder) / "tmp").mkdir()
        answers = write_answers(load("humaneval", load_settings()).problems, Path(folder))
        with serving(answers, LATENCY_MS, Path(folder) / "seen") as server:
            environment = os.environ | {"VLLM_BASE_URL": f"http://127.0.0.1:{server.port}/v1"}
            environment |= {"TMPDIR": str(Path(folder) / "tmp"), "PYTHONFAULTHANDLER": "1"}
            ground = Ground(Path(folder), server.pid, environment, _order(asked), asked.coder == SCRIPTED)
            code = _all(ground, asked)
    sys.exit(code)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="seed of the benchmark and of the moments")
    parser.add_argument("--only", type=int, metavar="K", help="only run K")
    parser.add_argument("--filling", action="store_true", help="fill the disk of the data folder instead of killing")
    parser.add_argument("--coder", default=SCRIPTED)
    return parser.parse_args()


def _order(asked: argparse.Namespace) -> list[str]:
    # Its name makes it the same benchmark each time: else it would be another one with every port of the server.
    what = ("--name", "chaos", "--problems", "0:10", "--repeats", "2", "--seed", str(asked.seed), "--no-baselines")
    chosen = (("--configuration", f"{name} coder={asked.coder}") for name in STRATEGIES)
    return [KODERZ, "benchmark", *what, *(part for pair in chosen for part in pair)]


def _no_disk(work: Path) -> str:
    try:
        with small_disk(work / "disk"):
            return ""
    except OSError as error:
        return str(error)


def _all(ground: Ground, asked: argparse.Namespace) -> int:
    """The exit code."""
    calm = _calm(ground)
    print(f"{machine()}; {len(calm.standing.ends)} experiments with {len(calm.standing.answered)} calls to")
    print(f"{asked.coder}, in peace {calm.seconds:.1f} s; seed {asked.seed}\n")
    print(f"{'run':>5} {'struck (s)':24}{'ended':>7}{'answered':>10}", *(f"{name:>10}" for name in COUNTS), f"{'s':>7}")
    numbers = range(1, asked.runs + 1) if asked.only is None else [asked.only]
    runs = {number: _run(number, ground, calm, asked) for number in numbers}
    wrong = [number for number, run in runs.items() if any(getattr(run, name) for name in COUNTS)]
    sums = [f"{sum(len(getattr(run, name)) for run in runs.values()):10}" for name in COUNTS]
    ended, answered = (sum(getattr(run, name) for run in runs.values()) for name in ("ended", "answered"))
    strikes = f"{sum(len(run.struck) for run in runs.values())} strikes"
    print(f"{'sum':>5} {strikes:24}{ended:7}{answered:10}", *sums, f"{sum(run.seconds for run in runs.values()):7.0f}")
    for number in wrong:
        print(f"Run {number} failed; to repeat it: --seed {asked.seed} --only {number}{' --filling' * asked.filling}")
    return 1 if wrong else 0


def _calm(ground: Ground) -> Calm:
    """Raises SystemExit if it fails, or if the journal and the server disagree, because then no count is valid."""
    home, began = ground.work / "calm", time.monotonic()
    ended = started([*ground.order, "--data-dir", str(home)], ground.environment, home, None)
    seconds = time.monotonic() - began
    if ended.code:
        raise SystemExit(f"The run in peace ended with {ended.code}: {ended.said}")
    (journal,) = (home / "journals").glob("*.jsonl")
    stands = standing(journal)
    if ground.compares and stands.answered != set(ground.seen):
        raise SystemExit("The journal names other calls than the server saw, so nothing could be counted.")
    with open_workspace(home=home) as opened:
        return Calm(stands, totals(opened, journal.stem), _files(home), seconds)


def _run(number: int, ground: Ground, calm: Calm, asked: argparse.Namespace) -> Run:
    """One run; prints its line. A run that ends before it is killed is repeated, with half the time."""
    run, began, haste = Run(), time.monotonic(), 1
    while not run.struck:
        _try(run, number, ground, calm, asked, haste)
        haste *= 2
    run.seconds = time.monotonic() - began
    cells = (f"{len(getattr(run, name)):10}" for name in COUNTS)
    said = f"{number:5} {', '.join(run.struck):24}{run.ended:7}{run.answered:10}"
    print(said, *cells, f"{run.seconds:7.1f}", flush=True)
    for name in COUNTS:
        print(*(f"      {name}: {fault}\n" for fault in getattr(run, name)), sep="", end="", flush=True)
    return run


def _try(run: Run, number: int, ground: Ground, calm: Calm, asked: argparse.Namespace, haste: int) -> None:
    random, home = Random(f"{asked.seed} {number}"), ground.work / f"run-{number}-{haste}"
    with ExitStack() as stack:
        stack.enter_context(small_disk(home) if asked.filling else nullcontext())
        strikes = drawn(random, calm.seconds / haste, calm.standing.seconds / haste, filling=asked.filling)
        for strike in (*strikes, None):
            _start(run, ground, home, strike, by_name=random.random() < 0.5)
        _conclude(run, ground, calm, home)


def _start(run: Run, ground: Ground, home: Path, strike: Strike | None, *, by_name: bool) -> None:
    """Start or resume until the kill or the end; count what became of the earlier content of the journal."""
    journal = next((home / "journals").glob("*.jsonl"), None)
    before, seen = standing(journal) if journal else Standing(), len(ground.seen)
    command = [KODERZ, "resume", journal.stem] if journal and before.opened and by_name else ground.order
    ended = started([*command, "--data-dir", str(home)], ground.environment, home, strike)
    run.orphans += orphans(ground.server)
    run.faults += _faults(ended, strike)
    journal = next((home / "journals").glob("*.jsonl"), journal)
    after = standing(journal) if journal else Standing()
    run.lost += lost(before, after)
    run.repeated += repeated(before, ground.seen[seen:])
    if journal and (pid := holder(journal)) is not None:
        run.orphans.append(f"the journal's lock is held by process {pid}")
    if strike and ended.struck:
        run.struck.append(str(strike))
        run.ended, run.answered = len(after.ends), len(after.answered)
    make_room(home)


def _faults(ended: Ended, strike: Strike | None) -> Iterator[str]:
    """Messages that koderz must not print, and exit codes that it must not have."""
    full = bool(strike and ended.struck and strike.signal is None)
    for line in ended.said.splitlines():
        if line.startswith(("Traceback", "This is a bug")) or (line.startswith("Error") and not full):
            yield line
    killed = {-strike.signal, 130} if strike and ended.struck and strike.signal else set[int]()
    allowed = {0} | killed | ({3} if full else set[int]())
    if ended.code not in allowed:
        yield f"it ended with {ended.code}: {ended.said[-4000:]}"
    if ended.code == 3 and not any(word in ended.said for word in ("full", "No space left", "space left")):
        yield f"it did not say that the disk is full: {ended.said[-500:]}"


def _conclude(run: Run, ground: Ground, calm: Calm, home: Path) -> None:
    (journal,) = (home / "journals").glob("*.jsonl")
    stands = standing(journal)
    run.repeated += ["by the journal"] * stands.again
    run.orphans += [f"{name} is left" for name in sorted(_files(home) - calm.files)]
    run.orphans += [f"{path.name} is left" for path in ground.temporary.iterdir()]
    with open_workspace(home=home) as opened:
        found = totals(opened, journal.stem)
        run.different += ["the index"] if index_drifted(opened) else []
    if ground.compares:
        run.different += different(stands, calm.standing, found, calm.totals)


def _files(home: Path) -> frozenset[str]:
    """The files, without hashes in their names, and without the memory, which exists only if there is time."""
    names = (path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file())
    return frozenset(re.sub(r"[0-9a-f]{12,}", "…", name) for name in names if not name.startswith("cortex.db"))


if __name__ == "__main__":
    main()
