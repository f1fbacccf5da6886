"""Search for memories by words, time, importance and tags, and a stored memory as clients see it.

Memories whose words match are ordered by

    relevance x (0.6 + 0.3 x salience + 0.1 / (1 + age in days / 30))

with relevance = bm25 (Robertson and Zaragoza 2009, as FTS5 computes it), a word in the title counting 4 times and in
the tags twice as much as one in the content. Recalling a memory does not change its rank: the same query has the same
result until a memory is stored or deleted.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

FADED = 0.1  # a memory with a lower decayed score is shown only on request
CANDIDATES = 1000  # the most that are ranked, so that a query of words in all memories stays fast
_ORDERS = {"recent": "created_at desc, id desc", "important": "salience desc, created_at desc, id desc"}
_SCORE = """-relevance * (0.6 + 0.3 * salience
    + 0.1 / (1 + max(0, julianday(:now) - julianday(created_at)) / 30))"""
EXCERPT_CHARS = 200


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions for memories; None: no condition. ``older_than`` in days; ``salient_below`` exclusive."""

    project: str | None = None
    include_global: bool = True
    category: str | None = None
    type: str | None = None
    tags: Sequence[str] | None = None
    older_than: float | None = None
    salient_below: float | None = None
    include_decayed: bool = True

    def condition(self) -> str:
        """SQL of constants only: values are bound by name.

        The plus keeps SQLite from reading every row with a tag: it follows the requested order instead, and only checks
        whether the tag is there (https://sqlite.org/optoverview.html#disqualifying_where_clause_terms_using_unary_).
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
    """One memory. ``tags`` and ``metadata`` are JSON texts; ``project`` None: the memory belongs to every project."""

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
        """The fields as ``export_memories`` writes them: those of claude-cortex-core, except its embeddings."""
        return {**{name: getattr(self, name) for name in self.__slots__}, "transferable": int(self.transferable)}

    def full(self) -> dict[str, object]:
        """All fields, in types of JSON."""
        return {
            **self.raw(),
            "transferable": bool(self.transferable),
            "tags": json.loads(self.tags),
            "metadata": None if self.metadata is None else json.loads(self.metadata),
        }

    def brief(self) -> dict[str, object]:
        """All fields except metadata and content; of the content its beginning and its length."""
        fields = self.full()
        del fields["content"], fields["metadata"]
        return {**fields, "excerpt": self.content[:EXCERPT_CHARS], "content_chars": len(self.content)}

    def line(self) -> str:
        """Id and title on one line."""
        return f"[{self.id}] **{one_line(self.title)}**"

    def excerpt(self, chars: int = EXCERPT_CHARS) -> str:
        """The beginning of the content on one line; if it is cut, how much is missing and how to get it."""
        left_out = len(self.content) - chars
        cut = f"… {left_out:,} more characters: get_memory {self.id}" if left_out > 0 else ""
        return one_line(self.content[:chars]) + cut

    def about(self) -> str:
        """All fields besides title, content and metadata, as one line of text."""
        tags = ", ".join(one_line(str(tag)) for tag in json.loads(self.tags)) or "none"
        where = one_line(self.project) if self.project is not None else "all projects"
        return (
            f"Type: {self.type} | Category: {self.category} | Salience: {self.salience:.0%} | "
            f"Accessed: {self.access_count} times, last {self.last_accessed} | Tags: {tags} | "
            f"Project: {where} | Scope: {self.scope} | Created: {self.created_at}"
        )


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search. ``more``: others match too; ``newest_only``: only the newest matches were ranked."""

    memories: tuple[StoredMemory, ...]
    more: bool = False
    newest_only: bool = False


def list_memories(connection: sqlite3.Connection, filters: Filters, order: str, limit: int, now: str) -> SearchResult:
    """The first ``limit`` memories in the order ``recent`` or ``important``."""
    rows = connection.execute(
        f"select id from memories where {filters.condition()} order by {_ORDERS[order]} limit :limit",  # noqa: S608 (ours)
        {**filters.values(now), "limit": limit + 1},
    ).fetchall()
    return SearchResult(_by_ids(connection, [row["id"] for row in rows[:limit]]), len(rows) > limit)


