"""Results of other tools, imported as a user does, and compared."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pandas import DataFrame  # type: ignore[import-untyped]  # pandas ships no types
from sample import thinned
from scipy.stats import binomtest  # type: ignore[import-untyped]  # scipy ships no types

from koderz_core.config import load_settings
from koderz_core.datasets.humaneval import load_humaneval
from koderz_core.memory.mirror import JournalReader

Rows = Sequence[Mapping[str, Any]]  # Any: JSON


def written(path: Path, rows: Rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def arena(model: str, passed: Mapping[str, Any], dataset: str = "some benchmark") -> list[dict[str, Any]]:
    return [
        {
            "benchmark_id": dataset,
            "model": model,
            "example_id": problem,
            **(of if isinstance(of, dict) else {"pass1": of}),
        }
        for problem, of in passed.items()
    ]


def imported(said: Any) -> list[str]:
    assert said.code == 0, said.err
    return re.findall("bench_[0-9a-f]{12}", said.out.partition("To compare")[0])


def rows_of(koderz: Any, table: str, *of: str) -> list[dict[str, Any]]:
    said = koderz("export", *of, "--table", table, "--format", "json", "--out", "-")
    return [json.loads(line) for line in said.out.splitlines()]


def journals() -> list[Path]:
    return sorted(load_settings().journals_dir.glob("*"))


def test_programs_of_samples_are_graded_and_several_of_a_problem_are_repeats(koderz: Any, tmp_path: Path) -> None:
    problems = load_humaneval(load_settings()).problems[:3]
    good = [{"task_id": problem.id, "solution": problem.canonical_solution} for problem in problems]
    wrong = [{"task_id": problem.id, "completion": "    return None\n"} for problem in problems]
    file = written(tmp_path / "mine.jsonl", [*good, *wrong])
    (name,) = imported(koderz("import", file, "--dataset", "humaneval", "--model", "my-model"))
    found = rows_of(koderz, "experiments", name)
    assert [(row["problem"], row["repeat"], row["outcome"]) for row in found] == [
        (problem.id, repeat, outcome) for problem in problems for repeat, outcome in enumerate(("solved", "unsolved"))
    ]
    assert {row["score_kind"] for row in found} == {"held_out"}
    assert {(row["cost_usd"], row["output_tokens"], row["seconds"]) for row in found} == {(None, None, None)}
    assert "imported my-model" in koderz("results", name).out
    assert koderz("verify", name).code == 0


def test_results_without_a_time_are_remembered(koderz: Any, tmp_path: Path) -> None:
    (name,) = imported(koderz("import", written(tmp_path / "in.jsonl", arena("m", {"HumanEval/0": True}))))
    journal = load_settings().journals_dir / f"{name}.jsonl"
    told = [read.memory.content for read in JournalReader(journal, scripted=False).read() if read.memory]
    assert any("time: unknown." in content for content in told)


def test_a_reply_without_a_program_is_unsolved(koderz: Any, tmp_path: Path) -> None:
    file = written(tmp_path / "replies.jsonl", [{"task_id": "HumanEval/0", "answer": "I cannot do that."}])
    (name,) = imported(koderz("import", file, "--dataset", "humaneval"))
    (row,) = rows_of(koderz, "experiments", name)
    assert (row["outcome"], row["failure"], row["reason"]) == ("unsolved", "extraction", "gave_up")


def test_results_that_a_file_states_are_marked_and_their_costs_are_unknown(koderz: Any, tmp_path: Path) -> None:
    rows = [*arena("gpt-4o", {"a/1": 1, "a/2": 1, "a/3": 0}), *arena("some-7b", {"a/1": 0, "a/2": 1, "a/3": 0})]
    (name,) = imported(koderz("import", written(tmp_path / "arena.jsonl", rows)))
    table = koderz("results", name)
    assert "67 %" in table.out
    assert "§" in table.out
    assert "koderz did not run these programs" in table.out
    found = rows_of(koderz, "comparison", name)
    assert {row["label"]: (row["score_kind"], row["cost_usd"]) for row in found} == {
        "imported gpt-4o": ("reported", None),
        "imported some-7b": ("reported", None),
    }
    assert koderz("verify", name).code == 0


def test_a_tier_is_the_one_that_the_name_suggests_or_the_user_states(koderz: Any, tmp_path: Path) -> None:
    file = written(tmp_path / "arena.jsonl", [*arena("gpt-4o", {"a/1": 1}), *arena("some-7b", {"a/1": 0})])
    shown = koderz("import", file, "--preview").out
    assert re.search(r"gpt-4o +frontier", shown)
    assert re.search(r"some-7b +local", shown)
    assert not journals()
    assert re.search(r"some-7b +frontier", koderz("import", file, "--tier", "some-7b=frontier").out)


def test_counts_are_repeats_and_models_with_other_numbers_of_samples_get_a_benchmark_of_their_own(
    koderz: Any, tmp_path: Path
) -> None:
    ten = arena("ten", {"a/1": {"pass1": 0.3, "count": 10}, "a/2": {"correct": 10, "count": 10}})
    file = written(tmp_path / "arena.jsonl", [*ten, *arena("once", {"a/1": 1, "a/2": 0})])
    names = imported(koderz("import", file))
    assert len(names) == 2
    solved = [sum(row["outcome"] == "solved" for row in rows_of(koderz, "experiments", name)) for name in names]
    assert solved == [1, 13]


def test_a_problem_that_a_file_lacks_has_no_result_and_is_not_counted_as_failed(koderz: Any, tmp_path: Path) -> None:
    rows = [*arena("all", {"a/1": 1, "a/2": 0}), *arena("half", {"a/1": 1})]
    (name,) = imported(koderz("import", written(tmp_path / "arena.jsonl", rows)))
    shares = {row["label"]: (row["share"], row["n"], row["share_worst"]) for row in rows_of(koderz, "comparison", name)}
    assert shares["imported half"] == (1.0, 1, 0.5)


def test_the_same_file_again_adds_nothing_and_another_one_of_its_name_is_refused(koderz: Any, tmp_path: Path) -> None:
    file = written(tmp_path / "arena.jsonl", arena("some-7b", {"a/1": 1}))
    first = imported(koderz("import", file))
    content = [path.read_bytes() for path in journals()]
    assert imported(koderz("import", file)) == first
    written(file, arena("some-7b", {"a/1": 0}))
    said = koderz("import", file)
    assert said.code == 3
    assert "--name" in said.err
    assert [path.read_bytes() for path in journals()] == content
    assert imported(koderz("import", file, "--name", "second")) != first


def test_imported_results_cannot_be_run(koderz: Any) -> None:
    said = koderz("benchmark", "--configuration", "imported coder=scripted/weak", "--problems", "0", "--plan-only")
    assert said.code == 2
    assert "cannot be run again" in said.err


GOOD = {"benchmark_id": "b", "model": "m", "example_id": "a/1", "pass1": 1}
SAMPLE = {"task_id": "HumanEval/0", "solution": "pass"}
WRONG: list[tuple[str, str]] = [
    ("", "no lines"),
    ("\n\n", "no lines"),
    ("nonsense", "not JSON"),
    ("[1]", "not a JSON object"),
    ("{}", "format"),
    ('{"task_id": "HumanEval/0"}', "format"),
    (json.dumps(GOOD | {"pass1": 2}), "from 0 to 1"),
    (json.dumps(GOOD | {"pass1": "yes"}), "not a number"),
    (json.dumps(GOOD | {"pass1": None}), "neither of the fields pass1 and correct"),
    (json.dumps(GOOD | {"pass1": 0.5}), "count"),
    (json.dumps(GOOD | {"count": 0}), "count"),
    (json.dumps(GOOD | {"count": 10**9}), "count"),
    (json.dumps(GOOD | {"count": 2.5}), "whole number"),
    (json.dumps(GOOD | {"count": 2, "correct": 3}), "from 0 to count"),
    (json.dumps(GOOD | {"count": 2, "correct": 1}), "pass1 is 1"),
    (json.dumps(GOOD).replace("1}", "NaN}"), "not a number"),
    (json.dumps(GOOD | {"model": ""}), "is not valid: write 1 to"),
    (json.dumps(GOOD | {"model": "a\nb"}), "is not valid: write 1 to"),
    (json.dumps(GOOD | {"model": "\x1b[31m"}), "is not valid: write 1 to"),
    (json.dumps(GOOD | {"model": "x" * 201}), "is not valid: write 1 to"),
    (json.dumps(GOOD | {"model": 7.5}), "model is not text"),
    (json.dumps(GOOD | {"example_id": None}), "example_id is missing"),
    (json.dumps(GOOD | {"example_id": "\ud800"}), "surrogate"),
    (json.dumps(GOOD) + "\n" + json.dumps(GOOD | {"benchmark_id": "c"}), "several datasets"),
    (json.dumps(GOOD) + "\n" + json.dumps(SAMPLE), "line 2"),
    (json.dumps(SAMPLE | {"completion": "pass"}), "only one of them is allowed"),
    (json.dumps(SAMPLE | {"solution": 3}), "solution is not text"),
    (json.dumps(SAMPLE | {"task_id": "HumanEval/999"}), "HumanEval/999"),
    (json.dumps(SAMPLE | {"task_id": "other/1"}), "--dataset"),
    (json.dumps(SAMPLE) + "\n" + json.dumps(SAMPLE)[:-5], "line 2"),
]


@pytest.mark.parametrize(("content", "word"), WRONG)
def test_a_broken_file_is_refused_with_the_reason_and_nothing_is_stored(
    koderz: Any, tmp_path: Path, content: str, word: str
) -> None:
    file = tmp_path / "broken.jsonl"
    file.write_text(content, encoding="utf-8", errors="surrogatepass")
    said = koderz("import", file)
    assert said.code == 3
    assert word in said.err
    assert "Traceback" not in said.err
    assert not journals()


def test_published_results_are_imported_and_compared_as_a_script_does(
    koderz: Any, tmp_path: Path, test_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The p value of every pair with the baseline, computed from the file by scipy."""
    monkeypatch.setenv("KODERZ_DATASETS_DIR", str(test_data))
    published, file = test_data / "eval-arena-humaneval+.jsonl.gz", tmp_path / "eval-arena-humaneval+.jsonl"
    with gzip.open(published, "rt", encoding="utf-8") as lines:
        every = [json.loads(line) for line in lines]
    chosen = thinned(sorted({row["model"] for row in every}), "models whose published results are imported")
    rows = [row for row in every if row["model"] in chosen]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    passed = {(row["model"], row["example_id"]): row["pass1"] == 1 for row in rows}
    models = sorted({row["model"] for row in rows})
    problems = sorted({row["example_id"] for row in rows})
    (name,) = imported(koderz("import", file))
    compared = rows_of(koderz, "comparison", name)
    names = {row["configuration"]: row["label"].removeprefix("imported ") for row in compared}
    shares = {names[row["configuration"]]: row["share"] for row in compared}
    assert shares == {
        model: pytest.approx(sum(passed[model, problem] for problem in problems) / len(problems)) for model in models
    }
    pairs = rows_of(koderz, "pairs", name)
    assert len(pairs) == len(models) - 1
    for pair in pairs:
        it, base = (names[pair[side].partition("/")[2]] for side in ("configuration", "baseline"))
        only = sum(passed[it, problem] and not passed[base, problem] for problem in problems)
        other = sum(passed[base, problem] and not passed[it, problem] for problem in problems)
        expected = binomtest(only, only + other, 0.5).pvalue if only + other else 1.0
        assert pair["p"] == pytest.approx(expected, rel=1e-9)


