"""What is seen ahead of the store is what the store would say, and the store is asked where only it can tell."""

from __future__ import annotations

import tempfile
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from doings import DOINGS, ENERGY, do
from hypothesis import HealthCheck, given, settings
from sample import SAMPLE

from koderz_core.analysis.timing import seconds_left
from koderz_core.events import BenchmarkClosed, CallFailed, ControlObeyed, ExperimentFinished, ExperimentStarted
from koderz_core.journal import acquire
from koderz_core.store.live_tail import AHEAD_SECONDS, LATE_SECONDS
from koderz_core.store.results import Results
from koderz_core.store.store import Store

ANEW = float(2**40)  # seconds since 1970, later than any answer: none that somebody else got will do


class Watcher:
    """Looks at a benchmark again and again, and knows whether the store was asked for it."""

    def __init__(self, store, plan, monkeypatch):
        self.now = 1_700_000_220.0  # soon after the journal's last line
        self.asked = self.behind = 0
        self.results, self._plan = Results(store, seconds_left, lambda: self.now), plan
        latest = Store.latest

        def counted(asked):
            behind = threading.current_thread().name == "catching up"
            self.behind += asked is store and behind
            self.asked += asked is store and not behind
            return latest(asked)

        monkeypatch.setattr(Store, "latest", counted)

    def look(self):
        """What is seen; what goes on behind has ended then."""
        seen = self.results.snapshot(self._plan.id, ANEW).progress
        for thread in threading.enumerate():
            if thread.name == "catching up":
                thread.join()
        return seen

    def asks(self):
        """Whether looking waits for the store."""
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
        lock.close()


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


@settings(
    max_examples=8 if SAMPLE.whole else 4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(DOINGS)
def test_it_is_what_the_store_says_after_anything_that_can_happen(journal, plan, monkeypatch, doings):
    with tempfile.TemporaryDirectory() as folder, monkeypatch.context() as patch:
        journal = type(journal)(Path(folder, "journals"), plan, ENERGY)
        stores = [Store(Path(folder, name), journal.path.parent) for name in ("watched", "fresh")]
        watcher = Watcher(stores[0], plan, patch)
        with held(journal):
            begun = [(at, 0, "start") for at in (0, 1)]  # which the runner says before all else of an experiment
            for at, ordinal, doing in [*begun, (0, 0, "read"), *doings, (0, 0, "read")]:
                do(journal, at, ordinal, doing)
                watcher.now += 0.01
                if doing == "read":
                    fresh = Results(stores[1], seconds_left, lambda: watcher.now)
                    assert watcher.look() == fresh.snapshot(plan.id, 0).progress
                    assert watcher.results.benchmarks(0) == fresh.benchmarks()


def test_how_experiments_go_on_is_seen_without_the_store(watcher, journal, plan):
    first, second, *_ = plan.experiments()
    journal.tell(second, passed=False, usd=0.5)
    assert not watcher.asks()
    journal.ask(first, 0)
    journal.answer(first, 0, "def f(): ...", None)
    journal.say(ExperimentFinished("unsolved", "iterations", "oracle", None, 2.0), first.id)
    assert not watcher.asks()
    seen = watcher.look()
    assert (seen.benchmark.finished, seen.benchmark.unsolved, seen.benchmark.unpriced) == (2, 2, 1)
    assert [
        (experiment.outcome, experiment.cost_usd) for experiment in seen.experiments if experiment.state == "finished"
    ] == [
        ("unsolved", None),
        ("unsolved", 0.5),
    ]
    assert [(item.experiment, item.passed) for item in seen.newest] == [(second.id, False)]
    assert seen.news_at == journal.at


def pause(journal, plan):
    journal.say(ControlObeyed("pause", plan.experiments()[3].id, 1))


def end(journal, _plan):
    journal.say(BenchmarkClosed("finished"))


def tear(journal, _plan):
    with journal.path.open("ab") as file:
        file.write(b"no event\n")


@pytest.mark.parametrize("happens", [pause, end, tear])
def test_the_store_is_asked_for_all_else(watcher, journal, plan, happens):
    happens(journal, plan)
    assert watcher.asks()


def test_the_store_is_asked_as_long_as_something_is_held_back(watcher, journal, plan):
    pause(journal, plan)
    watcher.look()
    journal.ask(plan.experiments()[0], 0)
    assert watcher.asks()


def test_a_failed_attempt_and_the_next_one_are_seen_without_the_store(watcher, journal, plan):
    first = plan.experiments()[0]
    journal.ask(first, 0)
    journal.say(CallFailed("busy", 0.5, True, 503, None, 4.0, retries=5), first.id, 0)
    assert not watcher.asks()
    (seen,) = watcher.look().troubles
    assert (seen.cause, seen.failures, seen.next_at, seen.retries_used, seen.retries) == (
        *("HTTP 503", 1, journal.at + 4.0),
        *(0, 5),
    )
    journal.ask(first, 0, attempt=2)
    journal.answer(first, 0, "def f(): ...")
    (seen,) = watcher.look().troubles
    assert seen.answered_at == journal.at


def test_the_store_is_asked_when_an_ended_experiment_begins_anew(watcher, journal, plan):
    journal.tell(plan.experiments()[0])
    watcher.now += LATE_SECONDS + 1
    assert watcher.asks()
    journal.say(ExperimentStarted(plan.experiments()[0]), plan.experiments()[0].id)
    assert watcher.asks()


def test_the_store_is_asked_once_its_writer_is_gone(watcher, lock):
    lock.close()
    assert watcher.asks()
    assert watcher.look().benchmark.state == "interrupted"


@pytest.mark.parametrize("seconds", [LATE_SECONDS + 1, -1])
def test_the_store_is_waited_for_late_and_where_the_clock_was_set_back(watcher, journal, plan, seconds):
    journal.ask(plan.experiments()[0], 0)
    watcher.now += seconds
    assert watcher.asks()


def test_the_store_is_read_behind_from_time_to_time(watcher, journal, plan):
    first = plan.experiments()[0]
    for number, behind in enumerate((0, 1, 1)):
        watcher.now += 0.7 * AHEAD_SECONDS
        journal.ask(first, number)
        assert not watcher.asks()
        assert watcher.behind == behind


def test_what_rests_does_not_age(watcher, journal, plan):
    for _ in range(5):
        watcher.now += 0.7 * AHEAD_SECONDS  # in all more than is late, and no new minute
        watcher.look()
    journal.ask(plan.experiments()[0], 0)
    assert not watcher.asks()


def test_of_other_benchmarks_nothing_old_is_told_as_new(watcher, journal, plan, write):
    write(replace(plan, name="another"))
    watcher.now += 2
    journal.ask(plan.experiments()[0], 0)
    assert not watcher.asks()
    assert len(watcher.results.benchmarks(0)) == 2


def test_what_was_queued_runs_once_an_experiment_has_begun(store, journal, plan, lock, monkeypatch):
    watcher = Watcher(store, plan, monkeypatch)
    assert watcher.look().benchmark.state == "queued"
    journal.say(ExperimentStarted(plan.experiments()[0]), plan.experiments()[0].id)
    watcher.now += 1
    assert watcher.look().benchmark.state == "running"
    assert watcher.results.benchmarks(0)[0].state == "running"
