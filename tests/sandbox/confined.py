"""Runs a few lines in a bare interpreter, as free or as confined as a test wants them."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from koderz_core.records import Isolation
from koderz_core.sandbox import box

LANDLOCK = "seccomp.give_up_privileges(); landlock.restrict(readable)"
ENCLOSED = "confine.enclose(readable)"
STRONG = ENCLOSED + "; confine.restrict(confine.Limits(5, 512 << 20), seccomp.Filter('program'))"
FREE = "pass"
_BEGINNING = """
import json, os, sys
sys.path.insert(0, {folder!r})
from inside import confine, landlock, seccomp
readable = landlock.Readable(**json.loads({readable!r}))
"""
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="Landlock and seccomp are Linux's")


def finish(code: str, confinement: str, isolation: Isolation = "strong") -> subprocess.CompletedProcess[str]:
    """What came of ``code`` after ``confinement``; what it prints is in ``stdout``."""
    readable = json.dumps(dataclasses.asdict(box.readable()))
    beginning = _BEGINNING.format(folder=str(box.INSIDE.parent), readable=readable)
    return subprocess.run(
        [*box.command(isolation, shutil.which("bwrap")), "-c", f"{beginning}\n{confinement}\n{code}"],
        env=box.ENVIRONMENT,
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def outcome(code: str, confinement: str, isolation: Isolation = "strong") -> str:
    """The last line that ``code`` printed, or the name of what it raised."""
    done = finish(code, confinement, isolation)
    lines = (done.stdout if done.returncode == 0 else done.stderr).splitlines()
    return lines[-1].split(":")[0] if lines else f"ended with {done.returncode}"


def bubblewrap() -> Path:
    """Where it is; the test is skipped if it is not installed, but not where everything must be tried."""
    found = shutil.which("bwrap")
    if found is None and not os.environ.get("CI"):
        pytest.skip("bubblewrap is not installed")
    assert found, "bubblewrap is not installed"
    return Path(found)
