"""ClassEval: whole classes, tests that use the imports of the class, and splits by test class."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kinds_sample import CLASSES, place, placed

from koderz_core.config import Settings
from koderz_core.datasets import load
from koderz_core.datasets.sources import lacking
from koderz_core.errors import DataError
from koderz_core.grading.testsets import Split, TestPolicy, split
from koderz_core.sandbox.tiers import count_tests


def test_the_text_asks_for_the_whole_class(tmp_path: Path) -> None:
    (problem,) = placed(tmp_path, "classeval").problems
    public = problem.public
    assert (public.id, public.kind, public.entry_point) == ("ClassEval/0", "module", "RoundShape")
    assert (public.file, public.given) == ("round_shape.py", CLASSES[0]["skeleton"])
    assert public.prompt.startswith("Write the class RoundShape.")
    assert f"```python\n{str(CLASSES[0]['skeleton']).rstrip()}\n```" in public.prompt
    assert problem.needs == ("math", "unittest")


@pytest.mark.parametrize("seed", range(4))
def test_a_split_keeps_the_tests_of_a_test_class_together(tmp_path: Path, seed: int) -> None:
    (problem,) = placed(tmp_path, "classeval").problems
    tests = split(problem, TestPolicy("split:0.5", seed))
    assert isinstance(tests, Split)
    one, two = ([f"'test_area_{number}')" in part.source for part in (tests.gate, tests.rest)] for number in (1, 2))
    assert one == two
    assert sorted(one) == [False, True]
    assert count_tests(tests.base.source) == 3


def test_a_wrong_item_is_told_with_its_number(tmp_path: Path) -> None:
    (place(tmp_path) / "ClassEval_data.json").write_text(json.dumps([*CLASSES, CLASSES[0] | {"test": "x = ("}]))
    with pytest.raises(DataError, match=r"ClassEval_data\.json, item 2: field test is not Python"):
        load("classeval", Settings(datasets_dir=tmp_path))


def test_the_published_file_names_what_no_program_can_pass(test_data: Path) -> None:
    every = load("classeval", Settings(datasets_dir=test_data)).problems
    without = [problem for problem in every if lacking(problem)]
    obstacles = [int(problem.id.rpartition("/")[2]) for problem in every if problem.obstacle]
    assert (len(every), len(without)) == (100, 12)
    assert obstacles == [14, 17, 25, 26, 48, 50, 60, 83, 84, 92, 98, 99]
