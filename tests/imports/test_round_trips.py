"""What koderz writes for other tools, read back by ``koderz import``, gives the same results."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from koderz_core.config import Settings
from koderz_core.datasets.humaneval import load_humaneval

RUN = ("benchmark", "--problems", "0:4", "--coder", "scripted/weak,scripted/strong", "--strategy", "direct,supervised")
MORE = ("--max-iterations", "2", "--repeats", "2", "--name", "own")


def shares(koderz: Any, *of: str) -> dict[str, dict[str, float]]:
    """Configuration -> problem -> its share of solved repeats. Imported ones are named after what they were."""
    found: defaultdict[str, defaultdict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for line in koderz("export", *of, "--format", "json", "--out", "-").out.splitlines():
        row = json.loads(line)
        found[row["label"].removeprefix("imported ")][row["problem"]].append(row["outcome"] == "solved")
    return {label: {name: sum(of) / len(of) for name, of in rows.items()} for label, rows in found.items()}


@pytest.mark.parametrize(("form", "kind"), [("samples", "held_out"), ("eval-arena", "reported")])
def test_an_export_that_is_imported_has_the_same_results(koderz: Any, tmp_path: Path, form: str, kind: str) -> None:
    koderz(*RUN, *MORE)
    file = tmp_path / "out.jsonl"
    assert koderz("export", "own", "--format", form, "--out", file).code == 0
    said = koderz("import", file, "--dataset", "humaneval", "--name", "back")
    assert said.code == 0, said.err
    assert shares(koderz, "back") == shares(koderz, "own")
    assert {row["score_kind"] for row in koderz("results", "back", "--json").json} == {kind}
    again = tmp_path / "again.jsonl"
    koderz("export", "back", "--format", form, "--out", again)
    assert sorted(again.read_text().splitlines()) == sorted(file.read_text().splitlines())


def test_the_configurations_of_several_benchmarks_stay_apart(koderz: Any, tmp_path: Path) -> None:
    for name in ("one", "two"):
        koderz("benchmark", "--problems", "0:2", "--coder", "scripted/weak", "--name", name)
    lines = koderz("export", "--format", "eval-arena", "--out", "-").out.splitlines()
    assert len({json.loads(line)["model"] for line in lines}) == 2
    assert len(lines) == 4


@pytest.mark.parametrize("more", [("--table", "iterations"), ("--columns", "problem")])
def test_a_format_with_fixed_fields_takes_no_table_and_no_columns(koderz: Any, more: tuple[str, ...]) -> None:
    said = koderz("export", "--format", "samples", *more)
    assert said.code == 2
    assert "fixed fields" in said.err


def test_one_model_in_several_benchmarks_is_one_line_per_benchmark(koderz: Any, tmp_path: Path) -> None:
    for name, passed in (("one", 1), ("two", 0)):
        file = tmp_path / f"{name}.jsonl"
        line = {"benchmark_id": name, "model": "gpt-4", "example_id": "x", "pass1": passed}
        file.write_text(json.dumps(line) + "\n")
        assert koderz("import", file).code == 0
    rows = [json.loads(line) for line in koderz("export", "--format", "eval-arena", "--out", "-").out.splitlines()]
    assert {(row["benchmark_id"], row["pass1"], row["count"]) for row in rows} == {("one", 1.0, 1), ("two", 0.0, 1)}
    assert len({row["model"] for row in rows}) == 2


def test_stated_results_stay_stated_after_a_round_trip_through_inspect(koderz: Any, tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="the extra koderz[inspect] is not installed")
    file = tmp_path / "arena.jsonl"
    line = {"benchmark_id": "humaneval", "model": "gpt-4", "example_id": "HumanEval/0", "pass1": 1}
    file.write_text(json.dumps(line) + "\n")
    koderz("import", file)
    koderz("export", "arena", "--format", "inspect", "--out", tmp_path / "logs")
    (log,) = (tmp_path / "logs").glob("*.eval")
    assert koderz("import", log, "--name", "back").code == 0
    own, back = (
        [json.loads(row) for row in koderz("export", name, "--format", "json", "--out", "-").out.splitlines()]
        for name in ("arena", "back")
    )
    shown = ("label", "problem", "outcome", "score_kind")
    own, back = ([tuple(row[field] for field in shown) for row in found] for found in (own, back))
    assert own == back
    assert "frontier" in koderz("compare", "back").out


def test_the_program_in_a_log_for_inspect_is_graded_unchanged(koderz: Any, tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="the extra koderz[inspect] is not installed")
    file = tmp_path / "own.jsonl"
    program = "def add(x, y):\n    return x + y\n\nassert add(1, 1) == 3\n"  # of a reply, the assert would be removed
    file.write_text(json.dumps({"task_id": "HumanEval/53", "solution": program}))
    koderz("import", file, "--dataset", "humaneval")
    koderz("export", "own", "--format", "inspect", "--out", tmp_path / "logs")
    (log,) = (tmp_path / "logs").glob("*.eval")
    assert koderz("import", log, "--name", "back").code == 0
    assert shares(koderz, "back") == shares(koderz, "own") == {"own": {"HumanEval/53": 0}}


def test_results_on_a_variant_are_graded_on_the_same_variant(koderz: Any, tmp_path: Path) -> None:
    koderz("benchmark", "--problems", "0:2", "--coder", "scripted/strong", "--variant", "impossible", "--name", "own")
    koderz("export", "own", "--format", "eee", "--out", tmp_path)
    (samples,) = tmp_path.rglob("*_samples.jsonl")
    said = koderz("import", samples, "--name", "back")
    assert "humaneval, variant impossible (SHA-256" in said.out
    assert shares(koderz, "back") == shares(koderz, "own")


def test_results_on_an_own_file_are_not_graded_on_the_dataset_that_their_ids_suggest(
    koderz: Any, tmp_path: Path, settings: Settings
) -> None:
    known = load_humaneval(settings).problems[53]
    problem = {"task_id": known.id, "prompt": known.public.prompt, "entry_point": known.public.entry_point}
    problem |= {"canonical_solution": "    return x + y\n", "asserts": ["assert add(2, 3) == 5"]}
    own, made = tmp_path / "own.jsonl", tmp_path / "made.jsonl"
    own.write_text(json.dumps(problem))
    made.write_text(json.dumps({"task_id": known.id, "solution": "def add(x, y):\n    return 5"}))
    koderz("import", made, "--dataset", own)
    koderz("export", "made", "--format", "eee", "--out", tmp_path)
    (samples,) = tmp_path.rglob("*_samples.jsonl")
    for copy in (settings.home / "datasets").glob("own-*.jsonl"):
        copy.unlink()
    assert koderz("import", samples, "--name", "back").code == 0
    (row,) = koderz("results", "back", "--json").json
    assert (row["score_kind"], row["solved"]) == ("reported", 1)


def test_imported_programs_are_graded_by_the_plus_tests_of_those_problems_that_have_some(
    koderz: Any, tmp_path: Path
) -> None:
    problem = {"prompt": "def f(n):\n", "entry_point": "f", "asserts": ["assert f(1) == 1"]}
    problem |= {"canonical_solution": "    return abs(n)\n"}
    own, made = tmp_path / "own.jsonl", tmp_path / "made.jsonl"
    own.write_text(
        json.dumps({"task_id": "plain"} | problem)
        + "\n"
        + json.dumps({"task_id": "plus", "plus_input": [[-1]]} | problem)
    )
    answers = [{"task_id": name, "completion": "    return n\n"} for name in ("plain", "plus")]
    made.write_text("\n".join(map(json.dumps, answers)))
    assert koderz("import", made, "--dataset", own, "--model", "m", "--name", "mixed").code == 0
    assert shares(koderz, "mixed") == {"m": {"plain": 1, "plus": 0}}
