"""What is seen ahead of the store is what the store would say, and the store is asked where only it can tell."""

from __future__ import annotations

import tempfile
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from doings import DOINGS, do
from hypothesis import HealthCheck, given, settings

from koderz_core.analysis.forecast import seconds_left
from koderz_core.events import BenchmarkClosed, CallFailed, ControlObeyed, ExperimentFinished, ExperimentStarted
from koderz_core.journal.lock import acquire, release
from koderz_core.store.ahead import AHEAD_SECONDS, ELSEWHERE_SECONDS, LATE
from koderz_core.store.results import Results
from koderz_core.store.store import Store

ANEW = float(2**40)  # seconds since 1970, later than any answer: none that somebody else got will do


class Watcher:
    """Looks at a benchmark again and again, and knows whether the store was asked for it."""

    def __init__(self, store, plan, monkeypatch):
        self.now, self.asked, self._plan = 1_800_000_000.0, 0, plan
        self._results = Results(store, seconds_left, lambda: self.now)
        latest = Store.latest

        def counted(asked):
            self.asked += asked is store
            return latest(asked)

        monkeypatch.setattr(Store, "latest", counted)

    def look(self):
        return self._results.watched(self._plan.id, ANEW)

    def asks(self):
        before = self.asked
        self.look()
        return self.asked > before


@contextmanager
def held(journal):
    """Written by this process, for all who ask."""
    lock = acquire(journal.path)
    try:
        yield lock
    finally:
        if not lock.closed:
            release(lock)


@pytest.fixture
def lock(journal):
    with held(journal) as lock:
        yield lock


@pytest.fixture
def watcher(store, journal, plan, lock, monkeypatch):
    """It has seen one experiment begin."""
    journal.say(ExperimentStarted(plan.experiments()[0]), plan.experiments()[0].id)
    watcher = Watcher(store, plan, monkeypatch)
    assert watcher.asks()
    return watcher


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DOINGS)
def test_it_is_what_the_store_says_after_anything_that_can_happen(journal, plan, monkeypatch, doings):
    with tempfile.TemporaryDirectory() as folder, monkeypatch.context() as patch:
        journal = type(journal)(Path(folder, "journals"), plan)
        stores = [Store(Path(folder, name), journal.path.parent) for name in ("watched", "fresh")]
        watcher = Watcher(stores[0], plan, patch)
        with held(journal):
            begun = [(at, 0, "start") for at in (0, 1)]  # which the runner says before all else of an experiment
            for at, ordinal, doing in [*begun, *doings, (0, 0, "read")]:
                do(journal, at, ordinal, doing)
                seen = watcher.look()
                if doing == "read":
                    fresh = Results(stores[1], seconds_left, lambda: watcher.now).watched(plan.id, 0)
                    assert (list(seen.rows), seen.progress) == (list(fresh.rows), fresh.progress)


def test_how_experiments_go_on_is_seen_without_the_store(watcher, journal, plan):
    first, second, *_ = plan.experiments()
    journal.tell(second, passed=False, usd=0.5)
    assert not watcher.asks()
    journal.ask(first, 0)
    journal.answer(first, 0, "def f(): ...", None)
    journal.say(ExperimentFinished("unsolved", "iterations", "oracle", None, 2.0), first.id)
    assert not watcher.asks()
    seen = watcher.look().progress
    assert (seen.benchmark.finished, seen.benchmark.unsolved, seen.benchmark.unpriced) == (2, 2, 1)
    assert [(one.outcome, one.cost_usd) for one in seen.experiments if one.state == "finished"] == [
        ("unsolved", None),
        ("unsolved", 0.5),
    ]
    assert [(one.experiment, one.passed) for one in seen.newest] == [(second.id, False)]
    assert seen.news_at == journal.at


@pytest.mark.parametrize("what", ["failed call", "pause", "end", "an ended one begins anew", "torn by a later hand"])
def test_the_store_is_asked_for_all_else(watcher, journal, plan, what):
    first = plan.experiments()[0]
    if what == "failed call":
        journal.ask(first, 0)
        journal.say(CallFailed("busy", 0.5, True), first.id, 0)
    elif what == "pause":
        journal.say(ControlObeyed("pause", first.id, 1))
    elif what == "end":
        journal.say(BenchmarkClosed("finished"))
    elif what == "torn by a later hand":
        with journal.path.open("ab") as file:
            file.write(b"no event\n")
    else:
        journal.tell(first)
        watcher.now += LATE * AHEAD_SECONDS + 1
        assert watcher.asks()
        journal.say(ExperimentStarted(first), first.id)
    assert watcher.asks()


def test_the_store_is_asked_once_its_writer_is_gone(watcher, journal, plan, lock):
    release(lock)
    assert watcher.asks()
    assert watcher.look().progress.benchmark.state == "interrupted"


def test_the_store_is_read_behind_from_time_to_time_and_waited_for_only_late(watcher, journal, plan, write):
    first = plan.experiments()[0]
    for number, seconds in enumerate((AHEAD_SECONDS / 2, AHEAD_SECONDS)):
        journal.ask(first, number)
        watcher.now += seconds
        watcher.look()
        behind = caught_up()
        assert (watcher.asked > 1, behind) == (bool(number), bool(number))
    watcher.now += LATE * AHEAD_SECONDS + 1
    journal.ask(first, 2)
    assert watcher.asks()
    assert not caught_up()


def test_other_benchmarks_are_seen_soon(watcher, journal, plan, write):
    write(replace(plan, name="another"))
    assert (len(watcher.look().rows), caught_up()) == (1, False)
    watcher.now += 1.1 * ELSEWHERE_SECONDS
    assert (len(watcher.look().rows), caught_up()) == (1, True)
    assert len(watcher.look().rows) == 2


def caught_up():
    """Whether the store was read behind, which has ended now."""
    behind = [thread for thread in threading.enumerate() if thread.name == "catching up"]
    for thread in behind:
        thread.join()
    return bool(behind)
