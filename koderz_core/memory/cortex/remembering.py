"""The tools ``remember`` and ``forget``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from koderz_core.errors import UsageError
from koderz_core.memory.cortex.adding import NewMemory, as_json, insert, tags_text, type_for
from koderz_core.memory.cortex.open import Cortex, Reply
from koderz_core.memory.cortex.schema import transaction
from koderz_core.memory.cortex.searching import Filters, holding_all, matching
from koderz_core.memory.cortex.stored import one_line

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