COLUMNS = "problem=task,model=who,passed=ok,input_tokens=in,output_tokens=out,seconds=took,dataset=set"
TABLE: Rows = [
    {"task": "a/1", "who": "small", "ok": "true", "in": 100, "out": 10, "took": 1.5, "set": "s"},
    {"task": "a/2", "who": "small", "ok": 0, "in": 100, "out": None, "took": None, "set": "s"},
    {"task": "a/1", "who": "large", "ok": "C", "in": 100, "out": 10, "took": 2, "set": "s"},
    {"task": "a/2", "who": "large", "ok": "yes", "in": 100, "out": 10, "took": 3, "set": "s"},
]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_table_is_imported_by_its_columns_and_a_stated_price_makes_costs(
    koderz: Any, tmp_path: Path, ending: str
) -> None:
    file, frame = tmp_path / f"table.{ending}", DataFrame(TABLE).astype({"ok": str})
    if ending == "csv":
        frame.to_csv(file, index=False)
    elif ending == "parquet":
        frame.to_parquet(file)
    else:
        written(file, TABLE)
    (name,) = imported(koderz("import", file, "--map", COLUMNS, "--price", "large=3,15"))
    found = {(row["label"], row["problem"]): row for row in rows_of(koderz, "experiments", name)}
    assert found["imported large", "a/1"]["cost_usd"] == pytest.approx((100 * 3 + 10 * 15) / 1e6)
    assert found["imported large", "a/2"]["seconds"] == 3
    assert found["imported small", "a/1"]["cost_usd"] is None
    assert (found["imported small", "a/2"]["output_tokens"], found["imported small", "a/2"]["seconds"]) == (None, None)
    assert [found["imported small", problem]["outcome"] for problem in ("a/1", "a/2")] == ["solved", "unsolved"]
    assert koderz("verify", name).code == 0


