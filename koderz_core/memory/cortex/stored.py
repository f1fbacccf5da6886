"""A memory as the file keeps it and as clients see it."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

EXCERPT_CHARS = 200


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


def one_line(text: str) -> str:
    """Without line breaks and control characters: a title must not look like another entry of a listing."""
    return "".join(char if char.isprintable() else " " for char in text)
