"""What a configuration causes stays in its denominator, and what has no result is bounded."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest

from koderz_core import Order, Wanted, Workspace, open_workspace
from koderz_core.analysis.bounds import Cases
from koderz_core.analysis.comparison import Comparison
from koderz_core.config import load_settings
from koderz_core.events import ExperimentFinished, encode
from koderz_core.journal import read_all
from koderz_core.report.charts_frontier import View
from koderz_core.report.charts_success import success_alone
from koderz_core.report.comparison import glance_table
from koderz_core.report.headline import answer
from koderz_core.report.status import experiment_remark
from koderz_core.runner.experiment import without_result
from koderz_core.runner.header import recorded_plan

STRONG = {"coder": "scripted/strong"}

WEAK = {"coder": "scripted/weak"}
REPAIR = {"spec": False, "checkpoints": False, "max_iterations": 3, "history_tokens": 6000}


@pytest.fixture
def short_context() -> Iterator[Workspace]:
    """Where the weak model has so little context that many prompts of a loop outgrow it."""
    home = load_settings().home
    home.mkdir(parents=True)
    (home / "models.toml").write_text('["scripted/weak"]\ncontext_tokens = 130\n')
    with open_workspace() as opened:
        yield opened


def test_a_loop_whose_prompts_outgrow_the_context_keeps_every_problem_in_its_rate(
    short_context: Workspace, koderz: Callable[..., Any]
) -> None:
    plan = short_context.plans.plan(Order([Wanted("supervised", WEAK, REPAIR), Wanted("direct", WEAK)], "0:60"))
    short_context.runs.run(plan)
    found = short_context.comparisons.compare(short_context.results.summaries(plan.id))
    rates = {
        configuration.strategy: (configuration.solved, configuration.n, configuration.errors)
        for configuration in found.configurations
    }
    assert rates == {"supervised": (32, 60, 0), "direct": (20, 60, 0)}
    (pair,) = found.pairs
    assert (pair.test.n, pair.test.unpaired, pair.significant) == (60, 0, False)
    ended = [experiment for experiment in short_context.results.experiments(plan.id) if experiment.reason == "context"]
    assert len(ended) > 20
    assert all(item.outcome == "unsolved" and "so it was not sent" in (item.error or "") for item in ended)
    told = koderz("analyze", ended[0].id).out
    assert "Stopped: The prompt for scripted/weak has at least" in told
    (row,) = short_context.results.benchmarks()
    remark = experiment_remark(ended[0], row)
    assert remark
    assert remark.text.startswith("A prompt did not fit into the context window of its model")


@pytest.fixture
def complete() -> str:
    """A strong model against a weak one on twenty problems."""
    with open_workspace() as opened:
        plan = opened.plans.plan(Order([Wanted("direct", STRONG), Wanted("direct", WEAK)], "0:20"))
        opened.runs.run(plan)
    return plan.id


@pytest.fixture
def lacking(complete: str) -> str:
    """The same, had a provider failed the strong model on all that the weak one solves."""
    settings = load_settings()
    path = settings.journals_dir / f"{complete}.jsonl"
    entries = list(read_all(path))
    strong, weak = recorded_plan(path).configurations
    of = {experiment.id: experiment for experiment in recorded_plan(path).experiments()}
    ends = {entry.experiment: entry.event for entry in entries if isinstance(entry.event, ExperimentFinished)}
    easy = {
        of[item].problem for item, end in ends.items() if of[item].configuration == weak.id and end.outcome == "solved"
    }
    failed = {item for item in ends if of[item].configuration == strong.id and of[item].problem in easy}
    error = without_result("error", "The provider failed.")
    kept = [
        replace(entry, event=error)
        if entry.experiment in failed and isinstance(entry.event, ExperimentFinished)
        else entry
        for entry in entries
    ]
    path.write_bytes(b"".join(map(encode, kept)))
    for file in settings.home.glob("koderz.duckdb*"):
        file.unlink()
    return complete


def found(benchmark: str) -> Comparison:
    with open_workspace() as opened:
        return opened.comparisons.compare(opened.results.summaries(benchmark))


def test_a_difference_that_missing_results_could_turn_round_is_significant_only_under_that_condition(
    lacking: str,
) -> None:
    comparison = found(lacking)
    strong = next(configuration for configuration in comparison.configurations if configuration.errors)
    (pair,) = comparison.pairs
    assert (strong.n, strong.missing, strong.not_ended, strong.share) == (12, 8, 0, 11 / 12)
    assert strong.cases == Cases(11 / 20, 19 / 20)
    assert (pair.test.n, pair.significant_so_far, pair.significant) == (12, True, False)
    assert (
        "significant on the 12 problems with a result of both configurations, but not in the worst case for the 8 "
        "missing results" in pair.finding
    )
    assert len(comparison.groups) == 1
    assert any(
        "but in the worst case for the missing results the difference is not significant" in sentence
        for sentence in answer(comparison).sentences
    )
    assert any(
        remark.startswith("Worst–best: ") and "Experiments without a result: 8." in remark
        for remark in comparison.remarks
    )


def test_the_bounds_stand_beside_every_rate_and_only_where_something_is_missing(
    complete: str, koderz: Callable[..., Any], request: pytest.FixtureRequest
) -> None:
    shown = koderz("compare", complete).out + koderz("analyze", complete).out
    assert "worst" not in shown
    with open_workspace() as opened:
        assert "worst–best" not in glance_table(opened.results.summaries(complete)).columns
    drawn = len(success_alone(found(complete), View()).data)

    request.getfixturevalue("lacking")
    for command in ("compare", "analyze"):
        said = koderz(command, complete).out
        assert "worst–best" in said
        assert "55 to 95 %" in said
    with open_workspace() as opened:
        table = glance_table(opened.results.summaries(complete))
    assert "55 to 95 %" in [row[table.columns.index("worst–best")] for row in table.rows]
    figure = success_alone(found(complete), View())
    assert len(figure.data) == drawn + 1
    assert any(
        "55 to 95 % of all planned problems" in text for item in figure.data for text, _ in item.customdata or ()
    )


def test_in_files_the_bounds_always_stand_and_are_the_rate_where_nothing_is_missing(
    complete: str, koderz: Callable[..., Any], request: pytest.FixtureRequest
) -> None:
    def read(form: str) -> list[dict[str, str]]:
        return list(csv.DictReader(StringIO(koderz("compare", complete, "--format", form).out)))

    rows, (pair,) = read("csv"), read("csv-pairs")
    assert all(row["share_worst"] == row["share"] == row["share_best"] for row in rows)
    assert pair["difference_worst"] == pair["difference"] == pair["difference_best"]
    assert (pair["missing"], pair["p_worst"], pair["told_apart"]) == ("0", pair["p_adjusted"], "True")

    request.getfixturevalue("lacking")
    (pair,) = read("csv-pairs")
    assert {(item["share_worst"], item["share_best"]) for item in read("csv")} >= {("0.55", "0.95")}
    assert (pair["missing"], pair["told_apart"]) == ("8", "False")
    assert float(pair["p_adjusted"]) < 0.05 < float(pair["p_worst"])
