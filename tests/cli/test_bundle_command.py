"""``koderz bundle`` and ``koderz verify``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from koderz_core.examples import EXAMPLE


@pytest.fixture
def example(ran_once: Callable[..., None]) -> None:
    ran_once("example")


def test_a_bundle_is_made_of_a_benchmark_and_verified(koderz: Any, example: None, tmp_path: Path) -> None:
    path = tmp_path / "for you.zip"
    made = koderz("bundle", EXAMPLE[:10], "--out", path)
    assert (made.code, f"verified: {path}" in made.out) == (0, True)
    assert koderz("verify", path).code == 0


def test_a_benchmark_is_verified(koderz: Any, example: None) -> None:
    said = koderz("verify", EXAMPLE)
    assert (said.code, "✓ verified" in said.out) == (0, True)


def test_a_benchmark_with_a_slash_in_its_name_is_no_file(koderz: Any) -> None:
    koderz("benchmark", "--problems", "0:1", "--coder", "scripted/strong", "--name", "qwen/7b", "--quiet")
    said = koderz("verify", "qwen/7b")
    assert (said.code, "✓ verified" in said.out) == (0, True)


def test_what_differs_is_named_with_exit_code_1(koderz: Any, example: None, tmp_path: Path) -> None:
    journal = next((tmp_path / "home" / "journals").glob("*.jsonl"))
    journal.write_text(journal.read_text().replace('"text":"', '"text":"x', 1))
    said = koderz("verify", EXAMPLE)
    assert (said.code, "✗ the SHA-256 of the text" in said.out) == (1, True)


def test_a_file_that_is_no_bundle_is_refused(koderz: Any, tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_text("PK")
    said = koderz("verify", tmp_path / "x.zip")
    assert (said.code, "x.zip cannot be read as a bundle" in said.err) == (3, True)
    assert koderz("ui", "--open", tmp_path / "x.zip", "--port", "0").code == 3
