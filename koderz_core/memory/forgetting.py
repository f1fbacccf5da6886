"""Forgetting what a benchmark has left behind, in the memory file that koderz keeps itself."""

from __future__ import annotations

from koderz_core.config import Settings
from koderz_core.memory import shelf
from koderz_core.memory.cortex.schema import transaction
from koderz_core.memory.ledger import FILE_NAME, Ledger
from koderz_core.memory.servers import server_of


def remembered_of(settings: Settings, benchmark: str) -> int | None:
    """How many memories a benchmark has left behind, None where another server keeps them. Raises CortexError."""
    if kept_elsewhere(settings):
        return None
    with shelf.opened(settings) as cortex:
        if cortex is None:
            return 0
        (count,) = cortex.connection.execute(f"select count(*) {_OF}", [benchmark]).fetchone()
        return int(count)


def forget(settings: Settings, benchmark: str) -> None:
    """Delete them, but for those that another server keeps, and what is known of who was told them. Raises as above."""
    if not kept_elsewhere(settings):
        with shelf.opened(settings) as cortex:
            if cortex is not None:
                with transaction(cortex.connection) as connection:
                    connection.execute(f"delete {_OF}", [benchmark])
    if (settings.home / FILE_NAME).exists():
        ledger = Ledger(settings.home / FILE_NAME, server_of(settings).key)
        try:
            ledger.forget(f"{benchmark}.jsonl")
        finally:
            ledger.close()


def kept_elsewhere(settings: Settings) -> bool:
    """Whether the settings name a memory server that is not koderz' own."""
    return bool(settings.cortex_command or settings.cortex_path)


_OF = """
from memories where case when json_valid(metadata) then metadata ->> '$.benchmark_id' end = ?
"""
