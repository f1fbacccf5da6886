"""Attacks that go beyond their own interpreter fail for an ordinary user too; only root need try that apart."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import attacks
import msgspec
import pytest
from attacks.records import TIERS
from sample import SAMPLE, thinned

import koderz_core

NOBODY = 65534
EVERY = 1 if SAMPLE.whole else 3  # root tries them all
VERSION = sys.version_info[:2]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the attacks are written for Linux")


@pytest.fixture(scope="module")
def everybodys() -> Iterator[tuple[str, str]]:
    """An interpreter and a path of modules that an ordinary user can read, wherever root keeps its own."""
    python = shutil.which("python3", path=os.defpath)
    version = "import sys; print(*sys.version_info[:2])"
    if not python or subprocess.check_output([python, "-c", version], text=True).split() != [*map(str, VERSION)]:
        pytest.skip("no python3 of this version that an ordinary user may start")
    with tempfile.TemporaryDirectory(prefix="everybodys-") as folder:
        Path(folder).chmod(0o755)
        for package in (koderz_core, msgspec, attacks):
            shutil.copytree(Path(str(package.__file__)).parent, Path(folder, package.__name__))
        yield python, folder


@pytest.mark.skipif(os.geteuid() != 0, reason="the other attacks ran as an ordinary user")
@pytest.mark.parametrize("tier", thinned([*TIERS, ""], "tiers attacked by an ordinary user", always=TIERS[-1:]))
def test_what_reaches_out_fails_for_an_ordinary_user_too(tier: str, everybodys: tuple[str, str]) -> None:
    python, folder = everybodys
    done = subprocess.run(
        [python, "-m", "attacks", "--every", str(EVERY), *(["--tier", tier] if tier else [])],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        timeout=900,
        check=False,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    if rows and "skipped" in rows[0]:
        pytest.skip(rows[0]["skipped"])
    assert [row for row in rows if not row["as_promised"]] == []
    assert len(rows) >= 30 // EVERY, done.stderr
