"""Texts that a user reads hold no phrase that docs/style.md forbids."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from sentences import Sentence, faults, forbidden, guides, sources  # noqa: E402


@pytest.fixture(scope="module")
def strings() -> list[Sentence]:
    """The strings of the code."""
    return list(sources())


def test_no_text_holds_a_forbidden_phrase(strings: list[Sentence]) -> None:
    found = [f"{sentence} [{phrase}]" for sentence, phrase in faults([*guides(), *strings])]
    assert not found, "Write these in other words (docs/style.md):\n" + "\n".join(found)


def test_the_strings_of_commands_pages_errors_settings_and_strategies_are_searched(strings: list[Sentence]) -> None:
    files = {sentence.file for sentence in strings}
    assert {"koderz_core/cli/benchmark.py", "koderz_core/config.py", "pages/launch.py"} <= files
    assert len({file for file in files if file.startswith("koderz_core/strategies/")}) > 10


@pytest.mark.parametrize("text", ["It is no file.", "Is  no\nfile: `x`", "A model is TOLD of it."])
def test_a_forbidden_phrase_is_found_in_any_case_and_across_lines(text: str) -> None:
    assert list(faults([Sentence("README.md", 1, text)]))


@pytest.mark.parametrize("text", ["There is no file.", "It prints `is no file`.", "It is noted.", "No file is untold."])
def test_what_only_looks_like_a_forbidden_phrase_is_allowed(text: str) -> None:
    assert len(forbidden()) > 30
    assert not list(faults([Sentence("README.md", 1, text)]))
