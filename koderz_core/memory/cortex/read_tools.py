"""The tools that read: ``recall``, ``get_memory``, ``get_context``, ``get_related``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from koderz_core.memory.cortex.project import Cortex, Reply, whole
from koderz_core.memory.cortex.schema import transaction
from koderz_core.memory.cortex.search import (
    CANDIDATES,
    FADED,
    Filters,
    Found,
    StoredMemory,
    listed,
    one_line,
    search,
)

SECTIONS: Mapping[str, str] = {
    "architecture": "Architecture decisions",
    "pattern": "Patterns",
    "preference": "Preferences",
    "error": "Errors and their resolutions",
    "learning": "Lessons",
    "todo": "To do",
}
PER_SECTION = 5
EXCERPTS: Mapping[str, int] = {"summary": 100, "detailed": 500}


def recall(  # noqa: PLR0913 (the tool has these parameters)
    cortex: Cortex,
    *,
    query: str = "",
    category: str | None = None,
    type: str | None = None,  # noqa: A002 (the tool's)
    project: str | None = None,
    tags: Sequence[str] | None = None,
    limit: float = 10,
    include_decayed: bool = False,
    include_global: bool = True,
    mode: str = "search",
) -> Reply:
    """The best, newest or most important memories that every filter lets through, each with its beginning."""
    filters = replace(
        cortex.filters(project, include_global=include_global),
        category=category,
        type=type,
        tags=tags or None,
        include_decayed=include_decayed,
    )
    found = _find(cortex, query, filters, mode, whole(limit, "limit"))
    left_out = 0 if include_decayed else _faded(cortex, filters)
    _touch(cortex, found.memories)
    content = {
        "memories": [memory.brief() for memory in found.memories],
        "more": found.more,
        "newest_only": found.newest_only,
        "decayed_left_out": left_out,
    }
    return Reply(_recalled(found, left_out), content)


def get_memory(cortex: Cortex, *, id: float) -> Reply:  # noqa: A002 (the tool's)
    """One memory, in full."""
    memory = cortex.fetch(id)
    _touch(cortex, [memory])
    metadata = "" if memory.metadata is None else f"\nMetadata: {memory.metadata}"
    return Reply(f"{memory.line()}\n{memory.content}\n\n{memory.about()}{metadata}", memory.whole())


def get_context(
    cortex: Cortex,
    *,
    project: str | None = None,
    query: str | None = None,
    format: str = "summary",  # noqa: A002 (the tool's)
) -> Reply:
    """What matters most of a project, by section; with a query also what bears on it."""
    filters = replace(cortex.filters(project), include_decayed=False)
    found = {title: _section(cortex, filters, name) for name, title in SECTIONS.items()}
    found["Recent"] = listed(cortex.connection, filters, "recent", PER_SECTION, cortex.now())
    if query:
        found = {f"On {one_line(query)}": _find(cortex, query, filters, "search", PER_SECTION), **found}
    content = {title: [memory.brief() for memory in one.memories] for title, one in found.items()}
    if format == "raw":
        text = json.dumps(content, ensure_ascii=False, indent=2)
    else:
        parts = [_part(title, one, EXCERPTS[format]) for title, one in found.items() if one.memories]
        scope = one_line(cortex.scope(project) or "all projects")
        text = f"# Context: {scope}\n\n" + ("\n\n".join(parts) or "Nothing is remembered yet.")
    return Reply(text, {"sections": content})


def get_related(cortex: Cortex, *, id: float) -> Reply:  # noqa: A002 (the tool's)
    """The links of a memory, both ways."""
    memory = cortex.fetch(id)
    rows = cortex.connection.execute(
        "select * from memory_links where ? in (source_id, target_id) order by strength desc, id", (memory.id,)
    ).fetchall()
    lines, related = [], []
    for row in rows:
        away = row["source_id"] == memory.id
        other = cortex.fetch(row["target_id"] if away else row["source_id"])
        lines.append(f"{'→' if away else '←'} {row['relationship']} ({row['strength']:.2f}) {other.line()}")
        linked = {name: row[name] for name in ("source_id", "target_id", "relationship", "strength")}
        related.append({**linked, "memory": other.brief()})
    text = "\n".join([f"Related to {memory.line()}:", *lines]) if lines else f"Nothing is linked to {memory.line()}."
    return Reply(text, {"id": memory.id, "related": related})


def _find(cortex: Cortex, query: str, filters: Filters, mode: str, limit: int) -> Found:
    if mode == "search" and query.strip():
        return search(cortex.connection, query, filters, limit, cortex.now())
    return listed(cortex.connection, filters, "recent" if mode == "search" else mode, limit, cortex.now())


def _section(cortex: Cortex, filters: Filters, category: str) -> Found:
    return listed(cortex.connection, replace(filters, category=category), "important", PER_SECTION, cortex.now())


def _part(title: str, found: Found, chars: int) -> str:
    lines = [f"- {memory.line()}: {memory.excerpt(chars)}" for memory in found.memories]
    more = ["- … more of these: recall"] if found.more else []
    return "\n".join([f"## {title}", *lines, *more])


def _recalled(found: Found, left_out: int) -> str:
    notes = []
    if found.more:
        notes.append("More match: raise limit (50 at most) or narrow the question.")
    if found.newest_only:
        notes.append(f"Of the very many that match, the newest {CANDIDATES:,} were ranked: rarer words search all.")
    if left_out:
        notes.append(f"{left_out} decayed memories were not looked at: includeDecayed.")
    if not found.memories:
        return "\n".join(["No memories found matching your query.", *notes])
    entries = [f"{memory.line()}\n{memory.excerpt()}\n{memory.about()}" for memory in found.memories]
    return "\n\n".join([f"Found {len(found.memories)} memories:", *entries, *(["\n".join(notes)] if notes else [])])


def _faded(cortex: Cortex, filters: Filters) -> int:
    """How many the other filters let through but for their decay."""
    everything = replace(filters, include_decayed=True)
    (count,) = cortex.connection.execute(
        f"select count(*) from memories where decayed_score < {FADED} and {everything.condition()}",  # noqa: S608 (ours)
        everything.values(cortex.now()),
    ).fetchone()
    return int(count)


def _touch(cortex: Cortex, memories: Sequence[StoredMemory]) -> None:
    """What is used does not decay."""
    if not memories:
        return
    with transaction(cortex.connection) as connection:
        connection.execute(
            "update memories set access_count = access_count + 1, last_accessed = ?, decayed_score = salience "
            "where id in (select value from json_each(?))",
            (cortex.now(), json.dumps([memory.id for memory in memories])),
        )
