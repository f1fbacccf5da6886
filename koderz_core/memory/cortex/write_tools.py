"""The tools that store and delete: ``remember``, ``forget``, ``import_memories``, with ``export_memories``.

A memory is checked and then stored unchanged. A retired memory has salience 0, so it counts as faded: ``recall`` leaves
it out unless faded memories are requested, and neither ``consolidate`` nor reading the memory changes that.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from koderz_core.errors import UsageError
from koderz_core.memory.cortex.database import Cortex, Reply, timestamp, transaction
from koderz_core.memory.cortex.schemas import Category, Type
from koderz_core.memory.cortex.search import Filters, StoredMemory, matching_ids, one_line

SALIENCES: Mapping[str, float] = {"low": 0.3, "normal": 0.5, "high": 0.8, "critical": 1.0}
LISTED = 20
_HIGH = ("architecture", "error", "preference", "pattern")
_SIGNS: Mapping[str, tuple[str, ...]] = {
    "architecture": ("architecture", "database", "schema", "we use", "we're using", "design decision"),
    "error": ("error", "bug", "fixed", "crash", "exception", "traceback"),
    "todo": ("todo", "fixme", "remains to"),
    "preference": ("always", "never", "prefer"),
    "pattern": ("pattern", "convention"),
    "learning": ("learned", "lesson", "turns out"),
}
RETIRED = 0.0  # salience of a retired memory
RESTORED = 0.5  # salience of a restored memory: that of normal importance
LONG_TERM = 0.6  # the lowest salience that makes a memory long-term unless its type is given
_INSERT = """
insert into memories (type, category, project, scope, salience, decayed_score, access_count, created_at, last_accessed,
    transferable, title, tags, content, metadata)
values (:type, :category, :project, :scope, :salience, :decayed_score, :access_count, :created_at, :last_accessed,
    :transferable, :title, :tags, :content, :metadata)
"""
_SAME = """
select 1 from memories where created_at = :created_at and title = :title and content = :content
    and project is :project and metadata is :metadata
