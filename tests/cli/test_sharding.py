"""Shards: parts of a benchmark that run separately, and `koderz merge`, which makes one benchmark of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from koderz_core import open_workspace
from koderz_core.errors import PlanError
from koderz_core.events import BenchmarkClosed, BenchmarkOpened, CallStarted, ExperimentFinished
from koderz_core.journal import read_all
from koderz_core.journal.annotations import annotations_file
from koderz_core.plan.shards import shard_numbers
from koderz_core.records.shards import Shard
from koderz_core.report.export_request import ExportOrder

FEW = ("--problems", "0:2", "--strategy", "direct,repair", "--coder", "scripted/weak", "--quiet", "--concurrency", 2)
CLOCK = {"at", "seconds", "first_token_seconds", "started_at", "finished_at", "test_seconds", "opened_at"}
CLOCK |= {"seconds_per_experiment"}
KILLED = """
import os, signal
from koderz_core.cli import main
from koderz_core.events import CallFinished
from koderz_core.journal import Journal
append = Journal.append
def append_and_die(journal, *entries):
    append(journal, *entries)
    if any(isinstance(entry.event, CallFinished) for entry in entries):
        os.kill(os.getpid(), signal.SIGKILL)
Journal.append = append_and_die
main()
"""


def benchmark(koderz: Any, home: Path, *options: object) -> Any:
    return koderz("benchmark", *FEW, "--data-dir", home, *options)


def journals(home: Path) -> list[Path]:
    return sorted((home / "journals").glob("*.jsonl"))


def events(journal: Path, kind: type) -> list[Any]:
    return [entry.event for entry in read_all(journal) if isinstance(entry.event, kind)]


def tables(home: Path) -> Iterator[tuple[str, list[dict[str, object]]]]:
    """Every exported table of the only benchmark, and its own row, without the columns that come from a clock."""
    with open_workspace(home=home, memory="off") as opened:
        (row,) = opened.results.benchmarks()
        yield "benchmark", [{name: getattr(row, name) for name in row.__slots__ if name not in CLOCK}]
        for table in ("experiments", "iterations", "calls", "comparison", "pairs"):
            with opened.exports.file(ExportOrder(table, "json", (row.id,))) as file:
                lines = [json.loads(line) for line in file]
            yield table, [{name: value for name, value in line.items() if name not in CLOCK} for line in lines]


@pytest.fixture(scope="module")
def _kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first test that needs ``two`` keeps it."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def two(koderz: Any, _kept: Path, tmp_path: Path) -> Path:
    """A data folder of this test with both shards of a benchmark with a budget, which have run once for all tests."""
    for number in () if journals(_kept) else (1, 2):
        assert benchmark(koderz, _kept, "--max-cost", 3, "--shard", f"{number}/2").code == 0
    return Path(shutil.copytree(_kept, tmp_path / "two"))


def test_sixteen_shards_of_which_one_was_killed_make_the_same_benchmark_as_one_run(koderz: Any, tmp_path: Path) -> None:
    more = ("--problems", "0:10", "--max-cost", 8, "--name", "study")
    assert benchmark(koderz, tmp_path / "one", *more).code == 0
    for number in range(1, 17):
        folder = tmp_path / ("many" if number % 2 else "others")  # a folder of their own, or a shared one
        sharded = (*more, "--shard", f"{number}/16")
        if number == 1:
            words = ("benchmark", *FEW, "--data-dir", folder, *sharded)
            killed = subprocess.run([sys.executable, "-c", KILLED, *map(str, words)], capture_output=True, check=False)
            assert killed.returncode == -9
            assert not events(journals(folder)[0], BenchmarkClosed)
        assert benchmark(koderz, folder, *sharded).code == 0
    (first, *_) = journals(tmp_path / "many")
    asked = [(entry.experiment, entry.ordinal) for entry in read_all(first) if isinstance(entry.event, CallStarted)]
    assert len(asked) == len(set(asked))  # the answer from before it was killed was not requested again
    said = koderz("merge", "study", tmp_path / "others", "--data-dir", tmp_path / "many")
    assert said.code == 0
    assert "Merged 16 shards into study (bench_" in said.out
    assert dict(tables(tmp_path / "many")) == dict(tables(tmp_path / "one"))
    assert koderz("verify", "study", "--data-dir", tmp_path / "many").code == 0
    assert koderz("bundle", "study", "--out", tmp_path / "study.zip", "--data-dir", tmp_path / "many").code == 0


def test_a_shard_has_the_whole_plan_and_only_its_experiments(two: Path) -> None:
    plans = [events(journal, BenchmarkOpened)[0].plan for journal in journals(two)]
    first, second = ({each.id for each in plan.experiments()} for plan in plans)
    assert first | second == {each.id for each in plans[0].whole.experiments()}
    assert not first & second
    assert plans[0].whole == plans[1].whole
    assert [plan.id for plan in plans] == [f"{plans[0].whole.id}-{number}-of-2" for number in (1, 2)]


def test_results_say_that_a_shard_is_a_part(koderz: Any, two: Path) -> None:
    (first, _) = (journal.stem for journal in journals(two))
    said = koderz("results", "--data-dir", two).out
    assert first in said
    assert "Partial: 2 shards, each with a random part of the experiments of a benchmark." in said
    koderz("merge", first.partition("-")[0], "--data-dir", two)
    merged = koderz("results", "--data-dir", two).out
    assert "Partial" not in merged  # only the whole is counted
    assert first not in merged


def test_the_budget_is_divided_and_a_merge_says_what_is_left(koderz: Any, two: Path) -> None:
    plans = [events(journal, BenchmarkOpened)[0].plan for journal in journals(two)]
    assert [plan.budget.usd for plan in plans] == [1.5, 1.5]
    said = koderz("merge", two, "--data-dir", two, "--json").json
    assert said["budget_usd"] == 3
    assert [shard["usd"] for shard in said["shards"]] == [1.5, 1.5]
    assert sum(Shard(number, 7, 0.1).share_usd or 0 for number in range(1, 8)) <= 0.1


def test_a_partial_merge_includes_the_budgets_of_the_missing_shards(koderz: Any, two: Path, tmp_path: Path) -> None:
    first, _ = journals(two)
    lines = first.read_bytes().partition(b'"experiment_started"')[0].splitlines(keepends=True)
    first.write_bytes(b"".join(lines[:-1]))  # a finished shard would keep its budget
    koderz("resume", first.stem, "--max-cost", 2, "--data-dir", two)
    said = koderz("merge", first, "--partial", "--json", "--data-dir", tmp_path / "new").json
    assert said["budget_usd"] == 2 + 1.5


def test_a_merge_keeps_labels_and_notes(koderz: Any, two: Path) -> None:
    end = next(entry.experiment for entry in read_all(journals(two)[1]) if isinstance(entry.event, ExperimentFinished))
    assert koderz("label", end, "odd", "--data-dir", two).code == 0
    annotations_file(journals(two)[0]).write_bytes(b'{"v":1,"at":')  # as a killed process leaves it
    koderz("merge", two, "--data-dir", two)
    assert end in koderz("results", "--label", "odd", "--data-dir", two).out
    table = ("export", "--table", "labels", "--columns", "experiment,text", "--out", "-", "--data-dir", two)
    assert koderz(*table).out.count(end) == 1  # not once more for its shard
    koderz("label", end, "--remove", "odd", "--data-dir", two)
    assert end not in koderz(*table).out
    assert koderz("label", "--json", "--data-dir", two).json == []


def test_without_a_shard_only_a_partial_merge_is_made_and_resume_runs_the_rest(
    koderz: Any, two: Path, tmp_path: Path
) -> None:
    first, second = journals(two)
    missing = koderz("merge", first, "--data-dir", tmp_path / "new")
    assert (missing.code, "Missing shards: 1 of 2 (numbers: 2)" in missing.err) == (2, True)
    partial = koderz("merge", first, "--partial", "--data-dir", tmp_path / "new")
    id_ = first.stem.partition("-")[0]
    assert f"To run the experiments without a result: koderz resume {id_}" in partial.out
    assert koderz("resume", id_, "--data-dir", tmp_path / "new").code == 0
    koderz("merge", first, second, "--data-dir", tmp_path / "both")
    rest, whole = dict(tables(tmp_path / "new")), dict(tables(tmp_path / "both"))
    assert [rest[name] == whole[name] for name in ("experiments", "iterations", "comparison")] == [True] * 3


def test_a_shard_with_an_open_experiment_is_refused(koderz: Any, two: Path) -> None:
    first, _ = journals(two)
    lines = first.read_bytes().splitlines(keepends=True)
    start = next(number for number, line in enumerate(lines) if b'"experiment_started"' in line)
    first.write_bytes(b"".join(lines[:start]))
    said = koderz("merge", two, "--data-dir", two)
    assert (said.code, "experiments without a result" in said.err) == (2, True)
    koderz("results", "--data-dir", two)  # both shards are in the index
    assert koderz("merge", two, "--partial", "--data-dir", two).code == 0
    rows = koderz("results", "--data-dir", two, "--json").json
    assert {row["benchmark"] for row in rows} == {first.stem.partition("-")[0]}
    assert sum(row["planned"] for row in rows) == 4
    assert koderz("results", first.stem, "--data-dir", two).code == 2  # the shard is no benchmark of its own any more


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (("--test-timeout", 9), "plan.conditions."),
        (("--seed", 5), "plan.seed is 5"),
        (("--max-cost", 4), "total budget is 4"),
        (("--problems", "0:3"), "plan.problems"),
    ],
)
def test_another_header_is_refused_with_the_field_and_the_file(
    koderz: Any, two: Path, tmp_path: Path, options: tuple[object, ...], field: str
) -> None:
    benchmark(koderz, tmp_path / "other", "--max-cost", 3, "--shard", "2/2", *options)
    (other,) = journals(tmp_path / "other")
    said = koderz("merge", journals(two)[0], other, "--data-dir", tmp_path / "new")
    assert said.code == 2
    assert field in said.err
    assert str(other) in said.err
    assert not journals(tmp_path / "new")


def test_two_results_of_the_same_experiment_are_refused_and_a_copy_is_not(
    koderz: Any, two: Path, tmp_path: Path
) -> None:
    first, second = journals(two)
    copy = Path(shutil.copy(first, tmp_path))
    assert koderz("merge", first, copy, second, "--data-dir", tmp_path / "new").code == 0
    end = events(copy, ExperimentFinished)[0]
    changed = {"solved": b'"outcome":"unsolved"', "unsolved": b'"outcome":"solved"'}[end.outcome]
    copy.write_bytes(copy.read_bytes().replace(f'"outcome":"{end.outcome}"'.encode(), changed, 1))
    said = koderz("merge", first, copy, second, "--data-dir", tmp_path / "newer")
    assert (said.code, "different results of the experiment exp_" in said.err) == (2, True)


def test_of_two_copies_the_later_one_counts_and_copies_that_went_apart_are_refused(
    koderz: Any, two: Path, tmp_path: Path
) -> None:
    second, first = sorted(journals(two), key=lambda journal: len(events(journal, ExperimentFinished)))
    stopped, apart = (Path(shutil.copy(first, tmp_path / name)) for name in ("stopped", "apart"))
    altered(stopped, "experiment_finished", outcome="cancelled")
    assert koderz("merge", stopped, first, second, "--data-dir", tmp_path / "new").code == 0
    lines = first.read_text().splitlines(keepends=True)
    (*_, last) = (number for number, line in enumerate(lines) if '"kind":"experiment_finished"' in line)
    apart.write_text("".join([*lines[:last], *lines[last + 1 :]]))
    said = koderz("merge", stopped, apart, second, "--partial", "--data-dir", tmp_path / "newer")
    assert (said.code, "different results of the experiment exp_" in said.err) == (2, True)


def test_a_journal_may_be_in_the_topmost_folder() -> None:
    assert annotations_file(Path("/shard.jsonl")) == Path("/labels/shard.jsonl")


def altered(journal: Path, kind: str, **values: object) -> None:
    """Change the first line of a kind, in its envelope or in its event."""
    lines = journal.read_text().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if f'"kind":"{kind}"' in line)
    line = json.loads(lines[at])
    line.update({name: value for name, value in values.items() if name in line})
    line["event"].update({name: value for name, value in values.items() if name not in line})
    journal.write_text("".join([*lines[:at], json.dumps(line) + "\n", *lines[at + 1 :]]))


@pytest.mark.parametrize(
    ("kind", "values", "said"),
    [
        ("experiment_started", {"experiment": "exp_zz"}, "does not belong to shard 1 of 2"),
        ("experiment_started", {"experiment": "exp_000000000000"}, "does not belong to shard 1 of 2"),
        ("text_stored", {"sha256": "zz"}, "a text that does not match its recorded SHA-256 zz"),
        ("text_stored", {"text": "x"}, "changed after koderz had written it"),  # else it could replace another's
    ],
)
def test_a_changed_journal_is_refused(koderz: Any, two: Path, kind: str, values: dict[str, object], said: str) -> None:
    altered(journals(two)[0], kind, **values)
    merged = koderz("merge", two, "--data-dir", two)
    assert merged.code in (2, 3)
    assert said in merged.err
    assert len(journals(two)) == 2


def test_other_files_and_running_shards_are_refused(koderz: Any, two: Path, tmp_path: Path) -> None:
    benchmark(koderz, tmp_path / "one")
    assert "is not the journal of a shard" in koderz("merge", *journals(tmp_path / "one")).err
    assert "contains no shards of a benchmark" in koderz("merge", "bench_0123456789ab").err
    with open_workspace(home=two, memory="off") as opened:
        plan = opened.runs.recorded(journals(two)[0].stem)
        with opened.runs.runner(plan):
            assert "is still running" in koderz("merge", two, "--data-dir", two).err


def test_a_benchmark_is_not_divided_in_two_ways_in_one_folder(koderz: Any, two: Path) -> None:
    whole = journals(two)[0].stem.partition("-")[0]
    assert f"koderz merge {whole}" in benchmark(koderz, two, "--max-cost", 3).err
    other = benchmark(koderz, two, "--max-cost", 3, "--shard", "1/3")
    assert (other.code, "The number of shards must be the same in all commands: --shard 1/2" in other.err) == (2, True)
    koderz("merge", whole, "--data-dir", two)
    again = benchmark(koderz, two, "--max-cost", 3, "--shard", "1/2")
    assert (again.code, f"koderz resume {whole}" in again.err) == (2, True)
    assert "already exists" in koderz("merge", whole, "--data-dir", two).err


@pytest.mark.parametrize(
    "options",
    [
        ("--shard", "3/2"),
        ("--shard", "0/2"),
        ("--shard", "half"),
        ("--shard", "auto"),
        ("--shard", "1/2", "--pilot", 1),
        ("--shard", "1/2", "--fork"),
        ("--shard", "1/2", "--coder", "select:fixed:scripted/weak+scripted/strong"),
        ("--shard", "1/2", "--register", "--stopping", "sequential"),
    ],
)
def test_what_shards_could_not_agree_on_is_refused(koderz: Any, tmp_path: Path, options: tuple[object, ...]) -> None:
    said = benchmark(koderz, tmp_path / "home", *options)
    assert (said.code, "shard" in said.err) == (2, True)
    assert not journals(tmp_path / "home")


def test_a_shard_is_resumed_by_its_id_and_neither_forked_nor_bundled(koderz: Any, two: Path, tmp_path: Path) -> None:
    first, _ = journals(two)
    lines = first.read_bytes().splitlines(keepends=True)
    first.write_bytes(b"".join(lines[: len(lines) // 2]))
    assert koderz("resume", first.stem, "--data-dir", two).code == 0
    assert {event.plan.shard.number for event in events(first, BenchmarkOpened)} == {1}
    assert "cannot be forked" in koderz("resume", first.stem, "--fork", "--data-dir", two).err
    said = koderz("bundle", first.stem, "--out", tmp_path / "part.zip", "--data-dir", two)
    assert (said.code, "only one shard of a benchmark" in said.err) == (2, True)


def test_a_shard_that_continued_under_other_prices_is_merged(
    koderz: Any, two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = journals(two)
    lines = first.read_bytes().splitlines(keepends=True)
    first.write_bytes(b"".join(lines[: len(lines) // 2]))
    monkeypatch.setenv("KODERZ_LOCAL_WATTS", "130")
    assert koderz("resume", first.stem, "--data-dir", two).code == 0
    before, after = events(first, BenchmarkOpened)
    assert before.energy != after.energy
    assert koderz("merge", two, "--data-dir", two).code == 0
    (merged,) = events(two / "journals" / f"{before.plan.whole.id}.jsonl", BenchmarkOpened)
    assert merged.energy == before.energy


def test_a_merged_benchmark_is_pruned_with_its_shards(koderz: Any, two: Path) -> None:
    koderz("merge", two, "--data-dir", two)
    assert len(journals(two)) == 3
    pruning = ("frontier-costs", "--scripted", "--all", "--prune-days", 0, "--confirm", "--data-dir", two)
    assert koderz(*pruning).code == 0
    assert journals(two) == []


def slurm(monkeypatch: pytest.MonkeyPatch, **values: int) -> None:
    for name in [name for name in os.environ if name.startswith("SLURM_")]:
        monkeypatch.delenv(name)
    for name, value in values.items():
        monkeypatch.setenv(f"SLURM_ARRAY_TASK_{name.upper()}", str(value))


def test_auto_is_the_place_in_the_job_array(monkeypatch: pytest.MonkeyPatch) -> None:
    slurm(monkeypatch, id=3, min=1, max=16, count=16, step=1)
    assert shard_numbers("auto") == (3, 16)
    slurm(monkeypatch, id=0, min=0, max=15, count=16)
    assert shard_numbers("auto") == (1, 16)
    slurm(monkeypatch, id=31, min=1, max=31, count=16, step=2)
    assert shard_numbers("auto") == (16, 16)


def test_a_part_of_a_job_array_names_no_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    slurm(monkeypatch, id=3, min=3, max=3, count=1, step=1)
    with pytest.raises(PlanError, match="SLURM_ARRAY_TASK_ID/16"):
        shard_numbers("auto")
    slurm(monkeypatch, id=7, min=3, max=7, count=2, step=1)
    with pytest.raises(PlanError, match="Slurm reports an array that does not meet"):
        shard_numbers("auto")
    slurm(monkeypatch, id=3, min=3, max=4, count=2, step=1)  # as shard 1/2 it would run another half
    with pytest.raises(PlanError, match="Slurm reports an array that does not meet"):
        shard_numbers("auto")
