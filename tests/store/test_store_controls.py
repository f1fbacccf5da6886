"""What the journals say of pauses and stops, and what it means for the states of benchmarks and experiments."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from koderz_core.analysis.timing import seconds_left
from koderz_core.events import BenchmarkClosed, ControlObeyed, ExperimentStarted
from koderz_core.journal import Journal
from koderz_core.store.results import Results


@pytest.fixture
def results(store) -> Results:
    return Results(store, seconds_left, clock=lambda: 1_700_000_100.0)


@pytest.fixture
def held(journal) -> Iterator[None]:
    """Somebody runs the benchmark."""
    held = Journal(journal.path)
    yield
    held.close()


def say(journal, *said: tuple[str, str | None]) -> None:
    for what, target in said:
        journal.say(ControlObeyed(what, target, 1))


def states(results, plan) -> list[str]:
    rows = {row.id: row.state for row in results.experiments(plan.id)}
    return [rows[experiment.id] for experiment in plan.experiments()]


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize(
    ("said", "state"),
    [
        ([], "running"),
        ([("pause", None)], "paused"),
        ([("pause", None), ("resume", None)], "running"),
        ([("pause", None), ("stop", None)], "stopping"),
        ([("stop", None), ("resume", None)], "running"),  # the next process took it up
        ([("pause", "exp_1"), ("stop", "conf_1")], "running"),
    ],
)
def test_a_benchmark_that_somebody_runs_is_what_was_obeyed_last(results, journal, plan, said, state):
    journal.say(ExperimentStarted(plan.experiments()[0]))
    say(journal, *said)
    assert results.benchmark(plan.id).state == state


@pytest.mark.usefixtures("held")
def test_a_benchmark_that_has_begun_nothing_is_queued(results, plan):
    assert results.benchmark(plan.id).state == "queued"


@pytest.mark.usefixtures("held")
def test_a_pause_holds_back_what_it_names_and_the_whole_resumed_lifts_it(results, journal, plan):
    first, second, third, *_ = plan.experiments()
    journal.tell(first)
    journal.say(ExperimentStarted(second))
    say(journal, ("pause", second.configuration), ("pause", third.id))
    assert states(results, plan) == ["finished", "paused", "paused", "paused", "planned", "paused"]
    assert results.experiment(second.id).experiment.state == "paused"
    assert [row.state for row in results.progress(plan.id).experiments].count("paused") == 4
    say(journal, ("resume", third.id))
    assert states(results, plan)[2] == "planned"
    say(journal, ("resume", None))
    assert states(results, plan) == ["finished", "running", "planned", "planned", "planned", "planned"]


def test_what_is_paused_by_nobody_any_more_is_interrupted(results, journal, plan):
    first, *_ = plan.experiments()
    journal.say(ExperimentStarted(first))
    say(journal, ("pause", None))
    assert results.benchmark(plan.id).state == "interrupted"
    assert states(results, plan)[:2] == ["interrupted", "planned"]


def test_what_is_taken_up_again_is_not_closed_any_more(results, journal, plan):
    journal.say(BenchmarkClosed("stopped"))
    say(journal, ("resume", None))
    assert results.benchmark(plan.id).state == "interrupted"


def test_controls_read_piece_by_piece_are_those_read_at_once(store, journal, reindexed):
    for what in (("pause", None), ("pause", "exp_1"), ("resume", None), ("stop", None)):
        say(journal, what)
        store.ingest()
    assert store.dump() == reindexed()
    assert b'"controls"' in store.dump()
