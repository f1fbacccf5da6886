"""The tools ``remember`` and ``forget``, and insertion, retirement and renewal of memories in the file.

A memory is checked and then inserted as it is. A retired memory has no salience, so it has faded whatever happens:
``recall`` leaves it out unless faded ones are asked for, and neither ``consolidate`` nor reading it changes that.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from koderz_core.errors import UsageError
from koderz_core.memory.cortex.project import Cortex, Reply
from koderz_core.memory.cortex.schema import transaction
from koderz_core.memory.cortex.search import Filters, holding_all, matching, one_line

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
RESTORED = 0.5  # salience of what was taken back: that of a memory of normal importance
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
    """Always stores one memory, however like another it is; refuses what is beyond the limits."""
    detected = category or _category(f"{title}\n{content}")
    worth = importance or ("high" if detected in _HIGH else "normal")
    salience, now, where = SALIENCES[worth], cortex.now(), cortex.scope(project)
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
    return _remembered(memory, id_, f"importance {worth}" + ("" if importance else f", from category {detected}"))


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
    """Deletes one memory by id, or all that meet every criterion given; more than one only if confirmed."""
    if all(given is None for given in (id, query, category, older_than, below_salience)):
        raise UsageError("Say what to forget: id, query, category, olderThan or belowSalience. Nothing was deleted.")
    filters = Filters(
        project=None if id is not None and project is None else cortex.scope(project),
        include_global=False,
        category=category,
        older_than=older_than,
        salient_below=below_salience,
    )
    with transaction(cortex.connection) as connection:
        ids = _matching(cortex, id, query, filters)
        listing = _listing(cortex, ids)
        if dry_run:
            return Reply(f"Would delete {len(ids)} memories.{listing}", {"matched": ids, "deleted": []})
        if len(ids) > 1 and not confirm:
            raise UsageError(f"{len(ids)} memories match; none was deleted. To delete all: confirm: true.{listing}")
        connection.execute("delete from memories where id in (select value from json_each(?))", (json.dumps(ids),))
    return Reply(f"Deleted {len(ids)} memories.{listing}", {"matched": ids, "deleted": ids})


def _category(text: str) -> str:
    lowered = text.lower()
    return next((name for name, signs in _SIGNS.items() if any(sign in lowered for sign in signs)), "note")


def _remembered(memory: NewMemory, id_: int, reason: str) -> Reply:
    text = (
        f'Remembered: "{one_line(memory.title)}"\nID: {id_}\nType: {memory.type}\nCategory: {memory.category}\n'
        f"Salience: {memory.salience:.0%}\nReason: {reason}"
    )
    told = ("type", "category", "salience", "project", "scope", "created_at")
    return Reply(text, {"id": id_, **{name: getattr(memory, name) for name in told}})


def _matching(cortex: Cortex, id_: float | None, query: str | None, filters: Filters) -> list[int]:
    only = None if id_ is None else cortex.fetch(id_).id
    now = cortex.now()
    if query is None:
        ids = matching(cortex.connection, filters, now)
    else:
        ids = holding_all(cortex.connection, query, filters, now)
    return [one for one in ids if only in (None, one)]


def _listing(cortex: Cortex, ids: Sequence[int]) -> str:
    shown = [f"\n{cortex.fetch(one).line()}" for one in ids[:LISTED]]
    left_out = f"\n… and {len(ids) - LISTED:,} more" if len(ids) > LISTED else ""
    return "".join(shown) + left_out


def retire(cortex: Cortex, number: int) -> None:
    """Raises UsageError if there is no such memory, sqlite3.Error."""
    _weigh(cortex, number, 0.0)


def restore(cortex: Cortex, number: int) -> None:
    """As ``retire``."""
    _weigh(cortex, number, RESTORED)


@dataclass(frozen=True, slots=True)
class Renewed:
    """How many memories were new, and how many took the place of what they were before."""

    added: int
    renewed: int


def renew(cortex: Cortex, memories: Sequence[NewMemory]) -> Renewed:
    """Keep these. One that is there under its title, in its project and category, is brought up to date.

    It has another id then; what was retired stays retired. Raises UsageError for one too long, sqlite3.Error.
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
                # The index of words follows additions and deletions only, so the memory is added anew.
                connection.execute("delete from memories where id = ?", (before["id"],))
                retired = before["salience"] == 0
                insert(connection, replace(memory, salience=0.0, decayed_score=0.0) if retired else memory)
                renewed += 1
    return Renewed(added, renewed)


def _weigh(cortex: Cortex, number: int, salience: float) -> None:
    with transaction(cortex.connection) as connection:
        one = cortex.fetch(number)
        connection.execute(
            "update memories set salience = ?, decayed_score = ? where id = ?", (salience, salience, one.id)
        )


_BEFORE = "select id, salience, content, metadata from memories where title = ? and project is ? and category = ?"


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
