"""Mirror of journals on a memory server: sends what is new, and counts as done only what the server has confirmed.

A journal is read from its start once per process, since memories need what stands before them (which model, at what
cost); of its texts only the places are kept. koderz' own server takes a whole batch in one call and leaves alone what
it has already, so sending twice stores once. Any other server stores one memory per call. claude-cortex-core may say
in plain text that it failed, answer "Remembered" although it stored nothing ("Updated existing similar memory"), and
cut a content at 10,240 characters (WARNING); its titles must be unique and plain, and a memory that may have arrived
before is looked up by its title.
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
from koderz_core.memory.client import Client, ToolAnswer
from koderz_core.memory.cortex.database import DEFAULT_PROJECT
from koderz_core.memory.cortex.write_tools import SALIENCES
from koderz_core.memory.journal_memories import MemoryExtractor
from koderz_core.memory.ledger import FILE_NAME, Loss, MirrorLedger
from koderz_core.memory.memory_text import JournalMemory

TRIES = 2  # at one memory, before it is passed over: it may be what the server cannot bear
GIVEN_UP_AFTER = 3  # failures of the server in a row, where somebody waits
BATCH_CHARS = 1_000_000
OWN_SERVER = "koderz-cortex"
BATCH = 100  # memories in one call to koderz' own server
WHY_CHARS = 300


class Mirror:
    """For one thread. What it raises as CortexError changes nothing: the same call later goes on where it was."""

    def __init__(self, client: Client, ledger: MirrorLedger, journals_dir: Path, *, scripted: bool = False) -> None:
        """``scripted`` as ``Story`` has it."""
        self._scripted = scripted
        self._client, self._ledger, self._folder = client, ledger, journals_dir
        self._followed: dict[str, JournalReader] = {}
        self._waiting: dict[str, list[ReadLine]] = {}  # read, and not answered yet
        self._size, self._tries, self._doubtful = 0, 0, True
        self.answered = 0  # memories, whatever the server said to them

    def catch_up(self, file: str, enough: Callable[[], bool] = lambda: False) -> None:
        """Offer what is new in the journal of that name, until ``enough``; if another process does, leave it to that.

        Raises CortexError, JournalError.
        """
        with self._ledger.turn(file) as ours:
            if ours and self.is_behind(file):
                self._catch_up(file, self._followed.setdefault(file, self._opened(file)), enough)

    def recover(self, file: str, lost: Mapping[int, Loss]) -> None:
        """Offer again what the server did not take before, by its place. Raises as ``catch_up``."""
        failures = 0
        with self._ledger.turn(file) as ours:
            for read in self._opened(file).read() if ours and lost else ():
                if read.end not in lost or not read.remembered:
                    continue
                try:
                    (kept,) = self._offer([read.remembered])
                except CortexError:
                    failures += 1
                    if failures == GIVEN_UP_AFTER:
                        raise
                    continue
                failures = 0
                if kept.stored:
                    self._ledger.found(file, lost[read.end])

    def is_behind(self, file: str) -> bool:
        """Whether the server has not answered for all of this journal. One that has become shorter starts again."""
        size, done = self._opened(file).size, self._ledger.offset(file)
        if size < done:
            self._ledger.forget(file)
            self._drop(file)
            self._ledger.begin(file)
        return size != done

    def _catch_up(self, file: str, followed: JournalReader, enough: Callable[[], bool]) -> None:
        done = self._ledger.offset(file)
        waiting = self._waiting[file] = [read for read in self._waiting.get(file, []) if read.end > done]
        self._flush(file, waiting, 0, enough)  # of a time when the server was lost
        fault = None
        try:
            for read in followed.read():
                if read.remembered and read.end > done:
                    waiting.append(read)
                    self._flush(file, waiting, BATCH, enough)
                if enough():
                    return
        except JournalError as error:
            fault = error  # what stands before it is remembered all the same
        self._flush(file, waiting, 0, enough)
        if waiting:
            return
        self._ledger.advance(file, followed.offset, (), ())
        if fault:
            raise fault
        if followed.closed:
            self._drop(file)

    def _flush(self, file: str, waiting: list[ReadLine], allowed: int, enough: Callable[[], bool]) -> None:
        """Offer them until no more than ``allowed`` wait; what was answered is taken out."""
        while len(waiting) > allowed and not enough():
            self._offer_first(file, waiting)

    def _offer_first(self, file: str, waiting: list[ReadLine]) -> None:
        most = BATCH if self._client.open().name == OWN_SERVER else 1
        self._size = min(self._size or most, most)
        offered = list(_within(waiting[: self._size], BATCH_CHARS))
        memories = [read.remembered for read in offered if read.remembered]
        kept = self._offer(memories)
        stored = [one.kind for one, came in zip(memories, kept, strict=True) if came.stored]
        losses = [
            Loss(read.end, one.kind, one.title, came.why, came.stored)
            for read, one, came in zip(offered, memories, kept, strict=True)
            if came.why
        ]
        self._ledger.advance(file, offered[-1].end, stored, losses)
        del waiting[: len(offered)]

    def _offer(self, memories: Sequence[JournalMemory]) -> list[StoreResult]:
        self._client.open()  # that nobody is there is the fault of no memory
        try:
            kept = store(self._client, memories, doubtful=self._doubtful)
        except CortexError as error:
            self._size, self._doubtful = 1, True
            self._tries += len(memories) == 1
            if self._tries < TRIES:
                raise
            self._tries = 0
            return [StoreResult(False, f"the server was lost at it {TRIES} times: {error}")]
        self._size, self._tries, self._doubtful = self._size * 2, 0, False
        self.answered += len(kept)
        return kept

    def _opened(self, file: str) -> JournalReader:
        return JournalReader(self._folder / file, scripted=self._scripted)

    def _drop(self, file: str) -> None:
        self._followed.pop(file, None)
        self._waiting.pop(file, None)


def _within(reads: Sequence[ReadLine], chars: int) -> Iterator[ReadLine]:
    """The first of them, and those behind it that fit in."""
    for place, read in enumerate(reads):
        chars -= len(read.remembered.content) if read.remembered else 0
        if chars < 0 and place:
            return
        yield read


@dataclass(frozen=True, slots=True)
class MirrorSession:
    """For the thread that opened it."""

    client: Client
    ledger: MirrorLedger
    mirror: Mirror


@contextmanager
def open_mirror(settings: Settings, client: Client) -> Iterator[MirrorSession]:
    """While it lasts, the ledger is open and the server is, once it was needed. Raises CortexError."""
    ledger = MirrorLedger(settings.home / FILE_NAME, client.server.key)
    try:
        yield MirrorSession(
            client, ledger, Mirror(client, ledger, settings.journals_dir, scripted=settings.memory == "all")
        )
    finally:
        client.close()
        ledger.close()


@dataclass(frozen=True, slots=True)
class StoreResult:
    """What became of one memory. ``why`` empty: it is stored as it is; else it is cut, or (not ``stored``) lost."""

    stored: bool
    why: str = ""


def store(client: Client, batch: Sequence[JournalMemory], *, doubtful: bool) -> list[StoreResult]:
    """What became of each. ``doubtful``: the first may have arrived before.

    Raises CortexError if the server fails, so that it is not known what it holds; offering the same again is right.
    """
    if client.open().name == OWN_SERVER:
        return _import(client, batch)
    known = doubtful and _is_there(client, batch[0].title)
    return [StoreResult(True) if known and not place else _remember(client, one) for place, one in enumerate(batch)]


def as_entry(one: JournalMemory) -> dict[str, object]:
    """As an export has it. The time is that of the event, so that the same memory is known again."""
    return {
        "title": one.title,
        "content": one.content,
        "category": one.category,
        "salience": SALIENCES[one.importance],
        "created_at": one.at,
        "tags": one.tags,
        "metadata": one.metadata,
        "project": DEFAULT_PROJECT,
        "scope": "project",
    }


def _import(client: Client, batch: Sequence[JournalMemory]) -> list[StoreResult]:
    answer = client.call(
        "import_memories", {"data": msgspec.json.encode([as_entry(memory) for memory in batch]).decode()}
    )
    if not answer.wrong:
        counts = [answer.content.get(name) for name in ("imported", "already")]
        if sum(count for count in counts if isinstance(count, int)) != len(batch):
            raise CortexError(f"The memory server was given {len(batch)} memories and says: {_shown(answer.text)}.")
        return [StoreResult(True)] * len(batch)
    if answer.content.get("kind") != UsageError.__name__:
        raise CortexError(_shown(answer.text))
    if len(batch) == 1:
        return [StoreResult(False, _shown(answer.text))]
    return [kept for memory in batch for kept in _import(client, [memory])]


def _remember(client: Client, one: JournalMemory) -> StoreResult:
    answer = client.call(
        "remember",
        {
            "title": one.title,
            "content": one.content,
            "category": one.category,
            "importance": one.importance,
            "tags": one.tags,
            "metadata": one.metadata,
            "project": DEFAULT_PROJECT,
            "scope": "project",
        },
    )
    return _judged(answer)


def _judged(answer: ToolAnswer) -> StoreResult:
    first, _, rest = answer.text.partition("\n")
    if answer.wrong or not first.startswith("Remembered"):
        return StoreResult(False, _shown(answer.text) or "the server said nothing")
    if "Updated existing" in rest:
        return StoreResult(False, "the server took it for another memory of a similar title and stored nothing")
    cut = next((line for line in rest.splitlines() if "WARNING" in line or "truncated" in line.lower()), "")
    return StoreResult(True, f"cut: {_shown(cut)}" if cut else "")


def _is_there(client: Client, title: str) -> bool:
    if "recall" not in client.open().tools:
        return False
    found = client.call("recall", {"query": title, "project": DEFAULT_PROJECT, "limit": 50})
    return not found.wrong and f"**{title}**" in found.text


def _shown(text: str) -> str:
    """What a server says, on one line: it is hostile, and may be long."""
    return "".join(char if char.isprintable() else " " for char in text[:WHY_CHARS]).strip()


@dataclass(frozen=True, slots=True)
class ReadLine:
    """One line that was read: what it leaves behind, if anything, and the offset (bytes) behind it."""

    end: int
    remembered: JournalMemory | None


class JournalReader:
    """One journal. For one thread."""

    def __init__(self, path: Path, *, scripted: bool = False) -> None:
        """``scripted`` as ``Story`` has it."""
        self.path = path
        self.offset = 0
        self.closed = False  # whether the last line says that nobody writes it any more
        self._places: dict[str, int] = {}  # hash of a text -> offset of its line
        self._story = MemoryExtractor(self._text, scripted=scripted)

    @property
    def size(self) -> int:
        """Bytes in the journal now, 0 if it is gone."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def read(self) -> Iterator[ReadLine]:
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

    def _take(self, line: bytes) -> ReadLine:
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
        return ReadLine(self.offset, remembered)

    def _text(self, digest: str) -> str:
        if digest not in self._places:
            raise JournalError(f"it names the text {digest[:12]}, which no line before it holds")
        with self.path.open("rb") as file:
            file.seek(self._places[digest])
            entry = decode(file.readline())
        assert entry is not None
        assert isinstance(entry.event, TextStored)
        return entry.event.text
