"""``koderz search``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from koderz_core.report.formats import NO_MATCH

RUN = ("benchmark", "--problems", "0:2", "--strategy", "direct", "--coder", "scripted/weak", "--name", "\x1b[31m mine")


@pytest.fixture
def search(koderz: Any, ran_once: Callable[..., None]) -> Any:
    ran_once(*RUN)
    return lambda *arguments: koderz("search", *arguments)


def test_a_match_has_a_line_with_its_place_and_an_excerpt(search: Any) -> None:
    said = search("has_close_elements", "--kind", "program", "--limit", "1")
    place, excerpt = said.out.splitlines()[:2]
    assert (said.code, place.split()[0]) == (0, "program")
    assert "HumanEval/0 · direct SCRIPTED weak" in place
    assert "has_close_elements" in excerpt


def test_names_are_shown_without_control_characters(search: Any) -> None:
    said = search("mine")
    assert "mine" in said.out
    assert "\x1b[31m" not in said.out


def test_an_argument_with_a_space_is_a_phrase(search: Any) -> None:
    assert "has_close_elements" in search("def has_close_elements", "--kind", "program").out
    assert search("has_close_elements def", "--kind", "program").out.strip() == NO_MATCH


def test_json_has_each_match_with_its_experiment(search: Any) -> None:
    found = search("has_close_elements", "--kind", "prompt", "--json").json
    assert {hit["kind"] for hit in found["hits"]} == {"prompt"}
    assert all(hit["experiment"].startswith("exp_") and hit["step"] == 1 for hit in found["hits"])
    assert found["hits"][0]["snippet"][1] == "has_close_elements"


def test_only_one_benchmark_is_searched(search: Any, koderz: Any) -> None:
    koderz(*RUN[:-1], "other", "--problems", "1:2")
    assert search("has_close_elements", "--benchmark", "other").out.strip() == NO_MATCH


def test_no_words_are_an_error(search: Any) -> None:
    assert search().code == 2
    assert "at least one word" in search('""').err
