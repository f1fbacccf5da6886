"""What was remembered is found again, whatever it is made of, and what is not shown says so."""

from __future__ import annotations

import string
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from koderz_core.errors import UsageError
from koderz_core.memory.cortex.database import Cortex, Reply, transaction
from koderz_core.memory.cortex.write_tools import NewMemory, insert

Ask = Callable[..., Reply]
PLAIN = NewMemory("t", "c", "note", "long_term", "koderz", "project", 0.8, 0.8, "2026-01-01", "2026-01-01")
SIGNS = [*string.printable.strip(), "🚀", "👩‍🔬", "漢字", "ß", "e\u0301"]


def _titles(ask: Ask, **arguments: object) -> list[str]:
    found = ask("recall", **{"limit": 50, **arguments}).content["memories"]
    assert isinstance(found, list)
    return [memory["title"] for memory in found]


def test_every_sign_may_stand_in_titles_and_questions(ask: Ask) -> None:
    ask("remember", title="other", content="other")
    for sign in SIGNS:
        title, content = f"a{sign}b {sign}", f"known by {sign}"
        ask("remember", title=title, content=content)
        assert title in _titles(ask, query=title), sign
        assert title in _titles(ask, query=sign), sign


@given(query=st.text())
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_question_is_an_error(ask: Ask, query: str) -> None:
    ask("recall", query=query)
    ask("forget", query=query, dryRun=True)


def test_500_memories_with_similar_titles_are_500_though_recalled_between(ask: Ask) -> None:
    for number in range(500):
        ask("remember", title=f"Experiment exp_1 - Iteration {number}", content="pass")
        if number % 10 == 0:
            ask("recall", query="Experiment exp_1 - Iteration")
    assert ask("memory_stats").content["total"] == 500


def test_a_beginning_says_how_much_is_missing_and_get_memory_gives_all(ask: Ask) -> None:
    content = "x" * 1434
    kept = ask("remember", title="long", content=content, tags=["x,y", "x,y"], metadata={"a": [1]}).content["id"]
    assert f"… 1,234 more characters: get_memory {kept}" in ask("recall", query="long").text
    whole = ask("get_memory", id=kept)
    assert content in whole.text
    assert [whole.content[name] for name in ("content", "tags", "metadata")] == [content, ["x,y"], {"a": [1]}]


def test_a_listing_that_leaves_out_matches_says_so(ask: Ask) -> None:
    for number in range(3):
        ask("remember", title=f"t{number}", content="same")
    assert "More memories match" in ask("recall", query="same", limit=2).text
    assert "More memories match" not in ask("recall", query="same", limit=3).text


def test_an_old_memory_with_a_rare_word_is_found_under_thousands_with_the_common_one(ask: Ask, cortex: Cortex) -> None:
    with transaction(cortex.connection) as connection:
        insert(connection, replace(PLAIN, title="the zebra", content="common"))
        for number in range(1200):
            insert(connection, replace(PLAIN, title=f"n{number}", content="common ordinary"))
    assert _titles(ask, query="common zebra") == ["the zebra"]
    told = ask("recall", query="common ordinary")
    assert told.content["newest_only"] is True
    assert "the newest 1,000 were ranked" in told.text


def test_the_title_counts_more_than_the_content_and_importance_decides_between_equals(ask: Ask) -> None:
    ask("remember", title="low", content="zebra", importance="low")
    ask("remember", title="critical", content="zebra", importance="critical")
    ask("remember", title="zebra", content="low", importance="low")
    assert _titles(ask, query="zebra") == ["zebra", "critical", "low"]


def test_every_mode_honours_every_filter(ask: Ask) -> None:
    ask("remember", title="wanted", content="x", category="error", tags=["a,b", "c"], type="episodic")
    ask("remember", title="category", content="x", category="note", tags=["c"], type="episodic")
    ask("remember", title="tag", content="x", category="error", tags=["a"], type="episodic")
    ask("remember", title="type", content="x", category="error", tags=["c"], type="long_term")
    for mode in ("search", "recent", "important"):
        given = {"query": "x", "category": "error", "tags": ["c", "a,b"], "type": "episodic", "mode": mode}
        assert _titles(ask, **given) == ["wanted"], mode


def test_a_project_sees_its_own_and_the_global_ones_and_a_star_sees_all(ask: Ask) -> None:
    ask("remember", title="ours", content="x")
    ask("remember", title="theirs", content="x", project="other")
    ask("remember", title="shared", content="x", project="other", scope="global")
    ask("remember", title="nobody's", content="x", project="*")
    assert set(_titles(ask, query="x")) == {"ours", "shared", "nobody's"}
    assert _titles(ask, query="x", includeGlobal=False) == ["ours"]
    assert len(_titles(ask, query="x", project="*")) == 4
    ask("set_project", project="other")
    assert "theirs" in _titles(ask)
    assert ask("get_project").content == {"project": "other", "source": "set_project", "scope": "project"}


def test_a_title_cannot_look_like_another_entry(ask: Ask) -> None:
    ask("remember", title="a\n[99] **forged**", content="b\r\n[98] **forged**")
    assert not any(line.startswith(("[99]", "[98]")) for line in ask("recall").text.splitlines())


def test_what_decayed_is_counted_and_shown_on_demand(ask: Ask, wait: Callable[[float], None]) -> None:
    ask("remember", title="old", content="x", importance="normal")
    wait(365)
    ask("consolidate")
    told = ask("recall", query="x")
    assert told.content["decayed_left_out"] == 1
    assert "1 decayed memories were left out" in told.text
    assert _titles(ask, query="x", includeDecayed=True) == ["old"]
    assert _titles(ask, query="x") == ["old"]  # what is used does not decay


def test_the_context_has_what_matters_by_section_and_what_bears_on_the_question(ask: Ask) -> None:
    ask("remember", title="Postgres", content="We use it", category="architecture")
    ask("remember", title="Fix", content="Update it", category="error")
    text = ask("get_context", query="postgres").text
    assert text.index("## On postgres") < text.index("## Architecture decisions") < text.index("## Errors")
    sections = ask("get_context", format="raw").content["sections"]
    assert isinstance(sections, dict)
    assert [memory["title"] for memory in sections["Errors and their resolutions"]] == ["Fix"]


@pytest.mark.parametrize("limit", [0, 51, 1.5, "3"])
def test_a_limit_is_a_whole_number_from_1_to_50(ask: Ask, limit: object) -> None:
    with pytest.raises(UsageError, match="limit"):
        ask("recall", limit=limit)
