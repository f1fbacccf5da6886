"""Long lists are sampled over their whole length, and the end of the run says how much was left out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sample
from sample import Sample, left_for_whole, only_whole, thinned

HERE = Path(__file__).parent


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Sample:
    fresh = Sample()
    monkeypatch.setattr(sample, "SAMPLE", fresh)
    return fresh


def test_every_sixth_is_kept_and_what_is_always_needed_and_the_rest_is_counted(own: Sample) -> None:
    assert thinned(range(10), "numbers", always=[7]) == [0, 6, 7]
    own.add({"numbers": 7, "letters": 2})  # another worker with the same list
    assert own.summary() == "9 cases were left out, pytest --whole runs them: 2 letters, 7 numbers"


def test_whole_leaves_nothing_out_and_says_nothing(own: Sample) -> None:
    own.whole = True
    assert thinned(range(10), "numbers") == list(range(10))
    assert own.summary() == ""


@pytest.mark.parametrize(("more", "left_out"), [((), True), (("-n", "1"), True), (("--whole",), False)])
def test_the_end_of_a_run_says_what_was_left_out(more: tuple[str, ...], left_out: bool) -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        str(HERE / "sandbox" / "test_attacks_undefended.py"),
        "-k",
        "enough",
    ]
    said = subprocess.run([*command, *more], capture_output=True, text=True, cwd=HERE.parent, check=False).stdout
    assert "1 passed" in said
    assert ("cheats where nothing defends" in said) is left_out


def test_a_long_test_is_left_for_whole_and_counted(own: Sample) -> None:
    marked: Any = SimpleNamespace(get_closest_marker={"only_whole": only_whole("long tests").mark}.get)
    other: Any = SimpleNamespace(get_closest_marker={}.get)
    items = [marked, other]
    assert left_for_whole(items) == [marked]
    assert (items, own.left_out) == ([other], {"long tests": 1})
    own.whole = True
    assert left_for_whole([marked, other]) == []
