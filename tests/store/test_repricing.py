"""Recorded benchmarks under other prices: every number follows, and nothing recorded changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import pytest

from koderz_core import Workspace, open_workspace
from koderz_core.errors import ConfigError, DataError, UsageError
from koderz_core.events import (
    SCHEMA_VERSION,
    BenchmarkOpened,
    CallFailed,
    CallFinished,
    CallStarted,
    Entry,
    Event,
    ExperimentFinished,
    ExperimentStarted,
    encode,
)
from koderz_core.records import Configuration, Cost, DatasetOrigin, Plan, Sampling, Tier, Usage
from koderz_core.records.completions import MachineRates, Reused, cost_again
from koderz_core.workspace.repricing import Repricing, repriced, repricing

LOCAL, PAID = "ollama/qwen2.5-coder:0.5b", "openai/gpt-4o"
RATES = MachineRates(100.0, 0.20, 0.36)
TIERS: Mapping[str, Tier] = {LOCAL: "local", PAID: "frontier"}
PLAN = Plan(
    DatasetOrigin("humaneval", "a" * 64, "MIT"), ("HumanEval/0",), (Configuration("direct", {"coder": (LOCAL, PAID)}),)
)
FILE = """
["openai/gpt-4o".price]
input_usd_per_mtok = 1000
output_usd_per_mtok = 2000
source = "a contract"
date = 2026-11-01
"""


@dataclass
class Told:
    """A benchmark of one experiment, call by call."""

    path: Path
    at: float = 1_700_000_000.0
    ordinal: int = 0
    experiment: str = field(default=PLAN.experiments()[0].id)

    def say(self, event: Event, ordinal: int | None = None) -> None:
        self.at += 1
        place = None if isinstance(event, BenchmarkOpened) else self.experiment
        with self.path.open("ab") as file:
            file.write(encode(Entry(self.at, event, place, ordinal)))

    def call(self, model: str, end: CallFinished | CallFailed) -> None:
        self.ordinal += 1
        self.say(CallStarted("coder", 0, model, "hash", (), Sampling(), 7, 1, 5.0), self.ordinal)
        self.say(end, self.ordinal)

    def end(self) -> None:
        self.say(ExperimentFinished("unsolved", "gave_up", "held_out", None, 9.0))


def answered(usage: Usage, cost: Cost, seconds: float = 10.0) -> CallFinished:
    return CallFinished("t", "stop", usage, cost, seconds, None, Sampling())


@pytest.fixture
def told(tmp_path: Path) -> Told:
    folder = tmp_path / "home" / "journals"
    folder.mkdir(parents=True)
    made = Told(folder / f"{PLAN.id}.jsonl")
    made.say(BenchmarkOpened(SCHEMA_VERSION, "0", PLAN.id, PLAN, {}, "prices 1", "limited", TIERS, asdict(RATES)))
    made.say(ExperimentStarted(PLAN.experiments()[0]))
    return made


@pytest.fixture
def opened() -> Iterator[Workspace]:
    with open_workspace() as workspace:
        yield workspace


@pytest.fixture
def cost_under(told: Told, opened: Workspace) -> Callable[[Repricing], float | None]:
    """The cost of the benchmark under other prices, in the row that every table is made of."""

    def cost(how: Repricing) -> float | None:
        told.end()
        before = told.path.read_bytes()
        with repriced(opened, [PLAN.id], how) as other:
            (row,) = other.results.summaries()
        assert told.path.read_bytes() == before
        return row.cost_usd

    return cost


def test_a_file_prices_tokens_and_other_models_keep_their_cost(
    told: Told, cost_under: Callable[[Repricing], float | None], tmp_path: Path
) -> None:
    told.call(PAID, answered(Usage(100, 10), Cost(0.5, "prices 1")))
    told.call(LOCAL, answered(Usage(100, 10), RATES.cost(3600.0), 3600.0))
    (tmp_path / "p.toml").write_text(FILE)
    how = repricing(tmp_path / "p.toml", None, None)
    assert cost_under(how) == pytest.approx(0.12 + 0.1 * 0.20 + 0.36)
    assert how.mark.startswith("re-priced with p.toml (SHA-256 ")


def test_prices_that_some_model_keeps_are_named_so_that_no_comparison_hides_different_ones(
    told: Told, opened: Workspace, tmp_path: Path
) -> None:
    told.end()
    versions = []
    for text in (FILE, FILE + FILE.replace(PAID, LOCAL)):
        (tmp_path / "p.toml").write_text(text)
        with repriced(opened, [PLAN.id], repricing(tmp_path / "p.toml", None, None)) as other:
            (ground,) = other.results.grounds([PLAN.id])
        versions.append(ground.price_version.partition(" p.toml ")[0])
    assert versions == ["prices 1 re-priced with", "re-priced with"]


def test_unknown_tokens_stay_unknown(
    told: Told, cost_under: Callable[[Repricing], float | None], tmp_path: Path
) -> None:
    told.call(PAID, answered(Usage(), Cost(0.5, "prices 1")))
    (tmp_path / "p.toml").write_text(FILE)
    assert cost_under(repricing(tmp_path / "p.toml", None, None)) is None


@pytest.mark.parametrize(
    ("how", "kwh", "usd_per_kwh"),
    [(Repricing(watts=200.0), 0.2, 0.20), (Repricing(usd_per_kwh=1.0), 0.1, 1.0), (Repricing(), 0.1, 0.20)],
)
def test_watts_and_the_price_of_electricity_change_every_local_call(
    told: Told, cost_under: Callable[[Repricing], float | None], how: Repricing, kwh: float, usd_per_kwh: float
) -> None:
    """An answer by its share of the machine, a failed call by its recorded energy; wear and paid calls stay."""
    told.call(LOCAL, answered(Usage(1, 1, machine_seconds=3600.0), RATES.cost(3600.0), seconds=7200.0))
    told.call(LOCAL, CallFailed("late", 3600.0, retryable=False, cost=RATES.cost(3600.0)))
    told.call(PAID, answered(Usage(100, 10), Cost(0.5, "prices 1")))
    assert cost_under(how) == pytest.approx(2 * (kwh * usd_per_kwh + 0.36) + 0.5)


@pytest.mark.parametrize(
    ("how", "usd"),
    [
        (Repricing(usd_per_kwh=1.0), 2 * 0.1 + 2 * 0.2 + 4 * 0.36),
        (Repricing(watts=300.0), 2 * 0.3 * 0.20 + 2 * 0.3 * 0.50 + 4 * 0.36),
    ],
)
@pytest.mark.parametrize("headers", [1, 2], ids=["of the first run only", "of both runs"])
def test_the_rates_of_the_run_of_a_call_count(
    told: Told, cost_under: Callable[[Repricing], float | None], how: Repricing, usd: float, headers: int
) -> None:
    """Half of a benchmark ran before the user measured the machine and set another price of electricity."""
    for run, rates in enumerate((RATES, MachineRates(200.0, 0.50, 0.36))):
        opened = BenchmarkOpened(SCHEMA_VERSION, "0", PLAN.id, PLAN, {}, "prices 1", "limited", TIERS, asdict(rates))
        if run < headers:
            told.say(opened)
        told.call(LOCAL, answered(Usage(1, 1), rates.cost(3600.0), 3600.0))
        told.call(LOCAL, CallFailed("late", 3600.0, retryable=False, cost=rates.cost(3600.0)))
    assert cost_under(how) == pytest.approx(usd)


def test_the_energy_of_gpus_is_measured_and_other_watts_do_not_change_it(
    told: Told, cost_under: Callable[[Repricing], float | None]
) -> None:
    usage = Usage(1, 1, machine_seconds=3600.0, gpu_joules=3.6e6)
    told.call(LOCAL, answered(usage, RATES.cost(3600.0, 3.6e6)))
    assert cost_under(Repricing(watts=200.0)) == pytest.approx(1.2 * 0.20 + 0.36)


def test_the_energy_of_processors_is_measured_too_and_only_its_price_changes(
    told: Told, cost_under: Callable[[Repricing], float | None]
) -> None:
    usage = Usage(1, 1, machine_seconds=3600.0, cpu_joules=3.6e6)
    told.call(LOCAL, answered(usage, RATES.cost(3600.0, cpu_joules=3.6e6)))
    assert cost_under(Repricing(watts=200.0, usd_per_kwh=1.0)) == pytest.approx(1.0 + 0.36)


def test_under_a_price_of_tokens_a_failed_local_call_has_no_cost_in_energy(
    told: Told, cost_under: Callable[[Repricing], float | None], tmp_path: Path
) -> None:
    """A sum of both would mix two prices of one model."""
    told.call(LOCAL, CallFailed("late", 3600.0, retryable=True, cost=RATES.cost(3600.0)))
    told.call(LOCAL, answered(Usage(100, 10), RATES.cost(3600.0), 3600.0))
    (tmp_path / "p.toml").write_text(FILE.replace(PAID, LOCAL))
    assert cost_under(repricing(tmp_path / "p.toml", None, None)) == pytest.approx(0.12)


def test_an_answer_from_the_cache_is_free_unmeasured_and_counts_only_when_that_is_stated(
    told: Told, cost_under: Callable[[Repricing], float | None], opened: Workspace
) -> None:
    original = Reused("exp_1", 5.0, Cost(0.5, "prices 1"), 4.0)
    told.call(PAID, replace(answered(Usage(100, 10), cost_again(original.cost), 0.001), cached=original))
    told.end()
    (row,), (trial,) = opened.results.summaries(), opened.results.trials([PLAN.id])
    assert (row.cost_usd, row.cached) == (0.0, 1)
    assert (trial.usd, trial.frontier_usd, trial.seconds, trial.tokens) == (None, None, None, 110)
    assert cost_under(Repricing()) == 0.5
    with repriced(opened, [PLAN.id], Repricing()) as other:
        (trial,) = other.results.trials([PLAN.id])
    assert (trial.usd, trial.seconds) == (0.5, None)


def test_a_cached_answer_of_a_local_model_is_no_source_of_energy(told: Told, opened: Workspace) -> None:
    """Otherwise the energies of two configurations would count as measured in different ways."""
    original = Reused("exp_1", 5.0, RATES.cost(4.0), 4.0)
    told.call(LOCAL, replace(answered(Usage(100, 10), cost_again(original.cost), 0.001), cached=original))
    told.call(LOCAL, answered(Usage(100, 10), RATES.cost(4.0)))
    told.end()
    assert list(opened.results.energy_sources([PLAN.id]).values()) == [("100 W",)]


def test_prices_for_none_of_the_models_are_a_mistake(told: Told, opened: Workspace, tmp_path: Path) -> None:
    told.end()
    (tmp_path / "p.toml").write_text(FILE.replace("gpt-4o", "gpt-40"))
    how = repricing(tmp_path / "p.toml", None, None)
    with pytest.raises(UsageError, match=r"gpt-40.*the benchmarks used"), repriced(opened, [PLAN.id], how):
        pass


@pytest.mark.parametrize(("text", "error"), [("", ConfigError), ("[", ConfigError), (None, DataError)])
def test_a_file_without_prices_is_refused(tmp_path: Path, text: str | None, error: type[Exception]) -> None:
    if text is not None:
        (tmp_path / "p.toml").write_text(text)
    with pytest.raises(error, match=r"p\.toml"):
        repricing(tmp_path / "p.toml", None, None)