def test_a_nested_field_of_json_lines_is_named_with_dots(koderz: Any, tmp_path: Path) -> None:
    row = {"doc": {"task_id": "HumanEval/0"}, "resps": [["pass"]], "pass@1": 1.0, "exact": {"0": "no"}}
    file = written(tmp_path / "lm.jsonl", [row])
    columns = "problem=doc.task_id,passed=pass@1"
    (name,) = imported(koderz("import", file, "--map", columns, "--dataset", "humaneval"))
    assert [each["outcome"] for each in rows_of(koderz, "experiments", name)] == ["solved"]
    graded = "problem=doc.task_id,completion=resps.0.0"
    said = koderz("import", file, "--map", graded, "--dataset", "humaneval", "--name", "graded")
    assert [each["outcome"] for each in rows_of(koderz, "experiments", *imported(said))] == ["unsolved"]


def test_an_empty_cell_of_programs_is_an_empty_program_and_a_program_may_be_long(koderz: Any, tmp_path: Path) -> None:
    solution = load_humaneval(load_settings()).problems[0].canonical_solution
    file, usual = tmp_path / "table.csv", csv.field_size_limit()
    rows = [{"id": "HumanEval/0", "code": f"{solution}\n#{'x' * 140_000}"}, {"id": "HumanEval/1", "code": ""}]
    DataFrame(rows).to_csv(file, index=False)
    (name,) = imported(koderz("import", file, "--map", "problem=id,solution=code", "--dataset", "humaneval"))
    assert [row["outcome"] for row in rows_of(koderz, "experiments", name)] == ["solved", "unsolved"]
    assert csv.field_size_limit() == usual


