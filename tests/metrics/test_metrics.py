"""Metrics are the totals of the journal; what is unknown is counted, and never 0; labels are limited and harmless."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from koderz_core import Order, Wanted, open_workspace
from koderz_core.events import (
    CallFailed,
    CallFinished,
    CallStarted,
    ControlObeyed,
    Entry,
    Event,
    ExperimentFinished,
    ExperimentStarted,
    MemoryLevelChanged,
    decode,
)
from koderz_core.events.tally import added, tally
from koderz_core.journal import read_all
from koderz_core.metrics.benchmark_watch import BenchmarkWatch
from koderz_core.metrics.metrics import Metrics
from koderz_core.records import Cost, Experiment, Sampling, Usage

ROOT = Path(__file__).parents[2]
INTERRUPTED = ROOT / "docs" / "study" / "journals" / "bench_4a58c29aaa8b.jsonl.gz"
KEY = "sk-proj-1234567890abcdefghijklmn"
EXPERIMENT = Experiment("exp_000000000001", "conf", "HumanEval/0", 0, 1)
NOT_REPORTED = Usage()
Samples = Mapping[tuple[str, ...], float]


def samples(metrics: Metrics) -> Samples:
    """The values by name and the values of labels in the order of their names."""
    families = text_string_to_metric_families(metrics.text().decode())
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def total(found: Samples, name: str, *labels: str) -> float:
    return sum(value for key, value in found.items() if key[0] == name and set(labels) <= set(key))


def fed(metrics: Metrics, entries: Iterable[Entry]) -> BenchmarkWatch:
    watch = metrics.watch()
    for entry in entries:
        watch(entry)
    return watch


def entry(event: Event, at: float = 1.0, ordinal: int | None = None) -> Entry:
    return Entry(at, event, None if isinstance(event, ControlObeyed | MemoryLevelChanged) else EXPERIMENT.id, ordinal)


def started(model: str) -> CallStarted:
    return CallStarted("coder", 0, model, "0" * 64, (), Sampling(), 1, 1)


def finished(usage: Usage, usd: float | None) -> CallFinished:
    return CallFinished("0" * 64, "stop", usage, Cost(usd, "test"), 1.5, None, Sampling())


def called(model: str, usage: Usage = NOT_REPORTED, usd: float | None = None) -> list[Entry]:
    return [entry(started(model), ordinal=0), entry(finished(usage, usd), ordinal=0)]


def recorded() -> list[Entry]:
    lines = gzip.decompress(INTERRUPTED.read_bytes()).splitlines()
    return [found for line in lines if (found := decode(line)) is not None]


def check_totals(found: Samples, entries: list[Entry]) -> None:
    """Compare with the tally of a whole journal."""
    everything = added(each.totals for each in tally(entries).experiments.values())
    outcomes = ("solved", "unsolved", "cancelled", "error")
    shown = [total(found, "koderz_experiments_total", outcome) for outcome in outcomes]
    assert shown == [everything.solved, everything.unsolved, everything.cancelled, everything.errors]
    assert (
        total(found, "koderz_calls_total", "answered") + total(found, "koderz_calls_total", "cached")
        == everything.calls
    )
    assert total(found, "koderz_unpriced_calls_total") == everything.unpriced
    assert total(found, "koderz_cost_usd_total") == pytest.approx(everything.known_usd, rel=1e-12)
    assert total(found, "koderz_tokens_total", "input") == everything.input_tokens
    assert total(found, "koderz_tokens_total", "output") == everything.output_tokens


def test_a_benchmark_is_measured_as_its_journal_records_it_without_prompts_keys_and_ids(tmp_path: Path) -> None:
    settings = {"openai_api_key": KEY, "metrics_address": "0"}
    with open_workspace(home=tmp_path / "home", **settings) as opened:
        wanted = [
            Wanted("supervised", {"coder": "scripted/weak", "reviewer": "scripted/strong", "spec": "scripted/strong"}),
            Wanted("direct", {"coder": "scripted/strong"}),
        ]
        plan = opened.plans.plan(Order(wanted, "0:4", name="secret project"))
        opened.runs.run(plan)
        text = opened.monitoring.metrics.text().decode()
        found = samples(opened.monitoring.metrics)
        entries = list(read_all(opened.settings.journals_dir / f"{plan.id}.jsonl"))
    check_totals(found, entries)
    assert total(found, "koderz_events_total") == len(entries)
    assert total(found, "koderz_verdicts_total", "gate") == sum(each.event.kind == "code_tested" for each in entries)
    assert [total(found, "koderz_benchmarks", state) for state in ("running", "paused")] == [0, 0]
    for hidden in (KEY, "secret project", plan.id, *plan.problems, "exp_", "def ", "SCRIPTED"):
        assert hidden not in text


def test_the_costs_of_interrupted_calls_count_as_in_the_journal() -> None:
    entries, metrics = recorded(), Metrics("1")
    fed(metrics, entries)
    found = samples(metrics)
    assert total(found, "koderz_calls_total", "interrupted") > 0
    everything = added(each.totals for each in tally(entries).experiments.values())
    assert total(found, "koderz_cost_usd_total") == pytest.approx(everything.known_usd, rel=1e-9)


def test_an_unknown_cost_and_unknown_tokens_have_no_value_and_are_counted() -> None:
    metrics = Metrics("1")
    fed(metrics, called("openai/unknown"))
    fed(metrics, called("openai/known", Usage(7, 3), 0.25))
    found = samples(metrics)
    assert ("koderz_cost_usd_total", "openai/unknown") not in found
    assert ("koderz_tokens_total", "input", "openai/unknown") not in found
    assert found["koderz_unpriced_calls_total", "openai/unknown"] == 1
    assert found["koderz_calls_without_tokens_total", "output", "openai/unknown"] == 1
    assert found["koderz_cost_usd_total", "openai/known"] == 0.25
    assert found["koderz_unpriced_calls_total", "openai/known"] == 0


def test_a_failed_call_counts_with_its_status_and_its_retry() -> None:
    metrics = Metrics("1")
    failed = CallFailed("no", 1.0, True, status=503, wait_seconds=2.0)
    watch = fed(
        metrics, [entry(ExperimentStarted(EXPERIMENT)), entry(started("a/b"), ordinal=0), entry(failed, ordinal=0)]
    )
    found = samples(metrics)
    assert found["koderz_calls_total", "a/b", "failed"] == 1
    assert found["koderz_call_failures_total", "a/b", "503"] == 1
    assert found["koderz_call_retries_total", "a/b"] == 1
    assert (watch.retrying, watch.calls_running) == (1, 0)


def test_what_runs_waits_and_is_paused_is_known_from_events() -> None:
    metrics = Metrics("1", memory=lambda: None)
    watch = metrics.watch()
    watch.begin(recorded()[0].event, 3)
    end = ExperimentFinished("solved", None, "held_out", None, 1.0)
    for event in (ExperimentStarted(EXPERIMENT), started("a/b"), MemoryLevelChanged("low", 1, 2)):
        watch(entry(event, 5.0, 0 if isinstance(event, CallStarted) else None))
    found = samples(metrics)
    names = ("koderz_experiments_running", "koderz_experiments_waiting", "koderz_calls_running", "koderz_memory_level")
    assert [found[name,] for name in names] == [1, 2, 1, 1]
    assert found["koderz_last_event_timestamp_seconds",] == 5.0
    watch(entry(ControlObeyed("pause", None, 1), 6.0))
    found = samples(metrics)
    assert (found["koderz_benchmarks", "running"], found["koderz_benchmarks", "paused"]) == (0, 1)
    assert ("koderz_last_event_timestamp_seconds",) not in found
    watch(entry(end, 7.0))
    watch.end()
    assert [samples(metrics)[name,] for name in names] == [0, 0, 0, 0]


def test_the_lag_of_an_event_is_the_time_until_it_is_written() -> None:
    metrics = Metrics("1", clock=lambda: 4.0)
    fed(metrics, [entry(ControlObeyed("resume", None, 1), 1.5)])
    assert samples(metrics)["koderz_event_lag_seconds_sum",] == 2.5


def test_hostile_names_of_models_neither_break_the_format_nor_become_many_labels() -> None:
    metrics = Metrics("1")
    hostile = 'a/"} 1\nkoderz_cost_usd_total{model="x"} 9\\\ud800' + "y" * 500
    for model in (hostile, *(f"a/{number}" for number in range(60))):
        fed(metrics, called(model))
    found = samples(metrics)
    models = {key[1] for key in found if key[0] == "koderz_unpriced_calls_total"}
    assert len(models) == 51
    assert found["koderz_unpriced_calls_total", "other"] == 11
    assert ("koderz_cost_usd_total", "x") not in found
    assert max(map(len, models)) == 100


def test_the_dashboard_and_the_rules_use_only_metrics_that_exist() -> None:
    metrics = Metrics("1")
    metrics.add_queues({})
    names = {
        name
        for family in metrics.registry.collect()
        for suffix in ("", "_total", "_bucket", "_sum", "_count")
        for name in (family.name + suffix,)
    }
    dashboard = json.loads((ROOT / "deploy/grafana/dashboards/koderz.json").read_text())
    rules = yaml.safe_load((ROOT / "deploy/prometheus/rules.yml").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
    alerts = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    used = {name for text in (*queries, *alerts) for name in re.findall(r"\b(?:koderz|process)_\w+", text)}
    assert used <= names
    assert len(used) > 25