def search(connection: sqlite3.Connection, query: str, filters: Filters, limit: int, now: str) -> SearchResult:
    """The ``limit`` best matches; if no word matches, the memories that contain the query exactly, newest first."""
    ids: list[int] = []
    newest_only = False
    for expression in _expressions(connection, _words(query)):
        ranked, candidates = _ranked(connection, expression, filters, limit + 1, now)
        ids += [id_ for id_ in ranked if id_ not in ids]
        newest_only = newest_only or candidates == CANDIDATES
        if len(ids) > limit:
            break
    ids = ids or _containing(connection, query, filters, limit + 1, now)
    return SearchResult(_by_ids(connection, ids[:limit]), len(ids) > limit, newest_only)


def matching_ids(connection: sqlite3.Connection, query: str | None, filters: Filters, now: str) -> list[int]:
    """Ids of all memories that meet the filters and contain every word of the query, or a query without words exactly.

    ``query`` None: the filters alone decide.
    """
    words = _words(query or "")
    if query is not None and not words:
        return _containing(connection, query, filters, -1, now)
    of_words = "id in (select rowid from memories_fts where memories_fts match :words) and " if words else ""
    rows = connection.execute(
        f"select id from memories where {of_words}{filters.condition()} order by id",  # noqa: S608 (constants)
        {**filters.values(now), "words": " ".join(words)},
    )
    return [row["id"] for row in rows]


def _words(query: str) -> list[str]:
    """Each word once, in quotes: inside them FTS5 gives a meaning only to the quote itself, which is doubled.

    FTS5 reads a word with signs in it, such as ``exp_1f``, as a phrase of its parts.
    """
    words = (word.replace("\0", "").replace('"', '""') for word in query.split())
    return list(dict.fromkeys(f'"{word}"' for word in words if any(map(str.isalnum, word))))


def _counts(connection: sqlite3.Connection, words: Sequence[str]) -> dict[str, int]:
    """The number of memories with each word, up to a limit; a word without a match is split into parts or left out.

    The last word may be incomplete.
    """
    counts: dict[str, int] = {}
    for word in words:
        prefix = "*" if word is words[-1] else ""
        total = _count(connection, word + prefix)
        parts = [] if total else [f'"{part}"' for part in re.findall(r"[^\W_]+", word)]
        counts |= {word + prefix: total} | {part: _count(connection, part) for part in parts}
    return {pattern: count for pattern, count in counts.items() if count}


def _expressions(connection: sqlite3.Connection, words: Sequence[str]) -> list[str]:
    """The FTS5 queries to send one after the other, until enough memories are found.

    If some words are rare, only they select and the common ones only rank: bm25 gives a word in most memories no weight
    anyway. If all words are common, memories with all of them come first.
    """
    counts = _counts(connection, words)
    known = sorted(counts, key=counts.__getitem__)
    if not known:
        return []
    running = accumulate(counts[pattern] for pattern in known)
    rare = [pattern for pattern, total in zip(known, running, strict=True) if total <= CANDIDATES]
    any_word = " OR ".join(known)
    if len(rare) == len(known):
        return [any_word]
    return [f"({' OR '.join(rare)}) AND ({any_word})"] if rare else [" AND ".join(known), any_word]


def _count(connection: sqlite3.Connection, pattern: str) -> int:
    counted = "select count(*) from (select 1 from memories_fts where memories_fts match ? limit ?)"
    (count,) = connection.execute(counted, (pattern, CANDIDATES + 1)).fetchone()
    return int(count)


def _ranked(
    connection: sqlite3.Connection, expression: str, filters: Filters, limit: int, now: str
) -> tuple[list[int], int]:
    """The best ids among the newest candidates, and the number of candidates."""
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


def _containing(connection: sqlite3.Connection, query: str, filters: Filters, limit: int, now: str) -> list[int]:
    """Search for text that is not a word: signs, emoji, parts of words in languages without spaces."""
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
    """The text without line breaks and control characters, so that a title cannot look like another list entry."""
    return "".join(char if char.isprintable() else " " for char in text)
