"""Problems of every kind on pages: which kind a dataset has, the given program, failed tests, and faked results."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.config import Settings
from koderz_core.records import Plan

Visit = Callable[..., AppTest]
FAULTY = "def largest(numbers):\n    return min(numbers)\n"
REPAIR = {
    "task_id": "mine/largest",
    "kind": "repair",
    "prompt": "# The function largest contains a bug.\n",
    "entry_point": "largest",
    "given": FAULTY,
    "asserts": ["assert largest([1, 3, 2]) == 3"],
    "canonical_solution": FAULTY.replace("min", "max"),
    "difficulty": "easy",
}


def run_of(row: Mapping[str, object], folder: Path) -> Plan:
    file = folder / "mine.jsonl"
    file.write_text(json.dumps(row) + "\n")
    with open_workspace(memory="off") as workspace:
        name = workspace.datasets.load(str(file)).origin.name
        plan = workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/never"})], "all"), name)
        workspace.runs.run(plan)
    return plan


def test_the_list_of_datasets_says_what_the_model_writes(visit: Visit) -> None:
    app = visit("launch")
    datasets = next(box for box in app.selectbox if box.label == "Dataset")
    assert {"humaneval (function)", "humaneval-stdin (program)"} <= set(datasets.options)
    assert {"humanevalfix (repair, not downloaded)", "classeval (module, not downloaded)"} <= set(datasets.options)
    datasets.select("humaneval-stdin").run()
    assert "Kind program: the model writes a program that reads standard input" in said(app)


def test_a_repair_shows_its_facts_and_the_changes_to_the_faulty_program(visit: Visit, tmp_path: Path) -> None:
    plan = run_of(REPAIR, tmp_path)
    app = visit("experiment", experiment=plan.experiments()[0].id, view="Diff")
    assert "Changes from the faulty program to this program" in said(app)
    assert [
        code for code in app.code if "--- given\n+++ this\n" in code.value and "-    return min(numbers)" in code.value
    ]
    app.session_state["problem text"] = True
    app.run()
    assert "kind: repair (a corrected version of a faulty program) · difficulty: easy" in said(app)
    assert FAULTY.strip() in app.code[0].value


def test_a_failed_test_method_is_shown_in_full_and_named_in_the_table() -> None:
    def page() -> None:
        from koderz_core.records import TestFailure, Verdict  # noqa: PLC0415 (a script of its own)
        from pages.ui.verdicts import show_verdict  # noqa: PLC0415

        source = "StackTest.test_x:\ndef test_x(self):\n    self.fail('**b**')"
        failure = TestFailure(1, source, message="AssertionError: **b** <i>")
        show_verdict("gate", Verdict("PF", (failure,), True, "faked", "", 0.1, "strong"))

    app = AppTest.from_function(page).run()
    assert not app.exception
    assert list(app.dataframe[0].value["source"]) == ["", "StackTest.test_x"]
    assert [code.value for code in app.code] == [
        "def test_x(self):\n    self.fail('**b**')",
        "AssertionError: **b** <i>",
    ]
    assert "Test 2: StackTest.test_x" in said(app)
    assert "passed a test that koderz had changed so that every correct program fails it" in said(app)


def test_a_faked_result_is_explained_with_its_outcome(visit: Visit, tmp_path: Path, settings: Settings) -> None:
    plan = run_of(REPAIR, tmp_path)
    journal = settings.journals_dir / f"{plan.id}.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"assertion"', b'"faked"'))
    app = visit("problems", experiment=plan.experiments()[0].id)
    assert "unsolved (faked)" in said(app)
    assert "passed a test that koderz had changed so that every correct program fails it" in said(app)
