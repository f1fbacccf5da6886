"""Nothing is lost in silence: not by limits, by forgetting, by consolidating, nor on the way out and in again."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from koderz_core.errors import CortexError, UsageError
from koderz_core.memory.cortex.database import Cortex, CortexLimits, Reply
from koderz_core.memory.cortex.server import call

Ask = Callable[..., Reply]


def _total(ask: Ask) -> object:
    return ask("memory_stats", project="*").content["total"]


def test_a_memory_beyond_the_limit_is_refused_and_one_at_it_is_kept_whole(tmp_path: Path) -> None:
    cortex = Cortex(tmp_path / "small.db", CortexLimits(chars=100))
    call(cortex, "remember", {"title": "t", "content": "x" * 97})
    with pytest.raises(UsageError, match=r"101 characters.*accepts 100.*Nothing was stored.*--max-chars"):
        call(cortex, "remember", {"title": "t", "content": "x" * 98})
    assert len(str(call(cortex, "get_memory", {"id": 1}).content["content"])) == 97
    cortex.close()


def test_a_full_file_refuses_and_keeps_what_it_has(tmp_path: Path) -> None:
    cortex = Cortex(tmp_path / "full.db", CortexLimits(megabytes=1))
    memory, stored = {"title": "t", "content": "word " * 20_000}, 0
    with pytest.raises(CortexError, match=r"full, so nothing was stored.*--max-megabytes"):  # noqa: PT012 (at some time)
        while stored < 20:
            call(cortex, "remember", memory)
            stored += 1
    assert call(cortex, "memory_stats", {}).content["total"] == stored > 0
    cortex.close()


def test_half_a_character_is_refused(ask: Ask) -> None:
    with pytest.raises(UsageError, match="half a character"):
        ask("remember", title="\ud83d", content="x")
    assert _total(ask) == 0


def test_an_argument_that_is_unknown_missing_or_wrong_is_refused_with_what_there_is(ask: Ask) -> None:
    with pytest.raises(UsageError, match=r"'search' was unexpected.*Parameters: query, category"):
        ask("recall", search="x")
    with pytest.raises(UsageError, match="'content' is a required property"):
        ask("remember", title="t")
    with pytest.raises(UsageError, match="category: 'poem' is not one of"):
        ask("remember", title="t", content="c", category="poem")


def test_importance_gives_salience_and_type_and_a_given_type_wins(ask: Ask) -> None:
    for importance, salience, kind in (("low", 0.3, "short_term"), ("high", 0.8, "long_term")):
        told = ask("remember", title="t", content="c", category="note", importance=importance).content
        assert (told["salience"], told["type"]) == (salience, kind)
    assert ask("remember", title="t", content="c", importance="low", type="episodic").content["type"] == "episodic"


def test_more_than_one_is_forgotten_only_if_confirmed(ask: Ask) -> None:
    for title in ("alpha one", "alpha two", "beta"):
        ask("remember", title=title, content="c", importance="normal")
    assert ask("forget", query="alpha", dryRun=True).content == {"matched": [1, 2], "deleted": []}
    with pytest.raises(UsageError, match=r"2 memories match; none was deleted[^$]*\[1\] \*\*alpha one"):
        ask("forget", query="alpha")
    assert _total(ask) == 3
    assert ask("forget", query="alpha", confirm=True).content["deleted"] == [1, 2]
    assert ask("recall", query="alpha").content["memories"] == []
    assert ask("forget", id=3).content["deleted"] == [3]


def test_what_is_forgotten_meets_every_criterion(ask: Ask, wait: Callable[[float], None]) -> None:
    ask("remember", title="old", content="c", category="note", importance="low")
    ask("remember", title="salient", content="c", category="note", importance="high")
    ask("remember", title="elsewhere", content="c", category="note", importance="low", project="other")
    ask("remember", title="shared", content="c", category="note", importance="low", project="other", scope="global")
    wait(10)
    ask("remember", title="young", content="c", category="note", importance="low")
    assert ask("forget", category="note", olderThan=5, belowSalience=0.5, confirm=True).content["deleted"] == [1]


def test_forgetting_needs_a_criterion_and_an_id_that_is_there(ask: Ask) -> None:
    with pytest.raises(UsageError, match="Say what to forget"):
        ask("forget", project="*", confirm=True)
    with pytest.raises(UsageError, match="There is no memory 7"):
        ask("forget", id=7)


def test_what_is_forgotten_leaves_nothing_in_the_indexes(ask: Ask, cortex: Cortex) -> None:
    ask("remember", title="zebra", content="c", tags=["a"])
    ask("forget", id=1)
    assert cortex.connection.execute("select * from memory_tags").fetchall() == []
    assert cortex.connection.execute("select * from memories_fts where memories_fts match 'zebra'").fetchall() == []
    cortex.connection.execute("insert into memories_fts (memories_fts, rank) values ('integrity-check', 1)")


def test_ids_are_not_used_twice(ask: Ask) -> None:
    ask("remember", title="t", content="c")
    ask("forget", id=1)
    assert ask("remember", title="t", content="c").content["id"] == 2


def test_an_export_comes_back_as_it_was(ask: Ask, tmp_path: Path) -> None:
    ask(
        "remember", title="a\n'\"🚀", content="c" * 20_000, tags=["x,y", "ü"], metadata={"k": [1, None]}, scope="global"
    )
    ask("remember", title="b", content="c", project="*", transferable=True)
    exported = ask("export_memories", project="*")
    other = Cortex(tmp_path / "other.db", project="another")
    for _ in range(2):
        told = call(other, "import_memories", {"data": exported.text})
    assert told.content["already"] == 2
    assert call(other, "export_memories", {"project": "*"}) == exported
    other.close()


def test_what_the_original_exported_can_be_imported(ask: Ask) -> None:
    row = {"id": 9, "title": "t", "content": "c", "tags": '["a"]', "metadata": '{"k": 1}', "embedding": None}
    ask("import_memories", data=json.dumps([{**row, "salience": 0.8, "created_at": "2025-12-01 10:00:00"}]))
    kept = ask("get_memory", id=1).content
    assert (kept["tags"], kept["metadata"], kept["created_at"]) == (["a"], {"k": 1}, "2025-12-01T10:00:00.000Z")


@pytest.mark.parametrize(
    "wrong", ["nonsense", "3", '[{"title": "t"}]', '[{"title": "t", "content": "c", "salience": 2}]']
)
def test_an_import_with_one_wrong_memory_imports_none(ask: Ask, wrong: str) -> None:
    good = '{"title": "t", "content": "c"}'
    with pytest.raises(UsageError, match="Nothing was imported"):
        ask("import_memories", data=wrong.replace("[", f"[{good}, "))
    assert _total(ask) == 0


def test_consolidating_promotes_and_decays_and_deletes_nothing(ask: Ask, wait: Callable[[float], None]) -> None:
    ask("remember", title="used", content="c", importance="normal")
    ask("remember", title="unused", content="c", importance="normal")
    for _ in range(3):
        ask("get_memory", id=1)
    wait(30)
    preview = ask("consolidate", dryRun=True)
    assert preview.content == {"promoted": 1, "decayed": 2, "deleted": 0, "dry_run": True}
    assert ask("memory_stats").content["by_type"] == {"short_term": 2}
    assert "1 promoted, 2 decayed, 0 deleted" in ask("consolidate").text
    assert ask("memory_stats").content["by_type"] == {"long_term": 1, "short_term": 1}
    exported = json.loads(ask("export_memories").text.partition("\n\n")[2])
    assert [round(memory["decayed_score"], 3) for memory in exported] == [0.25, 0.25]  # 0.5 / (1 + 30 / 30)


def test_a_session_ends_once(ask: Ask) -> None:
    number = ask("start_session").content["session_id"]
    assert "Session ended. Consolidation: 0 promoted" in ask("end_session", sessionId=number, summary="s").text
    with pytest.raises(UsageError, match="Session 1 is not open"):
        ask("end_session", sessionId=number)


def test_links_go_both_ways_and_end_with_their_memories(ask: Ask) -> None:
    for title in ("one", "two"):
        ask("remember", title=title, content="c")
    for strength in (0.2, 0.9):
        ask("link_memories", sourceId=1, targetId=2, relationship="extends", strength=strength)
    assert "→ extends (0.90) [2] **two**" in ask("get_related", id=1).text
    assert "← extends (0.90) [1] **one**" in ask("get_related", id=2).text
    with pytest.raises(UsageError, match="There is no memory 3"):
        ask("link_memories", sourceId=1, targetId=3, relationship="related")
    ask("forget", id=2)
    assert ask("get_related", id=1).content["related"] == []


def test_a_file_of_somebody_else_or_of_a_later_koderz_is_left_alone(tmp_path: Path, cortex: Cortex) -> None:
    with sqlite3.connect(tmp_path / "theirs.db") as theirs:
        theirs.execute("create table memories (id integer)")
    with pytest.raises(CortexError, match="not a memory file of koderz"):
        Cortex(tmp_path / "theirs.db")
    cortex.connection.execute("pragma user_version = 99")
    with pytest.raises(CortexError, match="written by a later koderz"):
        Cortex(cortex.path)
