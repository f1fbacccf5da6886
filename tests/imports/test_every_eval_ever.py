"""Every Eval Ever: what koderz writes is valid and, read back, the same; and files of other tools are read."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import pytest
from every_eval_ever import line
from jsonschema import Draft7Validator
from sample import thinned

from koderz_core.config import load_settings
from koderz_core.datasets.humaneval import load_humaneval

RUN = ("benchmark", "--problems", "0:4", "--coder", "scripted/weak,scripted/strong", "--strategy", "direct,supervised")
MORE = ("--max-iterations", "2", "--repeats", "2", "--name", "own")
OWN = ("--coder", "scripted/strong", "--max-iterations", "1", "--name", "own")
PROBLEM = load_humaneval(load_settings()).problems[0]

TOKENS = {"input_tokens": 100, "output_tokens": 50, "total_tokens": 450, "reasoning_tokens": 200}
TOKENS |= {"input_tokens_cache_read": 100}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the data folder of the first test with ``own`` is kept for the others."""
    return tmp_path_factory.mktemp("own") / "home"


@pytest.fixture
def own(koderz: Any, kept: Path) -> None:
    """A benchmark of four configurations, called own."""
    home = load_settings().home
    if kept.exists():
        shutil.copytree(kept, home)
        return
    koderz(*RUN, *MORE)
    shutil.copytree(home, kept)


