"""Memories that are to be found no more and yet not lost: retired, and taken back; and one that is brought up to date.

A retired memory has no salience, so it has faded whatever happens: ``recall`` leaves it out until it is asked for what
has faded, and ``consolidate`` and being read leave it so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from koderz_core.memory.cortex.adding import NewMemory, insert
from koderz_core.memory.cortex.open import Cortex
from koderz_core.memory.cortex.schema import transaction

RESTORED = 0.5  # salience of what was taken back: that of a memory of normal importance


def retire(cortex: Cortex, number: int) -> None:
    """Raises UsageError if there is no such memory, sqlite3.Error."""
    _weigh(cortex, number, 0.0)


def restore(cortex: Cortex, number: int) -> None:
    """As ``retire``."""
    _weigh(cortex, number, RESTORED)


@dataclass(frozen=True, slots=True)
class Renewed:
    """How many memories were new, and how many took the place of what they were before."""

    added: int
    renewed: int


def renew(cortex: Cortex, memories: Sequence[NewMemory]) -> Renewed:
    """Keep these. One that is there under its title, in its project and category, is brought up to date.

    It has another id then; what was retired stays retired. Raises UsageError for one too long, sqlite3.Error.
    """
    added = renewed = 0
    with transaction(cortex.connection) as connection:
        for one in memories:
            one.check_size(cortex.limits.chars)
            before = connection.execute(_BEFORE, (one.title, one.project, one.category)).fetchone()
            if before is None:
                insert(connection, one)
                added += 1
            elif (before["content"], before["metadata"]) != (one.content, one.metadata):
                # The index of words follows additions and deletions only, so the memory is added anew.
                connection.execute("delete from memories where id = ?", (before["id"],))
                retired = before["salience"] == 0
                insert(connection, replace(one, salience=0.0, decayed_score=0.0) if retired else one)
                renewed += 1
    return Renewed(added, renewed)


def _weigh(cortex: Cortex, number: int, salience: float) -> None:
    with transaction(cortex.connection) as connection:
        one = cortex.fetch(number)
        connection.execute(
            "update memories set salience = ?, decayed_score = ? where id = ?", (salience, salience, one.id)
        )


_BEFORE = "select id, salience, content, metadata from memories where title = ? and project is ? and category = ?"
