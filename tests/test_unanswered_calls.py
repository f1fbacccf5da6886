"""What local calls without an answer cost, derived from journals of before that was recorded."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import fsum
from pathlib import Path

import msgspec
import pytest

from koderz_core import open_workspace
from koderz_core.bundles.privacy import Identities, redacted
from koderz_core.config import Settings
from koderz_core.events import (
    SCHEMA_VERSION,
    AllowanceSet,
    BenchmarkClosed,
    BenchmarkOpened,
    CallFailed,
    CallFinished,
    CallStarted,
    Entry,
    Event,
    ExperimentFinished,
    ExperimentStarted,
    decode,
    encode,
)
from koderz_core.events.unanswered_calls import Unanswered, UnansweredCall
from koderz_core.journal import read_all
from koderz_core.records import Allowance, Configuration, Cost, DatasetOrigin, Experiment, Plan, Sampling
from koderz_core.records.completions import MachineRates
from koderz_core.runner.shards import merge
from koderz_core.workspace.repricing import Repricing, repriced

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


PLAN = Plan(DatasetOrigin("d", "a" * 64, "MIT"), ("P/1",), (Configuration("direct", {"coder": (QWEN,)}, {}),))
RATES = {"local_watts": WATTS, "usd_per_kwh": 0.15, "local_usd_per_hour": 0.0}


def header(plan: Plan, *, energy: bool = True, tier: str = "local") -> BenchmarkOpened:
    tiers, rates = dict.fromkeys((QWEN, OTHER, SERVED), tier), RATES if energy else {}
    return BenchmarkOpened(SCHEMA_VERSION, "0.1.0", plan.id, plan, {}, "prices 1", "limited", tiers, rates)  # type: ignore[arg-type]


def journal(
    *events: tuple[float, Event, str], energy: bool = True, tier: str = "local", address: str = ""
) -> Iterator[Entry]:
    """A benchmark that opens at 0; each event with its time and its experiment, whose only call has ordinal 1."""
    plan = replace(PLAN, conditions={"ollama at": address}) if address else PLAN
    yield Entry(0.0, header(plan, energy=energy, tier=tier))
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
        *(
            journal((0, started(SERVED), "a"), (9, end, "a"), address=address)
            for end in (FAILED, CANCELLED)
            for address in ("http://box1:11434", "http://127.0.0.1:11434,http://box1:11434", "http://[host]")
        ),
    ],
)
def test_a_cost_that_does_not_follow_from_the_journal_is_unknown(entries: Iterator[Entry]) -> None:
    assert [call.cost for call in unanswered(list(entries))] == [None]


@pytest.mark.parametrize(
    ("address", "model"),
    [
        ("http://127.0.0.1:11434", SERVED),
        ("http://localhost:1,http://[::1]:2", SERVED),
        ("localhost:11434", SERVED),
        ("http://box1:11434", QWEN),
    ],
)
def test_a_call_to_a_server_on_this_machine_costs_what_the_machine_worked(address: str, model: str) -> None:
    (call,) = unanswered(list(journal((0, started(model), "a"), (9, FAILED, "a"), address=address)))
    assert seconds(call) == pytest.approx(9)


def test_a_recorded_cost_is_taken_as_it_is() -> None:
    cost = Cost(0.5, "300 W at 1 USD/kWh", kwh=0.5, energy_usd=0.5)
    (call,) = unanswered(list(journal((0, started(QWEN), "a"), (9, replace(FAILED, cost=cost), "a"))))
    assert call.cost == cost


WHOLE = replace(
    PLAN,
    name="ada-study",  # bundles mask this name, which changes the ids of all experiments
    problems=tuple(f"P/{number}" for number in range(8)),
    configurations=(Configuration("direct", {"coder": (SERVED,)}),),
    conditions={"ollama at": "http://127.0.0.1:11434"},
)
RECORDED = replace(FAILED, cost=MachineRates(**RATES).cost(1000.0))
UNSOLVED = ExperimentFinished("unsolved", "gave_up", "held_out", None, 1.0)
CLOSED = BenchmarkClosed("stopped")


def shards(*later: Event) -> list[list[Entry]]:
    """Two shards that run at the same time. The first is killed after 10 s; ``later``: what it says when it resumes."""
    parts = [WHOLE.part(number, 2) for number in (1, 2)]
    (a, b, c), (d, e, *_) = parts[0].experiments()[:3], parts[1].experiments()
    once, again, begin = started(SERVED), replace(started(SERVED), attempt=2), ExperimentStarted
    killed: list[tuple[float, Event, Experiment | None]] = [
        *((0, begin(a), a), (0, once, a), (10, begin(b), b), *((15_000, event, None) for event in later)),
        *((15_000, BEGINNING, None), (15_000, begin(a), a), (15_001, again, a), (15_003, RECORDED, a)),
        *((15_004, UNSOLVED, a), (15_005, begin(b), b), (15_006, once, b), (15_016, begin(c), c)),
    ]
    busy: list[tuple[float, Event, Experiment | None]] = [
        *((0, begin(d), d), (0, once, d), (14_000, FAILED, d), (14_001, again, d), (16_000, RECORDED, d)),
        *(
            (16_001, UNSOLVED, d),
            (16_001, begin(e), e),
            (16_002, once, e),
            (16_012, CANCELLED, e),
            (16_012, CLOSED, None),
        ),
    ]
    return [
        [Entry(0.0, header(part)), Entry(0.0, BEGINNING), *(_entry(*event) for event in events)]
        for part, events in zip(parts, (killed, busy), strict=True)
    ]


def _entry(at: float, event: Event, experiment: Experiment | None) -> Entry:
    is_call = isinstance(event, CallStarted | CallFailed)
    return Entry(at, event, experiment.id if experiment else None, 1 if is_call else None)


def merged(parts: list[list[Entry]], folder: Path) -> Path:
    """The journal that these shards are merged into."""
    paths = [folder.parent / f"{WHOLE.part(number, 2).id}.jsonl" for number in (1, 2)]
    folder.parent.mkdir(parents=True, exist_ok=True)
    for path, entries in zip(paths, parts, strict=True):
        path.write_bytes(b"".join(map(encode, entries)))
    merge(paths, folder, partial=True)
    return folder / f"{WHOLE.id}.jsonl"


def costs(calls: Iterable[UnansweredCall]) -> list[tuple[int, Cost | None]]:
    """The attempts with their costs, in an order that does not depend on the ids of experiments."""
    return sorted(((call.attempt, call.cost) for call in calls), key=repr)


def each_alone(parts: list[list[Entry]]) -> list[UnansweredCall]:
    return [call for entries in parts for call in unanswered([*entries, Entry(20_000.0, CLOSED)])]


def test_each_call_of_a_merged_benchmark_costs_the_same_as_in_its_shard(tmp_path: Path) -> None:
    alone = each_alone(shards())
    assert [round(seconds(call)) for call in alone] == [10, 1000, 10, 14_000, 1000, 10]
    assert costs(unanswered(list(read_all(merged(shards(), tmp_path / "all"))))) == costs(alone)


def test_a_shard_that_was_resumed_at_other_prices_is_merged_with_the_costs_of_its_calls(tmp_path: Path) -> None:
    resumed = replace(header(WHOLE.part(1, 2)), energy=RATES | {"local_watts": 2 * WATTS}, koderz_version="0.2.0")
    parts = shards(resumed)
    first, *others = read_all(merged(parts, tmp_path / "all"))
    assert isinstance(first.event, BenchmarkOpened)
    assert (first.event.energy, first.event.koderz_version) == (RATES, "0.1.0")
    assert costs(unanswered([first, *others])) == costs(each_alone(parts)) != costs(each_alone(shards()))


def test_the_index_reports_and_verification_agree_on_the_costs_of_a_merged_benchmark(settings: Settings) -> None:
    reader, calls = Unanswered(), list[UnansweredCall]()
    for entry in read_all(merged(shards(), settings.journals_dir)):
        calls += reader.add(entry)
        reader = msgspec.json.decode(msgspec.json.encode(reader), type=Unanswered)  # as the index keeps it
    usd = fsum(call.cost.usd or 0.0 for call in calls if call.cost)
    with open_workspace() as workspace:
        (row,) = workspace.results.summaries([WHOLE.id])
        assert workspace.bundles.verify(WHOLE.id).holds
        with repriced(workspace, [WHOLE.id], Repricing(usd_per_kwh=2 * RATES["usd_per_kwh"])) as other:
            (doubled,) = other.results.summaries([WHOLE.id])
    assert usd == pytest.approx(fsum(call.cost.usd or 0.0 for call in each_alone(shards()) if call.cost))
    assert (row.cost_usd, doubled.cost_usd) == (pytest.approx(usd), pytest.approx(2 * usd))


def test_a_bundle_of_a_merged_benchmark_has_its_costs_under_other_ids_of_experiments(tmp_path: Path) -> None:
    entries = list(read_all(merged(shards(), tmp_path / "all")))
    masked = redacted(entries, "public_safe", Identities(users=("ada",)))
    assert not {entry.experiment for entry in entries} & {entry.experiment for entry in masked if entry.experiment}
    assert costs(unanswered(masked)) == costs(unanswered(entries))


def test_after_a_merge_a_run_of_the_rest_is_one_machine_again(tmp_path: Path) -> None:
    path, (a, *_) = merged(shards(), tmp_path / "all"), WHOLE.part(1, 2).experiments()
    more = [Entry(30_000.0, BEGINNING), _entry(30_000.0, replace(started(SERVED), attempt=3), a)]
    *_, last = unanswered([*read_all(path), *more, _entry(30_007.0, FAILED, a)])
    assert round(seconds(last)) == 7