def written(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def exported(koderz: Any, folder: Path, *of: str) -> tuple[list[Path], list[Path]]:
    """The aggregates and the files of samples of an export."""
    assert koderz("export", *of, "--format", "eee", "--out", folder).code == 0
    return sorted(folder.rglob("*.json")), sorted(folder.rglob("*.jsonl"))


def experiments(koderz: Any, *of: str) -> list[dict[str, Any]]:
    said = koderz("export", *of, "--format", "json", "--out", "-")
    return [json.loads(row) for row in said.out.splitlines()]


def facts(rows: list[dict[str, Any]]) -> dict[tuple[str, str, int], tuple[Any, ...]]:
    """What an experiment must keep on its way, by configuration, problem and repeat."""
    return {
        (row["label"].removeprefix("imported "), row["problem"], row["repeat"]): (
            row["outcome"],
            row["input_tokens"],
            row["output_tokens"],
            row["cost_usd"],
            row["seconds"] and pytest.approx(row["seconds"]),
        )
        for row in rows
    }


@pytest.mark.parametrize(
    ("more", "kind", "from_aggregate"),
    thinned(
        [
            ((), "held_out", False),
            (("--as-stated",), "reported", False),
            ((), "held_out", True),
            (("--as-stated",), "reported", True),
        ],
        "ways to import an export of Every Eval Ever",
        always=[(("--as-stated",), "reported", True)],
    ),
)
def test_an_export_that_is_imported_has_the_same_results(
    koderz: Any, own: None, tmp_path: Path, more: tuple[str, ...], kind: str, from_aggregate: bool
) -> None:
    aggregates, samples = exported(koderz, tmp_path / "out", "own")
    back: list[dict[str, Any]] = []
    for number, file in enumerate(aggregates if from_aggregate else samples):
        said = koderz("import", file, "--name", f"back {number}", *more)
        assert said.code == 0, said.err
        back += experiments(koderz, f"back {number}")
    assert len(back) == 32
    assert {row["score_kind"] for row in back} == {kind}
    assert {row["outcome"] for row in back} == {"solved", "unsolved"}
    assert facts(back) == facts(experiments(koderz, "own"))


def test_costs_and_unknown_values_survive(koderz: Any, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("p,ok,in,out,usd,s\na/1,1,10,3,0.25,1.5\na/2,0,,,,\n")
    columns = "problem=p,passed=ok,input_tokens=in,output_tokens=out,cost_usd=usd,seconds=s"
    koderz("import", table, "--map", columns, "--dataset", "mine", "--model", "m", "--name", "own")
    _, (file,) = exported(koderz, tmp_path / "out", "own")
    assert koderz("import", file, "--name", "back").code == 0
    assert (
        facts(experiments(koderz, "back"))
        == facts(experiments(koderz, "own"))
        == {
            ("m", "a/1", 0): ("solved", 10, 3, 0.25, 1.5),
            ("m", "a/2", 0): ("unsolved", None, None, None, None),
        }
    )


def test_an_export_is_valid_and_its_aggregates_name_their_samples(
    koderz: Any, own: None, tmp_path: Path, test_data: Path
) -> None:
    schemas = test_data / "schemas"
    if not schemas.is_dir():
        pytest.skip("KODERZ_TEST_DATA has no folder with the schemas of Every Eval Ever")
    of_file, of_line = (
        Draft7Validator(json.loads((schemas / f"every-eval-ever-{name}.schema.json").read_text()))
        for name in ("eval", "instance_level_eval")
    )
    aggregates, samples = exported(koderz, tmp_path / "out", "own")
    assert (len(aggregates), len(samples)) == (4, 4)
    for file in aggregates:
        of_file.validate(json.loads(file.read_text()))
        named = json.loads(file.read_text())["detailed_evaluation_results"]
        content = (tmp_path / "out" / named["file_path"]).read_bytes()
        assert named["checksum"] == hashlib.sha256(content).hexdigest()
        rows = [json.loads(row) for row in content.splitlines()]
        assert len(rows) == named["total_rows"] == 8
        assert {row["evaluation_id"] for row in rows} == {json.loads(file.read_text())["evaluation_id"]}
        for row in rows:
            of_line.validate(row)


def test_an_aggregate_has_the_rate_and_the_interval_of_the_comparison(koderz: Any, own: None, tmp_path: Path) -> None:
    said = koderz("export", "own", "--table", "comparison", "--format", "json", "--out", "-")
    compared = {
        row["label"]: (row["share"], row["share_low"], row["share_high"])
        for row in map(json.loads, said.out.split("\n")[:-1])
    }
    found = {}
    for file in exported(koderz, tmp_path / "out", "own")[0]:
        aggregate = json.loads(file.read_text())
        (result,) = aggregate["evaluation_results"]
        interval = result["score_details"]["uncertainty"]["confidence_interval"]
        label = aggregate["model_info"]["additional_details"]["configuration"]
        found[label] = result["score_details"]["score"], interval["lower"], interval["upper"]
        assert result["score_details"]["uncertainty"]["num_samples"] == 8
    assert found == compared


def test_an_aggregate_of_problems_with_scores_of_different_kinds_says_so(
    koderz: Any, tmp_path: Path, two_kinds: Path
) -> None:
    koderz("benchmark", "--dataset", two_kinds, "--strategy", "supervised", "--no-baselines", *OWN)
    (file,), (samples,) = exported(koderz, tmp_path / "out", "own")
    (result,) = json.loads(file.read_text())["evaluation_results"]
    assert result["metric_config"]["additional_details"]["score_kind"] == "mixed"
    assert "tests of different kinds" in result["metric_config"]["evaluation_description"]
    kinds = [json.loads(row)["metadata"]["koderz_score_kind"] for row in samples.read_text().splitlines()]
    assert kinds == ["oracle", "held_out"]


def test_the_models_of_a_loop_and_all_their_messages_are_exported(koderz: Any, tmp_path: Path) -> None:
    command = ("benchmark", "--problems", "0", "--coder", "scripted/weak", "--reviewer", "scripted/strong")
    koderz(*command, "--strategy", "supervised", "--no-baselines", "--max-iterations", "2", "--name", "own")
    (file,), (samples,) = exported(koderz, tmp_path / "out", "own")
    model, row = json.loads(file.read_text())["model_info"], json.loads(samples.read_text())
    assert model["id"] == row["model_id"] == "scripted/weak"
    assert json.loads(model["additional_details"]["models_by_role"])["reviewer"] == ["scripted/strong"]
    calls = json.loads(row["metadata"]["calls"])
    assert {(call["role"], call["model"]) for call in calls} >= {("coder", "scripted/weak")}
    assert [place for place, each in enumerate(row["messages"]) if each["role"] == "assistant"] == [
        call["turn_idx"] for call in calls
    ]
    assert row["input"]["raw"] == PROBLEM.public.prompt


def test_a_loop_with_a_frontier_reviewer_is_imported_with_the_tier_of_its_coder(
    koderz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KODERZ_TIERS", '{"scripted/weak": "local", "scripted/strong": "frontier"}')
    command = ("benchmark", "--problems", "0", "--coder", "scripted/weak", "--reviewer", "scripted/strong")
    more = ("--max-iterations", "3", "--checkpoint-interval", "1", "--no-baselines", "--name", "own")
    koderz(*command, "--strategy", "supervised", *more)
    _, (samples,) = exported(koderz, tmp_path / "out", "own")
    metadata = json.loads(samples.read_text())["metadata"]
    assert {call["role"]: call["model"] for call in json.loads(metadata["calls"])}["reviewer"] == "scripted/strong"
    assert metadata["tier"] == "local"
    assert re.search(r"supervised.* +local", koderz("import", samples, "--preview").out)


def test_the_first_tier_that_a_file_of_koderz_states_counts(koderz: Any, tmp_path: Path) -> None:
    own = {"metadata__koderz_configuration": "gpt-4o", "metadata__koderz_score_kind": "reported"}
    tiers = ({"metadata__tier": "local"}, {"metadata__tier": "frontier"}, {})
    rows = [line(sample_id=str(place), **own, **tier) for place, tier in enumerate(tiers)]
    assert re.search(r"gpt-4o +local", koderz("import", written(tmp_path / "in.jsonl", *rows), "--preview").out)


def test_an_experiment_without_a_result_has_no_sample_and_is_counted(koderz: Any, tmp_path: Path) -> None:
    rows = [line(sample_id="1"), line(sample_id="2", error="API error", evaluation__is_correct=False)]
    koderz("import", written(tmp_path / "in.jsonl", *rows), "--name", "own")
    assert Counter(row["outcome"] for row in experiments(koderz, "own")) == {"solved": 1, "error": 1}
    (file,), (samples,) = exported(koderz, tmp_path / "out", "own")
    (result,) = json.loads(file.read_text())["evaluation_results"]
    assert result["score_details"]["score"] == 1
    assert result["score_details"]["details"]["samples_without_result"] == "1"
    assert [json.loads(row)["sample_id"] for row in samples.read_text().splitlines()] == ["1"]


def test_the_samples_of_other_shards_are_not_missing_from_the_aggregate_of_a_shard(koderz: Any, tmp_path: Path) -> None:
    koderz("benchmark", "--problems", "0:4", "--strategy", "supervised", "--no-baselines", *OWN, "--shard", "1/2")
    (file,), (samples,) = exported(koderz, tmp_path / "out")
    (result,) = json.loads(file.read_text())["evaluation_results"]
    number = len(samples.read_text().splitlines())
    assert 0 < number < 4
    details = result["score_details"]["details"]
    assert (details["planned_samples"], details["samples_without_result"]) == (str(number), "0")


def test_names_from_a_file_make_no_unsafe_path(koderz: Any, tmp_path: Path) -> None:
    names = ("../../../etc/passwd", "con/aux", "a:b*?/..", "data/data")
    for number, name in enumerate(names):
        file = written(tmp_path / f"{number}.jsonl", line(model_id=name, evaluation_name="../data"))
        assert koderz("import", file).code == 0
    files = exported(koderz, tmp_path / "out")[0]
    assert len(files) == len(names)
    for file in files:
        folders = file.relative_to(tmp_path / "out").parts
        assert (len(folders), folders[0]) == (5, "data")
        assert not {"..", "con", "aux", "data"} & {folder.lower() for folder in folders[1:]}


def test_the_developer_of_a_model_without_a_provider_is_known(koderz: Any, tmp_path: Path) -> None:
    koderz("import", written(tmp_path / "in.jsonl", line(model_id="gpt-4")), "--name", "own")
    (file,), _ = exported(koderz, tmp_path / "out", "own")
    assert file.parent.relative_to(tmp_path / "out").parts[2:] == ("openai", "gpt-4")
    assert json.loads(file.read_text())["model_info"]["developer"] == "openai"


def test_several_files_are_not_written_into_an_existing_file(koderz: Any, tmp_path: Path) -> None:
    koderz("import", written(tmp_path / "in.jsonl", line()), "--name", "own")
    (tmp_path / "out").write_text("kept")
    said = koderz("export", "own", "--format", "eee", "--out", tmp_path / "out")
    assert (said.code, "out is a file, but an export in the format eee consists of several files" in said.err) == (
        3,
        True,
    )
    assert koderz("export", "own", "--format", "eee", "--out", tmp_path / "x.ZIP").code == 0
    assert is_zipfile(tmp_path / "x.ZIP")


def test_an_export_without_a_result_is_refused(koderz: Any, tmp_path: Path) -> None:
    koderz("import", written(tmp_path / "in.jsonl", line(error="API error")), "--name", "own")
    said = koderz("export", "own", "--format", "eee", "--out", tmp_path / "out")
    assert (said.code, "No experiment has a result" in said.err) == (3, True)


def test_answers_of_another_tool_are_graded_and_recognised_by_their_prompts(koderz: Any, tmp_path: Path) -> None:
    prompt, answer = f"Complete it.\n{PROBLEM.public.prompt}", f"Sure:\n```python\n{PROBLEM.canonical_solution}\n```"
    rows = [line(sample_id="0", input__raw=prompt, output__raw=[answer], evaluation__is_correct=False)]
    file = written(tmp_path / "lm.jsonl", *rows)
    for more, outcome in (((), "solved"), (("--as-stated",), "unsolved")):
        said = koderz("import", file, "--dataset", "humaneval", "--name", f"n{outcome}", *more)
        assert said.code == 0, said.err
        (row,) = experiments(koderz, f"n{outcome}")
        assert (row["problem"], row["outcome"]) == (PROBLEM.id, outcome)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"input_tokens": 7, "output_tokens": 3, "total_tokens": 10, "input_tokens_cache_read": 5}, (7, 3)),
        ({"input_tokens": 2, "output_tokens": 3, "total_tokens": 10, "input_tokens_cache_read": 5}, (7, 3)),
        ({"input_tokens": 7, "output_tokens": 1, "total_tokens": 10, "reasoning_tokens": 2}, (7, 3)),
        (TOKENS, (200, 250)),
        (TOKENS | {"total_tokens": 451}, (None, None)),
        (None, (None, None)),
    ],
)
def test_tokens_of_a_cache_and_of_thoughts_are_counted_once(
    koderz: Any, tmp_path: Path, usage: Any, tokens: tuple[int | None, int | None]
) -> None:
    koderz("import", written(tmp_path / "in.jsonl", line(token_usage=usage)), "--name", "own")
    (row,) = experiments(koderz, "own")
    assert (row["input_tokens"], row["output_tokens"]) == tokens


