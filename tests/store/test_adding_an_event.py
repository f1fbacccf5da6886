"""A new kind of event is a record, its export, the code that writes it, and rows of it: all else reads the record."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from test_store_ahead import Watcher, held

from koderz_core.bundles.archive import unpacked
from koderz_core.bundles.checks import checked_bundle
from koderz_core.bundles.creation import BundleOptions, make
from koderz_core.bundles.privacy import Identities
from koderz_core.events import decode, encode, texts_of
from koderz_core.events.kinds import KINDS, Text
from koderz_core.events.lines import Entry
from koderz_core.events.tally import tally
from koderz_core.journal import read_all
from koderz_core.store.ingest import CHANGES, note
from koderz_core.store.results import Results
from koderz_core.verification.journals import verify_journal

HINT = "sort the list first"


@dataclass(frozen=True, slots=True)
class HintWritten:
    """A hint for the next prompt, about a program. An event of this test."""

    kind: ClassVar = "hint_written"

    text: str
    code: Text | None = None


def _hint_written(event, place):
    yield note(place, event.kind, event.text)


@pytest.fixture(autouse=True)
def _known(monkeypatch):
    monkeypatch.setitem(KINDS, HintWritten.kind, HintWritten)  # type: ignore[arg-type]  # a dict when it runs


@pytest.fixture
def hinted(journal, plan):
    """A journal with a hint in its first experiment."""
    experiment = plan.experiments()[0]
    journal.tell(experiment)
    journal.say(HintWritten(HINT, journal.text("a program")), experiment.id, 2)
    return journal


def notes(store, plan):
    return Results(store, lambda *_: None).experiment(plan.experiments()[0].id).notes


def test_it_is_written_and_read(plan):
    entry = Entry(1.0, HintWritten(HINT), plan.experiments()[0].id, 2)
    assert decode(encode(entry)) == entry
    assert texts_of(HintWritten(HINT, "a hash")) == ("a hash",)


def test_the_index_passes_over_it_until_it_has_rows(store, hinted, plan):
    store.ingest()
    assert notes(store, plan) == []


def test_its_rows_are_part_of_the_experiment(store, hinted, plan, monkeypatch):
    monkeypatch.setitem(CHANGES, HintWritten, _hint_written)
    store.ingest()
    assert [(row.kind, row.text, row.ordinal) for row in notes(store, plan)] == [("hint_written", HINT, 2)]


def test_a_watched_benchmark_continues_without_the_index(store, hinted, plan, monkeypatch):
    with held(hinted):
        watcher = Watcher(store, plan, monkeypatch)
        hinted.tell(plan.experiments()[1])
        watcher.look()
        hinted.ask(plan.experiments()[1], 2)
        hinted.say(HintWritten(HINT), plan.experiments()[1].id, 3)
        watcher.now += 1
        watcher.look()
        assert not watcher.asks()


def test_it_is_verified(hinted):
    entries = list(read_all(hinted.path))
    assert verify_journal(hinted.plan.id, entries, tally(entries)).holds
    hinted.say(HintWritten(HINT, "no text has this hash"), hinted.plan.experiments()[0].id, 3)
    entries = list(read_all(hinted.path))
    (difference,) = verify_journal(hinted.plan.id, entries, tally(entries)).differences
    assert difference.what == "a text"


def test_a_bundle_masks_its_words(hinted, tmp_path: Path):
    bundle = make(hinted.path, BundleOptions("public_safe", Identities(), "0.0.0"), tmp_path / "bundle.zip").path
    assert checked_bundle(bundle).verified.holds
    assert HINT not in "".join(content.decode() for content in unpacked(bundle).values())
