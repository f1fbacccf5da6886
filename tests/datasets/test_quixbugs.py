"""QuixBugs: cases in JSON and files of test functions become asserts, compared as the publisher's own tests do."""

from __future__ import annotations

from pathlib import Path

import pytest
from kinds_sample import QUIXBUGS, packed, place, placed

from koderz_core.config import Settings
from koderz_core.datasets import load
from koderz_core.errors import DataError
from koderz_core.sandbox.tiers import count_tests


def test_cases_become_asserts(tmp_path: Path) -> None:
    halve = placed(tmp_path, "quixbugs").problems[0]
    assert halve.tests.source == "def check(candidate):\n" + "".join(
        f"    assert {case}\n" for case in ("candidate([2, 4]) == [1, 2]", "candidate([6]) == [3]")
    )
    assert (halve.id, halve.public.kind, halve.public.entry_point) == ("QuixBugs/halve", "repair", "halve")
    assert halve.public.prompt == (
        "# The function halve contains a bug. Fix the bug, and return the whole corrected program.\n\n"
        + QUIXBUGS["python_programs/halve.py"]
    )
    assert (halve.public.given, halve.public.preamble) == (QUIXBUGS["python_programs/halve.py"], "")


def test_test_functions_become_one_check_with_names_of_their_own(tmp_path: Path) -> None:
    last = placed(tmp_path, "quixbugs").problems[1]
    assert last.tests.source == (
        "def check(candidate):\n    first = Node(1)\n    assert candidate(first).value == 1\n"
        "    second_2 = Node(2, first)\n    assert candidate(second_2) is first\n"
    )
    assert last.public.preamble.startswith("class Node:\n    def __init__")
    assert last.public.preamble + QUIXBUGS["python_programs/last.py"] == last.public.given
    assert last.canonical_solution.startswith(last.public.preamble)


def test_a_broken_case_is_told_with_file_and_line(tmp_path: Path) -> None:
    files = QUIXBUGS | {"json_testcases/halve.json": "[[[2]], [1]]\n[[[2]]\n"}
    (place(tmp_path) / "QuixBugs-python.tar.gz").write_bytes(packed(files))
    with pytest.raises(DataError, match=r"QuixBugs-python\.tar\.gz, file json_testcases/halve\.json, line 2 is not a"):
        load("quixbugs", Settings(datasets_dir=tmp_path))


def test_the_published_archive_has_31_programs_with_cases_and_9_with_tests(test_data: Path) -> None:
    problems = {item.public.entry_point: item for item in load("quixbugs", Settings(datasets_dir=test_data)).problems}
    counts = {name: count_tests(problem.tests.source) for name, problem in problems.items()}
    assert (len(problems), sum(counts.values())) == (40, 279)
    assert (counts["knapsack"], counts["levenshtein"]) == (9, 6)  # of 10 and 7, without a slow one each
    assert sum(bool(problem.public.preamble) for problem in problems.values()) == 6
    special = {name: problems[name].tests.source.split("\n")[2] for name in ("flatten", "kheapsort", "hanoi", "sqrt")}
    assert special == {
        "flatten": "    assert list(candidate([[], [], [], [], []])) == []",
        "kheapsort": "    assert list(candidate([3, 2, 1, 5, 4], 2)) == [1, 2, 3, 4, 5]",
        "hanoi": "    assert candidate(1, 1, 3) == [(1, 3)]",
        "sqrt": "    assert abs(candidate(2, 0.5) - 1.5) <= 0.5",
    }