def test_the_time_of_another_tool_is_that_of_the_model(koderz: Any, tmp_path: Path) -> None:
    times = {"latency_ms": 70.0, "generation_time_ms": 12_000.0}
    koderz("import", written(tmp_path / "in.jsonl", line(performance=times)), "--name", "own")
    assert [row["seconds"] for row in experiments(koderz, "own")] == [12.0]


def test_an_aggregate_without_its_samples_is_refused_with_its_score(koderz: Any, tmp_path: Path) -> None:
    score = {"score": 0.75, "uncertainty": {"num_samples": 40}}
    results = [{"evaluation_name": "arc", "score_details": score}]
    details = {
        "format": "jsonl",
        "file_path": "data/a/b/c/x_samples.jsonl",
        "hash_algorithm": "sha256",
        "checksum": "0",
    }
    file = tmp_path / "x.json"
    aggregate = {"model_info": {}, "evaluation_results": results, "detailed_evaluation_results": details}
    file.write_text(json.dumps(aggregate, indent=2))
    said = koderz("import", file)
    assert said.code == 3
    assert "the score 0.75 for 'arc' (40 samples)" in said.err
    assert "problem by problem" in said.err
    written(tmp_path / "x_samples.jsonl", line())
    assert "SHA-256" in koderz("import", file).err


def test_one_metric_of_each_sample_is_imported(koderz: Any, tmp_path: Path) -> None:
    ids = {"exact_match:test": True, "exact_match:valid": False, "f1_score:test": False, "f1_score:valid": False}
    rows = [
        line(evaluation_result_id=metric, sample_id=metric.partition(":")[2], evaluation__is_correct=passed)
        for metric, passed in ids.items()
    ]
    file = written(tmp_path / "helm.jsonl", *rows)
    refused = koderz("import", file)
    assert refused.code == 3
    assert "'exact_match', 'f1_score'" in refused.err
    assert koderz("import", file, "--metric", "bleu").code == 3
    assert koderz("import", file, "--metric", "exact_match", "--name", "own").code == 0
    assert {row["problem"]: row["outcome"] for row in experiments(koderz, "own")} == {
        "test": "solved",
        "valid": "unsolved",
    }
    assert koderz("import", file, "--metric", "f1_score", "--name", "own").code == 3
