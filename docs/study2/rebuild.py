"""Every table, figure and data file of the second study, from the journals in this folder.

Run: ``python docs/study2/rebuild.py`` after ``pip install -e '.[study]'``. It verifies the journals, exports the tables
that analysis.py reads, and writes results.md, the figures and the bank of draws. With ``--arena FOLDER`` it also writes
the comparison with the models of eval-arena (tiers.py). With ``--check`` it writes nothing, and exits with 1 if
anything would change.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import sys
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path

try:
    import analysis
    import described
    import pandas as pd
    import pictures
    import registered
    import sensitivity
    import tiers
except ModuleNotFoundError as missing:
    sys.exit(f"{missing.name} is not installed. Run: pip install -e '.[study]'")

from koderz_core.report.export_request import ExportOrder
from koderz_core.workspace import Workspace, open_workspace

HERE = Path(__file__).parent
MADE = "<!-- Made by `python docs/study2/rebuild.py`; do not edit. -->"
TABLES = ("experiments", "calls", "iterations")
COLUMNS = {
    "id": "experiment",
    "benchmark": "benchmark",
    "dataset": "dataset",
    "problem": "problem",
    "label": "configuration",
    "repeat": "repeat",
    "model": "model",
    "method": "method",
    "temperature": "temperature",
    "gate": "gate_passed",
    "solved": "solved",
    "failure": "failure",
    "unclear": "unclear",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "machine_seconds": "machine_seconds",
    "program": "program",
}
"""The columns of the bank, by their names in the tables of koderz or of analysis.py."""
NOTE = (
    "Shares and their 95 % intervals are in percent, differences in percentage points. Intervals are t intervals of "
    "means over problems, except in the comparisons at equal tokens or seconds (bootstrap). Costs are means per "
    "problem; dollars are computed from 65 W and 0.15 $/kWh."
)
P_NOTE = "The p-value of the primary comparison tests a difference of 0; its verdict follows from the interval."


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if anything would change")
    parser.add_argument("--arena", type=Path, help="folder with the two files of eval-arena")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names = tables_of_journals(HERE / "journals", folder)
        changed = [
            path for path, data in files(folder, names, asked.arena) if _write(path, data, write=not asked.check)
        ]
    if asked.arena is None and (HERE / "tiers.md").exists():
        sys.stdout.write("tiers.md and tiers.svg were not compared: that needs --arena\n")
    for path in changed:
        sys.stdout.write(f"{path.name} {'would change' if asked.check else 'written'}\n")
    return int(asked.check and bool(changed))


def tables_of_journals(journals: Path, folder: Path) -> dict[str, str]:
    """Verify all journals and export their tables into a folder, as ``koderz export`` does.

    Returns the name of each benchmark by its id.
    """
    (folder / "journals").mkdir()
    found = sorted(journals.glob("*.jsonl.gz"))
    if not found:
        sys.exit(f"{journals} has no journals. design.md lists the commands that make them.")
    for packed in found:
        (folder / "journals" / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    with open_workspace(home=folder) as opened:
        _require_whole(opened)
        for table in TABLES:
            with (
                opened.exports.file(ExportOrder(table, "parquet")) as source,
                (folder / f"{table}.parquet").open("wb") as to,
            ):
                shutil.copyfileobj(source, to)
        return {row.id: row.name or row.id for row in opened.results.benchmarks()}


def _require_whole(opened: Workspace) -> None:
    for row in opened.results.benchmarks():
        if not opened.bundles.verify(row.id).holds:
            sys.exit(f"The journal of {row.id} has errors. For details, run: koderz verify {row.id}")


def files(folder: Path, names: dict[str, str], arena: Path | None) -> Iterator[tuple[Path, bytes]]:
    """Each file of results, and what it must contain. ``folder`` holds the exported tables of the benchmarks."""
    experiments = pd.read_parquet(folder / "experiments.parquet")
    if absent := registered.missing(experiments, names):
        sys.exit(f"These benchmarks are missing or incomplete: {', '.join(absent)}. design.md lists their commands.")
    frame = analysis.draws(folder)
    found = analysis.results(frame)
    shown = {
        "Registered comparisons": registered.shown(found),
        "Other readings": sensitivity.sensitivity_table(frame, experiments, folder / "journals"),
        "Costs at which the secondary comparisons are made": registered.reach_table(frame),
        "Problems that the registered analysis leaves out": registered.left_out_table(frame),
        "Primary comparison and escalation, by dataset": described.dataset_table(frame),
        "Up to k tries of each model": described.tries_table(frame),
        "Independent draws": described.draw_table(frame),
        "What the gate selects": described.selection_table(frame),
        "Prediction of pass@5 from two draws": described.extrapolation_table(frame),
        "Other configurations": described.other_table(frame),
        "Benchmarks": described.run_table(experiments, frame, names),
        "Journals": journal_table(folder / "journals", names),
    }
    yield HERE / "results.md", _page("Results", f"{NOTE} {P_NOTE}", shown)
    yield HERE / "answer.svg", pictures.answer(frame, found).encode()
    rows = bank_rows(folder, frame)
    yield HERE / "bank" / "draws.parquet", rows.to_parquet(index=False)
    lines = rows.to_json(orient="records", lines=True, force_ascii=False)
    yield HERE / "bank" / "draws.jsonl.gz", gzip.compress(lines.encode(), mtime=0)
    if arena is not None:
        table = tiers.tier_table(frame, tiers.published(arena))
        places = tiers.places(frame, table)
        tables = {"Number of models": places, "Models": table}
        yield HERE / "tiers.md", _page("Published models", f"{NOTE} {tiers.MEANING}", tables)
        yield HERE / "tiers.svg", pictures.ladder(table, places).encode()


def journal_table(journals: Path, names: dict[str, str]) -> pd.DataFrame:
    """The hash of each unpacked journal."""
    rows = [(names[path.stem], path.stem, sha256(path.read_bytes()).hexdigest()) for path in journals.glob("*.jsonl")]
    return pd.DataFrame(sorted(rows), columns=["benchmark", "id", "SHA-256 of its journal"])


def bank_rows(folder: Path, frame: pd.DataFrame) -> pd.DataFrame:
    """One line per experiment with a result: what was asked, how it ended, what it cost, and the program."""
    experiments = pd.read_parquet(folder / "experiments.parquet").loc[frame.index]
    programs = pd.read_parquet(folder / "iterations.parquet").drop_duplicates(["experiment", "code"])
    own = frame.rename(columns={"seconds": "machine_seconds"}).drop(columns=["tokens", "dataset", "problem"])
    own["unclear"] = experiments["id"].isin(sensitivity.unclear_experiments(folder / "journals"))
    own["method"] = own["method"].replace("ladder", "retry")  # how koderz labels it at temperature 0
    rows = experiments.drop(columns=[name for name in own.columns if name in experiments]).join(own)
    programs = programs[["experiment", "code", "program"]].rename(columns={"experiment": "id"})
    rows = rows.merge(programs, on=["id", "code"], how="left")[list(COLUMNS)].rename(columns=COLUMNS)
    return rows.sort_values(["dataset", "problem", "configuration", "repeat"], ignore_index=True)


def _page(title: str, note: str, tables: dict[str, pd.DataFrame]) -> bytes:
    parts = [MADE, f"# {title}", note]
    for name, table in tables.items():
        cells = [[_cell(value) for value in row] for row in table.itertuples(index=False)]
        lines = [list(map(str, table.columns)), ["---"] * len(table.columns), *cells]
        parts += [f"## {name}", "\n".join(f"| {' | '.join(line)} |" for line in lines) if cells else "None."]
    return ("\n\n".join(parts) + "\n").encode()


def _cell(value: object) -> str:
    if value is None or value != value:  # noqa: PLR0124 (not a number)
        return ""
    if isinstance(value, float):
        return f"{value:.2e}" if value and abs(value) < 0.001 else f"{value:.4g}"
    return str(value).replace("|", "\\|")


def _write(path: Path, data: bytes, *, write: bool) -> bool:
    """Whether a file differs from ``data``, which is then written. Packed files are compared by their contents."""
    if path.exists() and _same(path, data):
        return False
    if write:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    return True


def _same(path: Path, data: bytes) -> bool:
    old = path.read_bytes()
    if path.suffix == ".parquet":
        return bool(pd.read_parquet(BytesIO(old)).equals(pd.read_parquet(BytesIO(data))))
    return gzip.decompress(old) == gzip.decompress(data) if path.suffix == ".gz" else old == data


if __name__ == "__main__":
    raise SystemExit(main())
