"""A journal that is being read for what is to be remembered of it: event by event, from its beginning.

Memories need what stands before them (who was asked, at what cost), so a journal is read from the start once per
process; of its texts only the places are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from koderz_core.errors import JournalError
from koderz_core.events import BenchmarkClosed, TextStored, decode
from koderz_core.memory.remembered import Story
from koderz_core.memory.told import Told


@dataclass(frozen=True, slots=True)
class Read:
    """One line that was read: what it leaves behind, if anything, and the offset (bytes) behind it."""

    end: int
    remembered: Told | None


class Followed:
    """One journal. For one thread."""

    def __init__(self, path: Path, *, scripted: bool = False) -> None:
        """``scripted`` as ``Story`` has it."""
        self.path = path
        self.offset = 0
        self.closed = False  # whether the last line says that nobody writes it any more
        self._places: dict[str, int] = {}  # hash of a text -> offset of its line
        self._story = Story(self._text, scripted=scripted)

    @property
    def size(self) -> int:
        """Bytes in the journal now, 0 if it is gone."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def read(self) -> Iterator[Read]:
        """What is new, line by line; a torn last line is not read yet. Raises JournalError at a line that is none."""
        if self.size <= self.offset:
            return
        try:
            with self.path.open("rb") as file:
                file.seek(self.offset)
                for line in file:
                    if not line.endswith(b"\n"):
                        return
                    yield self._take(line)
        except OSError as error:
            raise JournalError(f"The journal {self.path.name} cannot be read: {error}. Check its folder.") from error

    def _take(self, line: bytes) -> Read:
        try:
            entry = decode(line)
            if entry and isinstance(entry.event, TextStored):
                self._places[entry.event.sha256] = self.offset
            remembered = self._story.tell(entry) if entry else None
        except JournalError as error:
            raise JournalError(
                f"The journal {self.path.name} cannot be read at byte {self.offset}: {error}. Nothing behind it is "
                "remembered."
            ) from error
        self.offset += len(line)
        self.closed = entry is not None and isinstance(entry.event, BenchmarkClosed)
        return Read(self.offset, remembered)

    def _text(self, digest: str) -> str:
        if digest not in self._places:
            raise JournalError(f"it names the text {digest[:12]}, which no line before it holds")
        with self.path.open("rb") as file:
            file.seek(self._places[digest])
            entry = decode(file.readline())
        assert entry is not None
        assert isinstance(entry.event, TextStored)
        return entry.event.text