def test_an_id_may_be_a_number_and_have_outer_spaces(koderz: Any, tmp_path: Path) -> None:
    rows = [{"doc_id": 0, "acc": 1.0, "lm": " a model "}, {"doc_id": " 1", "acc": 0.0, "lm": "a model"}]
    columns = "problem=doc_id,passed=acc,model=lm"
    (name,) = imported(koderz("import", written(tmp_path / "lm.jsonl", rows), "--map", columns, "--dataset", "mine"))
    found = [(row["label"], row["problem"]) for row in rows_of(koderz, "experiments", name)]
    assert found == [("imported a model", "0"), ("imported a model", "1")]


@pytest.mark.parametrize(
    ("columns", "word"),
    [
        ("problem=task", "must name the field `problem`"),
        ("passed=ok", "must name the field `problem`"),
        ("problem=task,passed", "does not have the form FIELD=COLUMN"),
        ("problem=task,passed=ok,colour=red", "colour=red"),
        ("problem=task,problem=who,passed=ok", "twice"),
    ],
)
def test_a_mapping_that_makes_no_sense_is_refused(koderz: Any, tmp_path: Path, columns: str, word: str) -> None:
    said = koderz("import", written(tmp_path / "table.jsonl", TABLE), "--map", columns)
    assert said.code == 2
    assert word in said.err


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("t.csv", b"task,who\na/1,m\n", "no column 'ok'"),
        ("t.csv", b"task,ok\na/1\n", "number of cells"),
        ("t.csv", b"task,ok\na/1,1,2\n", "number of cells"),
        ("t.csv", b"task,ok\na/1,maybe\n", "passed is 'maybe'"),
        ("t.csv", b"task,ok\na/1,\n", "neither a program nor"),
        ("t.csv", b'task,ok\n"a/1,1\n', "is not CSV"),
        ("t.csv", b"task,ok,ok\na/1,1,0\n", "several columns with the name 'ok'"),
        ("t.csv", b"task,ok\n\xff,1\n", "not UTF-8"),
        ("t.csv", b"", "no column"),
        ("t.csv", b"task,ok\n", "no lines with results"),
        ("t.jsonl", b'{"task": "a/1", "ok": 1}\n{', "line 2"),
        ("t.jsonl", b'{"task": 0.5, "ok": 1}', "problem is not text"),
        ("t.parquet", b"PAR1nonsense", "Parquet"),
        ("t.parquet", b"", "Parquet"),
        ("t.csv.gz", b"nonsense", "gzip"),
    ],
)
def test_a_broken_table_is_refused_with_the_reason_and_nothing_is_stored(
    koderz: Any, tmp_path: Path, name: str, content: bytes, word: str
) -> None:
    (tmp_path / name).write_bytes(content)
    said = koderz("import", tmp_path / name, "--map", "problem=task,passed=ok", "--dataset", "humaneval")
    assert said.code == 3
    assert word in said.err
    assert not journals()


