"""What a killed process left in the data folder is cleared away; what is in use, or somebody's own, stays."""

from __future__ import annotations

import os
import time
from pathlib import Path

from koderz_core.upkeep.journals import COPY_SECONDS, remove_left_copies


def test_copies_that_nobody_is_at_any_more_go_and_all_else_stays(tmp_path: Path) -> None:
    now, home = time.time(), tmp_path / "data"
    home.mkdir()
    for name in ("copy-dead", "restore-dead", "copy-alive", "copy-file", "backups"):
        path = home / name
        path.touch() if name == "copy-file" else (path / "inside").mkdir(parents=True)
        os.utime(path, times=(now, now if name == "copy-alive" else now - COPY_SECONDS - 1))
    assert [copy.subject for copy in remove_left_copies(home, now)] == ["copy-dead", "restore-dead"]
    assert sorted(path.name for path in home.iterdir()) == ["backups", "copy-alive", "copy-file"]
