"""A data folder with a benchmark that the real runner has brought to its end, to be broken in every test anew."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from breaking import WEAK

import koderz_core


@pytest.fixture(scope="session")
def _ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("ended")
    with koderz_core.open_workspace(home=home, memory="off") as workspace:
        workspace.runs.run(workspace.plans.plan(WEAK), concurrency=1)
        workspace.results.benchmarks()
    return home


@pytest.fixture
def home(_ended: Path, tmp_path: Path) -> Path:
    """The data folder of this test, with three experiments that have ended."""
    return Path(shutil.copytree(_ended, tmp_path / "home"))


@pytest.fixture
def journal(home: Path) -> Path:
    (found,) = home.glob("journals/*.jsonl")
    return found


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, of 1 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    made = os.geteuid() == 0 and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], check=False, capture_output=True
    )
    if not made or made.returncode:
        pytest.skip("only root may mount a small disk, and not everywhere")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)
