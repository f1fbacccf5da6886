"""Debug files beside a benchmark, and those of what is recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.cli.progress import DebugFiles

SMALL = ("benchmark", "--problems", "0:2", "--coder", "scripted/weak")
ITERATING = (*SMALL, "--strategy", "supervised", "--max-iterations", "3", "--no-baselines")


def names(folder: str | Path) -> set[str]:
    return {path.name.partition("_")[2].partition("_")[2] for path in Path(folder).iterdir()}


def test_debug_writes_the_files_of_every_experiment(koderz: Any) -> None:
    said = koderz(*ITERATING, "--debug")
    assert said.code == 0
    assert "of 2 experiments to debug." in said.err
    assert {"spec.txt", "iter001_raw.txt", "iter001_code.py", "iter001_result.txt"} <= names("debug")


def test_files_are_written_only_if_asked_for_and_then_also_of_what_was_recorded_before(koderz: Any) -> None:
    assert "Written" not in koderz(*SMALL).err
    assert list(Path.cwd().iterdir()) == []
    assert "8 files of 2 experiments to here." in koderz(*SMALL, "--debug-dir", "here").err


def test_the_files_of_an_experiment_are_there_while_its_benchmark_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    with open_workspace() as opened:
        plan = opened.plans.plan(Order([Wanted("direct", {"coder": "scripted/weak"})], "0:2"))
        debug = DebugFiles(opened.experiments, plan, Path("debug"))
        with opened.runs.runner(plan, [debug.watch]) as runner, debug:
            runner.start()
            runner.wait()
            debug.with_writing(lambda: None)()
            assert len(list(Path("debug").iterdir())) == 8
    assert "Wrote 8 files of 2 experiments to debug." in capsys.readouterr().err


def test_what_keeps_debug_files_from_being_written_costs_the_benchmark_nothing(koderz: Any) -> None:
    koderz(*SMALL, "--data-dir", "another", "--debug")
    blocked = next(Path("debug").glob("*_raw.txt"))
    blocked.unlink()
    blocked.mkdir()  # the same command makes the same ids, wherever its results are kept
    said = koderz(*SMALL, "--debug")
    assert said.code == 0
    assert "direct SCRIPTED weak" in said.out
    assert "Some debug files are missing: The files cannot be written into debug (Is a directory)" in said.err
    assert "To write them: koderz analyze bench_" in said.err


def test_analyze_dumps_the_same_as_debug_did(koderz: Any) -> None:
    koderz("run", "--problem-id", "0", "--coder", "scripted/weak", "--debug")
    (row,) = koderz("results", "--experiments", "--json").json
    for chosen in (row["id"], row["benchmark"]):
        assert "4 files of 1 experiment to" in koderz("analyze", chosen, "--dump", chosen, "--json").err
        written, before = (
            {path.name: path.read_bytes() for path in Path(item).iterdir()} for item in (chosen, "debug")
        )
        assert written == before


def test_a_folder_that_is_none_is_told_before_anything_is_asked(koderz: Any) -> None:
    Path("file").touch()
    said = koderz(*SMALL, "--debug-dir", "file/debug")
    assert said.code == 3
    assert "cannot be written into file/debug" in said.err
    assert koderz("results", "--json").json == []


def test_show_code_prints_programs_in_order_and_a_repeated_one_only_once(koderz: Any) -> None:
    koderz("run", "--problem-id", "0", "--coder", "scripted/never", "--strategy", "repair", "--max-iterations", "2")
    (row,) = koderz("results", "--experiments", "--json").json
    said = koderz("analyze", row["id"], "--show-code").out
    assert said.count("return None") == 1
    assert said.index("Iteration 1, ") < said.index("return None") < said.index("Iteration 2, ")
    assert said.endswith("same program as in iteration 1\n")
    refused = koderz("analyze", row["benchmark"], "--show-code")
    assert (refused.code, "koderz results bench_" in refused.err) == (2, True)
