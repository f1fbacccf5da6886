"""How a memory gets into the file: checked, then inserted as it is."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from koderz_core.errors import UsageError
from koderz_core.memory.cortex.stored import one_line

LONG_TERM = 0.6  # from this salience on a memory is for the long term unless its type is given
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


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A row that is to be. ``tags`` and ``metadata`` are JSON texts; ``project`` None: it belongs to every project."""

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

    def check_size(self, allowed: int) -> None:
        """Raise UsageError if it is longer than allowed: nothing is ever cut to fit."""
        size = sum(map(len, (self.title, self.content, self.tags, self.metadata or "")))
        if size > allowed:
            raise UsageError(
                f"The memory {one_line(self.title[:80])!r} has {size:,} characters with its tags and metadata; this "
                f"server takes {allowed:,}. Nothing was stored. Split it, or serve with a larger --max-chars."
            )


def insert(connection: sqlite3.Connection, memory: NewMemory) -> int:
    """Its id; ids are never used twice."""
    return int(connection.execute(_INSERT, _values(memory)).lastrowid or 0)


def is_there(connection: sqlite3.Connection, memory: NewMemory) -> bool:
    """Whether the same memory, of the same moment, is in the file."""
    return connection.execute(_SAME, _values(memory)).fetchone() is not None


def _values(memory: NewMemory) -> dict[str, object]:
    return {name: getattr(memory, name) for name in NewMemory.__slots__}


def type_for(salience: float) -> str:
    return "long_term" if salience >= LONG_TERM else "short_term"


def tags_text(tags: Sequence[str]) -> str:
    """As JSON, each tag once."""
    return as_json(list(dict.fromkeys(tags)))


def as_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise UsageError("metadata is too deep, or holds an infinite number. Nothing was stored.") from error
