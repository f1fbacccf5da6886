"""Separate environments for the programs that koderz is compared with: the pinned packages and nothing else."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path


def environment(name: str, pins: Sequence[str], folder: Path) -> Path:
    """The interpreter of an environment with these packages, which is created once."""
    python, done = folder / "bin" / "python", folder / "installed.txt"
    wanted = "\n".join(pins)
    if done.exists() and done.read_text() == wanted:
        return python
    print(f"making an environment for {name} in {folder}", file=sys.stderr)
    venv.create(folder, clear=True, symlinks=True, with_pip=bool(pins))
    if pins:
        install = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]  # errors only
        subprocess.run([*install, *pins], check=True, stdout=sys.stderr)
    done.write_text(wanted)
    return python
