"""The cost of 1,000, 10,000 and 100,000 experiments, and what it says about 1,000,000.

Run: ``python benchmarks/scale.py --work FOLDER`` (Linux; ``--sizes 1000 10000``). The run of 100,000 takes about
half an hour on two idle cores, most of it for the experiments. Every stage of every size is measured once and kept in
``FOLDER/scale.json``: the same command continues where it was interrupted. The experiments are those of
``benchmarks/many.py``: scripted models, but the real runner, sandbox, journal, index and pages. A yardstick is measured
beside each figure: the sandbox alone, the journal compressed by zlib, DuckDB reading the same lines as JSON, a copy of
the journal, and a page with only a title. docs/scale.md explains the table.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
from process_tree import machine
from scale_shards import merge_figures

from koderz_core.events import BenchmarkOpened
from koderz_core.journal import read

SIZES = (1_000, 10_000, 100_000)
TARGET = 1_000_000
HERE = Path(__file__).parent
CHUNK_BYTES = 8 << 20
Figures = dict[str, Any]  # Any: JSON
ROWS: tuple[tuple[str, str, float, str], ...] = (  # label, figure, divisor, unit
    ("run", "run.seconds", 1, "s"),
    ("processor time per experiment, in ms", "run.cpu_ms", 1, ""),
    ("run: peak memory", "run.megabytes", 1, "MB"),
    ("programs per second, relative to the sandbox alone", "run.of_sandbox", 1, ""),
    ("enumerating the plan", "plan.seconds", 1, "s"),
    ("size of the journal", "journal.bytes", 1e6, "MB"),
    ("yardstick: journal compressed with zlib", "journal.zlib_bytes", 1e6, "MB"),
    ("index from scratch", "index.seconds", 1, "s"),
    ("index from scratch: processor time", "index.cpu_seconds", 1, "s"),
    ("index from scratch: peak memory", "index.megabytes", 1, "MB"),
    ("yardstick: DuckDB reads the lines of the journal", "index.duckdb_seconds", 1, "s"),
    ("merge of 16 shards", "merge.seconds", 1, "s"),
    ("merge of 16 shards: processor time", "merge.cpu_seconds", 1, "s"),
    ("merge of 16 shards: peak memory", "merge.megabytes", 1, "MB"),
    ("yardstick: copying the journal", "merge.copy_seconds", 1, "s"),
    ("size of the index", "index.bytes", 1e6, "MB"),
    ("yardstick: size of a DuckDB table of the lines of the journal", "index.duckdb_bytes", 1e6, "MB"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("build") / "scale", help="where folders and figures are kept")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--at-once", type=int, default=4)
    asked = parser.parse_args()
    work = asked.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    os.environ["KODERZ_MEMORY"] = "off"
    print(machine())
    kept = work / "scale.json"
    figures: dict[str, Figures] = json.loads(kept.read_text()) if kept.exists() else {}
    for size in sorted(asked.sizes):
        home = work / f"many-{size}"
        stages: Mapping[str, Callable[[], Figures]] = {
            "run": partial(_run, work, size, asked.at_once),
            "plan": partial(_plan, home),
            "journal": partial(_compressed, home),
            "index": partial(_index, work, size, home),
            "merge": partial(_merge, work, home),
            "pages": partial(_pages, home),
        }
        of_size = figures.setdefault(str(size), {})
        for name, measure in stages.items():
            if name not in of_size:
                print(f"{size}: {name} ...", flush=True)
                of_size[name] = measure()
                kept.write_text(json.dumps(figures, indent=1))
    _show({int(size): each for size, each in figures.items() if int(size) in asked.sizes})


def _run(work: Path, size: int, at_once: int) -> Figures:
    """The experiments and the index, by ``many.py``. A run that was interrupted covers only the rest."""
    out = work / f"many-{size}.json"
    command = [sys.executable, HERE / "many.py", "--experiments", size, "--at-once", at_once, "--work", work]
    subprocess.run([*map(str, command), "--json", str(out)], check=True)
    many = json.loads(out.read_text())
    ran = many["ran"]
    seconds = many["planned"] / ran["experiments_per_second"] if ran["ended"] else 0.0
    of_sandbox = ran["programs_per_second"] / many["bare_programs_per_second"]
    return {**ran, "experiments": many["planned"], "seconds": seconds, "of_sandbox": of_sandbox}


def _index(work: Path, size: int, home: Path) -> Figures:
    """The index as ``many.py`` measured it, and DuckDB reading the same lines without any meaning."""
    readers = json.loads((work / f"many-{size}.json").read_text())["readers"]
    with tempfile.TemporaryDirectory(dir=work) as folder:
        file = Path(folder) / "lines.duckdb"
        began = time.monotonic()
        with duckdb.connect(file) as con:
            types = "{'at': 'DOUBLE', kind: 'VARCHAR', experiment: 'VARCHAR', ordinal: 'BIGINT', event: 'JSON'}"
            sql = (
                f"create table lines as select * from read_ndjson(?, columns = {types}, maximum_object_size = 1 << 30)"
            )
            con.execute(sql, [str(_journal(home))])
        seconds = time.monotonic() - began
        kept = {"duckdb_seconds": seconds, "duckdb_bytes": file.stat().st_size}
    figures = {name.removeprefix("ingest_"): value for name, value in readers.items() if name.startswith("ingest_")}
    return {**figures, "bytes": readers["index_bytes"], **kept}


def _journal(home: Path) -> Path:
    (journal,) = (home / "journals").glob("*.jsonl")
    return journal


def _merge(work: Path, home: Path) -> Figures:
    """A merge, and its yardstick: a copy of the same bytes that is on the disk at the end."""
    journal = _journal(home)
    figures = merge_figures(journal, work)
    with tempfile.TemporaryDirectory(dir=work) as folder, (Path(folder) / "copy").open("wb") as copy:
        began = time.monotonic()
        with journal.open("rb") as file:
            shutil.copyfileobj(file, copy)
        os.fsync(copy.fileno())
        return {**figures, "copy_seconds": time.monotonic() - began}


def _plan(home: Path) -> Figures:
    """The seconds to compute every experiment of the plan, which each start and each ingest of the header does."""
    header = read(_journal(home), max_bytes=1).entries[0].event
    assert isinstance(header, BenchmarkOpened)
    began = time.monotonic()
    number = len(header.plan.experiments())
    return {"seconds": time.monotonic() - began, "experiments": number}


def _compressed(home: Path) -> Figures:
    journal, compressor, size = _journal(home), zlib.compressobj(6), 0
    with journal.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            size += len(compressor.compress(chunk))
    return {"bytes": journal.stat().st_size, "zlib_bytes": size + len(compressor.flush())}


def _pages(home: Path) -> Figures:
    command = [sys.executable, str(HERE / "scale_pages.py"), str(home)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    pages: Figures = json.loads(done.stdout.splitlines()[-1])
    return pages


def _show(figures: Mapping[int, Figures]) -> None:
    """The table, with what a straight line through the two largest sizes gives for the target."""
    sizes = sorted(figures)
    experiments = [figures[size]["run"]["experiments"] for size in sizes]
    print("\n| | " + " | ".join(f"{number:,}" for number in experiments) + f" | {TARGET:,} (extrapolated) |")
    print("|---|" + "---|" * (len(sizes) + 1))
    rows = [(label, [_of(figures[size], name) / by for size in sizes], unit) for label, name, by, unit in ROWS]
    pages = figures[sizes[-1]]["pages"]["pages"]
    for page in pages:
        for what, unit in (("opened", "ms"), ("background", "s"), ("redrawn", "ms")):
            values = [figures[size]["pages"]["pages"][page][what] for size in sizes]
            rows.append((f"{page}: {what}", values, unit))
    rows.append(("pages: peak memory", [figures[size]["pages"]["megabytes"] for size in sizes], "MB"))
    for label, values, unit in rows:
        line = _line(experiments, values) if unit else None
        cells = [f"{value:,.2f} {unit}".strip() for value in values]
        print(f"| {label} | {' | '.join(cells)} | {'' if line is None else f'{line:,.0f} {unit}'} |")


def _of(figures: Figures, name: str) -> float:
    stage, _, figure = name.partition(".")
    return float(figures[stage][figure])


def _line(sizes: list[int], values: list[float]) -> float | None:
    """The value of the target on the line through the last two points; None with one point."""
    if len(sizes) < 2:
        return None
    slope = (values[-1] - values[-2]) / (sizes[-1] - sizes[-2])
    return max(values[-1], values[-1] + slope * (TARGET - sizes[-1]))


if __name__ == "__main__":
    main()
