"""The tools for sessions, consolidation, statistics, links and the active project.

Consolidation runs only on request and deletes nothing. It promotes a short-term memory that was recalled three times.
The decayed score of a memory that was not recalled for d days becomes salience / (1 + d / D), with D = 30 days for
short-term, 90 for episodic and 365 for long-term memories. Recalling and a later consolidation compute it again.
"""

from __future__ import annotations

from koderz_core.errors import UsageError
from koderz_core.memory.cortex.database import EVERYWHERE, Cortex, Reply, transaction, whole_number
from koderz_core.memory.cortex.read_tools import get_context
from koderz_core.memory.cortex.search import one_line

_PROMOTED = "type = 'short_term' and access_count >= 3"
_DAYS = "max(0, julianday(:now) - julianday(last_accessed))"
_SCORE = f"salience / (1 + {_DAYS} / case type when 'short_term' then 30 when 'episodic' then 90 else 365 end)"
_DECAYED = f"{_DAYS} >= 1 and abs(decayed_score - {_SCORE}) > 0.001"  # a smaller change is not worth writing a row


def start_session(cortex: Cortex, *, project: str | None = None) -> Reply:
    """Start a session and return the context of the project."""
    scope = cortex.scope(project)
    with transaction(cortex.connection) as connection:
        started = connection.execute("insert into sessions (project, started_at) values (?, ?)", (scope, cortex.now()))
    context = get_context(cortex, project=project)
    content = {"session_id": started.lastrowid, "project": scope, **context.content}
    return Reply(f"Session {started.lastrowid} started.\n\n{context.text}", content)


def end_session(cortex: Cortex, *, session_id: float, summary: str | None = None) -> Reply:
    """End an open session, then consolidate."""
    number = whole_number(session_id, "sessionId")
    with transaction(cortex.connection) as connection:
        ended = connection.execute(
            "update sessions set ended_at = ?, summary = ? where id = ? and ended_at is null",
            (cortex.now(), summary, number),
        )
    if not ended.rowcount:
        raise UsageError(f"Session {number} is not open, so it cannot be ended. Open one with start_session.")
    consolidated = consolidate(cortex)
    return Reply(f"Session ended. {consolidated.text}", {"session_id": number, **consolidated.content})


def consolidate(cortex: Cortex, *, force: bool = False, dry_run: bool = False) -> Reply:  # noqa: ARG001 (see schema)
    """Promote and decay memories. ``force`` comes from claude-cortex-core and has no effect: a request always runs."""
    values = {"now": cortex.now()}
    with transaction(cortex.connection) as connection:
        (promoted,) = connection.execute(f"select count(*) from memories where {_PROMOTED}").fetchone()  # noqa: S608
        (decayed,) = connection.execute(f"select count(*) from memories where {_DECAYED}", values).fetchone()  # noqa: S608
        if not dry_run:
            connection.execute(f"update memories set decayed_score = {_SCORE} where {_DECAYED}", values)  # noqa: S608
            connection.execute(f"update memories set type = 'long_term' where {_PROMOTED}")  # noqa: S608 (ours)
    verb = "would be " if dry_run else ""
    text = f"Consolidation: {verb}{promoted} promoted, {decayed} decayed, 0 deleted."
    return Reply(text, {"promoted": promoted, "decayed": decayed, "deleted": 0, "dry_run": dry_run})


def memory_stats(cortex: Cortex, *, project: str | None = None) -> Reply:
    """The number of memories by type and category, and the limits of the server."""
    filters = cortex.filters(project)
    where, values = filters.condition(), filters.values(cortex.now())

    def counts(column: str) -> dict[str, int]:
        rows = f"select {column}, count(*) from memories where {where} group by 1 order by 2 desc, 1"  # noqa: S608 (ours)
        return dict(cortex.connection.execute(rows, values).fetchall())

    types, categories = counts("type"), counts("category")
    average = f"select avg(salience) from memories where {where}"  # noqa: S608 (ours)
    (salience,) = cortex.connection.execute(average, values).fetchone()
    pages, page = (cortex.connection.execute(f"pragma {name}").fetchone()[0] for name in ("page_count", "page_size"))
    content = {
        "total": sum(types.values()),
        "by_type": types,
        "by_category": categories,
        "average_salience": salience,
        "file_bytes": pages * page,
        "limits": {"chars": cortex.limits.chars, "megabytes": cortex.limits.megabytes},
    }
    known = "unknown" if salience is None else f"{salience:.0%}"
    text = (
        f"Total memories: {content['total']}\n{_counted('By type', types)}\nAverage salience: {known}\n"
        f"{_counted('By category', categories)}\n"
        f"File: {pages * page:,} bytes of {cortex.limits.megabytes:,} MiB; at most "
        f"{cortex.limits.chars:,} characters per memory"
    )
    return Reply(text, content)


def link_memories(
    cortex: Cortex, *, source_id: float, target_id: float, relationship: str, strength: float = 0.5
) -> Reply:
    """Link one memory to another. The same link again gets the new strength."""
    with transaction(cortex.connection) as connection:
        source, target = cortex.fetch(source_id, "sourceId"), cortex.fetch(target_id, "targetId")
        if source.id == target.id:
            raise UsageError(f"Memory {source.id} cannot be linked to itself. Give two different ids.")
        connection.execute(
            "insert into memory_links (source_id, target_id, relationship, strength, created_at) "
            "values (?, ?, ?, ?, ?) on conflict do update set strength = excluded.strength",
            (source.id, target.id, relationship, strength, cortex.now()),
        )
    content = {"source_id": source.id, "target_id": target.id, "relationship": relationship, "strength": strength}
    return Reply(f"Linked {source.line()} → {relationship} ({strength:.2f}) → {target.line()}", content)


def set_project(cortex: Cortex, *, project: str) -> Reply:
    """Set the active project of this client; the file stores none."""
    if not project.strip():
        raise UsageError('project is empty. Name a project, or "*" for all projects.')
    before, cortex.project, cortex.project_source = cortex.project, project, "set_project"
    text = f"Project: {one_line(before)} -> {one_line(project)}"
    return Reply(text, {"before": before, "project": project})


def get_project(cortex: Cortex, **_given: object) -> Reply:
    """The active project and what set it. The schema of this tool allows any argument."""
    scope = "global" if cortex.project == EVERYWHERE else "project"
    text = f"Project: {one_line(cortex.project)}\nSource: {cortex.project_source}\nScope: {scope}"
    return Reply(text, {"project": cortex.project, "source": cortex.project_source, "scope": scope})


def _counted(title: str, counts: dict[str, int]) -> str:
    return f"{title}: " + (", ".join(f"{name} {count}" for name, count in counts.items()) or "none")
