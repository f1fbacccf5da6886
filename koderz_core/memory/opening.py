"""The parts that mirror journals to the memory server that settings name, opened and closed together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from koderz_core.config import Settings
from koderz_core.memory.client import Client
from koderz_core.memory.ledger import FILE_NAME, Ledger
from koderz_core.memory.mirror import Mirror


@dataclass(frozen=True, slots=True)
class Mirroring:
    """For the thread that opened it."""

    client: Client
    ledger: Ledger
    mirror: Mirror


@contextmanager
def mirroring(settings: Settings, client: Client) -> Iterator[Mirroring]:
    """While it lasts, the ledger is open and the server is, once it was needed. Raises CortexError."""
    ledger = Ledger(settings.home / FILE_NAME, client.server.key)
    try:
        yield Mirroring(
            client, ledger, Mirror(client, ledger, settings.journals_dir, scripted=settings.memory == "all")
        )
    finally:
        client.close()
        ledger.close()
