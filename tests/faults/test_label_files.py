"""The journals of labels and notes: damaged and hostile lines, repair, backup, and the deletion of a benchmark."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from koderz_core.config import load_settings
from koderz_core.diagnosis.journals import check_annotations
from koderz_core.journal.annotations import annotations_file, read

Koderz = Any


@pytest.fixture
def labels(journal: Path, koderz: Koderz, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The journal of labels, with one label and one note."""
    monkeypatch.setenv("KODERZ_HOME", str(home))
    experiment = koderz("results", "--experiments", "--json").json[0]["id"]
    assert koderz("label", experiment, "cheats", "--note", "see line 3").code == 0
    return annotations_file(journal)


def line(labels: Path, **event: object) -> bytes:
    entry = json.loads(labels.read_text().splitlines()[0])
    return json.dumps(entry | {"event": event}).encode() + b"\n"


def test_hostile_lines_count_for_nothing_and_the_doctor_removes_them(labels: Path, koderz: Koderz) -> None:
    sound = labels.read_bytes()
    hostile = [line(labels, label=label) for label in ("x" * 1000, "\x1b[2J", "a\u202eb", "", "\ud800", 3)]
    labels.write_bytes(b"".join(hostile) + sound)
    assert [annotation.text for annotation in read(labels)] == ["cheats", "see line 3"]
    (finding,) = check_annotations(load_settings())
    assert (finding.subject, finding.cure) == (labels.stem, "koderz doctor --repair")
    assert f"labels of {labels.stem} had 6 unreadable lines" in koderz("doctor", "--repair").out
    assert labels.read_bytes() == sound


def test_verification_names_a_label_that_is_of_no_experiment(labels: Path, journal: Path, koderz: Koderz) -> None:
    assert "labels and notes 2" in koderz("verify", journal.stem).out
    labels.write_bytes(labels.read_bytes() + b'{"v":1,"at":')  # as a killed process leaves it
    assert koderz("verify", journal.stem).code == 0
    labels.write_bytes(labels.read_bytes().replace(b'"exp_', b'"exp_f', 1))
    said = koderz("verify", journal.stem)
    assert (said.code, "the experiment of line 1 of the file of labels and notes" in said.out) == (1, True)


def test_a_torn_line_is_cut_off_by_the_next_label(labels: Path, koderz: Koderz) -> None:
    labels.write_bytes(labels.read_bytes() + b'{"v":1,"at":')
    koderz("label", read(labels)[0].experiment, "second")
    assert [annotation.text for annotation in read(labels)] == ["cheats", "see line 3", "second"]


def test_a_backup_holds_labels_and_a_restore_brings_them_back(labels: Path, tmp_path: Path, koderz: Koderz) -> None:
    assert "1 label file" in koderz("backup", tmp_path / "a.zip").out
    koderz("restore", tmp_path / "a.zip", "--data-dir", tmp_path / "new")
    assert (tmp_path / "new" / "labels" / labels.name).read_bytes() == labels.read_bytes()


def test_the_labels_of_a_deleted_benchmark_are_deleted_too(labels: Path, journal: Path, koderz: Koderz) -> None:
    assert "labels and notes: 2" in koderz("delete", journal.stem).out
    assert koderz("delete", journal.stem, "--yes").code == 0
    assert not list(labels.parent.iterdir())


def test_ten_thousand_labels_are_read_at_once(labels: Path) -> None:
    labels.write_bytes(b"".join(line(labels, label=f"label {number}") for number in range(10_000)))
    start = time.process_time()
    assert len(read(labels)) == 10_000
    assert time.process_time() - start < 1
