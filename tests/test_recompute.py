"""The recomputation of published figures: its own code agrees with koderz, and says where it does not."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks"
EXAMPLE = ROOT / "koderz_core/examples/example.jsonl.gz"
ALLOWED = {*sys.stdlib_module_names, "numpy", "scipy"} | {one.stem for one in FOLDER.glob("recompute*.py")}


def test_every_figure_of_the_example_comes_out_the_same() -> None:
    command = [sys.executable, str(FOLDER / "recompute.py"), str(EXAMPLE)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr
    assert len(said.stdout.splitlines()) > 30
    assert "rates with Wilson's interval                       9 of     9 agree" in said.stdout


def test_it_shares_no_code_with_koderz() -> None:
    for path in FOLDER.glob("recompute*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            assert {name.partition(".")[0] for name in names} <= ALLOWED, path


def test_a_figure_that_differs_is_named_and_ends_it_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    from recompute_statistics import share_chance  # noqa: PLC0415 (a script's)
    from recompute_tally import Tally, bounds  # noqa: PLC0415 (a script's)

    tally, drawn = Tally(), np.arange(100_000) < 50_000
    tally.same("rate", "here", 0.5, 0.5)
    bounds(tally, "bounds", "here", (0.1, None), (0.1, None))
    tally.chance("share", "here", 0.51, partial(share_chance, drawn=drawn))
    assert tally.report() == 0
    tally.same("rate", "there", 0.5, 0.5 + 1e-8)
    bounds(tally, "bounds", "there", (0.1, 0.2), (0.1, None))
    tally.chance("share", "there", 0.6, partial(share_chance, drawn=drawn))
    assert tally.report() == 1
    wrong = [line for line in capsys.readouterr().out.splitlines() if line.startswith("NOT THE SAME")]
    assert [line.split(":")[0] for line in wrong] == [
        f"NOT THE SAME  {one}, there" for one in ("rate", "bounds", "share")
    ]