"""


def remember(  # noqa: PLR0913 (the tool has these parameters)
    cortex: Cortex,
    *,
    title: str,
    content: str,
    category: str | None = None,
    type: str | None = None,  # noqa: A002 (the tool's)
    project: str | None = None,
    tags: Sequence[str] = (),
    importance: str | None = None,
    scope: str = "project",
    transferable: bool = False,
    metadata: Mapping[str, object] | None = None,
) -> Reply:
    """Store one memory, even if it resembles another. Raises UsageError for one that exceeds the limits."""
    detected = category or _category(f"{title}\n{content}")
    level = importance or ("high" if detected in _HIGH else "normal")
    salience, now, where = SALIENCES[level], cortex.now(), cortex.scope(project)
    memory = NewMemory(
        title=title,
        content=content,
        category=detected,
        type=type or type_for(salience),
        project=where,
        scope="global" if where is None else scope,
        salience=salience,
        decayed_score=salience,
        created_at=now,
        last_accessed=now,
        transferable=transferable,
        tags=tags_text(tags),
        metadata=None if metadata is None else as_json(metadata),
    )
    memory.check_size(cortex.limits.chars)
    with transaction(cortex.connection) as connection:
        id_ = insert(connection, memory)
    return _remembered(memory, id_, f"importance {level}" + ("" if importance else f", from category {detected}"))


def _remembered(memory: NewMemory, id_: int, reason: str) -> Reply:
    text = (
        f'Remembered: "{one_line(memory.title)}"\nID: {id_}\nType: {memory.type}\nCategory: {memory.category}\n'
        f"Salience: {memory.salience:.0%}\nReason: {reason}"
    )
    fields = ("type", "category", "salience", "project", "scope", "created_at")
    return Reply(text, {"id": id_, **{name: getattr(memory, name) for name in fields}})


def forget(  # noqa: PLR0913 (the tool has these parameters)
    cortex: Cortex,
    *,
    id: float | None = None,  # noqa: A002 (the tool's)
    query: str | None = None,
    category: str | None = None,
    project: str | None = None,
    older_than: float | None = None,
    below_salience: float | None = None,
    dry_run: bool = False,
    confirm: bool = False,
) -> Reply:
    """Delete one memory by id, or all that meet every given criterion; more than one only if ``confirm``."""
    if all(criterion is None for criterion in (id, query, category, older_than, below_salience)):
        raise UsageError(
            "Say what to forget: give id, query, category, olderThan or belowSalience. Nothing was deleted."
        )
    filters = Filters(
        project=None if id is not None and project is None else cortex.scope(project),
        include_global=False,
        category=category,
        older_than=older_than,
        salient_below=below_salience,
    )
    with transaction(cortex.connection) as connection:
        ids = matching_ids(cortex.connection, query, filters, cortex.now())
        if id is not None:
            number = cortex.fetch(id).id
            ids = [number] if number in ids else []
        listing = _listing(cortex, ids)
        if dry_run:
            return Reply(f"Would delete {len(ids)} memories.{listing}", {"matched": ids, "deleted": []})
        if len(ids) > 1 and not confirm:
            raise UsageError(
                f"{len(ids)} memories match; none was deleted. To delete them all, give confirm: true.{listing}"
            )
        connection.execute("delete from memories where id in (select value from json_each(?))", (json.dumps(ids),))
    return Reply(f"Deleted {len(ids)} memories.{listing}", {"matched": ids, "deleted": ids})


def _category(text: str) -> str:
    lowered = text.lower()
    return next((name for name, signs in _SIGNS.items() if any(sign in lowered for sign in signs)), "note")


def _listing(cortex: Cortex, ids: Sequence[int]) -> str:
    shown = [f"\n{cortex.fetch(id_).line()}" for id_ in ids[:LISTED]]
    left_out = f"\n… and {len(ids) - LISTED:,} more" if len(ids) > LISTED else ""
    return "".join(shown) + left_out


Share = Annotated[float, Meta(ge=0, le=1)]
Tags = list[str]
Metadata = dict[str, object]
Kind = TypeVar("Kind", Tags, Metadata)


class Entry(msgspec.Struct, frozen=True):
    """One memory of an export, of koderz or of claude-cortex-core; fields that koderz does not store are ignored."""

    title: str
    content: str
    category: Category = "note"
    type: Type | None = None
    project: str | UnsetType | None = UNSET
    scope: Literal["project", "global"] = "project"
    salience: Share = 0.5
    decayed_score: Share | None = None
    access_count: Annotated[int, Meta(ge=0, le=2**53)] = 0
    created_at: str | None = None
    last_accessed: str | None = None
    transferable: bool | int = False
    tags: Tags | str = "[]"  # an export holds JSON as a text
    metadata: Metadata | str | None = None


def export_memories(cortex: Cortex, *, project: str | None = None) -> Reply:
    """All memories of a project in full, oldest first, as a JSON array below a first line.

    The structured content does not repeat them: clients read answers of many megabytes slowly.
    """
    filters = cortex.filters(project, include_global=False)
    rows = cortex.connection.execute(
        f"select * from memories where {filters.condition()} order by created_at, id",  # noqa: S608 (constants)
        filters.values(cortex.now()),
    )
    memories = [StoredMemory.of(row).raw() for row in rows]
    text = json.dumps(memories, ensure_ascii=False)
    return Reply(f"Exported {len(memories)} memories:\n\n{text}", {"exported": len(memories)})


def import_memories(cortex: Cortex, *, data: str) -> Reply:
    """Store all memories of an export, or none if one is invalid. Those already stored are only counted."""
    memories = [_imported(cortex, number, entry) for number, entry in enumerate(_entries(data), start=1)]
    with transaction(cortex.connection) as connection:
        added = [insert(connection, memory) for memory in memories if not is_there(connection, memory)]
    already = len(memories) - len(added)
    text = f"Imported {len(added)} memories." + (f" {already} were stored already." if already else "")
    return Reply(text, {"imported": len(added), "already": already, "ids": added})


def _entries(data: str) -> list[object]:
    """The array of an export, with or without the line that ``export_memories`` writes above it."""
    above, _, below = data.partition("\n\n")
    try:
        parsed = json.loads(below if above.startswith("Exported ") else data)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"data is not JSON: {error}. Give the text that export_memories returned. Nothing was imported."
        ) from error
    entries = parsed.get("memories") if isinstance(parsed, dict) else parsed
    if not isinstance(entries, list):
        raise UsageError("data must be a JSON array of memories, as export_memories returns it. Nothing was imported.")
    return entries


def _imported(cortex: Cortex, number: int, raw: object) -> NewMemory:
    try:
        entry = msgspec.convert(raw, Entry)
        tags = _decoded(entry.tags, Tags)
        metadata = None if entry.metadata is None else as_json(_decoded(entry.metadata, Metadata))
        created = _moment(entry.created_at, cortex.now())
        accessed = _moment(entry.last_accessed, created)
    except (ValueError, OverflowError) as error:  # msgspec's are ValueErrors
        raise UsageError(f"Memory {number} of data is invalid: {error}. Correct it. Nothing was imported.") from error
    project = cortex.scope(None) if entry.project is UNSET else entry.project
    memory = NewMemory(
        title=entry.title,
        content=entry.content,
        category=entry.category,
        type=entry.type or type_for(entry.salience),
        project=project,
        scope="global" if project is None else entry.scope,
        salience=entry.salience,
        decayed_score=entry.salience if entry.decayed_score is None else entry.decayed_score,
        created_at=created,
        last_accessed=accessed,
        access_count=entry.access_count,
        transferable=bool(entry.transferable),
        tags=tags_text(tags),
        metadata=metadata,
    )
    memory.check_size(cortex.limits.chars)
    return memory


def _decoded(value: Kind | str, kind: type[Kind]) -> Kind:
    return msgspec.json.decode(value, type=kind) if isinstance(value, str) else value


def _moment(text: str | None, default: str) -> str:
    return default if text is None else timestamp(datetime.fromisoformat(text))


@dataclass(frozen=True, slots=True)
class UpsertCounts:
    """The number of memories that were inserted, and of those that replaced an earlier version."""

    added: int
    renewed: int


def upsert(cortex: Cortex, memories: Sequence[NewMemory]) -> UpsertCounts:
    """Store memories; each replaces the memory with the same title, project and category, if there is one.

    The new version has a new id. A retired memory stays retired. Raises UsageError for a memory that is too long, and
    sqlite3.Error.
    """
    added = renewed = 0
    with transaction(cortex.connection) as connection:
        for memory in memories:
            memory.check_size(cortex.limits.chars)
            before = connection.execute(_BEFORE, (memory.title, memory.project, memory.category)).fetchone()
            if before is None:
                insert(connection, memory)
                added += 1
            elif (before["content"], before["metadata"]) != (memory.content, memory.metadata):
                # The full-text index follows inserts and deletes only, so the row is deleted and inserted again.
                connection.execute("delete from memories where id = ?", (before["id"],))
                retired = before["salience"] == 0
                insert(connection, replace(memory, salience=0.0, decayed_score=0.0) if retired else memory)
                renewed += 1
    return UpsertCounts(added, renewed)


def set_salience(cortex: Cortex, number: int, salience: float) -> None:
    """Retire or restore a memory. Raises UsageError if there is no memory with that id, and sqlite3.Error."""
    with transaction(cortex.connection) as connection:
        memory = cortex.fetch(number)
        connection.execute(
            "update memories set salience = ?, decayed_score = ? where id = ?", (salience, salience, memory.id)
        )


_BEFORE = "select id, salience, content, metadata from memories where title = ? and project is ? and category = ?"


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A row to insert. ``tags`` and ``metadata`` are JSON texts; ``project`` None: it belongs to every project."""

    title: str
    content: str
    category: str
    type: str
    project: str | None
    scope: str
    salience: float
    decayed_score: float
    created_at: str
    last_accessed: str
    access_count: int = 0
    transferable: bool = False
    tags: str = "[]"
    metadata: str | None = None

    def check_size(self, limit: int) -> None:
        """Raise UsageError if the memory is longer than ``limit``: a memory is never cut."""
        size = sum(map(len, (self.title, self.content, self.tags, self.metadata or "")))
        if size > limit:
            raise UsageError(
                f"The memory {one_line(self.title[:80])!r} has {size:,} characters with its tags and metadata; this "
                f"server accepts {limit:,}. Nothing was stored. Split the memory, or raise --max-chars."
            )


def insert(connection: sqlite3.Connection, memory: NewMemory) -> int:
    """Insert the memory and return its id. Ids are never reused."""
    return int(connection.execute(_INSERT, _values(memory)).lastrowid or 0)


def is_there(connection: sqlite3.Connection, memory: NewMemory) -> bool:
    """Whether an identical memory with the same time is in the file."""
    return connection.execute(_SAME, _values(memory)).fetchone() is not None


def _values(memory: NewMemory) -> dict[str, object]:
    return {name: getattr(memory, name) for name in NewMemory.__slots__}


def type_for(salience: float) -> str:
    return "long_term" if salience >= LONG_TERM else "short_term"


def tags_text(tags: Sequence[str]) -> str:
    """The tags as JSON, each once."""
    return as_json(list(dict.fromkeys(tags)))


def as_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            "metadata is nested too deeply or contains an infinite number. Correct it. Nothing was stored."
        ) from error
