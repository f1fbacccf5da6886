"""`koderz resume`, and a benchmark that goes on, grows, tries errors again or is forked."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_server import sends, serving_chat, streams
from taking_over import taking_over

import koderz_core
from koderz_core.cli.conclusion import FinishedRun, exit_code
from koderz_core.errors import Cancelled
from koderz_core.events import BenchmarkOpened
from koderz_core.journal import read_all

SMALL = ("benchmark", "--problems", "0:2", "--coder", "scripted/strong")
HOLDER = """
import pathlib, sys
from koderz_core.journal import Journal
journal = Journal(pathlib.Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def journals(tmp_path: Path) -> Path:
    return tmp_path / "home" / "journals"


def only(journals: Path) -> Path:
    (journal,) = journals.glob("*.jsonl")
    return journal


def cut(journal: Path, kind: bytes = b'"experiment_finished"') -> None:
    """As if it had been killed right behind the first line of that kind."""
    lines = journal.read_bytes().splitlines(keepends=True)
    end = next(number for number, line in enumerate(lines) if kind in line)
    journal.write_bytes(b"".join(lines[: end + 1]))


def headers(journal: Path) -> list[BenchmarkOpened]:
    return [entry.event for entry in read_all(journal) if isinstance(entry.event, BenchmarkOpened)]


def test_a_killed_benchmark_is_resumed_by_the_beginning_of_its_id_and_ends_the_same(
    koderz: Any, journals: Path
) -> None:
    whole = koderz(*SMALL)
    cut(only(journals))
    said = koderz("resume", only(journals).stem[:9])
    assert (said.code, said.out.splitlines()[0]) == (0, whole.out.splitlines()[0])
    assert "1 of them already done" in said.err
    (row,) = koderz("results", "--json").json
    assert row["solved"] + row["unsolved"] == 2


def test_a_benchmark_whose_journal_was_renamed_is_not_started_again(koderz: Any, journals: Path) -> None:
    koderz(*SMALL)
    cut(only(journals))
    benchmark, renamed = only(journals).stem, only(journals).rename(journals / "kept.jsonl")
    for command in (SMALL, ("resume", benchmark)):
        said = koderz(*command)
        assert (said.code, "is in the file kept.jsonl" in said.err) == (2, True)
    assert only(journals) == renamed


def test_what_is_finished_needs_neither_its_dataset_nor_its_models(koderz: Any, journals: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text(problem("def f(): return 1"))
    koderz("benchmark", "--problems", "all", "--coder", "scripted/strong", "--humaneval-path", own)
    own.unlink()
    said = koderz("resume", only(journals).stem)
    assert said.code == 0
    assert "is finished. Nothing is left to run" in said.err
    assert "direct SCRIPTED strong" in said.out


def problem(solution: str) -> str:
    row = {"task_id": "own/0", "entry_point": "f", "prompt": "", "canonical_solution": ""}
    row |= {"prompt": "def f():\n", "canonical_solution": f"    {solution.partition(': ')[2]}\n"}
    return json.dumps(row | {"test": "def check(candidate):\n    assert candidate() == 1\n"}) + "\n"


def test_a_changed_dataset_is_told_with_both_hashes_and_can_be_forked(
    koderz: Any, journals: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text(problem("def f(): return 1"))
    koderz("benchmark", "--problems", "all", "--coder", "scripted/strong", "--humaneval-path", own)
    journal = only(journals)
    cut(journal, b'"benchmark_opened"')
    recorded = journal.read_bytes()
    said = koderz("resume", journal.stem)
    assert said.code == 3
    assert headers(journal)[0].plan.dataset.sha256[:12] in said.err
    assert "--humaneval-path FILE" in said.err
    assert koderz("resume", journal.stem, "--fork").code == 3  # the packaged file has no own/0
    own.write_text(problem("def f(): return 2 - 1"))
    forked = koderz("resume", journal.stem, "--fork", "--humaneval-path", own)
    assert (forked.code, journal.read_bytes()) == (0, recorded)
    assert f"{journal.stem}-fork is a fork of {journal.stem}." in forked.err


def test_other_conditions_are_told_and_can_be_set_back(koderz: Any, journals: Path) -> None:
    koderz(*SMALL, "--test-timeout", "7")
    cut(only(journals))
    said = koderz("resume", only(journals).stem, "--test-timeout", "9")
    assert said.code == 2
    assert "the time limit of tests was 7.0 s and is now 9.0 s (to undo the change: --test-timeout 7.0)" in said.err
    assert "--fork" in said.err
    assert koderz("resume", only(journals).stem, "--test-timeout", "7.0").code == 0


def test_what_another_process_runs_is_left_to_it(koderz: Any, journals: Path) -> None:
    koderz(*SMALL)
    cut(only(journals))
    command = [sys.executable, "-c", HOLDER, only(journals)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        said = koderz("resume", only(journals).stem)
        assert said.code == 3
        assert f"is being run by another process (PID {other.pid})" in said.err
        other.communicate(b"\n")


def _wait_for(other: subprocess.Popen[bytes], reached: Callable[[], bool]) -> None:
    while not reached():
        assert other.poll() is None, "the process ended before it was paused"
        time.sleep(0.01)


def test_what_another_process_has_paused_goes_on_there(koderz: Any, journals: Path) -> None:
    options = ("--problems", "0:6", "--coder", "scripted/slow", "--concurrency", "1")
    command = [sys.executable, "-c", taking_over(), "benchmark", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as other:
        assert other.stderr is not None
        benchmark = other.stderr.readline().decode().partition(":")[0]
        with koderz_core.open_workspace() as workspace:
            _wait_for(other, lambda: any(row.holder for row in workspace.results.benchmarks()))
            workspace.runs.pause(benchmark)
            _wait_for(other, lambda: workspace.results.benchmark(benchmark).state == "paused")
        refused = koderz("resume", benchmark, "--retry-errors", "--max-retries", "0", "--allow-unpriced")
        assert (refused.code, f"koderz stop {benchmark}" in refused.err) == (2, True)
        assert "Omit --max-retries, --allow-unpriced, --retry-errors, or" in refused.err
        assert other.poll() is None
        said = koderz("resume", benchmark, "--json")
        assert (said.code, f"in the process that had paused it (PID {other.pid})" in said.err) == (0, True)
        assert [row["benchmark"] for row in said.json] == [benchmark]
        assert other.wait(30) == 0


def test_a_typed_problem_that_is_gone_is_named(koderz: Any, journals: Path) -> None:
    with koderz_core.open_workspace() as workspace:
        name = workspace.grading.keep_problem("def add(a, b):\n", "assert add(1, 2) == 3", "    return a + b")
    koderz("benchmark", "--dataset", name, "--problems", "all", "--coder", "scripted/strong")
    cut(only(journals), b'"benchmark_opened"')
    (journals.parent / "problems" / f"{name}.jsonl").unlink()
    said = koderz("resume", only(journals).stem)
    assert said.code == 3
    assert f"no longer exists. Unknown dataset: {name!r}" in said.err


@pytest.mark.parametrize("name", ["bench_nothing", "exp_"])
def test_only_a_benchmark_is_resumed(koderz: Any, name: str) -> None:
    koderz("benchmark", "--problems", "0:1", "--coder", "scripted/strong")
    said = koderz("resume", name)
    assert said.code == 2
    assert ("Unknown benchmark" if name == "bench_nothing" else "koderz resume bench_") in said.err


@pytest.mark.parametrize(("first", "code"), [("vllm/it,scripted/strong", 0), ("scripted/strong,vllm/it", 3)])
def test_a_model_that_is_gone_hinders_only_what_still_needs_it(
    koderz: Any, journals: Path, monkeypatch: pytest.MonkeyPatch, first: str, code: int
) -> None:
    with serving_chat() as server:
        server.answer = streams({"content": "No idea."})
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        koderz("benchmark", "--problems", "0:1", "--coder", first, "--concurrency", "1")
    cut(only(journals))
    said = koderz("resume", only(journals).stem)
    assert said.code == code
    assert ("vllm/it cannot be called" in said.err) == bool(code)


def test_prompts_that_changed_stop_a_named_benchmark_and_a_fork_starts_anew(koderz: Any, journals: Path) -> None:
    koderz(*SMALL, "--name", "mine")
    old = only(journals)
    old.write_bytes(
        old.read_bytes().replace(b'"coding":"', b'"coding":"0').replace(b'"coding prompt":"', b'"coding prompt":"0')
    )
    recorded = old.read_bytes()
    said = koderz(*SMALL, "--name", "mine")
    assert said.code == 2
    assert "the version of the coding prompt was 0" in said.err
    assert "--fork" in said.err
    assert koderz(*SMALL, "--name", "mine", "--fork").code == 0
    assert koderz(*SMALL, "--name", "mine", "--fork").code == 0
    assert old.read_bytes() == recorded
    forks = {headers(path)[0].plan.name: headers(path)[0].forked_from for path in journals.glob("*.jsonl")}
    assert forks == {"mine": None, "mine-2": old.stem, "mine-3": old.stem}
    assert koderz(*SMALL, "--name", "mine-2").code == 0  # goes on, though its plan does not say where it came from


def test_what_was_never_begun_is_not_forked(koderz: Any) -> None:
    said = koderz(*SMALL, "--name", "mine", "--fork")
    assert said.code == 2
    assert "nothing to fork" in said.err


def test_a_named_benchmark_grows_and_an_unnamed_one_is_another(koderz: Any, journals: Path) -> None:
    koderz(*SMALL, "--name", "mine")
    more = ("benchmark", "--problems", "1:4", "--coder", "scripted/strong,scripted/weak", "--repeats", "2")
    said = koderz(*more, "--name", "mine")
    assert said.code == 0
    assert "Added to the recorded benchmark: 2 problems, 1 configuration, 1 repeat." in said.err
    rows = koderz("results", "--json").json
    assert {(row["planned"], row["solved"] + row["unsolved"]) for row in rows} == {(8, 7), (8, 6)}
    assert {row["benchmark"] for row in rows} == {only(journals).stem}
    koderz(*SMALL)
    koderz("benchmark", "--problems", "0:3", "--coder", "scripted/strong")
    assert len(list(journals.glob("*.jsonl"))) == 3


def test_a_command_runs_only_what_it_names_and_a_resumption_by_name_the_rest(koderz: Any, journals: Path) -> None:
    koderz("benchmark", "--problems", "0:4", "--coder", "scripted/strong", "--name", "mine")
    cut(only(journals), b'"benchmark_opened"')
    said = koderz("run", "--problem-id", "1", "--coder", "scripted/strong", "--name", "mine")
    assert said.code == 0
    assert "1 problem, 1 experiment." in said.err
    assert (
        "This command leaves out 3 experiments of the benchmark. To run the whole benchmark: koderz resume bench_"
        in said.err
    )
    assert solved(koderz) == 1
    assert koderz(*SMALL, "--name", "mine", "--fail-under", "100").code == 0
    assert solved(koderz) == 2
    assert koderz("resume", "mine").code == 0
    assert solved(koderz) == 4


def solved(koderz: Any) -> int:
    (row,) = koderz("results", "--json").json
    return int(row["solved"])


def test_a_name_that_several_benchmarks_have_is_none_to_resume_by(koderz: Any, journals: Path) -> None:
    koderz(*SMALL, "--name", "mine")
    koderz(*SMALL, "--name", "mine", "--seed", "1")
    said = koderz("resume", "mine")
    assert said.code == 2
    assert "'mine' is the name of several benchmarks: bench_" in said.err


def test_a_benchmark_that_has_grown_is_indexed_anew_to_the_same(koderz: Any, journals: Path) -> None:
    koderz(*SMALL, "--name", "mine")
    koderz("benchmark", "--problems", "0:3", "--coder", "scripted/strong,scripted/weak", "--name", "mine")
    opened = [entry.at for entry in read_all(only(journals)) if isinstance(entry.event, BenchmarkOpened)]
    with koderz_core.open_workspace() as workspace:
        (row,) = workspace.results.benchmarks()
        assert (row.opened_at, row.problems, row.configurations, row.state) == (opened[0], 3, 2, "finished")
        before = workspace.results.store.dump()
        workspace.results.reindex()
        assert workspace.results.store.dump() == before


def test_what_run_asks_for_alone_decides_its_exit_code(koderz: Any) -> None:
    alone = ("run", "--name", "mine", "--problem-id")
    assert koderz(*alone, "0", "--coder", "scripted/never").code == 4
    said = koderz(*alone, "1", "--coder", "scripted/strong", "--json")
    assert (said.code, len(said.json)) == (0, 1)


def test_what_ended_as_error_is_run_again_on_request(
    koderz: Any, journals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving_chat() as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        server.answer = sends(400, {"error": {"message": "no"}})
        command = ("benchmark", "--problems", "0:1", "--coder", "vllm/it")
        assert koderz(*command).code == 3
        server.answer = streams({"content": "No idea."})
        said = koderz(*command)
        assert (said.code, len(server.bodies)) == (3, 1)
        assert "Experiments that ended with an error: 1. To run them again, add --retry-errors" in said.err
        kept = koderz("resume", only(journals).stem)
        assert (kept.code, len(server.bodies)) == (3, 1)
        assert koderz("resume", only(journals).stem, "--retry-errors").code == 0
        assert len(server.bodies) == 2
    (row,) = koderz("results", "--experiments", "--json").json
    assert (row["outcome"], row["error"]) == ("unsolved", None)


def test_a_retry_that_was_killed_has_no_result_until_it_is_resumed(
    koderz: Any, journals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving_chat() as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        server.answer = sends(400, {"error": {"message": "no"}})
        koderz("benchmark", "--problems", "0:1", "--coder", "vllm/it")
        server.answer = streams({"content": "No idea."})
        koderz("resume", only(journals).stem, "--retry-errors")
        lines = only(journals).read_bytes().splitlines(keepends=True)
        started = max(number for number, line in enumerate(lines) if b'"experiment_started"' in line)
        only(journals).write_bytes(b"".join(lines[: started + 1]))
        with koderz_core.open_workspace() as workspace:
            plan = workspace.runs.recorded(only(journals).stem)
            assert workspace.costs.forecast(plan).experiments == 1
            assert exit_code(workspace, FinishedRun(plan.id, plan.experiments()), None) == Cancelled.exit_code
        assert koderz("resume", only(journals).stem).code == 0


def test_what_went_wrong_is_said_once_each_with_how_to_go_on(
    koderz: Any, journals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving_chat() as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        server.answer = sends(401, {})
        models = ",".join(f"vllm/\x1b]0;{name}" for name in "abcd")
        said = koderz("benchmark", "--problems", "0:3", "--coder", models, "--json")
    lines = [line for line in said.err.splitlines() if line.startswith("3 of 12 errors: ")]
    assert (said.code, len(lines), len(said.json)) == (3, 3, 4)
    assert all("answered 401" in line and "\x1b" not in line for line in lines)
    assert "… and 1 more" in said.err
    assert f"koderz resume {only(journals).stem} --retry-errors" in said.err


def test_a_benchmark_goes_on_in_the_background_as_it_was_planned(koderz: Any, journals: Path) -> None:
    koderz(*SMALL)
    cut(only(journals))
    with koderz_core.open_workspace() as workspace:
        benchmark = workspace.runs.resume(only(journals).stem)
        while workspace.runs.is_here(benchmark):
            time.sleep(0.01)
        assert workspace.results.benchmark(benchmark).state == "finished"


def test_a_benchmark_is_named_by_its_name_wherever_one_is_asked_for(koderz: Any) -> None:
    koderz("benchmark", "--problems", "0:1", "--coder", "scripted/strong", "--name", "mine of May")
    (row,) = koderz("results", "mine of May", "--json").json
    assert koderz("analyze", "mine of May", "--json").json["benchmark"] == row["benchmark"]
    for command in ("pause", "stop"):
        said = koderz(command, "mine of May")
        assert (said.code, f"{row['benchmark']} is not running" in said.err) == (2, True)
