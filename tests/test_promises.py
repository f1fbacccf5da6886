"""The list of patches that break promises (benchmarks/promises.py) fits the code and the tests of today."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from promises import ListError, Patch, read, tried  # noqa: E402


def test_every_patch_applies_once_and_names_tests_that_run_by_default(request: pytest.FixtureRequest) -> None:
    named = {test for patch in read() for test in patch.tests}
    missing = named - names(item.nodeid for item in request.session.items)
    if missing:  # this run is of a part of the tests
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *sorted(missing)]
        said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert said.returncode == 0, f"Adapt `tests` in benchmarks/promises.toml: {said.stdout[-2000:]}"
        missing -= names(said.stdout.splitlines())
    assert not missing, "These tests in benchmarks/promises.toml do not run by default. Name others."


def names(tests: Iterable[str]) -> set[str]:
    """Their ids with and without parameters."""
    return {name for test in tests for name in (test, test.partition("[")[0])}


@pytest.mark.parametrize("text", ["no such text", "import"])
def test_a_patch_that_no_longer_fits_names_the_file_and_what_to_adapt(text: str) -> None:
    patch = Patch("It holds", "area", "app.py", text, "", ("tests/test_promises.py",))
    with pytest.raises(ListError, match=r"'It holds' does not apply: its old text occurs [02] times in app\.py"):
        patch.applied("import os\nimport sys\n")


@pytest.mark.parametrize(
    ("new", "unfit", "result", "detail"),
    [
        ("return 3", {}, "caught", "test_double.py::test_double"),
        ("return 2 + 0", {}, "NOT CAUGHT", "all named tests pass"),
        ("return (", {}, "could not run", "1 error"),
        ("return 3", {"test_double.py::test_double": "is skipped"}, "could not run", "is skipped"),
    ],
)
def test_only_a_named_test_that_fails_with_the_patch_catches_it(
    tmp_path: Path, new: str, unfit: dict[str, str], result: str, detail: str
) -> None:
    (tmp_path / "double.py").write_text("def double():\n    return 2\n")
    (tmp_path / "test_double.py").write_text(
        "from double import double\n\ndef test_double():\n    assert double() == 2\n"
    )
    patch = Patch("It doubles", "area", "double.py", "return 2", new, ("test_double.py::test_double",))
    found = tried(patch, tmp_path, unfit)
    assert found.result == result
    assert detail in found.detail
    assert (tmp_path / "double.py").read_text() == "def double():\n    return 2\n"
