"""An open cortex: the memory file, the project it works for, and its limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from koderz_core.errors import UsageError
from koderz_core.memory.cortex.schema import MemoryFile, open_memories
from koderz_core.memory.cortex.search import Filters, StoredMemory

FILE_NAME = "cortex.db"  # in the data folder
DEFAULT_PROJECT = "koderz"
EVERYWHERE = "*"
MAX_CHARS = 1_000_000
MAX_MEGABYTES = 4096


@dataclass(frozen=True, slots=True)
class CortexLimits:
    """What one memory may hold, metadata included, and how large the file may grow; beyond it ``remember`` refuses."""

    chars: int = MAX_CHARS
    megabytes: int = MAX_MEGABYTES


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool answers: the text that the original's clients read, and the same as JSON."""

    text: str
    content: Mapping[str, object]


@dataclass(slots=True)
class Cortex:
    """Not for two threads at once; several processes may each have one on the same file."""

    path: Path
    limits: CortexLimits = field(default_factory=CortexLimits)
    project: str = DEFAULT_PROJECT
    project_source: str = "default"
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    connection: MemoryFile = field(init=False)

    def __post_init__(self) -> None:
        self.connection = open_memories(self.path, self.limits.megabytes)

    def close(self) -> None:
        self.connection.close()

    def now(self) -> str:
        return timestamp(self.clock())

    def scope(self, project: str | None) -> str | None:
        """The project that is meant, None if all are."""
        meant = self.project if project is None else project
        return None if meant == EVERYWHERE else meant

    def filters(self, project: str | None, *, include_global: bool = True) -> Filters:
        return Filters(project=self.scope(project), include_global=include_global)

    def fetch(self, number: object, what: str = "id") -> StoredMemory:
        """The memory with that id. Raises UsageError if there is none."""
        row = self.connection.execute("select * from memories where id = ?", (whole(number, what),)).fetchone()
        if row is None:
            raise UsageError(f"There is no memory {number:.0f}. Look for its id with recall.")
        return StoredMemory.of(row)


def whole(number: object, what: str) -> int:
    """JSON has one kind of number; an id or a count is a whole one."""
    if isinstance(number, int | float) and 0 < number < 2**63 and number == int(number):
        return int(number)
    raise UsageError(f"{what} is {number}, and must be a whole number from 1 to 2**63 - 1.")


def timestamp(moment: datetime) -> str:
    """UTC with milliseconds: as text it sorts as it does in time. A moment without a zone is taken as UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
