"""A sequential benchmark: it stops when its primary comparison is decided, and says what that saved."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from koderz_core.events import BenchmarkDecided, BenchmarkOpened, ExperimentFinished, ExperimentStarted
from koderz_core.journal import read_all
from koderz_core.report.board import board
from koderz_core.workspace import open_workspace

EQUAL = ("--configuration", "retry coder=scripted/strong", "--configuration", "direct coder=scripted/strong")
SEQUENTIAL = ("--register", "--stopping", "sequential", "--problems", "all", "--quiet")
RUN = ("benchmark", *EQUAL, *SEQUENTIAL)


@pytest.fixture
def journals(tmp_path: Path) -> Path:
    return tmp_path / "home" / "journals"


def events(journals: Path) -> list[Any]:
    (journal,) = journals.glob("*.jsonl")
    return [entry.event for entry in read_all(journal)]


@pytest.fixture(scope="module")
def _first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """The data folder of the first test that needs ``ran``, and what its command said."""
    return tmp_path_factory.mktemp("first") / "home", []


@pytest.fixture
def ran(koderz: Any, _first: tuple[Path, list[Any]], tmp_path: Path) -> Any:
    """A decided benchmark in the data folder of this test, which has run once for all tests; what its command said."""
    home, said = _first
    if not said:
        said.append(koderz(*RUN, "--fail-under", 50, "--data-dir", home))
    shutil.copytree(home, tmp_path / "home")
    return said[0]


def test_no_experiment_starts_after_the_decision(ran: Any, journals: Path) -> None:
    recorded = events(journals)
    at = next(place for place, event in enumerate(recorded) if isinstance(event, BenchmarkDecided))
    assert recorded[at].decision == "matches"
    assert not any(isinstance(event, ExperimentStarted) for event in recorded[at:])
    assert sum(isinstance(event, ExperimentFinished) for event in recorded) < 164
    assert ran.code == 0
    assert "The registered stopping rule ended this benchmark early, after" in ran.err
    assert "Saved: " in ran.err


def test_fail_under_does_not_count_what_the_decision_left_out(ran: Any) -> None:
    assert ran.code == 0


def test_the_order_of_the_problems_is_drawn_by_the_seed_and_recorded(koderz: Any, ran: Any, journals: Path) -> None:
    (first,) = (event.plan.problems for event in events(journals) if isinstance(event, BenchmarkOpened))
    assert len(first) == 164
    assert first != tuple(sorted(first))
    planned = koderz(*RUN, "--plan-only", "--json").json["registration"]["covers"]["problems"]
    other = koderz(*RUN, "--seed", "1", "--plan-only", "--json").json["registration"]["covers"]["problems"]
    assert list(first) == planned != other


def test_the_comparison_has_the_confidence_sequence_and_no_p_value(koderz: Any, ran: Any) -> None:
    said = koderz("compare", "--format", "json").json
    (pair,), (registration,) = said["pairs"], said["registrations"]
    assert (pair["registered"], pair["p"], pair["p_adjusted"], pair["low"], pair["match"]) == ("primary", *[None] * 4)
    found = registration["sequential"]
    assert (found["decision"], found["e_match"] >= 40, found["low"] > -0.1) == ("matches", True, True)
    assert (registration["problems"], registration["difference"]) == (found["at"], found["difference"])
    assert registration["experiments_saved"] > 100
    assert {row["planned"] for row in said["configurations"]} == {found["at"]}  # what was left out is not missing
    text = " ".join(koderz("compare").out.split())
    assert "confidence sequence], e-value" in text
    assert "Partial:" not in text
    assert "9.6 %" not in text


def test_no_table_tests_the_pair_on_which_the_stopping_rule_depends(koderz: Any) -> None:
    never, strong = "direct coder=scripted/never", "direct coder=scripted/strong"
    koderz("benchmark", "--configuration", never, "--configuration", strong, "--primary", "A,B", *SEQUENTIAL)
    said = koderz("compare", "--by", "kind", "--equal-cost", "tokens", "--format", "json").json
    assert said["registrations"][0]["sequential"]["decision"] == "falls short"
    assert [len(group) for group in said["groups"]] == [2]
    sliced, equal = said["slices"], said["equal_cost"]
    assert (sliced["tests"], {row["p_adjusted"] for row in sliced["rows"]}) == (0, {None})
    assert (equal["supported"], {row["difference_low"] for row in equal["areas"]}) == ([], {None})
    (why,) = [remark for remark in sliced["remarks"] if "primary comparison of a sequential benchmark" in remark]
    assert equal["remarks"][0] == why
    policies = (
        "--policy",
        "recorded A",
        "--policy",
        "recorded B",
        "--policy",
        "retry strong",
        "--policy",
        "retry never",
    )
    rows = koderz("what-if", *policies, "--json").json["policies"]
    assert [row["difference"] is not None for row in rows] == [False, True, True, True]
    assert [row["difference_low"] is not None for row in rows] == [False, False, False, True]
    assert "No interval is shown for the difference between policy 1 and" in koderz("what-if", *policies).out


def test_results_and_the_live_page_call_no_experiment_missing_that_the_decision_left_out(
    koderz: Any, ran: Any, tmp_path: Path
) -> None:
    text = " ".join(koderz("results").out.split())
    assert ("The registered stopping rule ended this benchmark early, after" in text, "Partial" in text) == (
        True,
        False,
    )
    with open_workspace(home=tmp_path / "home") as opened:
        (row,) = opened.results.benchmarks()
        shown = board(opened.results.progress(row.id))
    assert shown.figures[0] == ("state", "finished early: the configuration matches the baseline")
    assert (shown.bar.share, "not run because of the stopping rule" in shown.bar.text) == (1.0, True)
    assert all("not run because of" in line and "partial" not in line for line in shown.rates)


def test_analyze_counts_the_same_problems_as_results(koderz: Any, ran: Any, journals: Path) -> None:
    (journal,) = journals.glob("*.jsonl")
    assert koderz("analyze", journal.stem, "--json").json["summaries"] == koderz("results", "--json").json
    assert "The registered stopping rule ended this benchmark early" in koderz("analyze", journal.stem).out


def test_exported_samples_are_those_of_the_problems_that_decided_the_benchmark(
    koderz: Any, ran: Any, tmp_path: Path
) -> None:
    pytest.importorskip("inspect_ai")
    from inspect_ai.log import read_eval_log  # noqa: PLC0415 (optional and heavy)

    planned = {row["planned"] for row in koderz("results", "--json").json}
    for form in ("eee", "inspect"):
        assert koderz("export", "--format", form, "--out", tmp_path / form).code == 0
    details = [
        json.loads(file.read_text())["evaluation_results"][0]["score_details"]["details"]
        for file in (tmp_path / "eee").rglob("*.json")
    ]
    assert {int(each["planned_samples"]) for each in details} == planned
    assert {each["samples_without_result"] for each in details} == {"0"}
    logs = [read_eval_log(file) for file in (tmp_path / "inspect").glob("*.eval")]
    assert {(log.status, len(log.samples)) for log in logs} == {("success", *planned)}


def test_a_decided_benchmark_stays_decided_and_is_verified(koderz: Any, ran: Any, journals: Path) -> None:
    before = len(events(journals))
    (journal,) = journals.glob("*.jsonl")
    for command in (("resume", journal.stem), RUN):
        said = koderz(*command)
        assert (said.code, "ended this benchmark early" in said.err) == (0, True)
    assert not [event for event in events(journals)[before:] if isinstance(event, ExperimentStarted)]
    assert koderz("verify", journal.stem).code == 0


def test_a_changed_decision_is_found_by_verification(koderz: Any, ran: Any, journals: Path) -> None:
    (journal,) = journals.glob("*.jsonl")
    journal.write_text(journal.read_text().replace('"decision":"matches"', '"decision":"falls short"'))
    assert "the decision of " in koderz("verify", journal.stem).out


def test_an_extended_benchmark_is_decided_by_its_registered_plan(koderz: Any, journals: Path) -> None:
    koderz(*RUN, "--problems", "0:10", "--name", "mine")
    (journal,) = journals.glob("*.jsonl")
    decided = next(event for event in events(journals) if isinstance(event, BenchmarkDecided))
    journal.write_bytes(journal.read_bytes().partition(b'"experiment_finished"')[0].rpartition(b"\n")[0] + b"\n")
    koderz(*RUN, "--problems", "0:30", "--name", "mine")
    (found,) = koderz("compare", "mine", "--format", "json").json["registrations"]
    assert [event for event in events(journals) if isinstance(event, BenchmarkDecided)] == [decided]
    assert (decided.decision, decided.problems) == (found["sequential"]["decision"], found["sequential"]["at"])


def test_a_resumed_benchmark_decides_as_if_it_had_not_been_interrupted(koderz: Any, ran: Any, journals: Path) -> None:
    (journal,) = journals.glob("*.jsonl")
    decided = next(event for event in events(journals) if isinstance(event, BenchmarkDecided))
    lines = journal.read_bytes().splitlines(keepends=True)
    ends = [place for place, line in enumerate(lines) if b'"experiment_finished"' in line]
    journal.write_bytes(b"".join(lines[: ends[20]]))
    koderz("resume", journal.stem)
    assert next(event for event in events(journals) if isinstance(event, BenchmarkDecided)) == decided


def test_the_decision_of_a_repaired_benchmark_is_made_again_from_its_results(
    koderz: Any, ran: Any, journals: Path
) -> None:
    (journal,) = journals.glob("*.jsonl")
    decided = next(event for event in events(journals) if isinstance(event, BenchmarkDecided))
    for kind in (b'"experiment_finished"', b'"benchmark_decided"'):
        lines = journal.read_bytes().splitlines(keepends=True)
        corrupt = next(place for place, line in enumerate(lines) if kind in line)
        journal.write_bytes(b"".join((*lines[:corrupt], b"\xff\n", *lines[corrupt + 1 :])))
        with open_workspace() as opened:
            assert all(repair.sound for repair in opened.upkeep.repair())
        assert not any(isinstance(event, BenchmarkDecided) for event in events(journals))
        assert koderz("resume", journal.stem).code == 0
        assert [event for event in events(journals) if isinstance(event, BenchmarkDecided)] == [decided]
        assert koderz("verify", journal.stem).code == 0
