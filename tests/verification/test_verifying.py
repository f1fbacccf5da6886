"""Verification: what was recorded by the runner holds, and whatever is changed is named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

from koderz_core import open_workspace
from koderz_core.analysis.sequential import Rule
from koderz_core.config import Settings
from koderz_core.events import SCHEMA_VERSION, BenchmarkDecided, BenchmarkOpened, Entry, ExperimentFinished
from koderz_core.events.tally import tally
from koderz_core.examples import EXAMPLE, example_journal
from koderz_core.records import Configuration, DatasetOrigin, Outcome, Plan
from koderz_core.records.registrations import Registration
from koderz_core.verification.figures import Shown
from koderz_core.verification.journals import Difference, verify_journal
from koderz_core.workspace.bundles import Bundles

GOLDEN = Path(__file__).parents[1] / "golden"


def keep(settings: Settings, journal: str) -> tuple[str, Path]:
    benchmark = json.loads((GOLDEN / journal).read_text().splitlines()[0])["event"]["benchmark"]
    path = settings.journals_dir / f"{benchmark}.jsonl"
    path.parent.mkdir(parents=True)
    shutil.copy(GOLDEN / journal, path)
    return benchmark, path


def differences(benchmark: str) -> list[Difference]:
    with open_workspace() as workspace:
        return list(workspace.bundles.verify(benchmark).differences)


def altered(path: Path, kind: str, **fields: Any) -> None:
    """Change the first event of a kind."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    first = next(line for line in lines if line["kind"] == kind)
    first["event"] |= fields
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize("journal", ["schema-1.jsonl", "schema-1-changed.jsonl"])
def test_what_the_runner_wrote_holds(settings: Settings, journal: str) -> None:
    assert differences(keep(settings, journal)[0]) == []


def test_the_example_holds(settings: Settings) -> None:
    settings.journals_dir.mkdir(parents=True)
    (settings.journals_dir / f"{EXAMPLE}.jsonl").write_bytes(example_journal())
    with open_workspace() as workspace:
        found = workspace.bundles.verify(EXAMPLE)
    assert found.holds
    assert found.checked["figures"] > 500


def test_a_changed_text_is_named(settings: Settings) -> None:
    benchmark, path = keep(settings, "schema-1.jsonl")
    altered(path, "text_stored", text="another")
    assert [difference.what for difference in differences(benchmark)] == ["the SHA-256"]


def test_a_missing_text_is_named(settings: Settings) -> None:
    benchmark, path = keep(settings, "schema-1.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    lines.remove(next(line for line in lines if '"text_stored"' in line))
    path.write_text("".join(lines))
    assert {difference.what for difference in differences(benchmark)} == {"a text"}


def test_another_plan_under_the_same_id_is_named(settings: Settings) -> None:
    benchmark, path = keep(settings, "schema-1.jsonl")
    path.write_text(path.read_text().replace('"seed":3', '"seed":4', 1))
    assert "the id" in {difference.what for difference in differences(benchmark)}


def test_a_journal_under_another_name_is_named(settings: Settings) -> None:
    _, path = keep(settings, "schema-1.jsonl")
    path.rename(path.with_name("bench_000000000000.jsonl"))
    assert {difference.what for difference in differences("bench_000000000000")} == {"the benchmark"}


def test_a_solved_experiment_whose_tests_failed_is_named(settings: Settings) -> None:
    benchmark, path = keep(settings, "schema-1.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    ended = [line for line in lines if line["kind"] == "experiment_finished"]
    worst = next(line for line in ended if line["event"]["outcome"] == "unsolved")
    worst["event"]["outcome"] = "solved"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert ("the outcome", worst["experiment"]) in {
        (difference.what, difference.where) for difference in differences(benchmark)
    }


def test_a_benchmark_that_runs_meanwhile_differs_in_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark, path = keep(settings, "schema-1.jsonl")
    lines, shown = path.read_bytes().splitlines(keepends=True), Bundles._shown
    path.write_bytes(b"".join(lines[:20]))
    del lines[:20]

    def later(bundles: Bundles, benchmark: str) -> Shown:
        with path.open("ab") as journal:
            journal.writelines(lines)
        lines.clear()
        return shown(bundles, benchmark)

    monkeypatch.setattr(Bundles, "_shown", later)
    with open_workspace() as workspace:
        found = workspace.bundles.verify(benchmark)
        assert (found.holds, "figures" in found.checked, len(found.remarks)) == (True, False, 1)
        again = workspace.bundles.verify(benchmark)
    assert (again.holds, "figures" in again.checked, again.remarks) == (True, True, ())


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("update experiments set outcome = 'solved' where outcome = 'unsolved'", "solved"),
        ("update calls set cost_usd = cost_usd + 1 where cost_usd is not null", "cost_usd"),
        ("update experiments set output_tokens = output_tokens + 1", "output_tokens"),
        ("update experiments set tries = tries + 1", "iterations"),
        ("update experiments set seconds = seconds * 2", "seconds"),
    ],
)
def test_a_figure_that_was_changed_in_the_store_is_named(settings: Settings, change: str, what: str) -> None:
    benchmark, _ = keep(settings, "schema-1.jsonl")
    with open_workspace() as workspace:
        workspace.results.benchmark(benchmark)  # the store is made by that
    with duckdb.connect(str(settings.store_path)) as con:
        con.execute(change)
    found = differences(benchmark)
    assert what in {item.what for item in found}
    assert any("exported" in item.where for item in found)


