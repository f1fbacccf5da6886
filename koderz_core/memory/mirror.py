"""Mirror of journals on a memory server: offers new memories and counts only those that the server confirms.

Each process reads a journal from its start once, because a memory needs the events before it (which model, at what
cost); of the texts it keeps only the positions. koderz' own server takes a batch in one call and ignores memories that
it already has, so sending twice stores once. Any other server gets one memory per call. claude-cortex-core may report a
failure in plain text, may answer "Remembered" although it stored nothing ("Updated existing similar memory"), and cuts
contents at 10,240 characters (WARNING). Its titles must be unique and plain, and koderz searches for the title of a
memory that may have arrived before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from koderz_core.config import Settings
from koderz_core.errors import CortexError, JournalError, UsageError
from koderz_core.events import BenchmarkClosed, TextStored, decode
from koderz_core.memory.client import Client
from koderz_core.memory.cortex.database import DEFAULT_PROJECT
from koderz_core.memory.cortex.search import one_line
from koderz_core.memory.cortex.write_tools import SALIENCES
from koderz_core.memory.journal_memories import MemoryExtractor
from koderz_core.memory.ledger import FILE_NAME, Loss, MirrorLedger
from koderz_core.memory.memory_text import JournalMemory

TRIES = 2  # for one memory, before it is skipped: the server may crash because of it
GIVEN_UP_AFTER = 3  # consecutive failures of the server while a person waits
BATCH_CHARS = 1_000_000
OWN_SERVER = "koderz-cortex"
BATCH = 100  # memories in one call to koderz' own server
WHY_CHARS = 300


class Mirror:
    """For one thread. A CortexError changes nothing: the same call can be made again and continues."""

    def __init__(self, client: Client, ledger: MirrorLedger, journals_dir: Path, *, scripted: bool = False) -> None:
        """``scripted``: as ``MemoryExtractor`` takes it."""
        self.client, self.ledger = client, ledger
        self.answered = 0  # memories that the server has answered for, stored or not
        self._folder, self._scripted = journals_dir, scripted
        self._readers: dict[str, JournalReader] = {}
        self._size, self._tries, self._doubtful = 0, 0, True

    def catch_up(self, file: str, enough: Callable[[], bool] = lambda: False) -> None:
        """Offer the new memories of a journal until ``enough``. Does nothing if another process mirrors the journal.

        Raises CortexError, JournalError.
        """
        with self.ledger.claim(file) as claimed:
            if claimed and self.is_behind(file):
                self._catch_up(self._readers.setdefault(file, self._reader(file)), enough)

    def recover(self, file: str, lost: Mapping[int, Loss]) -> None:
        """Offer lost memories again, given by their position. Raises as ``catch_up``."""
        failures = 0
        with self.ledger.claim(file) as claimed:
            for line in self._reader(file).read() if claimed and lost else ():
                if line.end not in lost or not line.memory:
                    continue
                try:
                    (result,) = self._offer([line.memory])
                except CortexError:
                    failures += 1
                    if failures == GIVEN_UP_AFTER:
                        raise
                    continue
                failures = 0
                if result.stored:
                    self.ledger.resolve(file, lost[line.end])

    def is_behind(self, file: str) -> bool:
        """Whether parts of this journal are not answered yet. A journal that became shorter starts again."""
        size, done = self._reader(file).size, self.ledger.offset(file)
        if size < done:
            self.ledger.forget(file)
            self._readers.pop(file, None)
            self.ledger.add(file)
        return size != done

    def _catch_up(self, reader: JournalReader, enough: Callable[[], bool]) -> None:
        done = self.ledger.offset(reader.file)
        reader.waiting = [line for line in reader.waiting if line.end > done]
        self._flush(reader, 0, enough)  # lines from before the server failed
        fault = None
        try:
            for line in reader.read():
                if line.memory and line.end > done:
                    reader.waiting.append(line)
                    self._flush(reader, BATCH, enough)
                if enough():
                    return
        except JournalError as error:
            fault = error  # the lines before it are mirrored all the same
        self._flush(reader, 0, enough)
        if reader.waiting:
            return
        self.ledger.advance(reader.file, reader.offset, (), ())
        if fault:
            raise fault
        if reader.closed:
            self._readers.pop(reader.file, None)

    def _flush(self, reader: JournalReader, allowed: int, enough: Callable[[], bool]) -> None:
        """Offer and remove waiting lines until at most ``allowed`` are left."""
        while len(reader.waiting) > allowed and not enough():
            most = BATCH if self.client.open().name == OWN_SERVER else 1
            self._size = min(self._size or most, most)
            offered = list(_within(reader.waiting[: self._size], BATCH_CHARS))
            memories = [line.memory for line in offered if line.memory]
            results = self._offer(memories)
            stored = [memory.kind for memory, result in zip(memories, results, strict=True) if result.stored]
            losses = [
                Loss(line.end, memory.kind, memory.title, result.why, result.stored)
                for line, memory, result in zip(offered, memories, results, strict=True)
                if result.why
            ]
            self.ledger.advance(reader.file, offered[-1].end, stored, losses)
            del reader.waiting[: len(offered)]

    def _offer(self, memories: Sequence[JournalMemory]) -> list[StoreResult]:
        self.client.open()  # a server that does not start is not the fault of a memory
        try:
            results = store(self.client, memories, doubtful=self._doubtful)
        except CortexError as error:
            self._size, self._doubtful = 1, True
            self._tries += len(memories) == 1
            if self._tries < TRIES:
                raise
            self._tries = 0
            return [StoreResult(False, f"the server failed {TRIES} times on this memory: {error}")]
        self._size, self._tries, self._doubtful = self._size * 2, 0, False
        self.answered += len(results)
        return results

    def _reader(self, file: str) -> JournalReader:
        return JournalReader(self._folder / file, scripted=self._scripted)


@contextmanager
def open_mirror(settings: Settings, client: Client) -> Iterator[Mirror]:
    """Open the record of mirrored memories; close it and the server at the end. Raises CortexError."""
    ledger = MirrorLedger(settings.home / FILE_NAME, client.server.key)
    try:
        yield Mirror(client, ledger, settings.journals_dir, scripted=settings.memory == "all")
    finally:
        client.close()
        ledger.close()


def _within(lines: Sequence[JournalLine], chars: int) -> Iterator[JournalLine]:
    """The first line, and further lines while their contents fit into ``chars``."""
    for place, line in enumerate(lines):
        chars -= len(line.memory.content) if line.memory else 0
        if chars < 0 and place:
            return
        yield line


@dataclass(frozen=True, slots=True)
class StoreResult:
    """Whether one memory was stored. ``why``: why it was cut or (not ``stored``) lost; empty if it is complete."""

    stored: bool
    why: str = ""


def store(client: Client, batch: Sequence[JournalMemory], *, doubtful: bool) -> list[StoreResult]:
    """Store memories; the result of each. ``doubtful``: the first may have arrived before.

    Raises CortexError if the server fails, so that it is unknown which memories it stored; offer the same ones again.
    """
    if client.open().name == OWN_SERVER:
        return _import(client, batch)
    known = doubtful and _is_there(client, batch[0].title)
    return [
        StoreResult(True) if known and not place else _remember(client, memory) for place, memory in enumerate(batch)
    ]


def as_entry(memory: JournalMemory) -> dict[str, object]:
    """The memory as an entry of an export. Its time is that of the event, so that a repetition is recognised."""
    return {
        "title": memory.title,
        "content": memory.content,
        "category": memory.category,
        "salience": SALIENCES[memory.importance],
        "created_at": memory.at,
        "tags": memory.tags,
        "metadata": memory.metadata,
        "project": DEFAULT_PROJECT,
        "scope": "project",
    }


def _import(client: Client, batch: Sequence[JournalMemory]) -> list[StoreResult]:
    data = msgspec.json.encode([as_entry(memory) for memory in batch]).decode()
    answer = client.call("import_memories", {"data": data})
    if not answer.failed:
        counts = [answer.content.get(name) for name in ("imported", "already")]
        if sum(count for count in counts if isinstance(count, int)) != len(batch):
            raise CortexError(
                f"Memories sent to the memory server: {len(batch)}. The server's answer confirms a different number: "
                f"{_shown(answer.text)}."
            )
        return [StoreResult(True)] * len(batch)
    if answer.content.get("kind") != UsageError.__name__:
        raise CortexError(_shown(answer.text))
    if len(batch) == 1:
        return [StoreResult(False, _shown(answer.text))]
    return [result for memory in batch for result in _import(client, [memory])]


def _remember(client: Client, memory: JournalMemory) -> StoreResult:
    arguments = as_entry(memory)
    del arguments["salience"], arguments["created_at"]
    answer = client.call("remember", {**arguments, "importance": memory.importance})
    first, _, rest = answer.text.partition("\n")
    if answer.failed or not first.startswith("Remembered"):
        return StoreResult(False, _shown(answer.text) or "the server gave no reason")
    if "Updated existing" in rest:
        reason = "the server mistook this memory for another memory with a similar title and did not store it"
        return StoreResult(False, reason)
    cut = next((line for line in rest.splitlines() if "WARNING" in line or "truncated" in line.lower()), "")
    return StoreResult(True, f"cut: {_shown(cut)}" if cut else "")


def _is_there(client: Client, title: str) -> bool:
    if "recall" not in client.open().tools:
        return False
    answer = client.call("recall", {"query": title, "project": DEFAULT_PROJECT, "limit": 50})
    return not answer.failed and f"**{title}**" in answer.text


def _shown(text: str) -> str:
    """The text of a server, which is hostile and may be long, as one short line."""
    return one_line(text[:WHY_CHARS]).strip()


@dataclass(frozen=True, slots=True)
class JournalLine:
    """One line that was read: the offset (bytes) after it, and its memory, if it has one."""

    end: int
    memory: JournalMemory | None


class JournalReader:
    """Reads the new lines of one journal. For one thread."""

    def __init__(self, path: Path, *, scripted: bool = False) -> None:
        """``scripted``: as ``MemoryExtractor`` takes it."""
        self.path, self.file = path, path.name
        self.offset = 0
        self.waiting: list[JournalLine] = []  # read, but not answered yet
        self.closed = False  # whether the last line closes the benchmark
        self._places: dict[str, int] = {}  # hash of a text -> offset of its line
        self._extractor = MemoryExtractor(self._text, scripted=scripted)

    @property
    def size(self) -> int:
        """The bytes of the journal now, 0 if it does not exist."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def read(self) -> Iterator[JournalLine]:
        """Read the new lines. Leaves a torn last line for later. Raises JournalError at an invalid line."""
        if self.size <= self.offset:
            return
        try:
            with self.path.open("rb") as file:
                file.seek(self.offset)
                for line in file:
                    if not line.endswith(b"\n"):
                        return
                    yield self._parse(line)
        except OSError as error:
            raise JournalError(
                f"The journal {self.file} cannot be read: {error}. Check that its folder is readable."
            ) from error

    def _parse(self, line: bytes) -> JournalLine:
        try:
            entry = decode(line)
            if entry and isinstance(entry.event, TextStored):
                self._places[entry.event.sha256] = self.offset
            memory = self._extractor.add(entry) if entry else None
        except JournalError as error:
            raise JournalError(
                f"The journal {self.file} cannot be read at byte {self.offset}: {error}. koderz "
                "stores no memories from later lines."
            ) from error
        self.offset += len(line)
        self.closed = entry is not None and isinstance(entry.event, BenchmarkClosed)
        return JournalLine(self.offset, memory)

    def _text(self, digest: str) -> str:
        if digest not in self._places:
            raise JournalError(
                f"the line refers to the text with the hash {digest[:12]}, but no earlier line contains that text"
            )
        with self.path.open("rb") as file:
            file.seek(self._places[digest])
            entry = decode(file.readline())
        assert entry is not None
        assert isinstance(entry.event, TextStored)
        return entry.event.text
