"""For ``benchmarks/scale.py``: the time and memory of ``koderz merge``, with sixteen shards made of a whole journal.

The shards are what ``koderz benchmark --shard`` would have written: the header of the part, the lines of its
experiments, and each text that these lines name.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from many import KODERZ, took

from koderz_core.events import (
    AllowanceSet,
    BenchmarkClosed,
    BenchmarkOpened,
    Entry,
    Event,
    TextStored,
    encode,
    texts_of,
)
from koderz_core.journal import read_all
from koderz_core.journal.checking import lines

SHARDS = 16
NUMBERS = range(1, SHARDS + 1)


def merge_figures(journal: Path, work: Path) -> dict[str, float]:
    """Seconds, processor time and peak memory of a merge, and the bytes of the journals of shards and whole."""
    with TemporaryDirectory(dir=work) as folder:
        home = Path(folder)
        shards = home / "shards"
        shards.mkdir()
        # Small processes start both: Linux counts the memory of the starting process for the started one too.
        subprocess.run([sys.executable, __file__, "divide", str(journal), str(shards)], check=True)
        used = _measured([KODERZ, "merge", str(shards), "--data-dir", str(home)])
        (merged,) = (home / "journals").glob("*.jsonl")
        sizes = sum(path.stat().st_size for path in shards.iterdir() if path.suffix == ".jsonl")
        return {
            **used,
            "shard_bytes": sizes,
            "bytes": merged.stat().st_size,
        }


def divide(journal: Path, folder: Path) -> None:
    """Write the journals of ``SHARDS`` shards of a whole journal into a folder."""
    first = next(read_all(journal))
    assert isinstance(first.event, BenchmarkOpened)
    texts: dict[str, bytes] = {}
    with ExitStack() as stack:
        shards = [_Shard(stack, folder, replace(first, event=_part(first.event, number))) for number in NUMBERS]
        for line in lines(journal):
            entry = line.entry
            if entry is None:
                continue
            if isinstance(entry.event, TextStored):
                texts[entry.event.sha256] = line.content
            elif entry.experiment:
                shards[int(entry.experiment.removeprefix("exp_"), 16) % SHARDS].add(entry.event, line.content, texts)
            elif isinstance(entry.event, AllowanceSet | BenchmarkClosed):
                for shard in shards:
                    shard.file.write(line.content)


def _part(header: BenchmarkOpened, number: int) -> BenchmarkOpened:
    plan = header.plan.part(number, SHARDS)
    return replace(header, benchmark=plan.id, plan=plan)


class _Shard:
    def __init__(self, stack: ExitStack, folder: Path, header: Entry) -> None:
        assert isinstance(header.event, BenchmarkOpened)
        self.file = stack.enter_context((folder / f"{header.event.benchmark}.jsonl").open("wb"))
        self.file.write(encode(header))
        self._stored: set[str] = set()

    def add(self, event: Event, line: bytes, texts: Mapping[str, bytes]) -> None:
        """A line of an experiment, after the texts that it is the first to name."""
        for name in texts_of(event):
            if name not in self._stored:
                self._stored.add(name)
                self.file.write(texts[name])
        self.file.write(line)


def _measured(command: Sequence[str]) -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__, *command], check=True, stdout=subprocess.PIPE, text=True)
    used: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return used


if __name__ == "__main__":
    if sys.argv[1] == "divide":
        divide(*map(Path, sys.argv[2:]))
    else:
        found = took(sys.argv[1:])
        print(json.dumps({"seconds": found.seconds, "cpu_seconds": found.cpu_seconds, "megabytes": found.megabytes}))
