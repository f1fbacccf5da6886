"""Logs of Inspect: what koderz writes, what Inspect itself writes, and what an import makes of them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sample import only_whole, thinned

from koderz_core.config import Settings, load_settings
from koderz_core.datasets.humaneval import load_humaneval
from koderz_core.prompts.extraction import extract
from koderz_core.prompts.markdown import fenced
from koderz_core.records import Problem

pytest.importorskip("inspect_ai", reason="the extra koderz[inspect] is not installed")
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalLog,
    EvalSample,
    EvalSpec,
    read_eval_log,
    write_eval_log,
)
from inspect_ai.model import ModelOutput, ModelUsage
from inspect_ai.scorer import Score, includes
from inspect_ai.solver import TaskState, solver

RUN = ("benchmark", "--problems", "0:3", "--coder", "scripted/weak,scripted/strong", "--max-iterations", "2")
MORE = ("--strategy", "direct,supervised,debate", "--repeats", "2", "--name", "own")
SHOWN = ("outcome", "input_tokens", "output_tokens", "cost_usd", "seconds")


def rows(koderz: Any, *of: str) -> dict[tuple[str, str, int], Mapping[str, Any]]:
    """Label, problem and repeat -> what is compared."""
    found = {}
    for line in koderz("export", *of, "--format", "json", "--out", "-").out.splitlines():
        row = json.loads(line)
        key = row["label"].removeprefix("imported "), row["problem"], row["repeat"]
        found[key] = {name: row[name] for name in SHOWN}
    return found


def exported(koderz: Any, folder: Path) -> list[Path]:
    said = koderz("export", "own", "--format", "inspect", "--out", folder)
    assert said.code == 0, said.err
    return sorted(folder.iterdir())


def sample(problem: Problem, **fields: Any) -> EvalSample:
    usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=18, input_tokens_cache_read=3, total_cost=0.25)
    usual = {
        "output": ModelOutput.from_content("openai/gpt-4o", fenced(problem.canonical_solution.rstrip())),
        "scores": {"verify": Score(value="C")},
        "model_usage": {"openai/gpt-4o": usage},
        "working_time": 1.5,
        "total_time": 9.0,
    }
    return EvalSample(
        **{
            "id": problem.id,
            "epoch": 1,
            "input": f"Complete:\n{problem.public.prompt}",
            "target": "",
            **usual,
            **fields,
        }
    )


def foreign(path: Path, status: str = "success", dataset: str | None = None, **second: Any) -> Path:
    """A log of two samples as another task may write it. ``second``: fields of its second sample."""
    first, other = load_humaneval(load_settings()).problems[:2]
    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="t",
        dataset=EvalDataset(name=dataset),
        model="openai/gpt-4o",
        config=EvalConfig(),
    )
    write_eval_log(EvalLog(status=status, eval=spec, samples=[sample(first), sample(other, **second)]), path)
    return path


@pytest.mark.parametrize("more", thinned([(), ("--as-stated",)], "ways to import a log of Inspect"))
def test_an_exported_log_that_is_imported_has_the_same_results(koderz: Any, tmp_path: Path, more: Any) -> None:
    koderz(*RUN, *MORE)
    for place, file in enumerate(exported(koderz, tmp_path / "logs")):
        said = koderz("import", file, "--name", f"back{place}", *more)
        assert said.code == 0, said.err
    assert place == 5
    assert rows(koderz, *(f"back{place}" for place in range(6))) == rows(koderz, "own")
    kinds = {row["score_kind"] for place in range(6) for row in koderz("results", f"back{place}", "--json").json}
    assert kinds == ({"reported"} if more else {"held_out"})


def test_a_transcript_has_every_call_and_every_test_in_the_order_of_the_loop(koderz: Any, tmp_path: Path) -> None:
    koderz(*RUN, "--strategy", "supervised", "--name", "own")
    logs = [read_eval_log(file) for file in exported(koderz, tmp_path / "logs")]
    (weak,) = (log for log in logs if log.eval.solver == "supervised" and log.eval.model == "scripted/weak")
    sample = next(sample for sample in weak.samples if sample.metadata["iterations"] == 2)
    assert [event.name for event in sample.events if event.event == "span_begin"] == [
        *("solvers", "supervised", "spec", "iteration 1", "iteration 2", "scorers", "oracle"),
    ]
    kinds = [event.event for event in sample.events if not event.event.startswith("span")]
    assert kinds == ["model", "info", "model", "score", "model", "score", "score"]
    calls = [event for event in sample.events if event.event == "model"]
    assert [call.role for call in calls] == ["spec", "coder", "coder"]
    assert all(call.input and call.output.completion and call.output.usage.total_tokens for call in calls)
    assert sum(call.output.usage.total_tokens for call in calls) == sample.model_usage["scripted/weak"].total_tokens
    assert sample.messages[-1].text == calls[-1].output.completion
    assert weak.results.scores[0].metrics["accuracy"].value == pytest.approx(
        sum(sample.scores["oracle"].value == "C" for sample in weak.samples) / 3
    )
    assert set(weak.eval.model_roles) == {"spec", "coder", "reviewer"}


def test_the_totals_of_a_log_omit_a_model_with_a_call_of_unknown_usage(koderz: Any, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("p,ok,in,out\na/1,1,10,3\na/2,0,,\n")
    columns = "problem=p,passed=ok,input_tokens=in,output_tokens=out"
    koderz("import", table, "--map", columns, "--dataset", "mine", "--model", "m", "--name", "own")
    (log,) = map(read_eval_log, exported(koderz, tmp_path / "logs"))
    assert [len(sample.model_usage) for sample in log.samples] == [1, 0]
    assert log.stats.model_usage == {}


def test_a_log_with_scores_of_different_kinds_has_one_scorer_and_is_imported(
    koderz: Any, tmp_path: Path, two_kinds: Path
) -> None:
    command = ("benchmark", "--dataset", two_kinds, "--strategy", "supervised", "--no-baselines", "--name", "own")
    koderz(*command, "--coder", "scripted/strong", "--max-iterations", "1")
    (file,) = exported(koderz, tmp_path / "logs")
    log = read_eval_log(file)
    assert [(score.name, score.metrics["accuracy"].value) for score in log.results.scores] == [("mixed", 1.0)]
    assert [sample.metadata["score_kind"] for sample in log.samples] == ["oracle", "held_out"]
    assert koderz("import", file, "--dataset", two_kinds, "--name", "back").code == 0
    assert rows(koderz, "back") == rows(koderz, "own")


def test_a_scorer_that_was_added_to_a_log_of_koderz_does_not_change_its_programs(koderz: Any, tmp_path: Path) -> None:
    koderz("benchmark", "--problems", "0:2", "--coder", "scripted/strong", "--name", "own")
    (file,) = exported(koderz, tmp_path / "logs")
    log = read_eval_log(file)
    for each in log.samples:
        each.scores["added"] = Score(value="I", answer=each.output.completion)
    write_eval_log(log, file)
    said = koderz("import", file, "--metric", "added", "--name", "back")
    assert said.code == 0, said.err
    assert rows(koderz, "back") == rows(koderz, "own")


@pytest.mark.parametrize(("at", "year"), [("1.7e12", 2540), ("1e300", 2540), ("-1e18", 1970)])
def test_an_impossible_time_in_a_journal_becomes_the_nearest_possible_one(
    koderz: Any, tmp_path: Path, settings: Settings, at: str, year: int
) -> None:
    written = (Path(__file__).parents[1] / "golden" / "schema-1.jsonl").read_text()
    journal = settings.journals_dir / f"{json.loads(written.splitlines()[0])['event']['benchmark']}.jsonl"
    journal.parent.mkdir(parents=True, exist_ok=True)
    journal.write_text(re.sub(r'"at":[0-9.]+', f'"at":{at}', written))
    koderz("export", journal.stem, "--format", "inspect", "--out", tmp_path / "logs")
    logs = [read_eval_log(file) for file in (tmp_path / "logs").iterdir()]
    assert len(logs) == 4
    assert {sample.started_at[:4] for log in logs for sample in log.samples} == {str(year)}
    assert {event.timestamp.year for log in logs for sample in log.samples for event in sample.events} == {year}


def test_the_log_of_a_shard_that_has_ended_is_complete(koderz: Any, tmp_path: Path) -> None:
    koderz(*RUN, "--strategy", "supervised", "--shard", "1/2")
    koderz("export", "--format", "inspect", "--out", tmp_path / "logs")
    assert {read_eval_log(file).status for file in (tmp_path / "logs").iterdir()} == {"success"}


def test_the_program_of_a_log_is_the_returned_one_even_if_it_contains_a_fence() -> None:
    problem = load_humaneval(load_settings()).problems[0].public
    program = f'def {problem.entry_point}(a, b):\n    """\n```python\nx = 1\n```\n````\n    """\n    return True'
    assert extract(fenced(program.rstrip()), problem).code == program


def test_a_log_of_another_task_is_graded_and_keeps_its_tokens_cost_and_time(koderz: Any, tmp_path: Path) -> None:
    file = foreign(tmp_path / "log.eval", dataset="openai_humaneval")
    assert koderz("import", file, "--dataset", "humaneval").code == 0
    (row,) = koderz("results", "log", "--json").json
    assert (row["solved"], row["score_kind"], row["label"]) == (2, "held_out", "imported gpt-4o")
    expected = {"outcome": "solved", "input_tokens": 13, "output_tokens": 5, "cost_usd": 0.25, "seconds": 1.5}
    assert list(rows(koderz, "log").values()) == [expected, expected]


def test_the_cost_without_that_of_the_grader_is_not_negative(koderz: Any, tmp_path: Path) -> None:
    used = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    usage = {str(cost): ModelUsage(**used, total_cost=cost) for cost in (0.7, 0.1, 0.0)}
    role = {"grader": ModelUsage(**used, total_cost=0.8)}
    file = foreign(tmp_path / "log.eval", model_usage=usage, role_usage=role)
    assert koderz("import", file, "--dataset", "humaneval").code == 0
    assert [row["cost_usd"] for row in rows(koderz, "log").values()] == [0.25, 0]


def test_the_ids_and_prompts_of_a_log_suggest_the_dataset(koderz: Any, tmp_path: Path) -> None:
    file = foreign(tmp_path / "log.eval", dataset="openai_humaneval")
    unscored = foreign(tmp_path / "unscored.eval", dataset="openai_humaneval", scores=None)
    said = koderz("import", file, unscored, "--preview")
    assert said.out.count("Dataset: humaneval") == 2, said.err


@solver
def always() -> Any:
    async def solve(state: TaskState, _generate: object) -> TaskState:
        state.output = ModelOutput.from_content("mockllm/model", "I cannot do that.\n```python\nx = 1\n```")
        return state

    return solve


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Inspect leaves streams open
@only_whole("long tests")
def test_the_log_of_the_runner_of_inspect_is_imported(koderz: Any, tmp_path: Path) -> None:
    problems = load_humaneval(load_settings()).problems[:2]
    samples = [Sample(id=problem.id, input=problem.public.prompt, target="cannot") for problem in problems]
    two = Task(MemoryDataset(samples), solver=always(), scorer=includes(), epochs=2)
    (made,) = inspect_eval(two, model="mockllm/model", display="none", log_dir=str(tmp_path))
    for name, more in (("stated", ["--as-stated"]), ("graded", [])):
        said = koderz("import", made.location, "--dataset", "humaneval", "--name", name, *more)
        assert said.code == 0, said.err
    outcomes = {name: [row["outcome"] for row in rows(koderz, name).values()] for name in ("stated", "graded")}
    assert outcomes == {"stated": ["solved"] * 4, "graded": ["unsolved"] * 4}


def test_a_sample_with_an_error_has_no_result(koderz: Any, tmp_path: Path) -> None:
    error = EvalError(message="no network", traceback="", traceback_ansi="")
    assert koderz("import", foreign(tmp_path / "log.eval", error=error), "--dataset", "humaneval").code == 0
    found = [(row["outcome"], row["seconds"], row["cost_usd"]) for row in rows(koderz, "log").values()]
    assert found == [("solved", 1.5, 0.25), ("error", 1.5, 0.25)]


@pytest.mark.parametrize("status", ["cancelled", "error"])
def test_an_incomplete_log_is_imported_and_its_state_is_reported(koderz: Any, tmp_path: Path, status: str) -> None:
    said = koderz("import", foreign(tmp_path / "log.eval", status=status), "--dataset", "humaneval", "--preview")
    assert f"ended with the status '{status}'" in said.out


def test_a_log_that_is_being_written_is_refused(koderz: Any, tmp_path: Path) -> None:
    said = koderz("import", foreign(tmp_path / "log.eval", status="started"), "--dataset", "humaneval")
    assert said.code == 3
    assert "has not ended" in said.err


def test_of_several_scorers_the_user_chooses_one(koderz: Any, tmp_path: Path) -> None:
    scores = {"verify": Score(value="C"), "style": Score(value=0)}
    file = foreign(tmp_path / "log.eval", scores=scores)
    assert "verify, style. Choose one with --metric" in koderz("import", file, "--dataset", "humaneval").err
    assert "Its scorers: verify, style" in koderz("import", file, "--metric", "x").err
    said = koderz("import", file, "--dataset", "humaneval", "--as-stated", "--metric", "verify")
    assert said.code == 0, said.err


@pytest.mark.parametrize("command", ["import", "export"])
def test_without_the_package_the_command_to_install_it_is_shown(
    koderz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    koderz(*RUN, "--strategy", "supervised", "--name", "own")
    file = foreign(tmp_path / "log.eval")
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    made = ("own", "--format", "inspect", "--out", tmp_path / "logs")
    said = koderz(command, *((file,) if command == "import" else made))
    assert said.code == 2
    assert "pip install 'koderz[inspect]'" in said.err


def test_a_metric_is_refused_where_results_have_none(koderz: Any, tmp_path: Path) -> None:
    file = tmp_path / "samples.jsonl"
    file.write_text('{"task_id": "HumanEval/0", "solution": "pass"}\n')
    assert "--metric" in koderz("import", file, "--metric", "x").err
