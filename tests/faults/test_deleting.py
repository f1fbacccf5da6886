"""Deleting benchmarks: told first, done with --yes, never what runs or is pinned, and nothing of it stays."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from koderz_core.journal import Journal
from koderz_core.memory.cortex.database import Cortex
from koderz_core.memory.cortex.write_tools import remember


@pytest.fixture
def aged(journal: Path) -> list[Path]:
    """Four journals, each a day older than the one before; the first is sound, of the others nothing is read."""
    copies = (shutil.copy(journal, journal.with_name(f"bench_{number}.jsonl")) for number in range(1, 4))
    found = [journal, *map(Path, copies)]
    now = journal.stat().st_mtime
    for days, item in enumerate(found):
        os.utime(item, (now - days * 86_400 - 60, now - days * 86_400 - 60))
    return found


def test_deleting_tells_first_and_changes_nothing(journal: Path, koderz: Any) -> None:
    said = koderz("delete", journal.stem)
    assert (said.code, "Would delete" in said.out, journal.exists()) == (0, True, True)


def test_of_a_deleted_benchmark_nothing_stays(home: Path, journal: Path, koderz: Any) -> None:
    cortex = Cortex(home / "cortex.db")
    remember(cortex, title="its", content="x", metadata={"benchmark_id": journal.stem})
    remember(cortex, title="another's", content="x", metadata={"benchmark_id": "bench_other"})
    said = koderz("delete", journal.stem, "--yes")
    assert (said.code, "1 memory" in said.out) == (0, True)
    assert [row[0] for row in cortex.connection.execute("select title from memories")] == ["another's"]
    assert not list(journal.parent.iterdir())
    assert koderz("results", "--json").json == []
    cortex.close()


def test_what_runs_is_not_deleted(journal: Path, koderz: Any) -> None:
    writer = Journal(journal)
    said = koderz("delete", journal.stem, "--yes")
    writer.close()
    assert (said.code, f"koderz stop {journal.stem}" in said.err, journal.exists()) == (2, True, True)


def test_what_is_pinned_is_not_deleted_until_it_is_unpinned(journal: Path, koderz: Any) -> None:
    assert koderz("pin", journal.stem).code == 0
    said = koderz("delete", journal.stem, "--yes")
    assert (said.code, f"koderz unpin {journal.stem}" in said.err, journal.exists()) == (2, True, True)
    koderz("unpin", journal.stem)
    assert koderz("delete", journal.stem, "--yes").code == 0
    assert not journal.exists()


def test_one_that_may_not_go_keeps_all_that_were_named_with_it(aged: list[Path], koderz: Any) -> None:
    koderz("pin", "bench_2")
    assert koderz("delete", "bench_1", "bench_2", "--yes").code == 2
    assert all(path.exists() for path in aged)


def test_a_benchmark_whose_journal_cannot_be_read_can_be_deleted(journal: Path, koderz: Any) -> None:
    journal.write_bytes(b"\xff\n")
    assert koderz("delete", journal.stem, "--yes").code == 0
    assert not journal.exists()


@pytest.mark.parametrize("command", [("delete", "--yes"), ("pin",), ("unpin",)], ids=lambda words: words[0])
def test_a_benchmark_whose_journal_was_renamed_is_neither_deleted_nor_pinned_until_it_has_its_name_again(
    home: Path, journal: Path, koderz: Any, command: tuple[str, ...]
) -> None:
    cortex = Cortex(home / "cortex.db")
    remember(cortex, title="its", content="x", metadata={"benchmark_id": journal.stem})
    renamed = journal.rename(journal.with_name(f"{journal.stem} (1).jsonl"))
    for name in (journal.stem, renamed.stem):
        said = koderz(command[0], name, *command[1:])
        assert (said.code, f"is in the file {renamed.name}, but" in said.err, said.out) == (2, True, "")
    koderz("prune", "--keep", "0", "--yes")
    assert [row[0] for row in cortex.connection.execute("select title from memories")] == ["its"]
    assert (renamed.exists(), list(journal.parent.glob("*.pin"))) == (True, [])
    renamed.rename(journal)
    assert koderz(command[0], journal.stem, *command[1:]).code == 0
    cortex.close()


def test_a_name_cannot_reach_out_of_the_folder(home: Path, journal: Path, tmp_path: Path, koderz: Any) -> None:
    shutil.copy(journal, tmp_path / "bench_out.jsonl")
    assert koderz("delete", "../../bench_out", "--yes").code == 2
    assert (tmp_path / "bench_out.jsonl").exists()


@pytest.mark.parametrize(
    ("options", "gone"),
    [
        (["--keep", "3"], {3}),
        (["--days", "1.5"], {2, 3}),
        (["--keep", "1", "--days", "2.5"], {3}),
        (["--keep", "9"], set()),
    ],
)
def test_pruning_deletes_what_no_option_keeps(
    aged: list[Path], koderz: Any, options: list[str], gone: set[int]
) -> None:
    assert koderz("prune", *options, "--yes").code == 0
    assert {number for number, path in enumerate(aged) if not path.exists()} == gone


def test_the_shards_of_a_merged_benchmark_count_with_it_and_go_with_it(aged: list[Path], koderz: Any) -> None:
    shards = [aged[0].with_name(f"{aged[0].stem}-{number}-of-2.jsonl") for number in (1, 2)]
    for shard in shards:
        shutil.copy2(aged[0], shard)
    assert koderz("prune", "--keep", "3", "--yes").code == 0
    assert [path.exists() for path in (*aged, *shards)] == [True, True, True, False, True, True]
    koderz("pin", shards[1].stem)
    said = koderz("prune", "--keep", "0", "--yes").out
    assert [path.exists() for path in (*aged, *shards)] == [False, False, False, False, False, True]
    assert said.index(f"Deleted {shards[0].stem}:") < said.index(f"Deleted {aged[0].stem}:")


def test_shards_that_are_not_merged_count_as_one_benchmark_of_which_no_part_is_pruned(
    aged: list[Path], koderz: Any
) -> None:
    shards = [aged[0].with_name(f"bench_0123456789ab-{number}-of-3.jsonl") for number in (1, 2, 3)]
    for shard, age in zip(shards, (aged[1], aged[2], aged[3]), strict=True):
        shutil.copy2(age, shard)
    koderz("prune", "--keep", "3", "--yes")
    assert [path.exists() for path in (*aged, *shards)] == [True, True, False, False, True, True, True]
    koderz("pin", shards[1].stem)
    koderz("prune", "--days", "0.5", "--yes")
    assert [path.exists() for path in (*aged, *shards)] == [True, False, False, False, True, True, True]
    koderz("unpin", shards[1].stem)
    koderz("prune", "--days", "0.5", "--yes")
    assert [path.exists() for path in (aged[0], *shards)] == [True, False, False, False]


def test_pruning_keeps_pins_and_what_runs_and_begins_with_telling(aged: list[Path], koderz: Any) -> None:
    koderz("pin", "bench_3")
    writer = Journal(aged[2])
    told = koderz("prune", "--keep", "0").out
    assert all(path.exists() for path in aged)
    koderz("prune", "--keep", "0", "--yes")
    writer.close()
    assert [path.exists() for path in aged] == [False, False, True, True]
    assert "bench_3:" not in told


def test_pruning_wants_to_know_what_stays(koderz: Any) -> None:
    assert koderz("prune", "--yes").code == 2


def test_a_clock_that_was_ahead_makes_nothing_old(aged: list[Path], koderz: Any) -> None:
    os.utime(aged[3], (4e9, 4e9))
    koderz("prune", "--days", "1.5", "--yes")
    assert [path.exists() for path in aged] == [True, True, False, True]


def test_a_clock_that_was_ahead_keeps_no_benchmark_that_a_number_does_not_keep(aged: list[Path], koderz: Any) -> None:
    for days, path in enumerate(aged):
        os.utime(path, (4e9 - days, 4e9 - days))
    koderz("prune", "--keep", "1", "--yes")
    assert [path.exists() for path in aged] == [True, False, False, False]
