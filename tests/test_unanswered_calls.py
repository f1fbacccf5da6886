"""What local calls without an answer cost, derived from journals of before that was recorded."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from koderz_core import open_workspace
from koderz_core.config import Settings
from koderz_core.events import (
    SCHEMA_VERSION,
    AllowanceSet,
    BenchmarkOpened,
    CallFailed,
    CallFinished,
    CallStarted,
    Entry,
    Event,
    ExperimentFinished,
    decode,
)
from koderz_core.events.unanswered_calls import Unanswered, UnansweredCall
from koderz_core.records import Allowance, Configuration, Cost, DatasetOrigin, Plan, Sampling

STUDY = Path(__file__).parents[1] / "docs" / "study" / "journals"
HARD20, MORE24 = "bench_4a58c29aaa8b", "bench_edbbe3e67d35"
WATTS = 65.0
QWEN, OTHER, SERVED = "embedded/qwen2.5-coder-0.5b", "embedded/qwen2.5-coder-1.5b", "ollama/a:1b"
BEGINNING = AllowanceSet(Allowance(None, 1), 7)


def recorded(benchmark: str) -> list[Entry]:
    lines = gzip.decompress((STUDY / f"{benchmark}.jsonl.gz").read_bytes()).splitlines()
    return [entry for line in lines if (entry := decode(line)) is not None]


def unanswered(entries: list[Entry]) -> list[UnansweredCall]:
    reader = Unanswered()
    return [call for entry in entries for call in reader.add(entry)]


def seconds(call: UnansweredCall) -> float:
    assert call.cost is not None
    assert call.cost.kwh is not None
    return call.cost.kwh * 3.6e6 / WATTS


@pytest.mark.parametrize("benchmark", [HARD20, MORE24])
def test_had_every_answer_failed_each_would_cost_the_same_as_was_measured(benchmark: str) -> None:
    entries = recorded(benchmark)
    measured = [entry.event.cost.usd for entry in entries if isinstance(entry.event, CallFinished)]
    failing = [replace(entry, event=_as_failed(entry.event)) for entry in entries]
    answers = [at for at, entry in enumerate(entries) if isinstance(entry.event, CallFinished)]
    reader, derived = Unanswered(), []
    for at, entry in enumerate(failing):
        calls = reader.add(entry)
        derived += [call.cost.usd for call in calls if call.cost] if at in set(answers) else []
    assert len(derived) == len(measured) > 200
    tenth_of_a_second = 0.1 * WATTS / 3.6e6 * 0.15
    assert derived == pytest.approx(measured, abs=tenth_of_a_second)


def _as_failed(event: Event) -> Event:
    return CallFailed("it failed", event.seconds, True) if isinstance(event, CallFinished) else event


def test_the_six_failed_calls_of_the_study_cost_what_the_machine_worked_and_not_what_they_waited() -> None:
    failed = [call for call in unanswered(recorded(HARD20)) if not call.interrupted]
    waited = [entry.event.seconds for entry in recorded(HARD20) if isinstance(entry.event, CallFailed)]
    assert len(failed) == 6
    assert (round(sum(waited)), round(sum(map(seconds, failed)))) == (2301, 1377)


def test_every_figure_of_the_study_has_the_cost_of_unanswered_calls_and_verifies(settings: Settings) -> None:
    settings.journals_dir.mkdir(parents=True)
    lines = gzip.decompress((STUDY / f"{HARD20}.jsonl.gz").read_bytes())
    (settings.journals_dir / f"{HARD20}.jsonl").write_bytes(lines)
    with open_workspace() as workspace:
        rows = workspace.results.summaries([HARD20])
        supervised = next(row for row in rows if row.strategy == "supervised")
        assert workspace.bundles.verify(HARD20).holds
    assert supervised.cost_usd == pytest.approx(0.0291 + 0.0048, abs=1e-4)
    assert supervised.tiers[0].cost_usd == pytest.approx(supervised.cost_usd)


def journal(*events: tuple[float, Event, str], energy: bool = True, tier: str = "local") -> Iterator[Entry]:
    """A benchmark that opens at 0; each event with its time and its experiment, whose only call has ordinal 1."""
    plan = Plan(DatasetOrigin("d", "a" * 64, "MIT"), ("P/1",), (Configuration("direct", {"coder": (QWEN,)}, {}),))
    tiers = dict.fromkeys((QWEN, OTHER, SERVED), tier)
    rates = {"local_watts": WATTS, "usd_per_kwh": 0.15, "local_usd_per_hour": 0.0} if energy else {}
    opened = BenchmarkOpened(SCHEMA_VERSION, "0.1.0", plan.id, plan, {}, "prices 1", "limited", tiers, rates)  # type: ignore[arg-type]
    yield Entry(0.0, opened)
    for at, event, experiment in events:
        yield Entry(at, event, experiment or None, 1 if experiment else None)


def started(model: str, reserved_usd: float | None = 1.0) -> CallStarted:
    return CallStarted("coder", 0, model, "hash", (), Sampling(), 7, 1, reserved_usd)


FAILED, CANCELLED = CallFailed("late", 9.0, True), ExperimentFinished("cancelled", None, None, None, 1.0)


def test_two_calls_of_one_embedded_model_take_turns_and_two_of_different_models_share() -> None:
    in_turn = journal((0, started(QWEN), "a"), (0, started(QWEN), "b"), (10, FAILED, "a"), (14, FAILED, "b"))
    at_once = journal((0, started(QWEN), "a"), (0, started(OTHER), "b"), (10, FAILED, "a"), (14, FAILED, "b"))
    assert [seconds(call) for call in unanswered(list(in_turn))] == pytest.approx([10, 4])
    assert [seconds(call) for call in unanswered(list(at_once))] == pytest.approx([5, 9])


def test_a_call_cut_off_by_a_crash_costs_until_the_last_entry_before_it() -> None:
    before = ((0, started(QWEN), "a"), (30, started(SERVED), "b"), (40, FAILED, "b"))
    _, interrupted = unanswered(list(journal(*before, (9000, BEGINNING, ""), (9001, FAILED, "a"))))
    assert interrupted.interrupted
    assert seconds(interrupted) == pytest.approx(30 + 5)


def test_a_stopped_call_costs_until_its_experiment_ends_and_no_longer_than_was_reserved_for_it() -> None:
    stopped = list(journal((0, started(QWEN), "a"), (20, CANCELLED, "a"), (50, CANCELLED, "b")))
    (call,) = unanswered(stopped)
    assert seconds(call) == pytest.approx(20)
    (least,) = unanswered(list(journal((0, started(QWEN, 1e-6), "a"), (9000, FAILED, "a"))))
    assert least.cost is not None
    assert least.cost.usd == pytest.approx(1e-6)


@pytest.mark.parametrize(
    "entries",
    [
        journal((0, started(QWEN), "a"), (9, FAILED, "a"), tier="frontier"),
        journal((0, started(QWEN), "a"), (9, FAILED, "a"), energy=False),
        journal((0, started(QWEN, None), "a"), (9, FAILED, "a")),
    ],
    ids=["paid", "unknown rates", "another machine"],
)
def test_a_cost_that_does_not_follow_from_the_journal_is_unknown(entries: Iterator[Entry]) -> None:
    assert [call.cost for call in unanswered(list(entries))] == [None]


def test_a_recorded_cost_is_taken_as_it_is() -> None:
    cost = Cost(0.5, "300 W at 1 USD/kWh", kwh=0.5, energy_usd=0.5)
    (call,) = unanswered(list(journal((0, started(QWEN), "a"), (9, replace(FAILED, cost=cost), "a"))))
    assert call.cost == cost
