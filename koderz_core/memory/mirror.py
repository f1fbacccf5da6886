"""Journals mirrored to a memory server: what is new is offered, and only what was answered is counted as done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from koderz_core.errors import CortexError, JournalError
from koderz_core.memory.client import Client
from koderz_core.memory.followed import Followed, Read
from koderz_core.memory.ledger import Ledger, Loss
from koderz_core.memory.storing import BATCH, Kept, batch_size, store
from koderz_core.memory.told import Told

TRIES = 2  # at one memory, before it is passed over: it may be what the server cannot bear
GIVEN_UP_AFTER = 3  # failures of the server in a row, where somebody waits
BATCH_CHARS = 1_000_000


class Mirror:
    """For one thread. What it raises as CortexError changes nothing: the same call later goes on where it was."""

    def __init__(self, client: Client, ledger: Ledger, journals_dir: Path, *, scripted: bool = False) -> None:
        """``scripted`` as ``Story`` has it."""
        self._scripted = scripted
        self._client, self._ledger, self._folder = client, ledger, journals_dir
        self._followed: dict[str, Followed] = {}
        self._waiting: dict[str, list[Read]] = {}  # read, and not answered yet
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

    def _catch_up(self, file: str, followed: Followed, enough: Callable[[], bool]) -> None:
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

    def _flush(self, file: str, waiting: list[Read], allowed: int, enough: Callable[[], bool]) -> None:
        """Offer them until no more than ``allowed`` wait; what was answered is taken out."""
        while len(waiting) > allowed and not enough():
            self._offer_first(file, waiting)

    def _offer_first(self, file: str, waiting: list[Read]) -> None:
        most = batch_size(self._client)
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

    def _offer(self, memories: Sequence[Told]) -> list[Kept]:
        self._client.open()  # that nobody is there is the fault of no memory
        try:
            kept = store(self._client, memories, doubtful=self._doubtful)
        except CortexError as error:
            self._size, self._doubtful = 1, True
            self._tries += len(memories) == 1
            if self._tries < TRIES:
                raise
            self._tries = 0
            return [Kept(False, f"the server was lost at it {TRIES} times: {error}")]
        self._size, self._tries, self._doubtful = self._size * 2, 0, False
        self.answered += len(kept)
        return kept

    def _opened(self, file: str) -> Followed:
        return Followed(self._folder / file, scripted=self._scripted)

    def _drop(self, file: str) -> None:
        self._followed.pop(file, None)
        self._waiting.pop(file, None)


def _within(reads: Sequence[Read], chars: int) -> Iterator[Read]:
    """The first of them, and those behind it that fit in."""
    for place, read in enumerate(reads):
        chars -= len(read.remembered.content) if read.remembered else 0
        if chars < 0 and place:
            return
        yield read
