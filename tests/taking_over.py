"""koderz in a process of its own that takes over what an earlier one found out about the sandbox.

To find it out takes a good part of the time in which such a process starts. So it happens once, as in ``conftest.py``,
and again only where the sandbox itself matters.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from koderz_core.cli import main
from koderz_core.records import Isolation
from koderz_core.sandbox import local_judge
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.selftest import SelfTest, quick
from koderz_core.sandbox.tiers import TierStatus, probe


@cache
def taking_over() -> str:
    """What such a process executes; the processes that this one starts take over from each other."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    here = str(Path(__file__).parent)
    return f"import sys; sys.path.append({here!r}); from taking_over import start; start({folder!r})"


def start(folder: str) -> None:
    """Run the command line of this process."""

    def tiers(bwrap: str | None, wanted: Sequence[Isolation]) -> tuple[TierStatus, ...]:
        file = Path(folder, f"tiers-{'-'.join(wanted)}.json")
        return _found_once(file, tuple[TierStatus, ...], lambda: probe(bwrap, wanted))

    def tested(judge: BoxedJudge) -> SelfTest:
        return _found_once(Path(folder, f"test-{judge.isolation}.json"), SelfTest, lambda: quick(judge))

    vars(local_judge).update(probe=tiers, quick=tested)
    main()


def _found_once(file: Path, kind: Any, find: Callable[[], object]) -> Any:  # Any: of each function
    if not file.exists():
        new = file.with_suffix(f".{os.getpid()}")
        new.write_bytes(msgspec.json.encode(find()))
        new.replace(file)
    return msgspec.json.decode(file.read_bytes(), type=kind)
