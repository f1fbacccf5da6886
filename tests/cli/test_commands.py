"""What a person does on the command line, and what it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import koderz_core
from koderz_core.cli import COMMANDS, tables

SMALL = ("benchmark", "--problems", "0:3", "--strategy", "direct,supervised", "--max-iterations", "3")
WEAK = (*SMALL, "--coder", "scripted/weak")
KODERZ = (sys.executable, "-c", "from koderz_core.cli import main; main()")


def test_help_names_every_command(koderz: Any) -> None:
    said = koderz("--help")
    assert said.code == 0
    assert all(f"{name} " in said.out for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(koderz: Any, name: str) -> None:
    assert koderz(name, "--help").code == 0


def test_the_version_is_the_packages(koderz: Any) -> None:
    assert koderz_core.__version__ in koderz("--version").out


def test_a_benchmark_ends_with_a_table_that_says_what_it_is(koderz: Any) -> None:
    said = koderz(*WEAK)
    assert said.code == 0
    assert "direct SCRIPTED weak" in said.out
    assert "an oracle rate, not pass@1" in said.out
    assert "SCRIPTED: the answers come from a script" in said.err


def test_the_same_command_again_asks_nothing_and_shows_the_same(koderz: Any) -> None:
    first, again = koderz(*WEAK), koderz(*WEAK)
    assert first.out == again.out
    assert "6 of them already done" in again.err


def test_results_as_json_hold_what_the_table_shows(koderz: Any) -> None:
    koderz(*WEAK)
    direct, supervised = koderz("results", "--json").json
    assert (direct["strategy"], direct["score_kind"], direct["planned"]) == ("direct", "held_out", 3)
    assert (supervised["strategy"], supervised["score_kind"]) == ("supervised", "oracle")
    assert direct["cost_usd"] == 0
    assert direct["mean_iterations"] == 0


def test_results_can_be_narrowed_to_a_problem_and_to_successes(koderz: Any) -> None:
    koderz(*SMALL, "--coder", "scripted/strong")
    rows = koderz("results", "--problem", "HumanEval/1", "--json").json
    assert {row["problem"] for row in rows} == {"HumanEval/1"}
    assert {row["outcome"] for row in koderz("results", "--success-only", "--json").json} == {"solved"}


def test_a_list_of_experiments_says_that_its_limit_leaves_some_out(koderz: Any) -> None:
    koderz("benchmark", "--problems", "0:3", "--coder", "scripted/strong")
    lists = [koderz("results", "--experiments", "--limit", limit).out for limit in (2, 3, 0)]
    assert [said.count("exp_") for said in lists] == [2, 3, 3]
    assert ["… and more lines (--limit 0 shows all)" in said for said in lists] == [True, False, False]
    said = koderz("results", "--experiments", "--limit", "2", "--json")
    assert (len(said.json), said.err) == (2, "… and more lines (--limit 0 shows all)\n")


def test_results_in_a_narrow_terminal_name_each_configuration_and_cut_no_number(
    koderz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second"):
        koderz("benchmark", "--problems", "0:1", "--coder", "scripted/weak", "--name", name, "--quiet")
    monkeypatch.setattr(tables, "PIPED_WIDTH", 60)
    shown = koderz("results").out
    assert "…" not in shown
    assert [shown.count(f"{name}  ") for name in ("first", "second")] == [2, 2]
    assert [shown.count(cell) for cell in ("direct SCRIPTED", "0 % [0, 79]", "$0.00")] == [2, 2, 2]
    listed = koderz("results", "--experiments").out
    assert "…" not in listed
    assert [listed.count(cell) for cell in ("HumanEval/0", "direct", "✗ unsolved", "$0.00")] == [2] * 4


def test_results_of_nothing_say_how_to_begin(koderz: Any) -> None:
    assert "koderz quickstart" in koderz("results").out


def test_analyze_shows_a_benchmark_and_each_iteration_of_an_experiment(koderz: Any) -> None:
    koderz(*SMALL, "--coder", "scripted/never", "--checkpoint-interval", "1")
    rows = koderz("results", "--experiments", "--json").json
    benchmark = koderz("analyze", rows[0]["benchmark"])
    assert "Failed programs of supervised" in benchmark.out
    supervised = next(row["id"] for row in rows if row["label"].startswith("supervised"))
    said = koderz("analyze", supervised[:9], "--show-code").out
    reviewed = said.index(
        "checkpoint 2 after iteration 2, because the checkpoint interval was reached:\n"
        "(gate tests passed by the best program: 0 of "
    )
    assert said.index("same program as in iteration 1") < reviewed < said.index("\nIteration 1, ")
    assert "(given to the coder: root cause, fix, edge cases; withheld: failing tests)\nRoot cause:" in said
    assert "return None" in said


def test_analyze_lists_problems_in_their_natural_order(koderz: Any) -> None:
    koderz("benchmark", "--problems", "8:12", "--coder", "scripted/weak")
    (row,) = koderz("results", "--json").json
    said = koderz("analyze", row["benchmark"]).out
    places = [said.index(f"HumanEval/{number} ") for number in (8, 9, 10, 11)]
    assert places == sorted(places)


def test_run_exits_with_4_if_the_problem_is_not_solved(koderz: Any) -> None:
    said = koderz("run", "--problem-id", "HumanEval/0", "--coder", "scripted/never")
    assert said.code == 4
    assert "unsolved" in said.out


def test_fail_under_exits_with_4(koderz: Any) -> None:
    never = ("benchmark", "--problems", "0:2", "--coder", "scripted/never")
    assert koderz(*never, "--fail-under", "1").code == 4
    assert koderz(*never, "--fail-under", "0").code == 0


def test_one_configuration_below_fail_under_is_enough(koderz: Any) -> None:
    both = ("benchmark", "--problems", "0:2", "--coder", "scripted/strong,scripted/never")
    assert koderz(*both, "--fail-under", "50").code == 4


def test_list_problems_shows_some_and_says_how_to_see_all(koderz: Any) -> None:
    said = koderz("list-problems", "--limit", "2").out
    assert "humaneval: 164 problems, licence MIT, SHA-256" in said
    assert "162 more" in said
    assert "def truncate_number" in koderz("list-problems", "--problem-id", "HumanEval/2").out


def test_models_list_says_what_is_ready_and_what_to_do_about_the_others(koderz: Any) -> None:
    rows = {row["id"]: row for row in koderz("models", "list", "--json").json}
    assert rows["scripted/weak"]["ready"]
    assert "OPENAI_API_KEY" in rows["openai/gpt-4o-mini"]["cure"]


def test_models_show_tells_what_a_model_takes_and_costs(koderz: Any) -> None:
    known = koderz("models", "show", "gpt-6-luna", "--json").json
    assert (known["capabilities"]["temperature"], known["sample_cost"]["usd"]) == (False, 0.0006)
    shown = koderz("models", "show", "gpt-oss:20b").out
    assert "num_predict" in shown
    assert "cost of the same tokens at a provider that hosts the weights of this model" in shown


def test_a_temperature_that_a_model_does_not_take_is_refused_before_anything_is_asked(koderz: Any) -> None:
    refused = koderz("run", "--problem-id", "HumanEval/0", "--coder", "gpt-6-luna", "--temperature", "0.3")
    assert refused.code == 2
    assert "it does not accept a temperature" in refused.err


def test_models_test_asks_one_question(koderz: Any) -> None:
    assert "SCRIPTED" in koderz("models", "test", "scripted/weak").out


def test_reindex_changes_nothing_bit_for_bit(koderz: Any) -> None:
    koderz(*WEAK)
    with koderz_core.open_workspace() as workspace:
        store = workspace.results.store
        before = store.dump()
        assert koderz("reindex").out.startswith("Indexed ")
        assert store.dump() == before


def test_two_benchmarks_at_once_on_one_folder_are_both_in_the_results(koderz: Any) -> None:
    both = [
        subprocess.Popen([*KODERZ, *WEAK, "--name", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for name in ("one", "two")
    ]
    assert [process.communicate() and process.returncode for process in both] == [0, 0]
    rows = koderz("results", "--json").json
    assert len({row["benchmark"] for row in rows}) == 2
    assert all(row["solved"] + row["unsolved"] == 3 for row in rows)


def test_the_readmes_python_lines_work(capsys: pytest.CaptureFixture[str]) -> None:
    readme = (Path(koderz_core.__file__).parent.parent / "README.md").read_text()
    lines = readme.split("```python\n")[1].split("```")[0]
    exec(lines, {})
    said = capsys.readouterr().out
    assert said.startswith("True\n")
    assert "HumanEval/2" in said


def test_timing_adds_up_to_the_time_of_the_experiments(koderz: Any) -> None:
    order = ("--problems", "0:3", "--strategy", "supervised", "--coder", "scripted/weak", "--max-iterations", "3")
    assert koderz("benchmark", *order, "--no-baselines").code == 0
    benchmark = koderz("results", "--json").json[0]["benchmark"]
    (found,) = koderz("analyze", benchmark, "--timing", "--json").json
    assert found["experiments"] == 3
    assert sum(found["phases"].values()) == pytest.approx(found["seconds"], rel=0.05)
    assert found["phases"]["tests"] > 0
    assert "journal" in koderz("analyze", benchmark, "--timing").out


@pytest.mark.skipif(sys.platform != "linux", reason="strong tiers need Linux")
def test_what_is_begun_says_first_what_its_programs_run_in(koderz: Any) -> None:
    said = koderz("benchmark", "--problems", "0:1", "--coder", "scripted/strong")
    identifier = said.err.split(":")[0]
    (row,) = koderz("analyze", identifier, "--json").json["experiments"]
    assert f"Isolation: {row['isolation']}, self-test {row['self_test']}." in said.err
    assert (row["isolation"] in ("hardened", "strong"), row["shared"]) == (True, False)
