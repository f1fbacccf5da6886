"""Corrupt bytes in a journal: only what they may have spoiled is taken out, and the file as it was is kept."""

from __future__ import annotations

import errno
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from breaking import finished, mended

from koderz_core.events import CandidateScored
from koderz_core.journal import read_all

Break = Callable[[list[bytes]], list[bytes]]


def break_lines(journal: Path, how: Break) -> bytes:
    """Break a journal; what stands in it then."""
    journal.write_bytes(b"".join(how(journal.read_bytes().splitlines(keepends=True))))
    return journal.read_bytes()


def place(lines: list[bytes], kind: bytes, number: int = 0) -> int:
    """Where the line of that kind stands that so many of its kind stand before."""
    return [at for at, line in enumerate(lines) if b'"kind":"' + kind in line][number]


def overwritten(kind: bytes, number: int = 0) -> Break:
    def how(lines: list[bytes]) -> list[bytes]:
        lines[place(lines, kind, number)] = b"\x00\xff" * 40 + b"\n"
        return lines

    return how


def run_together(lines: list[bytes]) -> list[bytes]:
    at = place(lines, b"experiment_finished", 1)
    return [*lines[:at], lines[at].rstrip(), *lines[at + 1 :]]


@pytest.mark.parametrize(
    ("how", "kept"),
    [
        (overwritten(b"call_finished", 0), 2),
        (overwritten(b"experiment_started", 1), 2),
        (overwritten(b"experiment_finished", 2), 2),
        (overwritten(b"code_tested", -1), 2),
        (run_together, 1),  # the line holds the end of one experiment and the beginning of the next
    ],
)
def test_only_experiments_that_a_corrupt_line_may_be_of_are_taken_out(journal: Path, how: Break, kept: int) -> None:
    all_of_them = finished(journal)
    broken = break_lines(journal, how)
    said = mended()[journal.stem]
    assert f"affected: {3 - kept}. To run them again: koderz resume" in said
    assert len(finished(journal) & all_of_them) == kept
    assert journal.with_name(f"{journal.name}.damaged").read_bytes() == broken


def test_a_mended_benchmark_goes_on_to_its_end(journal: Path, koderz: Any) -> None:
    all_of_them = finished(journal)
    break_lines(journal, overwritten(b"text_stored", 1))
    doctor = koderz("doctor")
    assert (doctor.code, "cannot be read" in doctor.out, "koderz doctor --repair" in doctor.out) == (3, True, True)
    repaired = koderz("doctor", "--repair").out
    assert "Repaired: " + journal.stem in repaired
    assert koderz("resume", journal.stem).code == 0
    assert finished(journal) == all_of_them
    assert koderz("results").err == ""


def test_every_experiment_that_names_a_lost_program_is_taken_out(koderz: Any, tmp_path: Path) -> None:
    configurations = [("--configuration", f"{strategy} coder=scripted/strong") for strategy in ("direct", "retry")]
    koderz("benchmark", "--problems", "0:3", *configurations[0], *configurations[1], "--concurrency", "1")
    (journal,) = (tmp_path / "home" / "journals").glob("*.jsonl")
    everything, naming = finished(journal), defaultdict[str, set[str]](set)
    for entry in read_all(journal):
        if isinstance(entry.event, CandidateScored):
            naming[entry.event.code].add(entry.experiment or "")
    code, shared = next((code, named) for code, named in naming.items() if len(named) == 2)
    stored = f'"event":{{"sha256":"{code}"'.encode()
    break_lines(journal, lambda lines: [b"\xff\n" if stored in line else line for line in lines])
    mended()
    assert not finished(journal) & shared
    assert koderz("resume", journal.stem).code == 0
    assert finished(journal) == everything
    assert koderz("verify", journal.stem).code == 0


def test_mending_twice_does_nothing_twice_and_keeps_both_originals(journal: Path) -> None:
    break_lines(journal, overwritten(b"code_tested"))
    mended()
    assert mended() == {}
    break_lines(journal, overwritten(b"code_tested"))
    mended()
    assert len(list(journal.parent.glob("*.damaged*"))) == 2


def test_a_third_original_takes_the_name_of_one_that_was_deleted(journal: Path) -> None:
    for _ in range(2):
        break_lines(journal, overwritten(b"text_stored"))
        mended()
    (first := journal.with_name(f"{journal.name}.damaged")).unlink()
    broken = break_lines(journal, overwritten(b"text_stored"))
    mended()
    assert first.read_bytes() == broken
    assert journal.with_name(f"{journal.name}.damaged-2").exists()


def test_the_original_is_kept_on_a_disk_without_hard_links(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_path: Path, _target: Path) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refused)
    all_of_them, broken = finished(journal), break_lines(journal, overwritten(b"code_tested"))
    journal.chmod(0o640)
    assert "koderz kept the original file as" in mended()[journal.stem]
    kept = journal.with_name(f"{journal.name}.damaged")
    assert (kept.read_bytes(), kept.stat().st_mode & 0o777) == (broken, 0o640)
    assert finished(journal) < all_of_them


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        (b"experiment_finished", b'"experiment":"'),
        (b"experiment_started", b'"id":"'),
        (b"benchmark_opened", b'"benchmark":"'),
    ],
)
def test_a_line_with_an_id_that_a_terminal_would_obey_is_corrupt(
    journal: Path, koderz: Any, kind: bytes, key: bytes
) -> None:
    def how(lines: list[bytes]) -> list[bytes]:
        at = place(lines, kind)
        lines[at] = lines[at].replace(key, key + b"\\u001b]0;a title\\u0007", 1)
        return lines

    assert b"u001b" in break_lines(journal, how)
    said = koderz("results", "--experiments")
    assert (said.code, f"of the journal {journal.name} cannot be read" in said.err) == (3, True)
    assert "\x1b" not in said.out + said.err


def test_the_file_name_of_a_journal_is_shown_without_what_a_terminal_would_obey(journal: Path, koderz: Any) -> None:
    break_lines(journal, overwritten(b"code_tested"))
    renamed = journal.rename(journal.with_name("bench_\x1b[31m.jsonl"))
    said = koderz("results")
    assert (said.code, "[31m.jsonl cannot be read" in said.err, "\x1b" in said.err) == (3, True, False)
    renamed.unlink()
    command = [sys.executable, "-c", "from koderz_core.cli import main; main()", "results"]  # pytest takes its warnings
    warned = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert ("[31m.jsonl is missing" in warned, "\x1b" in warned) == (True, False)


def test_a_journal_without_its_first_line_is_left_as_it_is_and_not_called_whole(journal: Path, koderz: Any) -> None:
    broken = break_lines(journal, overwritten(b"benchmark_opened"))
    said = koderz("doctor", "--repair")
    assert said.code == 3
    assert "restore the journal from a backup" in said.out
    assert journal.read_bytes() == broken


def test_a_journal_of_a_later_koderz_is_left_alone(journal: Path) -> None:
    later = break_lines(journal, lambda lines: [*lines[:-1], re.sub(rb'"v":\d+', b'"v":99', lines[-1])])
    assert "upgrade koderz" in mended()[journal.stem]
    assert journal.read_bytes() == later


def test_how_old_a_journal_is_outlives_its_mending(journal: Path) -> None:
    break_lines(journal, overwritten(b"code_tested"))
    before = journal.stat().st_mtime_ns
    mended()
    assert journal.stat().st_mtime_ns == before
