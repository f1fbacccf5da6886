"""How the memory server and what it remembers are told in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from koderz_core.export.formats import plain
from koderz_core.memory.standing import Condition, Standing

LISTED = 20  # losses of one journal
SHOWN_CHARS = 300


def worded(one: Standing) -> str:
    """One journal: how far it is remembered, and below what is not."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(one.memories.items())) or "none"
    lines = [f"{one.benchmark}: {one.mirrored} of {one.events} events mirrored; memories: {kinds}"]
    lines += [f"  stopped: {plain(one.fault, SHOWN_CHARS)}"] if one.fault else []
    for loss in one.losses[:LISTED]:
        verb = "stored in part" if loss.stored else "not stored"
        lines.append(f"  {verb}: {plain(loss.title)} ({plain(loss.why, SHOWN_CHARS)})")
    if len(one.losses) > LISTED:
        lines.append(f"  … and {len(one.losses) - LISTED} more (--json shows all)")
    return "\n".join(lines)


def worded_condition(server: Condition, rows: Sequence[Standing], memory: str) -> Iterator[str]:
    """The server, each journal that something was remembered of or is missing of, and what to do."""
    yield f"Server: {plain(server.command)}"
    yield f"Fails: {plain(server.fault)}" if server.fault else f"Answers: {plain(server.name)} {plain(server.version)}"
    if memory == "off":
        yield "KODERZ_MEMORY is off: nothing is remembered while experiments run."
    if server.held is not None:
        yield f"Memories in all its projects: {server.held}"
        if server.held < (counted := sum(sum(row.memories.values()) for row in rows)):
            yield f"It acknowledged {counted} and has fewer now; `koderz cortex backfill --again` offers them anew."
    if server.trouble:
        yield f"Last error: {plain(server.trouble.said, SHOWN_CHARS)}"
    yield from map(worded, rows)
    yield from _cure(rows)


def _cure(rows: Iterable[Standing]) -> Iterator[str]:
    behind = sum(not row.complete for row in rows)
    if behind:
        yield f"Not all is remembered of {behind} benchmarks. To bring it: koderz cortex backfill"
