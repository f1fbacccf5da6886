"""Journals mirrored to memory servers of every kind: what is not stored is named, and made up for later."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from koderz_core.config import Settings, load_settings
from koderz_core.errors import ConfigError, CortexError
from koderz_core.memory.client import Client, server_of
from koderz_core.memory.memory_text import JournalMemory
from koderz_core.memory.mirror import JournalReader, open_mirror
from koderz_core.memory.mirror_status import JournalStatus, backfill, journal_files, journal_status

GOLDEN = Path(__file__).parents[1] / "golden" / "schema-1.jsonl"
HOSTILE = Path(__file__).parent / "hostile_server.py"
BENCHMARK = "bench_d53bbf8f03e3"
FILE = f"{BENCHMARK}.jsonl"
Offer = Callable[..., JournalStatus]


def golden_memories() -> list[JournalMemory]:
    return [line.memory for line in JournalReader(GOLDEN, scripted=True).read() if line.memory]


TITLES = [memory.title for memory in golden_memories()]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "remembered.log"


@pytest.fixture
def home(settings: Settings) -> Path:
    settings.journals_dir.mkdir(parents=True)
    shutil.copy(GOLDEN, settings.journals_dir / FILE)
    return settings.home


@pytest.fixture
def offer(home: Path, log: Path) -> Offer:
    """``offer("dies")``: what stands after a backfill to a server of that way; "" is koderz' own."""

    def offered(way: str, seconds: float = 20.0, *, again: bool = False) -> JournalStatus:
        python = shlex.join((sys.executable, "-I", str(HOSTILE), way, str(log)))
        settings = load_settings(cortex_command=python if way else None, memory="all")
        folder = settings.journals_dir
        with open_mirror(settings, Client(server_of(settings), "1", seconds)) as parts:
            reported: list[JournalStatus] = []
            try:
                backfill(parts, folder, journal_files(folder), reported.append, again=again)
            except CortexError as error:
                return journal_status(folder, parts.ledger, FILE, str(error))
            return reported[0]

    return offered


@pytest.fixture
def moody(monkeypatch: pytest.MonkeyPatch, offer: Offer) -> Offer:
    """As ``offer``, of one server whose mood changes."""
    monkeypatch.setattr("koderz_core.memory.client.Server.key", "one")
    return offer


