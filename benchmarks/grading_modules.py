"""How fast koderz grades modules, compared with ``python -m unittest`` in a fresh process, side by side in one run.

Run: ``python benchmarks/grading_modules.py`` (Linux), with Exercism's archive in the folder of datasets
(``KODERZ_DATASETS_DIR``). Each exercise's reference solution is graded in both ways, one directly after the other, in
alternating order, with one program at a time. koderz has graded each exercise once before, as in a benchmark, where
many programs are graded with the same tests: it has then decided where the tests run and which twins they have.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from koderz_core.config import load_settings
from koderz_core.datasets import load
from koderz_core.datasets.archives import Files, read_archive, text_of
from koderz_core.datasets.sources import placed, sources_of
from koderz_core.records import Problem
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.local_judge import Sandbox

FOLDER = "exercises/practice"


@dataclass(frozen=True, slots=True)
class Row:
    """One exercise: its number of test methods, the seconds of both ways, and whether koderz used the shared way."""

    name: str
    methods: int
    koderz: float
    unittest: float
    shared: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--problems", type=int, help="only the first N exercises")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    settings = load_settings()
    problems = load("exercism", settings).problems[: asked.problems]
    files = archive()
    sandbox = Sandbox(settings.sandbox, settings.bwrap, settings.test_timeout)
    judge = sandbox.judge()
    rows = [measured(judge, problem, files, asked.rounds, place) for place, problem in enumerate(problems)]
    sandbox.close()
    print(f"tier {judge.isolation}, {asked.rounds} rounds; seconds are medians of one exercise\n")
    for name, chosen in groups(rows).items():
        print(summary(name, chosen))
    print("\nslowest against unittest:")
    for row in sorted(rows, key=lambda row: row.unittest / row.koderz)[:8]:
        print(f"  {row.name}: koderz {row.koderz:.3f} s, unittest {row.unittest:.3f} s, {row.methods} methods")


def archive() -> Files:
    """The files of Exercism's archive."""
    settings = load_settings()
    (source,) = sources_of("exercism")
    path = placed(source, settings)
    if path is None:
        sys.exit("Place exercism-python.tar.gz into the folder of datasets (KODERZ_DATASETS_DIR).")
    return read_archive(path, source.members, "Place the archive again.")


def measured(judge: BoxedJudge, problem: Problem, files: Files, rounds: int, place: int) -> Row:
    """Both ways, one directly after the other; the first one changes from round to round."""
    verdict = judge.check(problem, problem.canonical_solution, problem.tests)
    if not verdict.passed:
        sys.exit(f"The reference solution of {problem.id} does not pass: {verdict.message}")
    seconds: dict[str, list[float]] = {"koderz": [], "unittest": []}
    with unpacked(problem, files) as test:
        ways: dict[str, Callable[[], bool]] = {
            "koderz": lambda: judge.check(problem, problem.canonical_solution, problem.tests).passed,
            "unittest": test,
        }
        for number in range(rounds):
            for name in sorted(ways, reverse=(number + place) % 2 == 1):
                began = time.perf_counter()
                if not ways[name]():
                    sys.exit(f"The reference solution of {problem.id} does not pass with {name}.")
                seconds[name].append(time.perf_counter() - began)
    middle = {name: statistics.median(taken) for name, taken in seconds.items()}
    return Row(problem.id, len(verdict.marks), middle["koderz"], middle["unittest"], verdict.shared)


@contextmanager
def unpacked(problem: Problem, files: Files) -> Iterator[Callable[[], bool]]:
    """A function that runs the published tests of an exercise in a fresh interpreter."""
    module = problem.public.file.removesuffix(".py")
    folder = f"{FOLDER}/{problem.id.partition('/')[2]}"
    with tempfile.TemporaryDirectory(prefix="unittest-") as path:
        for name in (f"{module}_test.py", "test_utils.py"):
            if f"{folder}/{name}" in files:
                (Path(path) / name).write_text(text_of(files, f"{folder}/{name}"))
        (Path(path) / problem.public.file).write_text(problem.canonical_solution)
        command = [sys.executable, "-B", "-m", "unittest", f"{module}_test"]
        yield lambda: subprocess.run(command, cwd=path, capture_output=True, check=False).returncode == 0


def groups(rows: Sequence[Row]) -> dict[str, list[Row]]:
    return {
        "all": list(rows),
        "apart": [row for row in rows if not row.shared],
        "shared": [row for row in rows if row.shared],
    }


def summary(name: str, rows: Sequence[Row]) -> str:
    """Sums over exercises, per test method, and the ratio; above 1 koderz is faster."""
    koderz, plain = sum(row.koderz for row in rows), sum(row.unittest for row in rows)
    methods = sum(row.methods for row in rows) or 1
    ratios = sorted(row.unittest / row.koderz for row in rows) or [0.0]
    faster = sum(row.koderz < row.unittest for row in rows)
    return (
        f"{name}: {len(rows)} exercises, {methods} methods; koderz {koderz:.1f} s ({1000 * koderz / methods:.1f} ms "
        f"per method), unittest {plain:.1f} s ({1000 * plain / methods:.1f} ms per method); ratio of sums "
        f"{plain / (koderz or 1):.2f}, median ratio {statistics.median(ratios):.2f}, koderz faster in {faster}"
    )


if __name__ == "__main__":
    main()
