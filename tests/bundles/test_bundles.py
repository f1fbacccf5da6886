"""Bundles: the same bytes each time, nothing in them that their level forbids, and refused once they were changed."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from koderz_core import Workspace
from koderz_core.bundles import creation
from koderz_core.bundles.archive import BundleFile, packed, unpacked
from koderz_core.bundles.checks import checked_bundle
from koderz_core.bundles.creation import BundleOptions, Circumstances, make, open_bundle
from koderz_core.bundles.documents import faults
from koderz_core.bundles.privacy import Identities
from koderz_core.config import Settings, load_settings
from koderz_core.errors import DataError, JournalError, UsageError
from koderz_core.workspace.bundles import bug_report

LEVELS = ("public_safe", "team_safe", "full_internal")
WHOSE = Identities(("annika",), ("deepbox",), ("/srv/annikas-place",), ("hunter2-hunter2",))
PLANTED = {
    "secret": "hunter2-hunter2",
    "key": "sk-ant-api03-abcdefghijkl",
    "path": "/srv/annikas-place/notes.txt",
    "other path": "/home/annika/work/x.py",
    "host": "deepbox",
    "address": "http://10.1.2.3:11434",
    "server": "https://models.corp.example/v1",
    "user": "annika",
    "mail": "annika@corp.example",
}
Rewrite = Callable[[Callable[[dict[str, Any]], None]], str]


def everything(path: Path) -> str:
    return "\n".join(content.decode() for content in unpacked(path).values())


def made(opened: Workspace, benchmark: str, tmp_path: Path, level: Any = "public_safe", cap: int = 1 << 26) -> Path:
    journal = opened.settings.journals_dir / f"{benchmark}.jsonl"
    return make(journal, BundleOptions(level, WHOSE, "0.0.0", cap), tmp_path / f"{level}.zip").path


def plant(line: dict[str, Any]) -> None:
    words = " ; ".join(PLANTED.values())
    event = line["event"]
    if line["kind"] == "benchmark_opened":
        event["plan"]["conditions"] |= {"ollama at": words}
        event["plan"]["dataset"]["licence"] = words
    if line["kind"] == "text_stored":
        event["text"] += f"\n# {words}"
    if line["kind"] == "code_tested":
        event["verdict"]["message"] += words
        failure = {"index": 0, "source": words, "expected": words, "actual": words, "message": words}
        event["verdict"]["failures"] = [failure]
    if line["kind"] == "checkpoint_reviewed":
        event["guidance"], event["sections"] = words, {"fix": words}
    if line["kind"] == "spec_written":
        event["text"] = words


@pytest.mark.parametrize("level", LEVELS)
def test_two_builds_are_the_same_bytes(opened: Workspace, recorded: str, tmp_path: Path, level: str) -> None:
    first = made(opened, recorded, tmp_path, level).read_bytes()
    again = made(opened, recorded, tmp_path / "again", level).read_bytes()
    assert first == again
    assert checked_bundle(tmp_path / f"{level}.zip").verified.holds


@pytest.mark.parametrize("level", LEVELS)
def test_nothing_planted_gets_out_that_the_level_forbids(
    opened: Workspace, recorded: str, rewrite: Rewrite, tmp_path: Path, level: str
) -> None:
    said = everything(made(opened, rewrite(plant), tmp_path, level))
    forbidden = PLANTED if level != "full_internal" else {"secret", "key"}
    assert [name for name in forbidden if PLANTED[name] in said] == []
    assert (PLANTED["path"] in said) == (level == "full_internal")


def test_what_was_masked_still_holds_under_ids_of_its_own(
    opened: Workspace, recorded: str, rewrite: Rewrite, tmp_path: Path
) -> None:
    planted = rewrite(plant)
    found = checked_bundle(made(opened, planted, tmp_path))
    assert found.verified.holds
    assert found.run_id != planted


def test_a_public_bundle_has_no_word_of_a_model_or_a_test(opened: Workspace, recorded: str, tmp_path: Path) -> None:
    journal = opened.settings.journals_dir / f"{recorded}.jsonl"
    texts = [
        line["event"]["text"]
        for line in map(json.loads, journal.read_text().splitlines())
        if line["kind"] == "text_stored"
    ]
    said = everything(made(opened, recorded, tmp_path))
    lines = {line.strip() for text in texts for line in text.splitlines() if len(line.strip()) > 12}
    assert lines
    assert [line for line in lines if line in said] == []
    assert "def " not in said


def test_a_team_sees_the_programs_and_what_changed(opened: Workspace, recorded: str, tmp_path: Path) -> None:
    files = unpacked(made(opened, recorded, tmp_path, "team_safe"))
    endings = {name.rpartition("/")[2] for name in files}
    assert {"before.py", "after.py", "change.diff", "tests.json", "kpi.json", "README.md", "licences.md"} <= endings
    diff = next(content for name, content in files.items() if name.endswith(".diff"))
    assert diff.startswith(b"--- before.py\n+++ after.py\n")


def test_an_unknown_level_is_the_safest_with_a_warning(
    opened: Workspace, recorded: str, caplog: pytest.LogCaptureFixture
) -> None:
    made = opened.bundles.make(recorded, "everything")
    assert made.level == "public_safe"
    assert "'everything'" in caplog.text


@pytest.mark.parametrize("lines", [1, 2, 40])
def test_schemas_hold_for_what_was_not_finished(opened: Workspace, recorded: str, tmp_path: Path, lines: int) -> None:
    journal = opened.settings.journals_dir / f"{recorded}.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:lines]))
    files = unpacked(made(opened, recorded, tmp_path))
    assert faults(json.loads(files["kpi.json"]), "kpi") == []
    assert faults(json.loads(files["manifest.json"]), "manifest") == []


def test_schemas_hold_for_what_failed(opened: Workspace, recorded: str, rewrite: Rewrite, tmp_path: Path) -> None:
    def fail(line: dict[str, Any]) -> None:
        if line["kind"] == "experiment_finished":
            line["event"] |= {
                "outcome": "error",
                "reason": None,
                "score_kind": None,
                "code": None,
                "error": "no answer",
            }

    figures = json.loads(unpacked(made(opened, rewrite(fail), tmp_path))["kpi.json"])
    assert faults(figures, "kpi") == []
    assert figures["totals"]["error"] == figures["totals"]["experiments"] > 0
    assert {experiment["winner_model"] for experiment in figures["experiments"]} == {None}


def test_a_schema_finds_what_is_wrong() -> None:
    assert faults({"kpi_schema_version": "9"}, "kpi")
    assert faults({}, "manifest")


def test_what_is_cut_is_said_to_be(opened: Workspace, recorded: str, tmp_path: Path) -> None:
    path = made(opened, recorded, tmp_path, cap=4000)
    manifest = json.loads(unpacked(path)["manifest.json"])
    cut = {file["path"] for file in manifest["files"] if file["truncated"]}
    assert manifest["bundle_truncated"]
    assert "journal.jsonl" in cut
    assert all(len(unpacked(path)[name]) <= 4000 for name in cut)
    found = checked_bundle(path).verified
    assert found.holds
    assert any("journal.jsonl was truncated" in remark for remark in found.remarks)
    with pytest.raises(DataError, match="only the first part of its journal"):
        open_bundle(path, tmp_path / "shown")


def changed(path: Path, name: str, how: Callable[[bytes], bytes], *, also_hash: bool = False) -> Path:
    files = dict(unpacked(path))
    files[name] = how(files[name])
    if also_hash:
        manifest = json.loads(files["manifest.json"])
        manifest["hashes"][name] = hashlib.sha256(files[name]).hexdigest()
        for file in manifest["files"]:
            if file["path"] == name:
                file["size_bytes"] = file["full_size_bytes"] = len(files[name])
        files["manifest.json"] = json.dumps(manifest).encode()
    path.write_bytes(packed([BundleFile(other, content, len(content)) for other, content in files.items()], ""))
    return path


@pytest.mark.parametrize("name", ["kpi.json", "journal.jsonl", "prices.json"])
def test_a_changed_file_is_named(opened: Workspace, recorded: str, tmp_path: Path, name: str) -> None:
    path = changed(made(opened, recorded, tmp_path), name, lambda content: content.replace(b"0", b"1", 1))
    assert name in {difference.where for difference in checked_bundle(path).verified.differences}
    with pytest.raises(DataError, match=f"was refused.*koderz verify {path}"):
        open_bundle(path, tmp_path / "shown")
    assert not (tmp_path / "shown").exists()


def test_a_changed_figure_is_named_even_if_its_hash_was_changed_too(
    opened: Workspace, recorded: str, tmp_path: Path
) -> None:
    def better(content: bytes) -> bytes:
        figures = json.loads(content)
        figures["totals"]["solved"] += 1
        return json.dumps(figures).encode()

    path = changed(made(opened, recorded, tmp_path), "kpi.json", better, also_hash=True)
    assert [difference.what for difference in checked_bundle(path).verified.differences] == ["$.totals.solved"]


def test_a_changed_text_is_named_even_if_the_files_hash_was_changed_too(
    opened: Workspace, recorded: str, tmp_path: Path
) -> None:
    path = made(opened, recorded, tmp_path, "team_safe")
    path = changed(path, "journal.jsonl", lambda content: content.replace(b"def ", b"deF "), also_hash=True)
    assert "the SHA-256" in {difference.what for difference in checked_bundle(path).verified.differences}


def impossible_time(line: dict[str, Any]) -> None:
    line["at"] = 1.7e12


def unknown_choice(line: dict[str, Any]) -> None:
    """A choice that the consensus does not have."""
    if line["kind"] == "experiment_finished":
        line["kind"] = "consensus_reached"
        line["event"] = {"by": "gate", "candidates": [], "chosen": 3}


def fewer_configurations(line: dict[str, Any]) -> None:
    if line["kind"] == "benchmark_opened":
        line["event"]["plan"]["configurations"].pop()


@pytest.mark.parametrize("spoil", [impossible_time, unknown_choice, fewer_configurations])
def test_a_bundle_whose_figures_cannot_be_computed_is_refused(
    opened: Workspace, recorded: str, tmp_path: Path, spoil: Callable[[dict[str, Any]], None]
) -> None:
    def second_part(content: bytes) -> bytes:
        """The journal, and then all of it again with the change."""
        lines = list(map(json.loads, content.splitlines()))
        for line in lines:
            spoil(line)
        return content + b"".join(json.dumps(line).encode() + b"\n" for line in lines)

    path = changed(made(opened, recorded, tmp_path), "journal.jsonl", second_part, also_hash=True)
    assert "the figures" in {difference.what for difference in checked_bundle(path).verified.differences}


def test_a_journal_whose_figures_cannot_be_computed_is_not_bundled(
    opened: Workspace, recorded: str, rewrite: Rewrite, tmp_path: Path
) -> None:
    with pytest.raises(JournalError, match="impossible value, such as an invalid time or an unknown configuration"):
        made(opened, rewrite(impossible_time), tmp_path)


@pytest.mark.parametrize(
    "name", ["../evil.py", "/etc/passwd", "a/../../b", "C:\\x", "a\\b", ".hidden", "a//b", "a/", "è.txt", "-o"]
)
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, "x")
    with pytest.raises(DataError, match=r"x\.zip was refused"):
        checked_bundle(path)


def test_a_link_is_refused(tmp_path: Path) -> None:
    entry = zipfile.ZipInfo("link")
    entry.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(DataError, match="not a regular file"):
        checked_bundle(tmp_path / "x.zip")


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("journal.jsonl", b"0" * (8 << 20))
    with pytest.raises(DataError, match=r"'journal\.jsonl' expands from .* a zip bomb"):
        checked_bundle(tmp_path / "x.zip")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_stands_there_twice_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("kpi.json", "1")
        archive.writestr("KPI.json", "2")
    with pytest.raises(DataError, match="twice"):
        checked_bundle(tmp_path / "x.zip")


@pytest.mark.parametrize("spoil", [lambda old: b"", lambda old: old[:-300], lambda old: old[:300] + b"x" + old[301:]])
def test_a_damaged_zip_is_refused(opened: Workspace, recorded: str, tmp_path: Path, spoil: Any) -> None:
    path = made(opened, recorded, tmp_path)
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(DataError, match=r"public_safe\.zip"):
        checked_bundle(path)


@pytest.mark.parametrize("limit", ["MOST_FILES", "MOST_BYTES", "MOST_BYTES_TOGETHER"])
def test_a_benchmark_that_is_too_large_for_a_bundle_is_refused_with_advice_for_its_author(
    opened: Workspace, recorded: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(f"koderz_core.bundles.archive.{limit}", 5)
    with pytest.raises(DataError, match=r"too large for a bundle.*share its journal"):
        made(opened, recorded, tmp_path)
    assert not (tmp_path / "public_safe.zip").exists()


def test_one_process_at_a_time_bundles_a_benchmark(opened: Workspace, recorded: str) -> None:
    opened.bundles.folder.mkdir(parents=True)
    with (opened.bundles.folder / f".{recorded}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(DataError, match="Another process is creating a bundle"):
            opened.bundles.make(recorded, "public_safe")


def test_the_newest_stay_and_what_is_pinned(opened: Workspace, recorded: str) -> None:
    first = opened.bundles.make(recorded, "public_safe", pinned=True).path
    os.utime(first, (1, 1))
    for number in range(creation.KEPT + 2):
        copy = first.with_name(f"bench_{number:012}-public_safe.zip")
        shutil.copyfile(first, copy)
        os.utime(copy, (100 + number, 100 + number))
    newest = opened.bundles.make(recorded, "team_safe").path
    left = [item.path.name for item in opened.bundles.kept()]
    assert (left[0], left[-1], len(left)) == (newest.name, first.name, creation.KEPT + 1)
    assert opened.bundles.clear() == creation.KEPT
    assert [item.path for item in opened.bundles.kept()] == [first]


def test_an_opened_bundle_shows_the_same_and_runs_nothing(opened: Workspace, recorded: str, tmp_path: Path) -> None:
    open_bundle(made(opened, recorded, tmp_path), tmp_path / "other")
    with Workspace(load_settings(home=tmp_path / "other")) as shown:
        assert shown.results.summaries() == opened.results.summaries()
        assert shown.bundles.shown_level == "public_safe"
        with pytest.raises(UsageError, match="which is read-only"):
            shown.runs.resume(recorded)
    assert opened.bundles.shown_level is None


def test_a_report_that_would_name_a_folder_is_refused() -> None:
    found = Circumstances(checks=["ready: 3 GB free (disk, /home/ann/work)"], settings=["home"])
    identities = Identities(folders=("/home/ann",), secrets=("sk-ant-0123456789",))
    assert b"/home/ann" not in creation.bug_report(found, identities, "1.0")
    with pytest.raises(DataError, match="could not be masked"):
        creation.bug_report(Circumstances(settings=["/home/ann/work"]), identities, "1.0")


def test_a_report_of_an_error_names_nobody(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", PLANTED["secret"])
    monkeypatch.setattr("koderz_core.workspace.bundles.identities", lambda *_: WHOSE)
    try:
        try:
            raise ValueError(" ; ".join(PLANTED.values()))
        except ValueError as cause:
            raise DataError(" ; ".join(PLANTED.values())) from cause
    except DataError as error:
        (tmp_path / "report.zip").write_bytes(bug_report(error))
    said = everything(tmp_path / "report.zip")
    assert [name for name, text in PLANTED.items() if text in said] == []
    assert "test_a_report_of_an_error_names_nobody" in said
    assert [error["kind"] for error in json.loads(unpacked(tmp_path / "report.zip")["report.json"])["errors"]] == [
        "DataError",
        "ValueError",
    ]
