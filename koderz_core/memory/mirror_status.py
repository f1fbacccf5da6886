"""How much of each journal a memory server has, what is missing and why, and whether the server answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from koderz_core.errors import CortexError, JournalError, UnknownNameError
from koderz_core.journal import journals_in
from koderz_core.memory.ledger import Loss, MirrorLedger, Trouble
from koderz_core.memory.mirror import GIVEN_UP_AFTER, Mirror

_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class JournalStatus:
    """One journal: its events, the mirrored ones, their memories by kind, and the memories that were lost or cut.

    ``fault``: the error that stopped the mirror, empty if there was none.
    """

    benchmark: str
    mirrored: int
    events: int
    memories: Mapping[str, int]
    losses: Sequence[Loss]
    fault: str = ""

    @property
    def complete(self) -> bool:
        return self.mirrored == self.events and all(loss.stored for loss in self.losses)


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The memory server: its command, name and version, and the number of memories that it reports to hold.

    ``fault``: why it does not answer, empty if it does.
    """

    command: str
    name: str
    version: str
    held: int | None
    fault: str
    trouble: Trouble | None


def journal_files(folder: Path, benchmark: str = "") -> list[str]:
    """The files of all journals, or of one benchmark by the start of its id. Raises UnknownNameError.

    Without the shards of merged benchmarks, whose memories would repeat those of the whole.
    """
    names = [path.name for path in journals_in(folder)]
    if not benchmark:
        return names
    matches = [name for name in names if name.removesuffix(".jsonl") == benchmark] or [
        name for name in names if name.startswith(benchmark)
    ]
    if len(matches) != 1:
        raise UnknownNameError("benchmark", benchmark, (name.removesuffix(".jsonl") for name in matches or names))
    return matches


def journal_status(folder: Path, ledger: MirrorLedger, file: str, fault: str = "") -> JournalStatus:
    """The status of one journal. Raises CortexError."""
    mirrored, events = _lines(folder / file, ledger.offset(file))
    counts, losses = ledger.acknowledged(file), ledger.losses(file)
    return JournalStatus(file.removesuffix(".jsonl"), mirrored, events, counts, losses, fault)


def server_status(mirror: Mirror) -> ServerStatus:
    """Ask the server for its name and number of memories. Its failure is part of the status."""
    trouble, shown = mirror.ledger.trouble(), mirror.client.server.shown
    try:
        info = mirror.client.open()
        answer = mirror.client.call("memory_stats", {"project": "*"}) if "memory_stats" in info.tools else None
    except CortexError as error:
        return ServerStatus(shown, "", "", None, str(error), trouble)
    total = answer.content.get("total") if answer else None
    return ServerStatus(shown, info.name, info.version, total if isinstance(total, int) else None, "", trouble)


def backfill(
    mirror: Mirror,
    folder: Path,
    files: Iterable[str],
    report: Callable[[JournalStatus], None],
    *,
    again: bool = False,
) -> None:
    """Offer the missing memories of these journals, and report each journal. ``again``: also confirmed memories.

    Raises CortexError after several consecutive failures of the server; another call continues from there.
    """
    for file in files:
        if again:
            mirror.ledger.forget(file)
        mirror.ledger.add(file)
        report(journal_status(folder, mirror.ledger, file, _offer_missing(mirror, file)))
    mirror.ledger.set_trouble(None)


def _offer_missing(mirror: Mirror, file: str) -> str:
    """Offer new and lost memories of a journal. Returns the fault that stopped it, empty if it is complete."""
    lost = {loss.end: loss for loss in mirror.ledger.losses(file) if not loss.stored}
    try:
        _catch_up(mirror, file)
        mirror.recover(file, lost)
    except JournalError as error:
        return str(error)
    return ""


def _catch_up(mirror: Mirror, file: str) -> None:
    failures, before = 0, mirror.answered
    while True:
        try:
            return mirror.catch_up(file)
        except CortexError:
            failures = failures + 1 if mirror.answered == before else 1
            if failures == GIVEN_UP_AFTER:
                raise
            before = mirror.answered


def _lines(path: Path, offset: int) -> tuple[int, int]:
    """The number of lines before ``offset``, and of all lines."""
    before = total = position = 0
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                before += chunk[: max(0, offset - position)].count(b"\n")
                total += chunk.count(b"\n")
                position += len(chunk)
    except OSError:
        return before, total
    return before, total
