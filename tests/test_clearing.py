"""What a killed process left in the data folder is cleared away; what is in use, or somebody's own, stays."""

from __future__ import annotations

import os
import time
from pathlib import Path

from koderz_core.upkeep.journals import COPY_SECONDS, remove_left_copies


def test_copies_that_nobody_is_at_any_more_go_and_all_else_stays(tmp_path: Path) -> None:
    now, home = time.time(), tmp_path / "data"
    dead = [".koderz-backup-dead", ".koderz-copy-dead", ".koderz-restore-dead", "workbench/.koderz-copy-dead"]
    for name in (*dead, ".koderz-copy-alive", "copy-of-my-results", "restore-2026"):
        path = home / name
        (path / "inside").mkdir(parents=True)
        os.utime(path, times=(now, now if name == ".koderz-copy-alive" else now - COPY_SECONDS - 1))
    assert [copy.subject for copy in remove_left_copies(home, now)] == [Path(name).name for name in dead]
    left = sorted(path.name for path in home.iterdir())
    assert left == [".koderz-copy-alive", "copy-of-my-results", "restore-2026", "workbench"]
