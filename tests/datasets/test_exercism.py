"""Exercism: the texts of aider's benchmark and the stub ask for a whole file, which unittest methods test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kinds_sample import EXERCISM, packed, place, placed

from koderz_core.config import Settings
from koderz_core.datasets import load
from koderz_core.datasets.exercism import POLYGLOT, task
from koderz_core.errors import DataError
from koderz_core.records import Facts


def test_the_text_has_introduction_instructions_and_stub_in_aiders_order(tmp_path: Path) -> None:
    lamp, two_sum = placed(tmp_path, "exercism").problems
    assert two_sum.public.prompt == (
        "# Introduction\n\nSums are old.\n\n# Instructions\n\nAdd two numbers.\n\n# Instructions append\n\nUse `+`.\n\n"
        "Complete the file two_sum.py. Do not change the names of its functions and classes, because tests use them. "
        "Use only Python's standard library. Return the whole file.\n\ntwo_sum.py\n```python\n"
        "def two_sum(a, b):\n    pass\n```\n"
    )
    assert (two_sum.id, two_sum.public.kind, two_sum.public.file) == ("exercism/two-sum", "module", "two_sum.py")
    assert (two_sum.public.entry_point, two_sum.public.given) == ("two_sum", "def two_sum(a, b):\n    pass\n")
    assert "two_sum" not in lamp.public.prompt


def test_difficulty_and_concepts_are_facts(tmp_path: Path) -> None:
    lamp, two_sum = placed(tmp_path, "exercism").problems
    assert two_sum.facts == Facts(difficulty="3", topic="lists", tags=("lists", "loops"))
    assert lamp.facts == Facts(difficulty="1")


def test_helpers_of_the_tests_are_part_of_the_tests(tmp_path: Path) -> None:
    lamp, _ = placed(tmp_path, "exercism").problems
    assert "TWICE = 2\n" in lamp.tests.source
    assert "import test_utils" not in lamp.tests.source


def test_a_stub_with_a_fence_is_in_a_longer_fence() -> None:
    assert task("Do it.", "a.py", '"""\n```\n"""\n').endswith('````python\n"""\n```\n"""\n````\n')


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"exercises/practice/lamp/lamp.py": None}, r"file exercises/practice/lamp/lamp\.py is missing"),
        ({"exercises/practice/lamp/lamp_test.py": "import unittest\n"}, r"exercises/practice/lamp/lamp_test\.py"),
        ({"config.json": json.dumps({"exercises": []})}, r"file config\.json does not have Exercism's format"),
    ],
)
def test_a_wrong_archive_is_told_with_the_file_in_it(tmp_path: Path, changed: dict[str, str | None], said: str) -> None:
    files = {path: text for path, text in (EXERCISM | changed).items() if text is not None}
    (place(tmp_path) / "exercism-python.tar.gz").write_bytes(packed(files))
    with pytest.raises(DataError, match=rf"exercism-python\.tar\.gz, .*{said}"):
        load("exercism", Settings(datasets_dir=tmp_path))


def test_the_published_archive_has_139_exercises_and_aiders_34(test_data: Path) -> None:
    settings = Settings(datasets_dir=test_data)
    every, polyglot = (load(name, settings).problems for name in ("exercism", "exercism-polyglot"))
    assert (len(every), len(polyglot), len(POLYGLOT)) == (139, 34, 34)
    assert {problem.id for problem in polyglot} == {f"exercism/{slug}" for slug in POLYGLOT}
    assert {problem.facts.difficulty for problem in every} == {str(number) for number in range(1, 10)}
