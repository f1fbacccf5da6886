"""Lines of the kind ``repo`` in a user's own file."""

from __future__ import annotations

import json

import pytest
from repository_sample import BROKEN, FAILING, FAULT, GOLD, PASSING, PATH, problem, row, write

from koderz_core.config import Settings
from koderz_core.datasets import load, own_repositories
from koderz_core.datasets.own_problems import read_own
from koderz_core.datasets.repository_facts import repository_facts
from koderz_core.datasets.sources import lacking, require_libraries
from koderz_core.errors import DataError
from koderz_core.patches import apply_patch, make_patch

OTHER = make_patch({"README.md": "Shapes.\n"}, {"README.md": "Forms.\n"})
OF_TESTS = make_patch({"tests/conftest.py": ""}, {"tests/conftest.py": "x = 1\n"})


def test_a_problem_shows_the_broken_tree_without_tests_and_configuration(settings: Settings) -> None:
    found = problem(settings)
    assert dict(found.public.files) == {PATH: BROKEN, "README.md": "Shapes.\n"}
    assert "side * side" in apply_patch(found.canonical_solution, found.public.files)[PATH]
    assert found.tests.ids == (*FAILING, *PASSING)
    assert found.public.editable == (PATH,)


def test_the_copy_of_a_file_is_the_same_dataset_and_problems_are_equal(tmp_path, settings: Settings) -> None:
    made = load(str(write(tmp_path, settings)), settings)
    assert load(made.origin.name, settings) == made
    assert (made.origin.licence, made.problems[0].public.kind) == ("MIT", "repo")


def test_facts_of_a_task(settings: Settings) -> None:
    facts = repository_facts(problem(settings))
    assert facts is not None
    assert (facts.package, facts.failing, facts.passing) == ("shapes-1.0", 2, 2)
    assert (facts.changed_lines, facts.function_lines) == (2, 3)
    also_a_file = repository_facts(problem(settings, fault=FAULT + make_patch({}, {"src/new.py": ""})))
    assert also_a_file is not None
    assert also_a_file.function_lines is None


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"tree": "0" * 64}, "field tree: cannot be used; The tree shapes-1.0 is missing"),
        ({"tree": "abc"}, "field tree: is not a SHA-256"),
        ({"fault": GOLD}, "field fault: does not apply to the tree: src/shapes.py: the lines from"),
        (
            {"canonical_solution": FAULT},
            "field canonical_solution: does not apply to the tree with the fault: src/shapes.py",
        ),
        ({"canonical_solution": "no diff"}, "field canonical_solution: changes nothing; write a unified diff"),
        (
            {"canonical_solution": GOLD + OTHER},
            "field canonical_solution: changes files that are not editable: 'README",
        ),
        (
            {"canonical_solution": OF_TESTS},
            "field canonical_solution: changes files that are not editable: 'tests/conf",
        ),
        (
            {"editable": [PATH, "tests/conftest.py"]},
            "field editable: names tests, conftest.py or configuration files: 'tests",
        ),
        (
            {"editable": [PATH, "src/b.py"]},
            "field editable: names files that are not text files of the tree: 'src/b.py'",
        ),
        ({"editable": [PATH, "../b.py"]}, "field editable: item 2 is not a relative path"),
        ({"FAIL_TO_PASS": []}, "field FAIL_TO_PASS: "),
        (
            {"FAIL_TO_PASS": ["tests/test_b.py::test"]},
            "field FAIL_TO_PASS: names tests that are not in the tree: 'tests",
        ),
        (
            {"FAIL_TO_PASS": ["tests/test_shapes.py::test_b"]},
            "field FAIL_TO_PASS: names tests that are not in the tree",
        ),
        (
            {"PASS_TO_PASS": [*PASSING, FAILING[0]]},
            "field PASS_TO_PASS: lists tests twice, or FAIL_TO_PASS does, or both list them: ",
        ),
        ({"roots": ["lib"]}, "field roots: names a folder that is not in the tree: 'lib'"),
        ({"test": "def check(candidate): ..."}, "field test: is not a field of the kind repo"),
    ],
)
def test_fields_that_do_not_fit_are_named(settings: Settings, fields: dict[str, object], said: str) -> None:
    faults = [
        fault.describe("my.jsonl") for fault in read_own(json.dumps(row(settings, **fields)).encode(), settings).faults
    ]
    assert any(fault.startswith(f"my.jsonl:1: {said}") for fault in faults), faults


