"""Search for memories by words, time, importance and tags, and a stored memory as clients see it.

Among those whose words match, the order is by

    relevance x (0.6 + 0.3 x salience + 0.1 / (1 + age in days / 30))

with relevance = bm25 (Robertson and Zaragoza 2009, as FTS5 computes it), a word in the title counting 4 times and in
the tags twice as much as one in the content. Being recalled changes nothing in it: the same question has the same
answer until something is remembered or forgotten.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

FADED = 0.1  # below this decayed score a memory is shown only on demand
CANDIDATES = 1000  # ranked at most, so that a question made of words that all memories hold stays quick
_ORDERS = {"recent": "created_at desc, id desc", "important": "salience desc, created_at desc, id desc"}
_SCORE = """-relevance * (0.6 + 0.3 * salience
    + 0.1 / (1 + max(0, julianday(:now) - julianday(created_at)) / 30))"""
EXCERPT_CHARS = 200


@dataclass(frozen=True, slots=True)
class Filters:
    """Which memories count; None: any. ``older_than`` in days; ``salient_below`` exclusive."""

    project: str | None = None
    include_global: bool = True
    category: str | None = None
    type: str | None = None
    tags: Sequence[str] | None = None
    older_than: float | None = None
    salient_below: float | None = None
    include_decayed: bool = True

    def condition(self) -> str:
        """Constants only: values are bound by name.

        The plus keeps SQLite from reading every row with a tag: it walks the order that is asked for instead, and only
        looks whether the tag is there (https://sqlite.org/optoverview.html#disqualifying_where_clause_terms_using_unary_).
        """
        parts = {
            "(project = :project or :include_global and scope = 'global')": self.project,
            "category = :category": self.category,
            "type = :type": self.type,
            "+id in (select memory_id from memory_tags where tag in (select value from json_each(:tags)))": self.tags,
            "julianday(created_at) < julianday(:now) - :older_than": self.older_than,
            "salience < :salient_below": self.salient_below,
            f"decayed_score >= {FADED}": None if self.include_decayed else True,
        }
        return " and ".join(["true", *(part for part, value in parts.items() if value is not None)])

    def values(self, now: str) -> dict[str, object]:
        tags = None if self.tags is None else json.dumps(list(self.tags))
        return {**{name: getattr(self, name) for name in self.__slots__}, "tags": tags, "now": now}


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """One memory. ``tags`` and ``metadata`` are JSON texts; ``project`` None: it belongs to every project."""

    id: int
    type: str
    category: str
    project: str | None
    scope: str
    salience: float
    decayed_score: float
    access_count: int
    created_at: str
    last_accessed: str
    transferable: bool
    title: str
    tags: str
    content: str
    metadata: str | None

    @classmethod
    def of(cls, row: sqlite3.Row) -> StoredMemory:
        return cls(**{name: row[name] for name in cls.__slots__})

    def raw(self) -> dict[str, object]:
        """As ``export_memories`` writes it: what the original writes, but for its embeddings."""
        return {**{name: getattr(self, name) for name in self.__slots__}, "transferable": int(self.transferable)}

    def whole(self) -> dict[str, object]:
        """Everything, in types of JSON."""
        return {
            **self.raw(),
            "transferable": bool(self.transferable),
            "tags": json.loads(self.tags),
            "metadata": None if self.metadata is None else json.loads(self.metadata),
        }

    def brief(self, chars: int = EXCERPT_CHARS) -> dict[str, object]:
        """Everything but metadata and content; of the content the beginning, and how long it is."""
        told = self.whole()
        del told["content"], told["metadata"]
        return {**told, "excerpt": self.content[:chars], "content_chars": len(self.content)}

    def line(self) -> str:
        """Id and title on one line."""
        return f"[{self.id}] **{one_line(self.title)}**"

    def excerpt(self, chars: int = EXCERPT_CHARS) -> str:
        """The beginning of the content on one line; what is left out says so, and how to get it."""
        left_out = len(self.content) - chars
        cut = f"… {left_out:,} more characters: get_memory {self.id}" if left_out > 0 else ""
        return one_line(self.content[:chars]) + cut

    def about(self) -> str:
        """What is known besides title and content."""
        tags = ", ".join(one_line(str(tag)) for tag in json.loads(self.tags)) or "none"
        where = one_line(self.project) if self.project is not None else "all projects"
        return (
            f"Type: {self.type} | Category: {self.category} | Salience: {self.salience:.0%} | "
            f"Accessed: {self.access_count} times, last {self.last_accessed} | Tags: {tags} | "
            f"Project: {where} | Scope: {self.scope} | Created: {self.created_at}"
        )


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found; ``more`` says that others match too, ``newest_only`` that only these were ranked."""

    memories: tuple[StoredMemory, ...]
    more: bool = False
    newest_only: bool = False


def listed(connection: sqlite3.Connection, filters: Filters, order: str, limit: int, now: str) -> Found:
    """The first ``limit`` by ``recent`` or ``important``."""
    rows = connection.execute(
        f"select id from memories where {filters.condition()} order by {_ORDERS[order]} limit :limit",  # noqa: S608 (ours)
        {**filters.values(now), "limit": limit + 1},
    ).fetchall()
    return Found(_by_ids(connection, [row["id"] for row in rows[:limit]]), len(rows) > limit)


def search(connection: sqlite3.Connection, query: str, filters: Filters, limit: int, now: str) -> Found:
    """The ``limit`` best; where no word matches, those that hold the query letter by letter, newest first."""
    found: list[int] = []
    newest_only = False
    for expression in _expressions(connection, _words(query)):
        ids, candidates = _ranked(connection, expression, filters, limit + 1, now)
        found += [id_ for id_ in ids if id_ not in found]
        newest_only = newest_only or candidates == CANDIDATES
        if len(found) > limit:
            break
    if not found:
        found = _holding(connection, query, filters, limit + 1, now)
    return Found(_by_ids(connection, found[:limit]), len(found) > limit, newest_only)


def holding_all(connection: sqlite3.Connection, query: str, filters: Filters, now: str) -> list[int]:
    """Ids of all memories that hold every word of the query, or the query letter by letter: what may be forgotten."""
    words = _words(query)
    if not words:
        return _holding(connection, query, filters, -1, now)
    rows = connection.execute(
        f"""select id from memories where id in (select rowid from memories_fts where memories_fts match :words)
        and {filters.condition()} order by id""",  # noqa: S608 (constants)
        {**filters.values(now), "words": " ".join(words)},
    )
    return [row["id"] for row in rows]


def matching(connection: sqlite3.Connection, filters: Filters, now: str) -> list[int]:
    """Ids of all that the filters let through."""
    rows = connection.execute(f"select id from memories where {filters.condition()} order by id", filters.values(now))  # noqa: S608
    return [row["id"] for row in rows]


def _words(query: str) -> list[str]:
    """Each word once, quoted: inside quotes no character has a meaning to FTS5 but the quote, which is doubled.

    A word with signs in it, such as ``exp_1f``, is to FTS5 a phrase of its parts.
    """
    words = (word.replace("\0", "").replace('"', '""') for word in query.split())
    return list(dict.fromkeys(f'"{word}"' for word in words if any(map(str.isalnum, word))))


def _counts(connection: sqlite3.Connection, words: Sequence[str]) -> dict[str, int]:
    """How many memories hold each word, up to a bound; words that none holds are taken apart or left out.

    The last word may be unfinished.
    """
    counts: dict[str, int] = {}
    for word in words:
        unfinished = "*" if word is words[-1] else ""
        whole = _count(connection, word + unfinished)
        parts = [] if whole else [f'"{part}"' for part in re.findall(r"[^\W_]+", word)]
        counts |= {word + unfinished: whole} | {part: _count(connection, part) for part in parts}
    return {pattern: count for pattern, count in counts.items() if count}


def _expressions(connection: sqlite3.Connection, words: Sequence[str]) -> list[str]:
    """What to ask FTS5, one after the other until enough is found.

    Where words are rare, they alone find, and the common ones only rank: bm25 gives a word that most memories hold no
    weight anyway. Where all are common, memories that hold all of them come first.
    """
    counts = _counts(connection, words)
    known = sorted(counts, key=counts.__getitem__)
    if not known:
        return []
    met = accumulate(counts[pattern] for pattern in known)
    rare = [pattern for pattern, total in zip(known, met, strict=True) if total <= CANDIDATES]
    anyone = " OR ".join(known)
    if len(rare) == len(known):
        return [anyone]
    return [f"({' OR '.join(rare)}) AND ({anyone})"] if rare else [" AND ".join(known), anyone]


def _count(connection: sqlite3.Connection, pattern: str) -> int:
    counted = "select count(*) from (select 1 from memories_fts where memories_fts match ? limit ?)"
    (count,) = connection.execute(counted, (pattern, CANDIDATES + 1)).fetchone()
    return int(count)


def _ranked(
    connection: sqlite3.Connection, expression: str, filters: Filters, limit: int, now: str
) -> tuple[list[int], int]:
    """The best ids among the newest candidates, and how many candidates there were."""
    rows = connection.execute(
        f"""with candidates as materialized (
            select id, salience, created_at, bm25(memories_fts, 4, 1, 2) as relevance
            from memories_fts join memories on id = memories_fts.rowid
            where memories_fts match :expression and {filters.condition()}
            order by memories_fts.rowid desc limit {CANDIDATES}
        )
        select id, count(*) over () as candidates from candidates order by {_SCORE} desc, id desc limit :limit
        """,  # noqa: S608 (constants)
        {**filters.values(now), "expression": expression, "limit": limit},
    ).fetchall()
    return [row["id"] for row in rows], rows[0]["candidates"] if rows else 0


def _holding(connection: sqlite3.Connection, query: str, filters: Filters, limit: int, now: str) -> list[int]:
    """For what is no word: signs, emoji, parts of words in languages without spaces."""
    part = query.strip()
    if not part:
        return []
    pattern = "".join(f"\\{char}" if char in "%_\\" else char for char in part)
    rows = connection.execute(
        f"""select id from memories
        where (title like :pattern escape '\\' or content like :pattern escape '\\' or tags like :pattern escape '\\')
        and {filters.condition()} order by id desc limit :limit""",  # noqa: S608 (constants)
        {**filters.values(now), "pattern": f"%{pattern}%", "limit": limit},
    )
    return [row["id"] for row in rows]


def _by_ids(connection: sqlite3.Connection, ids: Sequence[int]) -> tuple[StoredMemory, ...]:
    """In the order of ``ids``."""
    rows = connection.execute(
        "select * from memories where id in (select value from json_each(?))", (json.dumps(ids),)
    ).fetchall()
    by_id = {row["id"]: StoredMemory.of(row) for row in rows}
    return tuple(by_id[id_] for id_ in ids if id_ in by_id)


def one_line(text: str) -> str:
    """Without line breaks and control characters: a title must not look like another entry of a listing."""
    return "".join(char if char.isprintable() else " " for char in text)
