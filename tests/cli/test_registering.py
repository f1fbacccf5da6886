"""`koderz benchmark --register`: a plan with its primary comparison, fixed before the first call."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from koderz_core.events import BenchmarkOpened, CallStarted
from koderz_core.journal import read_all
from koderz_core.report.registration import deviation_announced

PAIR = ("--configuration", "retry coder=scripted/weak", "--configuration", "direct coder=scripted/strong")
SMALL = ("benchmark", *PAIR, "--quiet")
HASH = re.compile(r"\b[0-9a-f]{64}\b")


@pytest.fixture
def journals(tmp_path: Path) -> Path:
    return tmp_path / "home" / "journals"


def registered(koderz: Any, *options: str) -> Any:
    return koderz(*SMALL, "--register", *options)


def test_the_hash_is_known_before_the_run_and_verify_recomputes_it(koderz: Any, journals: Path) -> None:
    (planned,) = HASH.findall(registered(koderz, "--problems", "0:2", "--plan-only").out)
    (ran,) = HASH.findall(registered(koderz, "--problems", "0:2").err)
    (journal,) = journals.glob("*.jsonl")
    verified = koderz("verify", journal.stem)
    assert planned == ran
    assert (verified.code, HASH.findall(verified.out)) == (0, [planned])


def test_a_shard_prints_the_hash_of_the_whole_benchmark(koderz: Any) -> None:
    options = ("--problems", "0:2", "--max-cost", "3", "--plan-only")
    (whole,) = HASH.findall(registered(koderz, *options).out)
    assert HASH.findall(registered(koderz, *options, "--shard", "1/2").out) == [whole]


def test_the_hash_is_that_of_the_published_document(koderz: Any) -> None:
    registration = registered(koderz, "--problems", "0:2", "--plan-only", "--json").json["registration"]
    text = json.dumps(registration["covers"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest() == registration["sha256"]
    assert registration["covers"]["problems"] == ["HumanEval/0", "HumanEval/1"]


def test_the_registration_is_in_the_header_before_the_first_call(koderz: Any, journals: Path) -> None:
    registered(koderz, "--problems", "0:2", "--margin", "5", "--exclusions", "none foreseen")
    (journal,) = journals.glob("*.jsonl")
    first, *rest = (entry.event for entry in read_all(journal))
    assert isinstance(first, BenchmarkOpened)
    assert (found := first.plan.registration)
    assert (found.a, found.b, found.margin, found.exclusions) == (0, 1, 0.05, "none foreseen")
    assert any(isinstance(event, CallStarted) for event in rest)


def test_an_impossible_registration_in_a_header_is_a_fault_of_its_line(koderz: Any, journals: Path) -> None:
    registered(koderz, "--problems", "0:1", "--stopping", "sequential")
    (journal,) = journals.glob("*.jsonl")
    recorded = journal.read_text()
    for before, after in (('"margin":0.1', '"margin":1.5'), ('"a":0', '"a":1'), ('"a":0', '"a":7')):
        journal.write_text(recorded.replace(before, after, 1))
        said = koderz("verify", journal.stem)
        assert (said.code, "Line 1 of the journal" in said.out) == (1, True)


def test_a_benchmark_without_a_registration_does_not_mention_one(koderz: Any, journals: Path) -> None:
    koderz(*SMALL, "--problems", "0:1")
    (journal,) = journals.glob("*.jsonl")
    assert b"registration" not in journal.read_bytes()


def test_a_change_is_recorded_as_a_deviation_with_its_time(koderz: Any) -> None:
    registered(koderz, "--problems", "0:2", "--name", "mine")
    said = koderz(*SMALL, "--problems", "0:3", "--name", "mine", "--max-cost", "2")
    assert "deviation: 1 problem added; budget changed from no limit to $2.00" in said.err
    (found,) = koderz("compare", "mine", "--format", "json").json["registrations"]
    (deviation,) = found["deviations"]
    assert deviation["at"] > found["registered_at"]
    assert deviation["changes"] == ["1 problem added", "budget changed from no limit to $2.00"]
    assert (found["problems_planned"], found["problems"]) == (2, 2)  # the added problem does not count


def test_a_deviation_says_whether_calls_of_unknown_cost_are_allowed(koderz: Any) -> None:
    limited = (*SMALL, "--problems", "0:1", "--name", "mine", "--max-cost", "2")
    koderz(*limited, "--register", "--allow-unpriced")
    assert "deviation: calls of unknown cost are no longer allowed." in koderz(*limited).err
    assert "deviation: calls of unknown cost are now allowed." in koderz(*limited, "--allow-unpriced").err


def test_resuming_the_same_plan_is_no_deviation(koderz: Any, journals: Path) -> None:
    registered(koderz, "--problems", "0:2", "--name", "mine")
    (journal,) = journals.glob("*.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[: len(lines) // 2]))
    koderz("resume", "mine")
    (found,) = koderz("compare", "mine", "--format", "json").json["registrations"]
    assert (found["complete"], found["deviations"]) == (True, [])


def test_a_difference_that_no_report_shows_is_not_announced_as_a_deviation(koderz: Any, journals: Path) -> None:
    registered(koderz, "--problems", "0:1")
    (journal,) = journals.glob("*.jsonl")
    (plan,) = [entry.event.plan for entry in read_all(journal) if isinstance(entry.event, BenchmarkOpened)]
    assert not deviation_announced(plan, replace(plan, conditions={**plan.conditions, "further prompt": "1"}))


@pytest.mark.parametrize("first", [(), ("--register", "--margin", "5")])
def test_a_registration_cannot_be_added_or_changed_later(koderz: Any, first: tuple[str, ...]) -> None:
    koderz(*SMALL, *first, "--problems", "0:1", "--name", "mine")
    said = registered(koderz, "--problems", "0:1", "--name", "mine")
    assert said.code != 0
    assert "cannot be added or changed later" in said.err


def test_a_registration_is_that_of_its_configurations_in_any_order(koderz: Any) -> None:
    registered(koderz, "--problems", "0:1", "--name", "mine")
    options = ("--problems", "0:2", "--name", "mine", "--register", "--quiet")
    assert koderz("benchmark", *PAIR[2:], *PAIR[:2], *options).code == 0
    other = koderz("benchmark", "--configuration", "retry coder=scripted/strong", *PAIR[2:], *options)
    assert "cannot be added or changed later" in other.err


def test_other_pairs_are_exploratory(koderz: Any) -> None:
    three = (*SMALL, "--configuration", "direct coder=scripted/weak", "--problems", "0:2", "--name", "mine")
    refused = koderz(*three, "--register")
    assert "A = retry SCRIPTED weak" in refused.err
    koderz(*three, "--register", "--primary", "A,B")
    pairs = koderz("compare", "mine", "--baseline", "direct SCRIPTED strong", "--format", "json").json["pairs"]
    assert sorted(pair["registered"] for pair in pairs) == ["exploratory", "primary"]


def test_the_primary_comparison_is_named_by_labels_with_several_parameters(koderz: Any) -> None:
    names = [f"repair SCRIPTED weak (gate=examples, max_iterations={most})" for most in (3, 5)]
    grid = [f"repair coder=scripted/weak gate=examples max_iterations={most}" for most in (3, 5)]
    options = (*(word for made in grid for word in ("--configuration", made)), "--problems", "0:2", "--plan-only")
    said = koderz("benchmark", *options, "--register", "--primary", ",".join(reversed(names)))
    assert said.code == 0, said.err
    assert f"whether {names[1]} matches {names[0]} within" in said.out


def test_a_pilot_and_options_without_the_switch_are_refused(koderz: Any) -> None:
    assert "cannot be combined" in registered(koderz, "--pilot", "1").err
    said = koderz(*SMALL, "--margin", "5")
    assert "--margin can be used only with --register. Add --register, or omit --margin." in said.err


def test_every_report_has_the_registration(koderz: Any) -> None:
    registered(koderz, "--problems", "0:2", "--exclusions", "<b>none</b>")
    (number,) = HASH.findall(registered(koderz, "--problems", "0:2", "--exclusions", "<b>none</b>", "--plan-only").out)
    for form in ("markdown", "html"):
        said = koderz("export", "--format", form, "--out", "-").out
        assert number in said
        assert "Registered before the first call: whether retry SCRIPTED weak matches" in said
        assert "<b>none" not in said


def test_the_p_value_of_a_registered_result_belongs_to_its_verdict(koderz: Any) -> None:
    pair = ("--configuration", "direct coder=scripted/weak", "--configuration", "direct coder=scripted/strong")
    koderz("benchmark", *pair, "--register", "--problems", "0:30", "--name", "mine", "--quiet")
    (found,) = koderz("compare", "mine", "--format", "json").json["registrations"]
    assert found["verdict"] == "falls short"
    assert found["p"] <= 0.025


def test_the_pair_of_the_primary_comparison_has_the_registered_match(koderz: Any) -> None:
    more = ("--configuration", "direct coder=scripted/weak", "--problems", "0:30", "--margin", "40", "--name", "mine")
    registered(koderz, *more, "--primary", "A,B")
    (registration,) = koderz("compare", "mine", "--format", "json").json["registrations"]
    baseline = f"{registration['benchmark']}/{registration['primary'][1]}"
    compared = ("compare", "mine", "--baseline", baseline)
    said = koderz(*compared, "--margin", "5", "--format", "json").json
    (found,), (pair, other) = said["registrations"], sorted(said["pairs"], key=lambda row: -row["margin"])
    assert (pair["registered"], pair["margin"], other["margin"]) == ("primary", 0.4, 0.05)
    assert [pair[name] for name in ("match", "match_low", "match_high")] == [
        found[name] for name in ("verdict", "low", "high")
    ]
    text = " ".join(koderz(*compared).out.split())
    assert "within 40 percentage points" in text.partition("Match with the baseline")[2][:200]
    koderz(*SMALL, "--problems", "0:9", "--name", "other")
    fewer = ("mine", "other", "--baseline", baseline, "--same-problems", "--format", "json")
    assert {row["margin"] for row in koderz("compare", *fewer).json["pairs"]} == {0.1}  # not on the registered problems
    koderz(*SMALL, "--problems", "0:31", "--name", "larger")
    every = koderz("compare", "mine", "larger", *fewer[2:]).json["pairs"]
    assert {row["margin"] for row in every if row["registered"] == "primary"} == {0.4}


def test_p_values_of_an_extended_or_unfinished_benchmark_are_warned_of(koderz: Any, journals: Path) -> None:
    koderz(*SMALL, "--problems", "0:2", "--name", "mine")
    assert "9.6 %" not in koderz("compare", "mine").out
    koderz(*SMALL, "--problems", "0:3", "--name", "mine")
    assert "extended after they had started: " in " ".join(koderz("compare", "mine").out.split())
    (journal,) = journals.glob("*.jsonl")
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-3]))
    shown = " ".join(koderz("compare", "mine").out.split())
    assert "The p values of this comparison come from an unfinished benchmark" in shown