def ended(plan: Plan, outcomes: Mapping[str, Outcome], decision: BenchmarkDecided) -> list[Entry]:
    """A journal of a sequential benchmark: its plan, these ends, and the decision."""
    opened = BenchmarkOpened(SCHEMA_VERSION, "0.1.0", plan.id, plan, {}, "prices 1", "limited", {})
    ends = [Entry(2.0, end(outcome), name) for name, outcome in outcomes.items()]
    return [Entry(1.0, opened), *ends, Entry(3.0, decision)]


def end(outcome: Outcome) -> ExperimentFinished:
    return ExperimentFinished(outcome, None, None if outcome == "error" else "reported", None, 1.0)


def sequential(problems: int) -> tuple[Plan, list[str]]:
    """A sequential benchmark, and the ids of its experiments: of each problem, first A and then B."""
    pair = tuple(Configuration("direct", {"coder": (name,)}) for name in ("local/a", "local/b"))
    names = tuple(f"p/{at}" for at in range(problems))
    plan = Plan(DatasetOrigin("d", "0", "MIT"), names, pair, registration=Registration(0, 1, 0.1, "sequential"))
    return plan, [experiment.id for experiment in plan.experiments()]


def test_only_the_results_before_a_decision_count_for_it() -> None:
    plan, (first, *others) = sequential(80)
    solved: dict[str, Outcome] = dict.fromkeys(others, "solved")
    found = Rule(plan).decision({first: "error", **solved})
    assert found
    entries = ended(plan, {first: "error", **solved}, BenchmarkDecided(*found))
    entries.append(Entry(4.0, end("solved"), first))
    assert Rule(plan).decision({first: "solved", **solved}) not in (None, found)
    assert verify_journal(plan.id, entries, tally(entries)).differences == ()


@pytest.mark.parametrize(("problems", "holds"), [(2, True), (1, False)])
def test_a_decision_of_the_first_versions_which_took_missing_results_for_lost_is_right(
    problems: int, holds: bool
) -> None:
    plan, ids = sequential(40)
    errors: dict[str, Outcome] = dict.fromkeys(ids[:4], "error")
    entries = ended(plan, errors, BenchmarkDecided("hopeless", problems))
    assert Rule(plan).decision(errors) is None
    assert Rule(plan).state(errors, may_come=False).decision == "hopeless"
    assert verify_journal(plan.id, entries, tally(entries)).holds == holds


def test_a_line_that_cannot_be_read_is_named(settings: Settings) -> None:
    benchmark, path = keep(settings, "schema-1.jsonl")
    path.write_text(path.read_text().replace('"kind":"call_started"', '"kind":3', 1))
    assert [difference.where for difference in differences(benchmark)] == [path.name]
