"""The tools ``export_memories`` and ``import_memories``: everything out, and back in as it was but for the ids."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from koderz_core.errors import UsageError
from koderz_core.memory.cortex.project import Cortex, Reply, timestamp
from koderz_core.memory.cortex.schema import transaction
from koderz_core.memory.cortex.schemas import Category, Type
from koderz_core.memory.cortex.search import StoredMemory
from koderz_core.memory.cortex.write_tools import NewMemory, as_json, insert, is_there, tags_text, type_for

Share = Annotated[float, Meta(ge=0, le=1)]
Tags = list[str]
Metadata = dict[str, object]
Kind = TypeVar("Kind", Tags, Metadata)


class Entry(msgspec.Struct, frozen=True):
    """One memory of an export, of this server or of the original; fields that koderz does not keep are passed over."""

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
    tags: Tags | str = "[]"  # the export writes JSON as a text
    metadata: Metadata | str | None = None


def export_memories(cortex: Cortex, *, project: str | None = None) -> Reply:
    """All of a project, in full, oldest first, as a JSON array below a first line.

    Not a second time as structured content: clients read answers of many megabytes slowly.
    """
    filters = cortex.filters(project, include_global=False)
    rows = cortex.connection.execute(
        f"select * from memories where {filters.condition()} order by created_at, id",  # noqa: S608 (constants)
        filters.values(cortex.now()),
    )
    found = [StoredMemory.of(row) for row in rows]
    text = json.dumps([memory.raw() for memory in found], ensure_ascii=False)
    return Reply(f"Exported {len(found)} memories:\n\n{text}", {"exported": len(found)})


def import_memories(cortex: Cortex, *, data: str) -> Reply:
    """All memories of an export, or none; those that are there already, to the letter, are counted and left alone."""
    memories = [_new(cortex, number, entry) for number, entry in enumerate(_entries(data), start=1)]
    with transaction(cortex.connection) as connection:
        added = [insert(connection, memory) for memory in memories if not is_there(connection, memory)]
    already = len(memories) - len(added)
    text = f"Imported {len(added)} memories." + (f" {already} were there already." if already else "")
    return Reply(text, {"imported": len(added), "already": already, "ids": added})


def _entries(data: str) -> list[object]:
    """An export's array, bare or with the line that the export writes above it."""
    above, _, below = data.partition("\n\n")
    try:
        read = json.loads(below if above.startswith("Exported ") else data)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"data is not JSON: {error}. Give what export_memories wrote. Nothing was imported."
        ) from error
    entries = read.get("memories") if isinstance(read, dict) else read
    if not isinstance(entries, list):
        raise UsageError("data must be a JSON array of memories, as export_memories writes it. Nothing was imported.")
    return entries


def _new(cortex: Cortex, number: int, raw: object) -> NewMemory:
    try:
        entry = msgspec.convert(raw, Entry)
        tags = _decoded(entry.tags, Tags)
        metadata = None if entry.metadata is None else as_json(_decoded(entry.metadata, Metadata))
        created = _moment(entry.created_at, cortex.now())
        accessed = _moment(entry.last_accessed, created)
    except (ValueError, OverflowError) as error:  # msgspec's are ValueErrors
        raise UsageError(f"Memory {number} of data is wrong: {error}. Correct it. Nothing was imported.") from error
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


def _decoded(value: Kind | str, wanted: type[Kind]) -> Kind:
    return msgspec.json.decode(value, type=wanted) if isinstance(value, str) else value


def _moment(text: str | None, default: str) -> str:
    return default if text is None else timestamp(datetime.fromisoformat(text))