def stored(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


def test_a_server_that_obeys_has_every_memory_once(offer: Offer, log: Path) -> None:
    one = offer("obeys")
    assert (one.complete, one.fault, stored(log)) == (True, "", TITLES)
    assert dict(one.memories) == {"benchmark": 1, "checkpoint": 2, "iteration": 6, "result": 8, "spec": 4}
    offer("obeys")
    assert stored(log) == TITLES


def test_lines_that_are_no_answer_are_passed_over(offer: Offer, log: Path) -> None:
    assert offer("talks").complete
    assert stored(log) == TITLES


@pytest.mark.parametrize(
    ("way", "fault"),
    [
        ("dies", r"ended \(exit code 7\)"),
        ("dies at once", "no node_modules here"),
        ("breaks at once", r"\(exit code 1\): ModuleNotFoundError: No module named 'mcp'"),  # not its whole traceback
        ("is no cortex", "no tool named remember"),
    ],
)
def test_a_server_that_fails_is_named_and_another_day_it_has_everything(
    way: str, fault: str, moody: Offer, log: Path
) -> None:
    one = moody(way)
    assert not one.complete
    assert re.search(fault, one.fault + "".join(loss.why for loss in one.losses))
    assert moody("obeys").complete
    assert sorted(stored(log)) == sorted(TITLES)


def test_a_server_that_hangs_costs_only_its_time(moody: Offer, log: Path) -> None:
    begun = time.monotonic()
    one = moody("hangs", seconds=0.3)
    assert time.monotonic() - begun < 15
    assert not one.complete
    assert moody("obeys").complete
    assert sorted(stored(log)) == sorted(TITLES)


def test_an_endless_answer_is_not_heard_to_its_end(moody: Offer) -> None:
    one = moody("floods")
    assert "more than 8 MiB" in one.fault + "".join(loss.why for loss in one.losses)


def test_a_server_that_dies_in_between_is_started_again(offer: Offer, log: Path) -> None:
    assert offer("dies after 3").memories["result"] >= 1
    assert stored(log)[:3] == TITLES[:3]


def test_what_arrived_without_an_answer_is_not_stored_twice(offer: Offer, log: Path) -> None:
    assert offer("stores, then dies").complete
    assert stored(log) == TITLES


def test_a_memory_that_the_server_cannot_bear_is_passed_over_and_named(moody: Offer, log: Path) -> None:
    one = moody("bears no iteration")
    missing = [title for title in TITLES if "Iteration 1" in title]
    assert [loss.title for loss in one.losses] == missing
    assert "failed 2 times on this memory" in one.losses[0].why
    assert moody("obeys").complete
    assert sorted(stored(log)) == sorted(TITLES)


def test_a_failure_as_plain_text_is_no_success(moody: Offer) -> None:
    one = moody("refuses")
    assert (len(one.losses), dict(one.memories)) == (len(TITLES), {})
    assert "fts5" in one.losses[0].why
    assert moody("obeys").complete


def test_what_a_server_takes_for_something_it_knows_is_reported_as_lost(offer: Offer) -> None:
    one = offer("dedupes")
    assert [loss.title for loss in one.losses] == [title for title in TITLES if "Iteration" in title]
    assert not one.complete


def test_what_a_server_cuts_is_reported_and_counts_as_stored(offer: Offer) -> None:
    one = offer("cuts")
    assert one.complete
    assert all(loss.stored and "10240" in loss.why for loss in one.losses)
    assert len(one.losses) == len(TITLES)


def test_titles_are_unique_and_of_characters_that_every_server_finds() -> None:
    assert len(set(TITLES)) == len(TITLES)
    assert not set("!#$%';<=>?@[\\]`~") & set("".join(TITLES))


def test_a_result_says_who_solved_what_how_and_at_what_cost() -> None:
    result = next(memory for memory in golden_memories() if memory.kind == "result" and "supervised" in memory.tags)
    expected: dict[str, Any] = {
        "outcome": "solved",
        "dataset": "humaneval",
        "seed": 3,
        "mode": "iterative",
        "cost": 0.0,
    }
    assert expected.items() <= result.metadata.items()
    assert result.metadata["models"] == dict.fromkeys(("spec", "coder", "reviewer"), ("scripted/weak",))
    assert "def " in result.content


def test_a_journal_that_grows_is_mirrored_from_where_it_was(offer: Offer, home: Path, log: Path) -> None:
    journal = home / "journals" / FILE
    whole = journal.read_bytes()
    journal.write_bytes(whole[:20_000])  # in the middle of a line
    assert len(stored(log)) == 0
    assert offer("obeys").complete
    journal.write_bytes(whole)
    assert offer("obeys").complete
    assert stored(log) == TITLES


def test_shards_that_were_merged_are_not_mirrored_beside_the_whole(home: Path) -> None:
    folder = home / "journals"
    for name in ("bench_0123456789ab.jsonl", "bench_0123456789ab-1-of-2.jsonl", "bench_fedcba987654-1-of-2.jsonl"):
        shutil.copy(GOLDEN, folder / name)
    assert journal_files(folder) == sorted([FILE, "bench_0123456789ab.jsonl", "bench_fedcba987654-1-of-2.jsonl"])


def test_a_command_that_cannot_be_read_is_a_wrong_setting() -> None:
    with pytest.raises(ConfigError, match="Quote it"):
        server_of(load_settings(cortex_command="node 'index.js"))


def test_a_foreign_server_sees_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    server = server_of(load_settings(cortex_command="node index.js"))
    assert "sk-secret" not in "".join(server.environment.values())
    assert server.environment["CLAUDE_MEMORY_PROJECT"] == "koderz"


def test_a_registered_benchmark_of_scripted_models_stops_no_memory(
    koderz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KODERZ_MEMORY", "on")
    registered = ("--register", "--configuration", "direct coder=scripted/weak", "--quiet")
    said = koderz("benchmark", "--problems", "0:1", *registered, "--configuration", "direct coder=scripted/strong")
    assert said.code == 0
    assert "cannot be stored" not in said.err
    assert koderz("cortex", "backfill").code == 0
