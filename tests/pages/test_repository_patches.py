"""Programs that are patches of a repository on pages: changes file by file, and the tests before and after."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import repository_sample
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.config import load_settings
from koderz_core.records import Plan

Visit = Callable[..., AppTest]
SEED = 5  # the scripted model is wrong, and then right


@pytest.fixture(scope="module")
def _run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Plan]:
    home = tmp_path_factory.mktemp("repository")
    file = repository_sample.write(home, load_settings(home=home))
    repair = Wanted("repair", {"coder": "scripted/weak"}, {"max_iterations": 4}, gate="split:0.5")
    with open_workspace(home=home, memory="off") as workspace:
        name = workspace.datasets.load(str(file)).origin.name
        plan = workspace.plans.plan(Order([repair], "all", seed=SEED), name)
        workspace.runs.run(plan)
    return home, plan


@pytest.fixture
def run(_run: tuple[Path, Plan]) -> Plan:
    """A task of a repository that a scripted model solves after a patch that changes nothing."""
    home, plan = _run
    shutil.copytree(home, load_settings().home, dirs_exist_ok=True)
    return plan


def test_a_patch_is_shown_file_by_file_as_text_and_a_long_one_is_folded() -> None:
    def page() -> None:
        from koderz_core.patches import make_patch  # noqa: PLC0415 (a script of its own)
        from pages.ui.programs import show_program  # noqa: PLC0415

        long = "".join(f"line {number}\n" for number in range(80))
        show_program(make_patch({"a.py": "x = 1\n"}, {"a.py": "x = 2\n", "b/**c** <i>.py": long}), "it")

    app = AppTest.from_function(page, default_timeout=30).run()
    assert not app.exception
    assert "2 files, +81 -1" in said(app)
    assert [text.value for text in app.text] == ["a.py", "+1 -1", "b/**c** <i>.py", "new file · +80 -0"]
    assert app.code[0].value == "@@ -1,1 +1,1 @@\n-x = 1\n+x = 2"
    assert [folded.label for folded in app.expander] == ["Show 81 lines of changes"]


def test_two_patches_are_compared_by_their_effect_and_without_files_as_texts() -> None:
    def page() -> None:
        from koderz_core.patches import make_patch  # noqa: PLC0415 (a script of its own)
        from pages.ui.programs import show_diff  # noqa: PLC0415

        files = {"a.py": "x = 1\n", "b.py": "y = 1\n"}
        first, second = (make_patch(files, {"a.py": "x = 2\n", "b.py": last}) for last in ("y = 1\n", "y = 3\n"))
        show_diff(first, second, "by effect", files=lambda: files)
        show_diff(first, second, "as texts")
        show_diff(first, first, "same", files=lambda: files)

    app = AppTest.from_function(page, default_timeout=30).run()
    assert not app.exception
    assert app.code[0].value == "@@ -1,1 +1,1 @@\n-y = 1\n+y = 3"
    assert "The files of the repository are not available" in said(app)
    assert "+++ b/b.py" in app.code[1].value
    assert "identical" in said(app)


def test_tests_are_listed_by_what_the_patch_changed() -> None:
    def page() -> None:
        from koderz_core.records import TestFailure, Verdict  # noqa: PLC0415 (a script of its own)
        from koderz_core.report.repository_tests import RepositoryTests  # noqa: PLC0415
        from pages.ui.verdicts import show_test_changes  # noqa: PLC0415

        gate = ("t.py::T::test_fixed", "t.py::T::test_still", "u.py::test_broken", "u.py::test_kept")
        tests = RepositoryTests(frozenset(gate[:2]), gate, (), gate)
        failure = TestFailure(1, "def test_still(self):\n    self.f('**b**')", "1", "<i>", "1 != 2")
        show_test_changes(tests, Verdict("PFFP", (failure,), True, "faked", "twin", 0.1, "strong"), None, [])

    app = AppTest.from_function(page, default_timeout=30).run()
    assert not app.exception
    assert "failing tests fixed 1 of 2" in said(app)
    assert "passing tests kept 1 of 2" in said(app)
    must, broken, kept = (table.value for table in app.dataframe)
    assert list(must["test"]) == ["T::test_fixed", "T::test_still"]
    assert list(must["actual"]) == ["", "<i>"]
    assert list(broken["start → now"]) == ["✓ → ✗ broken"]
    assert list(kept["test"]) == ["test_kept"]
    assert "Test 2: t.py::T::test_still" in said(app)
    assert "passed a test that koderz had changed so that every correct program fails it" in said(app)


def test_the_steps_of_a_task_show_the_patch_and_the_tests_that_it_fixed(visit: Visit, run: Plan) -> None:
    experiment = run.experiments()[0].id
    app = visit("experiment", experiment=experiment, view="Tests")
    assert "failing tests fixed 2 of 2" in said(app)
    assert "passing tests kept 2 of 2" in said(app)
    must, kept, course = (table.value for table in app.dataframe)
    assert set(must["test"]) == {"test_square[3]", "test_square[4]"}
    assert set(must["tests"]) == set(kept["tests"]) == {"gate", "held-out"}
    assert list(course["start → 1, 2"]) == ["✗ → ✗ ✓"]
    app = visit("experiment", experiment=experiment, view="Diff")
    codes = [code.value for code in app.code]
    assert [code for code in codes if "-# SCRIPTED" in code and "+    return side * side" in code]
    assert [code for code in codes if "-# SCRIPTED" not in code and "+    return side * side" in code]


def test_the_problem_shows_its_package_its_tests_its_files_and_on_request_the_solution(visit: Visit, run: Plan) -> None:
    app = visit("problems", experiment=run.experiments()[0].id, view="Calls")
    app.session_state["problem text"] = True
    app.run()
    for fact in ("package: shapes-1.0", "licence: MIT", "SHA-256 of the tree: ", "2 must start to pass"):
        assert fact in said(app)
    assert "square(3) returns 6. Fix it." in said(app)
    assert [table for table in app.dataframe if list(table.value.get("editable file", ())) == ["src/shapes.py"]]
    assert "return side * side" not in said(app)
    app.toggle(key="canonical solution").set_value(True).run()
    assert "+    return side * side" in said(app)


def test_new_run_names_the_kind_and_the_gate_that_suits_it_and_refuses_examples(visit: Visit, run: Plan) -> None:
    app = visit("launch", clone=run.id)
    assert "Kind repo: the model writes changes to the files of a repository." in said(app)
    assert "pytest is installed. Recommended gate: split:0.5." in said(app)
    gate = next(box for box in app.selectbox if box.label == "Gate tests")
    gate.select("examples").run()
    assert "use gate=split:0.5 or gate=tests" in said(app)
