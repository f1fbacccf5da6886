"""Backups: whole, verified, without secrets; restored beside nothing else, and never out of the data folder."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import pytest
from breaking import finished

from koderz_core.journal import Journal
from koderz_core.memory.cortex.database import Cortex
from koderz_core.memory.cortex.write_tools import remember


@pytest.fixture
def backup(home: Path, tmp_path: Path, koderz: Any) -> Path:
    """A backup of the data folder with one benchmark."""
    assert koderz("backup", tmp_path / "a.zip").code == 0
    return tmp_path / "a.zip"


def listing(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_what_was_backed_up_is_there_after_restoring_with_its_memories(
    home: Path, journal: Path, tmp_path: Path, koderz: Any
) -> None:
    cortex = Cortex(home / "cortex.db")
    remember(cortex, title="a", content="what was learnt")
    made = koderz("backup", tmp_path / "a.zip")
    cortex.close()
    said = koderz("restore", tmp_path / "a.zip", "--data-dir", tmp_path / "new")
    assert (made.code, said.code) == (0, 0)
    assert f"journals/{journal.name}" in said.out
    assert koderz("results", "--json", "--data-dir", tmp_path / "new").json == koderz("results", "--json").json
    assert "a" in koderz("cortex", "recall", "learnt", "--data-dir", tmp_path / "new").out


def test_tasks_of_the_workbench_own_problems_and_selectors_are_in_a_backup(
    home: Path, journal: Path, tmp_path: Path, koderz: Any
) -> None:
    names = ("workbench/journals/bench_0123456789ab.jsonl", "problems/fix-0123456789ab.json")
    names += ("datasets/own-standard-0123456789ab.jsonl", f"trees/{'0' * 64}.tar.gz")
    names += ("selectors/study.of-2_models@0123456789ab.json",)
    for name in names:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(journal.read_bytes())
    assert "1 selector" in koderz("backup", tmp_path / "a.zip").out
    assert koderz("restore", tmp_path / "a.zip", "--data-dir", tmp_path / "new").code == 0
    assert listing(tmp_path / "new") >= set(names)


def test_a_dataset_that_ends_without_a_newline_is_restored_whole(
    home: Path, journal: Path, tmp_path: Path, koderz: Any
) -> None:
    copy = home / "datasets" / "own-mine-0123456789ab.jsonl"
    copy.parent.mkdir(exist_ok=True)
    copy.write_bytes(b'{"task_id": "a/0"}\n{"task_id": "a/1"}')
    assert koderz("backup", tmp_path / "a.zip").code == 0
    assert koderz("restore", tmp_path / "a.zip", "--data-dir", tmp_path / "new").code == 0
    assert (tmp_path / "new" / "datasets" / copy.name).read_bytes() == copy.read_bytes()


def test_restoring_again_changes_nothing(backup: Path, home: Path, koderz: Any) -> None:
    before = listing(home)
    said = koderz("restore", backup)
    skipped = "Files skipped because they already exist with the same content"
    assert (said.code, "Restored into" in said.out, skipped in said.out) == (0, True, True)
    assert listing(home) == before


def test_a_backup_overwrites_no_file(backup: Path, koderz: Any) -> None:
    before = backup.read_bytes()
    said = koderz("backup", backup)
    assert (said.code, "exists" in said.err, backup.read_bytes() == before) == (2, True, True)


def test_no_secret_is_in_a_backup_not_even_in_a_comment(home: Path, tmp_path: Path, koderz: Any) -> None:
    text = '# sk-OLD\nopenai_api_key = "sk-MARKED"\nollama_base_url = "http://me:pw@127.0.0.1:9"\ntimeout = 77.0\n'
    (home / "settings.toml").write_text(text)
    said = koderz("backup", tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.read("settings.toml") == b"timeout = 77.0\n"
    assert "openai_api_key, ollama_base_url" in said.out


def test_a_journal_that_is_being_written_is_backed_up_to_its_last_whole_line(
    home: Path, journal: Path, tmp_path: Path, koderz: Any
) -> None:
    whole = journal.read_bytes()
    with journal.open("ab") as file:
        file.write(b'{"v":1,"at":')
    writer = Journal(home / "journals" / "bench_x.jsonl")
    assert koderz("backup", tmp_path / "a.zip").code == 0
    writer.close()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.read(f"journals/{journal.name}") == whole


def test_memories_that_cannot_be_read_are_named_and_the_rest_is_backed_up(
    home: Path, journal: Path, tmp_path: Path, koderz: Any
) -> None:
    (home / "cortex.db").write_bytes(b"junk" * 4096)
    said = koderz("backup", tmp_path / "a.zip")
    assert said.code == 3
    missing = "cortex.db (file is not a database) is missing from the backup."
    assert f"{missing} Repair, rename or move this file, then create the backup again." in said.err
    assert koderz("restore", tmp_path / "a.zip", "--data-dir", tmp_path / "new").code == 0
    assert finished(tmp_path / "new" / "journals" / journal.name)


def test_a_file_under_a_name_that_no_restore_accepts_is_named_and_the_rest_is_backed_up(
    home: Path, journal: Path, tmp_path: Path, koderz: Any
) -> None:
    (home / "journals" / "bench_x (copy).jsonl").write_bytes(journal.read_bytes())
    said = koderz("backup", tmp_path / "a.zip")
    missing = "journals/bench_x (copy).jsonl (koderz does not use files with this name) is missing from the backup."
    whole = f"{missing} Repair, rename or move this file, then create the backup again."
    assert (said.code, whole in said.err) == (3, True)
    assert koderz("restore", tmp_path / "a.zip", "--data-dir", tmp_path / "new").code == 0
    assert finished(tmp_path / "new" / "journals" / journal.name)


@pytest.mark.parametrize("place", ["middle", "end"])
def test_a_damaged_backup_is_refused_and_nothing_of_it_is_used(
    backup: Path, tmp_path: Path, koderz: Any, place: str
) -> None:
    content = bytearray(backup.read_bytes())
    at = len(content) // 3 if place == "middle" else len(content) - 40
    content[at : at + 20] = b"\xff" * 20
    backup.write_bytes(content)
    said = koderz("restore", backup, "--data-dir", tmp_path / "new")
    assert said.code == 3
    assert "Use another" in said.err or "not a backup of koderz" in said.err
    assert not (tmp_path / "new").exists() or not listing(tmp_path / "new")


@pytest.mark.parametrize("name", ["../outside.jsonl", "/etc/koderz", "journals/../../out.jsonl", "journals/a.jsonl/b"])
def test_a_backup_cannot_write_outside_the_data_folder(tmp_path: Path, koderz: Any, name: str) -> None:
    told = {"sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "size": 0, "written_at": 1.0}
    manifest = {"format": 1, "koderz_version": "0", "made_at": 1.0, "files": {name: told}}
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(name, b"")
        archive.writestr("manifest.json", json.dumps(manifest))
    said = koderz("restore", tmp_path / "a.zip", "--data-dir", tmp_path / "in" / "new")
    assert said.code == 3
    assert "which does not belong in a data folder" in said.err
    assert not (tmp_path / "in").exists() or not listing(tmp_path / "in")


def test_a_backup_with_a_file_that_its_manifest_does_not_name_is_refused(backup: Path, koderz: Any) -> None:
    with zipfile.ZipFile(backup, "a") as archive:
        archive.writestr("journals/bench_more.jsonl", b"x")
    said = koderz("restore", backup)
    assert (said.code, "its files differ from the files that its manifest lists" in said.err) == (3, True)


def test_a_backup_of_a_later_koderz_is_refused_with_the_cure(backup: Path, tmp_path: Path, koderz: Any) -> None:
    with zipfile.ZipFile(tmp_path / "later.zip", "w") as archive:
        archive.writestr("manifest.json", json.dumps({"format": 9, "koderz_version": "9", "made_at": 1.0, "files": {}}))
    said = koderz("restore", tmp_path / "later.zip")
    assert (said.code, "Upgrade koderz" in said.err) == (3, True)


def test_what_is_no_backup_is_called_so(tmp_path: Path, koderz: Any) -> None:
    (tmp_path / "a.zip").write_bytes(b"no zip")
    assert koderz("restore", tmp_path / "a.zip").code == 3
    assert "Give the path of a file that `koderz backup` has written." in koderz("restore", tmp_path / "none.zip").err


def test_nothing_is_restored_over_something_else(backup: Path, journal: Path, home: Path, koderz: Any) -> None:
    journal.write_bytes(journal.read_bytes() + b"more\n")
    before = journal.read_bytes()
    said = koderz("restore", backup)
    assert (said.code, "a restore never overwrites a file" in said.err) == (2, True)
    assert journal.read_bytes() == before


@pytest.mark.parametrize("log", ["cortex.db-wal", "cortex.db-journal"])
def test_memories_are_not_restored_beside_the_log_of_earlier_ones(
    home: Path, tmp_path: Path, koderz: Any, log: str
) -> None:
    cortex = Cortex(home / "cortex.db")
    remember(cortex, title="a", content="what was learnt")
    cortex.close()
    koderz("backup", tmp_path / "a.zip")
    (new := tmp_path / "new").mkdir()
    (new / log).write_bytes(b"of another memory file")
    said = koderz("restore", tmp_path / "a.zip", "--data-dir", new)
    assert (said.code, f"in the backup: {log}." in said.err, listing(new)) == (2, True, {log})
    (new / log).unlink()
    assert koderz("restore", tmp_path / "a.zip", "--data-dir", new).code == 0
    assert "a" in koderz("cortex", "recall", "learnt", "--data-dir", new).out


def test_a_backup_of_somebody_else_chooses_no_program(home: Path, tmp_path: Path, koderz: Any) -> None:
    content = b'cortex_command = "sh -c evil"\n'
    told = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content), "written_at": 1.0}
    manifest = {"format": 1, "koderz_version": "0", "made_at": 1.0, "files": {"settings.toml": told}}
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("settings.toml", content)
        archive.writestr("manifest.json", json.dumps(manifest))
    said = koderz("restore", tmp_path / "a.zip", "--data-dir", tmp_path / "new")
    assert (said.code, "settings.toml contains cortex_command" in said.err) == (3, True)
    assert not listing(tmp_path / "new")


def test_memories_are_copied_while_a_server_writes_them(home: Path, tmp_path: Path, koderz: Any) -> None:
    cortex = Cortex(home / "cortex.db")
    remember(cortex, title="a", content="b")  # it stands in the log beside the file, not yet in the file
    assert koderz("backup", tmp_path / "a.zip").code == 0
    cortex.close()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        archive.extract("cortex.db", tmp_path)
    with sqlite3.connect(tmp_path / "cortex.db") as copy:
        assert copy.execute("select count(*) from memories").fetchone() == (1,)
    copy.close()