def test_a_bundle_and_a_report_of_imported_results_name_the_file(koderz: Any, tmp_path: Path) -> None:
    file = written(tmp_path / "arena.jsonl", arena("some-7b", {"a/1": 1, "a/2": 0}))
    (name,) = imported(koderz("import", file))
    assert koderz("bundle", name, "--out", tmp_path / "b.zip").code == 0
    assert koderz("verify", tmp_path / "b.zip").code == 0
    said = koderz("export", name, "--format", "markdown", "--out", "-").out
    assert "imported from arena.jsonl at" in said
    assert "prices none" in said
    assert "Imported from arena.jsonl at" in said  # the citation


def test_an_imported_frontier_model_is_the_baseline_of_own_results(koderz: Any, tmp_path: Path) -> None:
    koderz("benchmark", "--problems", "0:3", "--coder", "scripted/weak", "--name", "own")
    assert "No measured baseline" in koderz("compare", "own").out
    passed = {f"HumanEval/{number}": 1 for number in range(3)}
    (name,) = imported(koderz("import", written(tmp_path / "a.jsonl", arena("claude-3-opus", passed, "humaneval"))))
    compared = koderz("compare", "own", name).out
    assert "No measured baseline" not in compared
    assert "(oracle)" not in compared
    assert "An imported file states the results of one configuration" in " ".join(compared.split())
    assert "imported claude-3-opus  100 % [44, 100]§" in compared
    pairs = rows_of(koderz, "pairs", "own", name)
    assert [row["baseline"].split("/")[0] for row in pairs] == [name]


def test_the_same_file_with_other_options_is_refused(koderz: Any, tmp_path: Path) -> None:
    file = written(tmp_path / "t.jsonl", [{"id": "a", "base": 1, "plus": 0, "who": "gpt-4o"}])
    command = ("import", file, "--dataset", "mine", "--map")
    assert "Imported" in koderz(*command, "problem=id,passed=base,model=who").out
    assert "Already imported" in koderz(*command, "problem=id,passed=base,model=who").out
    said = koderz(*command, "problem=id,passed=plus,model=who")
    assert said.code == 3
    assert "already imported with other options" in said.err
    assert koderz(*command, "problem=id,passed=plus,model=who", "--name", "plus").code == 0


@pytest.mark.parametrize("name", ["gpt-4.1-mini", "openai_temp_0.0"])
def test_a_dot_in_the_name_of_a_file_does_not_end_the_name_of_its_model(koderz: Any, tmp_path: Path, name: str) -> None:
    file = written(tmp_path / f"{name}.jsonl", [{"task_id": "HumanEval/0", "solution": "x = 1"}])
    said = koderz("import", file, "--dataset", "humaneval", "--preview").out
    assert [line.split()[0] for line in said.splitlines()][-1] == name


def test_several_files_are_stored_together_or_not_at_all(koderz: Any, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        written(tmp_path / folder / "same.jsonl", arena(folder, {"x": 1}))
    said = koderz("import", tmp_path / "a/same.jsonl", tmp_path / "b/same.jsonl")
    assert said.code == 2
    assert "the same benchmark" in said.err
    assert not journals()


def test_prices_and_tiers_name_models_of_any_file(koderz: Any, tmp_path: Path) -> None:
    files = [written(tmp_path / f"{name}.jsonl", arena(name, {"x": 1})) for name in ("m-a", "m-b")]
    said = koderz("import", *files, "--tier", "m-a=frontier")
    assert said.code == 0, said.err
    assert "no results of the model 'm-c'" in koderz("import", *files, "--tier", "m-c=frontier").err


def test_problems_with_fewer_samples_are_reported(koderz: Any, tmp_path: Path) -> None:
    rows = [{"task_id": f"HumanEval/{number}", "solution": "x = 1"} for number in (0, 0, 1, 2)]
    said = koderz("import", written(tmp_path / "t.jsonl", rows), "--dataset", "humaneval", "--preview").out
    assert "Problems with fewer samples than the other problems: 2 of 3." in said


def test_names_that_a_terminal_would_interpret_are_refused(koderz: Any, tmp_path: Path) -> None:
    file = written(tmp_path / "t.jsonl", arena("m", {"x": 1}))
    said = koderz("import", file, "--name", "a\x1b[31mb")
    assert said.code == 2
    assert "--name" in said.err
