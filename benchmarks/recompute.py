"""Recompute the study's figures from its journals with code that shares nothing with koderz, and compare.

Run: ``python benchmarks/recompute.py [JOURNAL ...]`` (some minutes). It reads the committed journals itself
(``recompute_journals.py``), computes every figure from its definition in docs/statistics.md with numpy and scipy
(``recompute_statistics.py``), and compares it with the output of ``koderz compare --format json`` for the same files.
Tables that exist only in docs/study/results.md are compared with that file. Each kind of figure is a line: how many
agree, and the largest difference. Exits with 1 if any figure does not agree.

Numbers agree if their relative difference is at most 1e-9. Bounds and shares from koderz's 2,000 resamples are compared
with 100,000 resamples of this script: they agree unless chance gives such a difference less than once in a million
times. Not recomputed: the bands of curves, the contribution of a supervisor, and repeated programs.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from recompute_figures import FIGURES, Case
from recompute_journals import Journal, Json, read
from recompute_tables import TABLES
from recompute_tally import Tally

ROOT = Path(__file__).resolve().parents[1]
COMMITTED = [ROOT / "koderz_core/examples/example.jsonl.gz", *sorted((ROOT / "docs/study/journals").glob("*.jsonl.gz"))]
KODERZ = str(Path(sys.executable).with_name("koderz"))
TOGETHER = ("study60", "more24")  # one table of results.md has both on the problems that both were given
QUESTION = ("study60", ("repair", "retry", "supervised"), "0.5b", "direct", "1.5b")  # three against one of its own


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("journals", nargs="*", type=Path, help="journals, gzipped or not; without any, those committed")
    paths = parser.parse_args().journals or COMMITTED
    journals = [read(path) for path in paths]
    if repeated := [journal.name for journal in journals if journal.repeats > 1]:
        sys.exit(f"Of problems asked several times nothing is recomputed here yet: {', '.join(repeated)}.")
    tally = Tally()
    with tempfile.TemporaryDirectory() as home:
        placed(Path(home), paths, journals)
        for case in cases(journals, Path(home), tally):
            for figures in (*FIGURES, *(TABLES.get(case.name, ()) if paths == COMMITTED else ())):
                figures(case)
    return tally.report()


def placed(home: Path, paths: Sequence[Path], journals: Sequence[Journal]) -> None:
    """Copies the journals to where koderz expects them."""
    (home / "journals").mkdir()
    for path, journal in zip(paths, journals, strict=True):
        raw = path.read_bytes()
        raw = gzip.decompress(raw) if path.suffix == ".gz" else raw
        (home / "journals" / f"{journal.benchmark}.jsonl").write_bytes(raw)


def cases(journals: Sequence[Journal], home: Path, tally: Tally) -> Iterator[Case]:
    """Each benchmark alone, and the two further comparisons of results.md."""
    for alone in journals:
        yield Case(alone.name, told(home, alone.benchmark), [alone], tally)
    named = {journal.name: journal for journal in journals}
    if set(TOGETHER) <= named.keys():
        both = [named[name] for name in TOGETHER]
        words = [journal.benchmark for journal in both]
        yield Case(" and ".join(TOGETHER), told(home, *words, "--same-problems"), both, tally)
    if QUESTION[0] in named:
        study = named[QUESTION[0]]
        asked, baseline = question(told(home, study.benchmark))
        yield Case("the question", told(home, *asked, "--baseline", baseline), [study], tally)


def question(whole: Json) -> tuple[list[str], str]:
    """The words for the configurations of the study's question, the baseline first, and for the question."""
    _, names, small, once, large = QUESTION
    found: dict[str, str] = {}
    for row in whole["configurations"]:
        strategy, coder = row["label"].split()[:2]
        if (strategy in names and coder.endswith(small)) or (strategy == once and coder.endswith(large)):
            found[strategy] = f"{row['benchmark']}/{row['configuration']}"
    return [found[once], *(found[name] for name in names)], found[once]


def told(home: Path, *words: str) -> Json:
    """The answer of koderz."""
    command = [KODERZ, "compare", *words, "--format", "json", "--attempts", "--data-dir", str(home)]
    environment = {**os.environ, "KODERZ_HOME": str(home), "KODERZ_OFFLINE": "1", "KODERZ_MEMORY": "off"}
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if said.returncode:
        sys.exit(f"{' '.join(command)} failed: {said.stderr}")
    found: Json = json.loads(said.stdout)
    return found


if __name__ == "__main__":
    sys.exit(main())
