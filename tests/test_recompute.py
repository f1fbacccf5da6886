"""The recomputation of published figures: its own code agrees with koderz, and says where it does not."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks"
EXAMPLE = ROOT / "koderz_core/examples/example.jsonl.gz"
ALLOWED = {*sys.stdlib_module_names, "numpy", "scipy"} | {item.stem for item in FOLDER.glob("recompute*.py")}


def test_every_figure_of_the_example_comes_out_the_same() -> None:
    command = [sys.executable, str(FOLDER / "recompute.py"), str(EXAMPLE)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr
    assert len(said.stdout.splitlines()) > 30
    assert "rates with Wilson's interval                       9 of     9 agree" in said.stdout


def test_it_shares_no_code_with_koderz() -> None:
    for path in FOLDER.glob("recompute*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            assert {name.partition(".")[0] for name in names} <= ALLOWED, path


def test_a_figure_that_differs_is_named_and_ends_it_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    from recompute_tally import Tally  # noqa: PLC0415 (a script's)

    tally = Tally()
    tally.same("rate", "here", 0.5, 0.5)
    tally.bounds("bounds", "here", (0.25, None), (0.25, None))
    tally.chance("share", "here", 0.5, lambda _: 0.01)
    assert tally.report() == 0
    tally.same("rate", "there", 0.5, 0.5 + 1e-8)
    tally.bounds("bounds", "there", (0.25, 0.75), (0.25, 0.76))
    tally.chance("share", "there", 0.5, lambda _: 1e-7)
    assert tally.report() == 1
    wrong = [line for line in capsys.readouterr().out.splitlines() if line.startswith("NOT THE SAME")]
    assert [line.split(":")[0] for line in wrong] == [
        f"NOT THE SAME  {item}, there" for item in ("rate", "bounds", "share")
    ]
