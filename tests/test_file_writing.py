"""Files are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from koderz_core.files import replace_file


def test_who_may_read_a_file_stays_as_it_was_and_is_at_first_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    replace_file(path, b"one")
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    replace_file(path, b"two")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"two", 0o640)


def test_what_cannot_be_replaced_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    os.mkfifo(tmp_path / "taken pipe")
    for path in (tmp_path / "taken", tmp_path / "taken pipe"):
        with pytest.raises(OSError, match="taken"):
            replace_file(path, b"content")
    assert {path.name for path in tmp_path.iterdir()} == {"cwd", "taken", "taken pipe"}
    assert (tmp_path / "taken pipe").is_fifo()
