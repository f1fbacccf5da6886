"""koderz in a process of its own that takes over what an earlier one found out about the sandbox.

To find it out takes a good part of the time in which such a process starts. So it happens once, as in ``conftest.py``,
and again only where the sandbox itself matters.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from koderz_core.cli import main
from koderz_core.sandbox import local_judge
from koderz_core.sandbox.selftest import SelfTest
from koderz_core.sandbox.tiers import TierStatus


@cache
def taking_over() -> str:
    """What such a process executes; the processes that this one starts take over from each other."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    here = str(Path(__file__).parent)
    return f"import sys; sys.path.append({here!r}); from taking_over import start; start({folder!r})"


def start(folder: str) -> None:
    """Run the command line of this process."""
    vars(local_judge).update(
        probe=_found_once(Path(folder, "tiers.json"), tuple[TierStatus, ...], local_judge.probe),
        quick=_found_once(Path(folder, "self_test.json"), SelfTest, local_judge.quick),
    )
    main()


def _found_once(file: Path, kind: Any, find: Callable[[Any], object]) -> Callable[[Any], Any]:  # Any: of each function
    def found(subject: Any) -> Any:
        if not file.exists():
            new = file.with_suffix(f".{os.getpid()}")
            new.write_bytes(msgspec.json.encode(find(subject)))
            new.replace(file)
        return msgspec.json.decode(file.read_bytes(), type=kind)

    return found
