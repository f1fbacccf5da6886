"""Time to import and compare the public results of many models, and the p values beside those of another program.

Run: ``python benchmarks/imports.py FOLDER`` with the ``dev`` extra. FOLDER has ``eval-arena-humaneval+.jsonl.gz`` and
``eval-arena-mbpp+.jsonl.gz``, the files ``data/humaneval+.jsonl`` and ``data/mbpp+.jsonl`` of crux-eval/eval-arena,
packed with gzip, and the two datasets as EvalPlus released them. For each file it prints the seconds of
``koderz import`` and ``koderz compare``, next to those of a script that reads the same file and computes the exact
McNemar test of all models against the first with pandas and scipy. Then it compares the p values of 100 random pairs.
The exit code is 1 if an import and a comparison together take more than 10 seconds, or if a p value differs.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
from process_tree import machine
from scipy.stats import binomtest

from koderz_core import open_workspace
from koderz_core.report.export_request import ExportOrder

FILES = ("eval-arena-humaneval+.jsonl.gz", "eval-arena-mbpp+.jsonl.gz")
MOST_SECONDS = 10.0
PAIRS, SEED = 100, 17
YARDSTICK = """
import sys, pandas as pd
from scipy.stats import binomtest
marks = pd.read_json(sys.argv[1], lines=True).pivot(index="example_id", columns="model", values="pass1") > 0.5
first = marks.columns[0]
for model in marks.columns[1:]:
    only, other = (marks[model] & ~marks[first]).sum(), (marks[first] & ~marks[model]).sum()
    binomtest(int(only), int(only + other)) if only + other else 1.0
"""


def seconds(*command: str) -> tuple[float, str]:
    """The time of a command, and its output."""
    start = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return time.perf_counter() - start, done.stdout


def expected(marks: pd.DataFrame, a: str, b: str) -> float:
    """The two-sided p of the exact McNemar test, computed without koderz."""
    only_a, only_b = int((marks[a] & ~marks[b]).sum()), int((marks[b] & ~marks[a]).sum())
    return float(binomtest(only_a, only_a + only_b).pvalue) if only_a + only_b else 1.0


def differing_pairs(file: Path, home: Path, benchmark: str) -> int:
    """How many of some random pairs of models have another p value in koderz."""
    marks = pd.read_json(file, lines=True).pivot(index="example_id", columns="model", values="pass1") > 0.5
    draw, wrong = random.Random(SEED), 0
    with open_workspace(home=home) as workspace:
        row = workspace.results.summaries([benchmark])
        names = {each.models["coder"][0]: f"{benchmark}/{each.configuration}" for each in row}
        for _ in range(PAIRS):
            a, b = draw.sample(sorted(names), 2)
            with workspace.exports.file(ExportOrder("pairs", "json", (names[a], names[b]))) as made:
                (found,) = map(json.loads, made)
            wrong += abs(found["p"] - expected(marks, a, b)) > 1e-9
    return wrong


def main(folder: Path) -> int:
    print(
        f"{machine()}\n\nfile | models | problems | import s | compare s | limit s | pandas and scipy s | p that differ"
    )
    sound = True
    os.environ["KODERZ_DATASETS_DIR"] = str(folder)
    for name in FILES:
        file = folder / name
        with tempfile.TemporaryDirectory() as home:
            yardstick, _ = seconds(sys.executable, "-c", YARDSTICK, str(file))
            imported, said = seconds("koderz", "import", str(file), "--data-dir", home)
            benchmark = said.rpartition("compare ")[2].split()[0]
            compared, _ = seconds("koderz", "compare", benchmark, "--data-dir", home)
            wrong = differing_pairs(file, Path(home), benchmark)
        lines = pd.read_json(file, lines=True)
        size = f"{lines['model'].nunique()} | {lines['example_id'].nunique()}"
        print(
            f"{name} | {size} | {imported:.2f} | {compared:.2f} | {MOST_SECONDS:g} | {yardstick:.2f} | {wrong}/{PAIRS}"
        )
        sound &= imported + compared <= MOST_SECONDS and not wrong
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
