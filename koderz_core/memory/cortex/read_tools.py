"""The tools that read: ``recall``, ``get_memory``, ``get_context``, ``get_related``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from koderz_core.memory.cortex.database import Cortex, Reply, transaction, whole_number
from koderz_core.memory.cortex.search import (
    CANDIDATES,
    FADED,
    Filters,
    SearchResult,
    StoredMemory,
    list_memories,
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
    """The best, newest or most important memories that meet every filter, each with the beginning of its content."""
    filters = replace(
        cortex.filters(project, include_global=include_global),
        category=category,
        type=type,
        tags=tags or None,
        include_decayed=include_decayed,
    )
    result = _find(cortex, query, filters, mode, whole_number(limit, "limit"))
    left_out = 0 if include_decayed else _faded(cortex, filters)
    _touch(cortex, result.memories)
    content = {
        "memories": [memory.brief() for memory in result.memories],
        "more": result.more,
        "newest_only": result.newest_only,
        "decayed_left_out": left_out,
    }
    return Reply(_recalled(result, left_out), content)


def get_memory(cortex: Cortex, *, id: float) -> Reply:  # noqa: A002 (the tool's)
    """One memory, in full."""
    memory = cortex.fetch(id)
    _touch(cortex, [memory])
    metadata = "" if memory.metadata is None else f"\nMetadata: {memory.metadata}"
    return Reply(f"{memory.line()}\n{memory.content}\n\n{memory.about()}{metadata}", memory.full())


def get_context(
    cortex: Cortex,
    *,
    project: str | None = None,
    query: str | None = None,
    format: str = "summary",  # noqa: A002 (the tool's)
) -> Reply:
    """The most important memories of a project by section; with a query also the memories that match it."""
    filters = replace(cortex.filters(project), include_decayed=False)
    connection, now = cortex.connection, cortex.now()
    sections = {
        title: list_memories(connection, replace(filters, category=name), "important", PER_SECTION, now)
        for name, title in SECTIONS.items()
    }
    sections["Recent"] = list_memories(connection, filters, "recent", PER_SECTION, now)
    if query:
        sections = {f"On {one_line(query)}": _find(cortex, query, filters, "search", PER_SECTION), **sections}
    content = {title: [memory.brief() for memory in result.memories] for title, result in sections.items()}
    if format == "raw":
        text = json.dumps(content, ensure_ascii=False, indent=2)
    else:
        parts = [_part(title, result, EXCERPTS[format]) for title, result in sections.items() if result.memories]
        scope = one_line(cortex.scope(project) or "all projects")
        text = f"# Context: {scope}\n\n" + ("\n\n".join(parts) or "No memories yet.")
    return Reply(text, {"sections": content})


def get_related(cortex: Cortex, *, id: float) -> Reply:  # noqa: A002 (the tool's)
    """The links from and to a memory."""
    memory = cortex.fetch(id)
    rows = cortex.connection.execute(
        "select * from memory_links where ? in (source_id, target_id) order by strength desc, id", (memory.id,)
    ).fetchall()
    lines, related = [], []
    for row in rows:
        outgoing = row["source_id"] == memory.id
        other = cortex.fetch(row["target_id"] if outgoing else row["source_id"])
        lines.append(f"{'→' if outgoing else '←'} {row['relationship']} ({row['strength']:.2f}) {other.line()}")
        linked = {name: row[name] for name in ("source_id", "target_id", "relationship", "strength")}
        related.append({**linked, "memory": other.brief()})
    text = "\n".join([f"Related to {memory.line()}:", *lines]) if lines else f"No links to or from {memory.line()}."
    return Reply(text, {"id": memory.id, "related": related})


def _find(cortex: Cortex, query: str, filters: Filters, mode: str, limit: int) -> SearchResult:
    if mode == "search" and query.strip():
        return search(cortex.connection, query, filters, limit, cortex.now())
    return list_memories(cortex.connection, filters, "recent" if mode == "search" else mode, limit, cortex.now())


def _part(title: str, result: SearchResult, chars: int) -> str:
    lines = [f"- {memory.line()}: {memory.excerpt(chars)}" for memory in result.memories]
    more = ["- … find more with recall"] if result.more else []
    return "\n".join([f"## {title}", *lines, *more])


def _recalled(result: SearchResult, left_out: int) -> str:
    notes = []
    if result.more:
        notes.append("More memories match: raise limit (50 at most) or narrow the query.")
    if result.newest_only:
        notes.append(f"Too many memories match: only the newest {CANDIDATES:,} were ranked. Rarer words search all.")
    if left_out:
        notes.append(f"{left_out} decayed memories were left out. To include them: includeDecayed.")
    if not result.memories:
        return "\n".join(["No memories result matching your query.", *notes])
    entries = [f"{memory.line()}\n{memory.excerpt()}\n{memory.about()}" for memory in result.memories]
    return "\n\n".join([f"Found {len(result.memories)} memories:", *entries, *(["\n".join(notes)] if notes else [])])


def _faded(cortex: Cortex, filters: Filters) -> int:
    """The number of memories that meet all other filters, but have decayed."""
    everything = replace(filters, include_decayed=True)
    (count,) = cortex.connection.execute(
        f"select count(*) from memories where decayed_score < {FADED} and {everything.condition()}",  # noqa: S608 (ours)
        everything.values(cortex.now()),
    ).fetchone()
    return int(count)


def _touch(cortex: Cortex, memories: Sequence[StoredMemory]) -> None:
    """Count a use of the memories, which resets their decay."""
    if not memories:
        return
    with transaction(cortex.connection) as connection:
        connection.execute(
            "update memories set access_count = access_count + 1, last_accessed = ?, decayed_score = salience "
            "where id in (select value from json_each(?))",
            (cortex.now(), json.dumps([memory.id for memory in memories])),
        )
