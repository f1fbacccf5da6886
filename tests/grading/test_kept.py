"""What can be computed anew is kept where there is room, and stands in nobody's way where there is none."""

from __future__ import annotations

from pathlib import Path

from koderz_core.grading.canonical import RecordCache

PARTS = ["a solution", "its tests"]


def test_a_record_comes_back_under_its_parts_and_under_no_others(tmp_path: Path) -> None:
    kept = RecordCache(tmp_path / "cache")
    assert kept.put(PARTS, {"seconds": 0.5}) == {"seconds": 0.5}
    assert kept.get(PARTS, dict) == {"seconds": 0.5}
    assert kept.get(["another solution", "its tests"], dict) is None


def test_where_nothing_can_be_written_the_record_is_handed_through(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    kept = RecordCache(tmp_path / "cache")
    assert kept.put(PARTS, {"seconds": 0.5}) == {"seconds": 0.5}
    assert kept.get(PARTS, dict) is None


def test_what_a_killed_process_left_half_written_is_gone_with_the_next_record(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    kept = RecordCache(folder)
    kept.put(PARTS, {"seconds": 0.5})
    (record,) = folder.iterdir()
    record.rename(record.with_suffix(".part")).write_bytes(b'{"sec')
    assert kept.get(PARTS, dict) is None
    kept.put(PARTS, {"seconds": 0.5})
    assert list(folder.iterdir()) == [record]
