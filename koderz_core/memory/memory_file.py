"""The memories in koderz' own file: search and display for a person, and deletion of those of a benchmark.

Looking changes nothing, not even what fades. If another server keeps the memories, its file is not touched, and
nothing of it is shown.
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
"""What a memory can be of, and the tag that it bears then."""

ORDERS = ("best", "recent", "important")
MOST = 50


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """What is looked for; "" is any. ``kind``: of ``KINDS``. ``faded``: also what has faded or is retired."""

    words: str = ""
    kind: str = ""
    category: str = ""
    order: str = "best"
    faded: bool = False
    limit: int = 20


@dataclass(frozen=True, slots=True)
class Related:
    """Another memory, and what it has to do with the one: a link's name, or the experiment they share."""

    how: str
    memory: StoredMemory


@dataclass(frozen=True, slots=True)
class Counts:
    """What there is, by type and by category; the size of the file and what it may grow to, in bytes."""

    total: int
    retired: int
    by_type: Mapping[str, int]
    by_category: Mapping[str, int]
    file_bytes: int
    most_bytes: int


@contextmanager
def open_memory_file(settings: Settings, *, make: bool = False) -> Iterator[Cortex | None]:
    """The file of koderz' memories while it lasts, None where there is none yet unless it is to be made.

    Raises CortexError also for what goes wrong in it meanwhile, ConfigError.
    """
    if settings.cortex_command or settings.cortex_path:
        raise CortexError(
            f"The memories are kept by {server_of(settings).shown}, whose file koderz does not read. Ask that server, "
            "or unset KODERZ_CORTEX_COMMAND and CORTEX_PATH to have koderz keep them."
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


def find(cortex: Cortex, sought: MemoryQuery) -> SearchResult:
    """The memories that fit. Words order by how well they fit, unless another order is asked for."""
    filters = Filters(
        category=sought.category or None,
        tags=[KINDS[sought.kind]] if sought.kind else None,
        include_decayed=sought.faded,
    )
    if not sought.words.strip():
        order = "recent" if sought.order == "best" else sought.order
        return list_memories(cortex.connection, filters, order, sought.limit, cortex.now())
    found = search(cortex.connection, sought.words, filters, sought.limit, cortex.now())
    return replace(found, memories=tuple(sorted(found.memories, key=_KEYS[sought.order], reverse=True)))


def related(cortex: Cortex, memory: StoredMemory, experiment: str) -> list[Related]:
    """What is linked to it, then what else is remembered of its experiment ("": it has none), the newest first."""
    linked = get_related(cortex, id=memory.id).content["related"]
    found = [Related(str(one["relationship"]), cortex.fetch(one["memory"]["id"])) for one in linked]  # type: ignore[attr-defined]  # a reply is JSON
    if experiment:
        of_it = list_memories(cortex.connection, Filters(tags=[experiment]), "recent", MOST, cortex.now())
        known = {memory.id, *(one.memory.id for one in found)}
        found += [Related("same experiment", one) for one in of_it.memories if one.id not in known]
    return found


def counts(cortex: Cortex) -> Counts:
    """How much there is."""
    told = json.loads(json.dumps(memory_stats(cortex).content))
    (retired,) = cortex.connection.execute("select count(*) from memories where salience = 0").fetchone()
    most = told["limits"]["megabytes"] * 2**20
    return Counts(told["total"], int(retired), told["by_type"], told["by_category"], told["file_bytes"], most)


_KEYS: Mapping[str, Callable[[StoredMemory], tuple[str | float, ...]]] = {
    "best": lambda _: (),
    "recent": lambda one: (one.created_at, one.id),
    "important": lambda one: (one.salience, one.created_at, one.id),
}


def count_of_benchmark(settings: Settings, benchmark: str) -> int | None:
    """How many memories a benchmark has left behind, None where another server keeps them. Raises CortexError."""
    if uses_other_server(settings):
        return None
    with open_memory_file(settings) as cortex:
        if cortex is None:
            return 0
        (count,) = cortex.connection.execute(f"select count(*) {_OF}", [benchmark]).fetchone()
        return int(count)


def forget_benchmark(settings: Settings, benchmark: str) -> None:
    """Delete them, but for those that another server keeps, and what is known of who was told them. Raises as above."""
    if not uses_other_server(settings):
        with open_memory_file(settings) as cortex:
            if cortex is not None:
                with transaction(cortex.connection) as connection:
                    connection.execute(f"delete {_OF}", [benchmark])
    if (settings.home / FILE_NAME).exists():
        ledger = MirrorLedger(settings.home / FILE_NAME, server_of(settings).key)
        try:
            ledger.forget(f"{benchmark}.jsonl")
        finally:
            ledger.close()


def uses_other_server(settings: Settings) -> bool:
    """Whether the settings name a memory server that is not koderz' own."""
    return bool(settings.cortex_command or settings.cortex_path)


_OF = """
from memories where case when json_valid(metadata) then metadata ->> '$.benchmark_id' end = ?
"""
