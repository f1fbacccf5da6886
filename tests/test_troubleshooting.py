"""docs/troubleshooting.md is true: each of its errors is brought about, says these words and ends with that code."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from provoking import NOBODY, PROVOKED, ROOT, Ground
from sample import thinned

from koderz_core.cli import COMMANDS

TABLES = (ROOT / "docs" / "troubleshooting.md").read_text()


@dataclass(frozen=True, slots=True)
class Row:
    """What the document promises of an error."""

    name: str
    words: tuple[str, ...]
    code: int
    cure: str


def rows() -> Iterator[Row]:
    for name, screen, code, cure in re.findall(r"^\| <!-- (\S+) -->(.*?)\|(.*?)\|.*\|(.*?)\|$", TABLES, re.MULTILINE):
        yield Row(name, tuple(re.findall(r"`([^`]+)`", screen)), int(code), cure)


ROWS = tuple(rows())


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    for name in os.environ:
        if name.upper().endswith("_PROXY") or name.startswith(("PIP_", "STREAMLIT_", "SSL_CERT")):
            monkeypatch.delenv(name)
    nowhere = {"HTTPS_PROXY": NOBODY, "NO_PROXY": "127.0.0.1,localhost,.invalid", "PIP_NO_INDEX": "1"}
    index = {"PIP_CONFIG_FILE": os.devnull, "PYTHONWARNINGS": "default"}
    kept = {"HOME": str(tmp_path), "KODERZ_HOME": str(tmp_path / "home"), "KODERZ_MODELS_DIR": ""}
    return Ground(tmp_path, {**nowhere, **index, **kept})


@pytest.mark.parametrize("row", thinned(ROWS, "rows of the guide to errors"), ids=lambda row: row.name)
def test_an_error_says_the_words_and_ends_with_the_code_that_the_document_promises(row: Row, ground: Ground) -> None:
    said = PROVOKED[row.name](ground)
    for word in row.words:
        assert word in said.screen
    assert said.code == row.code, said.screen


def test_every_row_of_the_document_is_tested_once_and_has_words_to_look_for() -> None:
    assert sorted(row.name for row in ROWS) == sorted(PROVOKED)
    assert TABLES.count("\n| <!--") == len(ROWS)
    assert all(row.words and row.cure.strip() for row in ROWS)


def test_every_command_that_the_document_names_is_there() -> None:
    named = set(re.findall(r"`koderz ([a-z-]+)", TABLES)) - {"runs"}
    assert named
    assert named <= set(COMMANDS)
