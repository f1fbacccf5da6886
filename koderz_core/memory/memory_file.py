"""The memories in koderz' own file: search and display for a person, and deletion of those of a benchmark.

A search changes nothing, not even the decay of a memory. koderz never reads or writes the file of another memory
server.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from koderz_core.config import Settings
from koderz_core.errors import CortexError
from koderz_core.memory.client import memory_file, server_of
from koderz_core.memory.cortex.administration import memory_stats
from koderz_core.memory.cortex.database import EVERYWHERE, Cortex, koderz_error, transaction
from koderz_core.memory.cortex.read_tools import get_related
from koderz_core.memory.cortex.search import Filters, SearchResult, StoredMemory, list_memories, search
from koderz_core.memory.ledger import FILE_NAME, MirrorLedger

KINDS: Mapping[str, str] = {
    "spec": "spec",
    "iteration": "iteration",
    "checkpoint": "checkpoint",
    "result": "result",
    "benchmark": "benchmark_run",
    "lesson": "lesson",
}
"""The kinds of memories, and the tag of each kind."""

ORDERS = ("best", "recent", "important")
MOST = 50


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """A search; "" is any. ``kind``: a key of ``KINDS``. ``faded``: include faded and retired memories."""

    words: str = ""
    kind: str = ""
    category: str = ""
    order: str = "best"
    faded: bool = False
    limit: int = 20


@dataclass(frozen=True, slots=True)
class Related:
    """A related memory, and how it is related: the name of the link, or the common experiment."""

    how: str
    memory: StoredMemory


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of memories by type and by category, and the size of the file and its limit in bytes."""

    total: int
    retired: int
    by_type: Mapping[str, int]
    by_category: Mapping[str, int]
    file_bytes: int
    most_bytes: int


@contextmanager
def open_memory_file(settings: Settings, *, make: bool = False) -> Iterator[Cortex | None]:
    """Open koderz' memory file; None if it does not exist, unless ``make``.

    Raises CortexError, also for SQLite's errors in the block, and ConfigError.
    """
    if uses_other_server(settings):
        raise CortexError(
            f"The memories are stored by the server {server_of(settings).shown}, whose file koderz cannot read. Query "
            "that server, or unset KODERZ_CORTEX_COMMAND and CORTEX_PATH to store memories in koderz' own file."
        )
    path = memory_file(settings)
    if not make and not path.exists():
        yield None
        return
    cortex = Cortex(path, project=EVERYWHERE)
    try:
        yield cortex
    except (sqlite3.Error, UnicodeEncodeError, OverflowError) as error:
        raise koderz_error(error) from error
    finally:
        cortex.close()


def find(cortex: Cortex, query: MemoryQuery) -> SearchResult:
    """The matching memories. With words the best match comes first, unless another order is requested."""
    filters = Filters(
        category=query.category or None,
        tags=[KINDS[query.kind]] if query.kind else None,
        include_decayed=query.faded,
    )
    if not query.words.strip():
        order = "recent" if query.order == "best" else query.order
        return list_memories(cortex.connection, filters, order, query.limit, cortex.now())
    result = search(cortex.connection, query.words, filters, query.limit, cortex.now())
    return replace(result, memories=tuple(sorted(result.memories, key=_KEYS[query.order], reverse=True)))


def related(cortex: Cortex, memory: StoredMemory, experiment: str) -> list[Related]:
    """The linked memories, then the other memories of the experiment ("": none), the newest first."""
    links = get_related(cortex, id=memory.id).content["related"]
    linked = [Related(str(link["relationship"]), cortex.fetch(link["memory"]["id"])) for link in links]  # type: ignore[attr-defined]  # a reply is JSON
    if experiment:
        same = list_memories(cortex.connection, Filters(tags=[experiment]), "recent", MOST, cortex.now())
        known = {memory.id, *(link.memory.id for link in linked)}
        linked += [Related("same experiment", other) for other in same.memories if other.id not in known]
    return linked


def counts(cortex: Cortex) -> Counts:
    """The number of memories and the size of the file."""
    stats = json.loads(json.dumps(memory_stats(cortex).content))
    (retired,) = cortex.connection.execute("select count(*) from memories where salience = 0").fetchone()
    most = stats["limits"]["megabytes"] * 2**20
    return Counts(stats["total"], int(retired), stats["by_type"], stats["by_category"], stats["file_bytes"], most)


_KEYS: Mapping[str, Callable[[StoredMemory], tuple[str | float, ...]]] = {
    "best": lambda _: (),
    "recent": lambda memory: (memory.created_at, memory.id),
    "important": lambda memory: (memory.salience, memory.created_at, memory.id),
}


def count_of_benchmark(settings: Settings, benchmark: str) -> int | None:
    """The number of memories of a benchmark, None if another server stores them. Raises CortexError."""
    if uses_other_server(settings):
        return None
    with open_memory_file(settings) as cortex:
        if cortex is None:
            return 0
        (count,) = cortex.connection.execute(f"select count(*) {_OF}", [benchmark]).fetchone()
        return int(count)


def forget_benchmark(settings: Settings, benchmark: str) -> int | None:
    """Delete the memories of a benchmark from koderz' own file, and the record of what was mirrored.

    Returns the number of these memories, None if another server keeps them. Raises CortexError.
    """
    count = None if uses_other_server(settings) else 0
    if count is not None:
        with open_memory_file(settings) as cortex:
            if cortex is not None:
                with transaction(cortex.connection) as connection:
                    count = connection.execute(f"delete {_OF}", [benchmark]).rowcount
    if (settings.home / FILE_NAME).exists():
        ledger = MirrorLedger(settings.home / FILE_NAME, server_of(settings).key)
        try:
            ledger.forget(f"{benchmark}.jsonl")
        finally:
            ledger.close()
    return count


def uses_other_server(settings: Settings) -> bool:
    """Whether the settings name a memory server other than koderz' own."""
    return bool(settings.cortex_command or settings.cortex_path)


_OF = """
from memories where case when json_valid(metadata) then metadata ->> '$.benchmark_id' end = ?
"""
