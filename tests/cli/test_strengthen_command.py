"""`koderz strengthen` and mutation scores: weak tests are named, and new inputs detect what the tests accepted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from koderz_core.records import Problem, PublicProblem, TestSet
from koderz_core.sandbox import reference
from koderz_core.workspace import open_workspace
from koderz_core.workspace.mutation import Mutation

WEAK = "weak tests (a third of the mutants or more survive)"


def row(name: str, parameters: str, body: str, *asserts: str, **fields: object) -> dict[str, Any]:
    prompt = f'def f({parameters}):\n    """Do {name}."""\n'
    return {
        "task_id": name,
        "prompt": prompt,
        "entry_point": "f",
        "asserts": asserts,
        "canonical_solution": body,
    } | fields


SORT = row("sort", "x", "    return sorted(x)\n", "assert f([1, 2, 3]) == [1, 2, 3]", note="kept")
GOOD = row("add", "a, b", "    return a + b\n", "assert f(1, 2) == 3", "assert f(-4, 9) == 5")
LOOP = row(
    "loop",
    "n",
    "    while n > 3:\n        n -= 1\n    return n\n",
    "assert f(9) == 3",
    "assert f(8) == 3",
    "assert f(2) == 2",
)


def own(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_tests_that_a_third_of_the_mutants_pass_are_weak_and_a_mutant_without_end_is_killed(
    koderz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KODERZ_TEST_TIMEOUT", "1")
    file = own(tmp_path / "my.jsonl", SORT, GOOD, LOOP, SORT | {"task_id": "none", "canonical_solution": ""})
    said = koderz("list-problems", "--dataset", file, "--mutation-score")
    named = {line.split()[0]: WEAK in line for line in said.out.splitlines() if "%" in line and ":" not in line}
    assert named == {"sort": True, "add": False, "loop": False}
    assert "none " in said.out
    assert "the problem has no canonical solution" in said.out
    assert "Problems with weak tests: 1 of 3." in said.out.replace("\n", " ")
    scores = koderz("list-problems", "--dataset", file, "--mutation-score", "--json").json["mutation_scores"]
    assert {"line": 3, "change": "sorted(x) -> x"} in scores[0]["score"]["survivors"]
    assert (scores[2]["score"]["killed"], scores[2]["weak"]) == (scores[2]["score"]["mutants"], False)


def test_scores_are_computed_once_and_each_kind_of_problem_has_one(tmp_path: Path) -> None:
    tests = TestSet("def check(candidate):\n    assert candidate(3).get() == 3\n    assert Box(4).get() == 4\n")
    box = "class Box:\n    def __init__(self, x):\n        self.x = x\n\n    def get(self):\n        return self.x\n"
    module = Problem(PublicProblem("box", "", "Box", kind="module", file="box.py"), tests, box)
    with open_workspace() as workspace:
        dataset = workspace.datasets.load(str(own(tmp_path / "my.jsonl", SORT)))
        found = dict(workspace.mutation.scores(dataset, (*dataset.problems, module)))
    assert found[module].killed == found[module].mutants == 2
    with open_workspace() as without_sandbox:
        without_sandbox.grading.close()
        kept = dict(without_sandbox.mutation.scores(dataset, (*dataset.problems, module)))
        assert list(without_sandbox.mutation.weak([dataset.origin.sha256])) == ["sort"]
    assert kept == found


def test_new_inputs_kill_the_mutant_that_the_given_tests_accept(koderz: Any, tmp_path: Path) -> None:
    file = own(tmp_path / "my.jsonl", SORT, GOOD | {"plus_input": [[5, 6]]})
    said = koderz("strengthen", file, "--inputs", "5")
    assert (said.code, "1 -> 2 of 2" in said.out, "10 new inputs for 2 of 2 problems" in said.out) == (0, True, True)
    first, second = lines(tmp_path / "my-strengthened.jsonl")
    assert (first["note"], len(first["plus_input"]), second["plus_input"][0]) == ("kept", 5, [5, 6])
    assert any(call[0] != sorted(call[0]) for call in first["plus_input"])
    (tmp_path / "wrong.py").write_text("def f(x):\n    return x\n")
    grade = ("grade", tmp_path / "wrong.py", "--problem", "sort", "--dataset", tmp_path / "my-strengthened.jsonl")
    assert (koderz(*grade).code, koderz(*grade, "--tests", "plus").code) == (0, 4)


def test_the_name_of_a_published_dataset_is_refused_with_what_to_do(koderz: Any) -> None:
    said = koderz("strengthen", "humaneval")
    assert (said.code, "use the datasets humaneval+ and mbpp+" in said.err) == (2, True)


def test_a_file_is_overwritten_only_with_force_and_a_seed_repeats_it(koderz: Any, tmp_path: Path) -> None:
    file, out = own(tmp_path / "my.jsonl", SORT), tmp_path / "out.jsonl"
    out.write_text("mine")
    refused = koderz("strengthen", file, "--out", out)
    assert (refused.code, "add --force" in refused.err, out.read_text()) == (3, True, "mine")
    written = [(koderz("strengthen", file, "--out", out, "--force").code, out.read_text()) for _ in range(2)]
    assert written[0] == written[1]
    assert written[0][1] != (koderz("strengthen", file, "--out", out, "--force", "--seed", "1"), out.read_text())[1]


def test_a_place_where_nothing_can_be_written_is_refused_before_the_work(
    koderz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = own(tmp_path / "my.jsonl", SORT)
    monkeypatch.setattr(Mutation, "strengthen", lambda *_: pytest.fail("the work has begun"))
    said = koderz("strengthen", file, "--out", file / "new.jsonl")  # no folder, also for root
    assert (said.code, "new.jsonl cannot be written" in said.err) == (3, True)


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (
            row("x", "n", "    import random\n    return random.Random().random() + n\n", "assert f(6) >= 6"),
            "two different",
        ),
        (row("x", "n", "    return list({str(i) for i in range(9 + n)})\n", "assert len(f(0)) == 9"), "two different"),
        (
            row("x", "n", "    while n:\n        pass\n    return 1\n", "assert f(0) == 1"),
            "takes longer than 1 s or returns a value",
        ),
        (row("x", "n", "    return n if n == (0, 2) else 1 / 0\n", "assert f((0, 2)) == (0, 2)"), "(tuple)"),
        (row("x", "n", "    return n\n", "assert f(1) == 2"), "fails the tests"),
        (row("x", "n", "", "assert f(1) == 2"), "no canonical solution"),
    ],
    ids=["random", "order of a set", "slow", "tuple", "fails", "none"],
)
def test_what_cannot_be_strengthened_is_told_with_the_reason_and_stays_as_it_is(
    koderz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: dict[str, Any], reason: str
) -> None:
    monkeypatch.setattr(reference, "TRIAL_CALL_SECONDS", 0.1)
    file = own(tmp_path / "my.jsonl", problem)
    (found,) = koderz("strengthen", file, "--json").json["problems"]
    assert (found["inputs"], reason in found["reason"]) == ([], True)
    assert (tmp_path / "my-strengthened.jsonl").read_bytes() == file.read_bytes()


def test_a_hostile_solution_runs_only_in_the_sandbox(koderz: Any, tmp_path: Path) -> None:
    leak = f"open({str(tmp_path / 'leak')!r}, 'w').write('x')"
    body = f"    try:\n        {leak}\n    except OSError:\n        pass\n    return x + 1\n"
    file = own(tmp_path / "my.jsonl", row("\x1b[31mred", "x", body, "assert f(1) == 2"))
    assert koderz("list-problems", "--file", file).code == 3  # a name with control characters
    own(
        file,
        row("red", "x", f"{body}\n\ntry:\n    {leak}\nexcept OSError:\n    print('\x1b[31m')\n", "assert f(1) == 2"),
    )
    said = koderz("strengthen", file)
    scores = koderz("list-problems", "--dataset", file, "--mutation-score")
    assert (said.code, scores.code, "\x1b" in said.out + scores.out) == (0, 0, False)
    assert not (tmp_path / "leak").exists()
