"""What is remembered of which journal, what is missing and why, and whether the memory server is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from koderz_core.errors import CortexError, JournalError, UnknownNameError
from koderz_core.memory.ledger import Loss, MirrorLedger, Trouble
from koderz_core.memory.mirror import GIVEN_UP_AFTER, MirrorSession

_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class JournalStatus:
    """One journal: how many of its events were mirrored, which memories they made, and what of them was lost or cut.

    ``fault``: why it did not come further, empty if nothing kept it.
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
    """The memory server: how it is started, who answered (``fault`` empty) and how many memories it says to hold."""

    command: str
    name: str
    version: str
    held: int | None
    fault: str
    trouble: Trouble | None


def journal_files(folder: Path, chosen: str = "") -> list[str]:
    """The files of all journals, or of one benchmark by the beginning of its id. Raises UnknownNameError."""
    names = sorted(path.name for path in folder.glob("*.jsonl"))
    if not chosen:
        return names
    found = [name for name in names if name.removesuffix(".jsonl") == chosen] or [
        name for name in names if name.startswith(chosen)
    ]
    if len(found) != 1:
        raise UnknownNameError("benchmark", chosen, (name.removesuffix(".jsonl") for name in found or names))
    return found


def journal_status(folder: Path, ledger: MirrorLedger, file: str, fault: str = "") -> JournalStatus:
    """Where one journal stands. Raises CortexError."""
    mirrored, events = _lines(folder / file, ledger.offset(file))
    counts, losses = ledger.acknowledged(file), ledger.losses(file)
    return JournalStatus(file.removesuffix(".jsonl"), mirrored, events, counts, losses, fault)


def server_status(parts: MirrorSession) -> ServerStatus:
    """Ask the server who it is; that it fails is an answer too."""
    trouble, shown = parts.ledger.trouble(), parts.client.server.shown
    try:
        who = parts.client.open()
        answer = parts.client.call("memory_stats", {"project": "*"}) if "memory_stats" in who.tools else None
    except CortexError as error:
        return ServerStatus(shown, "", "", None, str(error), trouble)
    total = answer.content.get("total") if answer else None
    return ServerStatus(shown, who.name, who.version, total if isinstance(total, int) else None, "", trouble)


def backfill(
    parts: MirrorSession,
    folder: Path,
    files: Iterable[str],
    report: Callable[[JournalStatus], None],
    *,
    again: bool = False,
) -> None:
    """Offer all that is missing of these journals, and report each. ``again``: also what was acknowledged before.

    Raises CortexError once the server has failed several times in a row; another call goes on from there.
    """
    for file in files:
        if again:
            parts.ledger.forget(file)
        parts.ledger.begin(file)
        report(journal_status(folder, parts.ledger, file, _brought(parts, file)))
    parts.ledger.troubled(None)


def _brought(parts: MirrorSession, file: str) -> str:
    """Why a journal could not be brought to its end, empty if it could."""
    lost = {loss.end: loss for loss in parts.ledger.losses(file) if not loss.stored}
    try:
        _catch_up(parts, file)
        parts.mirror.recover(file, lost)
    except JournalError as error:
        return str(error)
    return ""


def _catch_up(parts: MirrorSession, file: str) -> None:
    failures, before = 0, parts.mirror.answered
    while True:
        try:
            return parts.mirror.catch_up(file)
        except CortexError:
            failures = failures + 1 if parts.mirror.answered == before else 1
            if failures == GIVEN_UP_AFTER:
                raise
            before = parts.mirror.answered


def _lines(path: Path, offset: int) -> tuple[int, int]:
    """How many lines stand before ``offset``, and how many in all."""
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
