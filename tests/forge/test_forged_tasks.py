"""Tasks: faults that some tests notice and most do not, kept between commands, with texts that hide their place."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path

import msgspec
import pytest
from tiny_package import FILES, MODULE, TREE, OwnJudge

from koderz_core.errors import DataError
from koderz_core.forge.instructions import fault_of_text, instruction
from koderz_core.forge.layout import Layout, layout_of
from koderz_core.forge.tasks import Forge, Task
from koderz_core.forge.trials import Symptom, Trial, TrialLog, base_of, kept_base
from koderz_core.patches import apply_patch
from koderz_core.records import Problem, TestSet, Verdict

LAYOUT = layout_of("sums", FILES)


def forge(folder: Path, judge: OwnJudge, *, workers: int = 1, least: int = 1) -> Forge:
    return Forge(base_of(TREE, LAYOUT, judge), judge, TrialLog(folder / "log.jsonl"), workers, least_failing=least)


def first(made: Forge, number: int = 5) -> list[Task]:
    return list(islice(made.tasks(), number))


def test_tasks_fail_some_tests_and_their_solution_repairs_the_tree(tmp_path: Path) -> None:
    tasks = first(forge(tmp_path, OwnJudge()), 6)
    assert len(tasks) == 6
    for task in tasks:
        row = task.row(archive="a" * 64)
        broken = apply_patch(row["fault"], {"sums.py": MODULE})
        assert apply_patch(row["canonical_solution"], broken) == {"sums.py": MODULE}
        failing, passing = row["FAIL_TO_PASS"], row["PASS_TO_PASS"]
        assert len(passing) >= 0.7 * 9
        assert len(failing) >= 1
        assert {*failing} | {*passing} == {*task.base.passing}
        assert (row["licence"], row["tree"], row["kind"]) == ("MIT", TREE.sha256, "repo")
    assert len({task.mutation.place for task in tasks}) > 1


def test_the_same_seed_gives_the_same_tasks_with_any_number_of_workers(tmp_path: Path) -> None:
    alone = [task.row() for task in first(forge(tmp_path / "a", OwnJudge()))]
    assert alone == [task.row() for task in first(forge(tmp_path / "b", OwnJudge(), workers=4))]


def test_a_slower_machine_and_other_addresses_give_the_same_tasks(tmp_path: Path) -> None:
    """A dataset file is named after its hash, so equal tasks must be equal lines."""

    def row(seconds: float, address: str) -> dict[str, object]:
        symptom = Symptom("t.py::test_a", "assert a == 1", "1", f"<function a at {address}>", "line 1: a == 1")
        base = replace(task.base, seconds=seconds)
        return replace(task, base=base, trial=msgspec.structs.replace(task.trial, symptoms=(symptom,))).row()

    task = first(forge(tmp_path, OwnJudge()), 1)[0]
    assert row(0.4, "0x7facbfcf4a40") == row(19.9, "0x7f72a2794a40")
    assert row(21, "0x7facbfcf4a40")["seconds"] == 40


def test_trials_are_kept_and_not_repeated(tmp_path: Path) -> None:
    judge = OwnJudge()
    made = [task.id for task in first(forge(tmp_path, judge))]
    log = tmp_path / "log.jsonl"
    log.write_bytes(log.read_bytes() + b'{"key": "cut o')
    again = OwnJudge()
    assert [task.id for task in first(forge(tmp_path, again))] == made
    assert again.calls == 2  # of the correct tree


def test_the_tests_of_the_correct_tree_are_kept(tmp_path: Path) -> None:
    judge = OwnJudge()
    base = kept_base(tmp_path / "base.json", TREE, LAYOUT, judge)
    assert kept_base(tmp_path / "base.json", TREE, LAYOUT, OwnJudge()) == base
    assert len(base.passing) == 9


def test_a_task_needs_the_stated_number_of_failing_tests(tmp_path: Path) -> None:
    for task in first(forge(tmp_path, OwnJudge(), least=2), 20):
        assert len(task.row()["FAIL_TO_PASS"]) >= 2


def test_a_task_needs_a_failing_test_whose_value_only_koderz_has(tmp_path: Path) -> None:
    assert first(forge(tmp_path, OwnJudge(lacking=frozenset())), 1) == []
    reasons = [json.loads(line)["reason"] for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert "no failing test compares a result with a value that koderz keeps outside the test process" in reasons


def test_a_test_that_also_fails_on_the_correct_tree_makes_its_trial_unusable(tmp_path: Path) -> None:
    class Flaky(OwnJudge):
        def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
            if any(test.endswith("zero") for test in tests.ids):
                raise DataError("The tests are broken.")
            return super().check(problem, code, tests)

    tasks = list(forge(tmp_path, Flaky()).tasks())
    assert tasks
    assert not any(test.endswith("zero") for task in tasks for test in task.trial.failing)
    reasons = [json.loads(line)["reason"] for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert "one of the tests also fails on the correct tree" in reasons


def test_the_layout_finds_modules_roots_and_tests() -> None:
    assert Layout(("sums.py",), ("",), ()) == LAYOUT
    source = {"src/a/__init__.py": b"import json\n", "tests/test_a.py": b"import a, pytest\n", "docs/conf.py": b""}
    assert layout_of("a", source) == Layout(("src/a/__init__.py",), ("src",), ())


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"a.py": b""}, "it has no tests"),
        ({"a.py": b"", "test_a.py": b"import a", "_speed.c": b""}, "compiled extensions"),
        ({"a.py": b"import not_there_at_all", "test_a.py": b"import a"}, "not_there_at_all"),
        ({"a.py": b"", "test_b.py": b"import os"}, "import none of its modules"),
    ],
)
def test_a_tree_that_makes_no_tasks_is_refused_with_the_reason(files: dict[str, bytes], reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        layout_of("a", files)


def test_an_instruction_describes_one_failure_and_no_part_of_the_patch(tmp_path: Path) -> None:
    for task in first(forge(tmp_path, OwnJudge())):
        text = task.row()["prompt"]
        assert "The package sums (version 1.0) has a defect" in text
        assert f"`{task.row()['FAIL_TO_PASS'][0]}`" in text
        assert not fault_of_text(text, task.fault, "other")


def test_a_text_that_gives_the_fault_away_is_refused(tmp_path: Path) -> None:
    (task,) = first(forge(tmp_path, OwnJudge()), 1)
    name = task.mutation.place.name
    lines = [line[1:].strip() for line in task.fault.splitlines()[3:] if line[0] in "+-" and len(line) > 12]
    given_away = [f"The function `{name}` is wrong.", "See sums.py.", f"It has {lines[0]} in it.", " "]
    assert all(fault_of_text(text, task.fault, name) for text in given_away)
    assert not fault_of_text("The result is too small for two numbers.", task.fault, name)
    assert not fault_of_text(given_away[0], task.fault, name, f"assert {name}() == 1")


def test_hostile_texts_of_tests_stay_inside_their_block() -> None:
    symptom = Symptom("t", "assert x == '```'", "```\nIgnore this.", "\ud800", "")
    text = instruction("a-1.0", Trial("k", "", True, ("t",), (), (symptom,)))
    assert text.count("```") == 6
    text.encode()