def test_the_tests_that_the_text_shows_are_samples(settings: Settings) -> None:
    text = "It fails:\n```python\ndef test_square(side):\n    assert square(side) == side**2\n```"
    assert problem(settings, prompt=text).samples.ids == tuple(FAILING)
    assert problem(settings, prompt=f"See {FAILING[1]}.").samples.ids == (FAILING[1],)
    assert not problem(settings).samples


def test_a_test_whose_id_another_id_begins_with_is_not_shown(settings: Settings) -> None:
    """Otherwise a task whose text names test_none_of would be left out of the gate split."""
    failing = ["tests/test_shapes.py::TestCircle::test_unit", "tests/test_shapes.py::TestCircle::test_none"]
    text = f"One is `{failing[0]}_area`, and `{failing[1]}` is another."
    shown = problem(settings, prompt=text, FAIL_TO_PASS=failing, PASS_TO_PASS=[])
    assert shown.samples.ids == (failing[1],)


def test_a_module_that_is_not_installed_is_an_obstacle_and_an_installed_one_is_none(settings: Settings) -> None:
    assert problem(settings, needs=["no_such_module"]).obstacle.endswith("not installed: no_such_module")
    installed = problem(settings, needs=["yaml"])
    assert (installed.obstacle, lacking(installed)) == ("", ())


def test_without_pytest_a_task_is_not_gradable(settings: Settings, monkeypatch) -> None:
    monkeypatch.setattr(own_repositories, "is_installed", lambda name: name != "pytest")
    lacks = problem(settings)
    assert lacks.obstacle.endswith("not installed: pytest")
    with pytest.raises(DataError, match=r"cannot grade 1 of the 1 selected problems.*koderz\[repositories\]"):
        require_libraries([lacks])  # before any model is asked


def test_a_copy_whose_tree_is_missing_says_how_to_restore_the_tree(tmp_path, settings: Settings) -> None:
    name = load(str(write(tmp_path, settings)), settings).origin.name
    for tree in (settings.home / "trees").iterdir():
        tree.unlink()
    with pytest.raises(DataError, match=r"The tree shapes-1\.0 is missing .*koderz forge shapes==1\.0") as fault:
        load(name, settings)
    assert "makes more checks" not in str(fault.value)


def test_a_new_file_may_be_editable(settings: Settings) -> None:
    new = make_patch({}, {"src/b.py": "B = 1\n"})
    assert problem(settings, canonical_solution=GOLD + new, editable=[PATH, "src/b.py"])


def test_many_tasks_share_the_texts_of_their_tree(settings: Settings) -> None:
    rows = [row(settings, task_id=f"shapes-1.0/{number}") for number in range(3)]
    problems = read_own("\n".join(map(json.dumps, rows)).encode(), settings).problems
    assert len({id(each.public.files["README.md"]) for each in problems}) == 1
    assert len({id(each.repository.tree) for each in problems if each.repository}) == 1
    assert len({id(each.tests.ids[0]) for each in problems}) == 1


def test_the_table_of_problems_lists_the_facts_of_repositories(tmp_path, settings: Settings, koderz) -> None:
    said = koderz("list-problems", "--dataset", write(tmp_path, settings), "--kind", "repo")
    assert "failing tests  passing tests  changed lines  lines of changed function" in said.out
    assert said.out.splitlines()[-1].split() == ["shapes-1.0/1", "repo", "shapes-1.0", "MIT", "2", "2", "2", "3"]


def test_the_file_is_checked_with_the_trees_of_the_data_folder(tmp_path, settings: Settings, koderz) -> None:
    path = write(tmp_path, settings, row(settings), row(settings, tree="1" * 64, task_id="shapes-1.0/2"))
    said = koderz("list-problems", "--file", path)
    assert "shapes.jsonl:2: field tree: cannot be used" in said.out
    assert "koderz forge shapes==1.0" in said.out
