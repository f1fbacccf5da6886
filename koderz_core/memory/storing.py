"""How memories are given to a server, and what it made of each: stored, cut, or not taken, and why.

To koderz' own server a whole batch goes in one call that leaves alone what is there already, so offering twice stores
once. Any other server is asked to remember one by one; of claude-cortex-core it is known that it may say in plain text
that it failed, answer "Remembered" although it stored nothing ("Updated existing similar memory"), and cut a content at
10,240 characters (WARNING). Its titles must be unique and plain, and a memory that may have arrived before is looked up
by its title.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from koderz_core.errors import CortexError, UsageError
from koderz_core.memory.client import Answer, Client
from koderz_core.memory.cortex.open import DEFAULT_PROJECT
from koderz_core.memory.cortex.remembering import SALIENCES
from koderz_core.memory.told import Told

OWN = "koderz-cortex"
BATCH = 100  # memories in one call to koderz' own server
WHY_CHARS = 300


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of one memory. ``why`` empty: it is stored as it is; else it is cut, or (not ``stored``) lost."""

    stored: bool
    why: str = ""


def batch_size(client: Client) -> int:
    """How many memories one ``store`` takes at most. Raises CortexError if nobody is there."""
    return BATCH if client.open().name == OWN else 1


def store(client: Client, batch: Sequence[Told], *, doubtful: bool) -> list[Kept]:
    """What became of each. ``doubtful``: the first may have arrived before.

    Raises CortexError if the server fails, so that it is not known what it holds; offering the same again is right.
    """
    if client.open().name == OWN:
        return _import(client, batch)
    known = doubtful and _is_there(client, batch[0].title)
    return [Kept(True) if known and not place else _remember(client, one) for place, one in enumerate(batch)]


def as_entry(one: Told) -> dict[str, object]:
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


def _import(client: Client, batch: Sequence[Told]) -> list[Kept]:
    answer = client.call("import_memories", {"data": msgspec.json.encode([as_entry(one) for one in batch]).decode()})
    if not answer.wrong:
        counts = [answer.content.get(name) for name in ("imported", "already")]
        if sum(count for count in counts if isinstance(count, int)) != len(batch):
            raise CortexError(f"The memory server was given {len(batch)} memories and says: {_shown(answer.text)}.")
        return [Kept(True)] * len(batch)
    if answer.content.get("kind") != UsageError.__name__:
        raise CortexError(_shown(answer.text))
    if len(batch) == 1:
        return [Kept(False, _shown(answer.text))]
    return [kept for one in batch for kept in _import(client, [one])]


def _remember(client: Client, one: Told) -> Kept:
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


def _judged(answer: Answer) -> Kept:
    first, _, rest = answer.text.partition("\n")
    if answer.wrong or not first.startswith("Remembered"):
        return Kept(False, _shown(answer.text) or "the server said nothing")
    if "Updated existing" in rest:
        return Kept(False, "the server took it for another memory of a similar title and stored nothing")
    cut = next((line for line in rest.splitlines() if "WARNING" in line or "truncated" in line.lower()), "")
    return Kept(True, f"cut: {_shown(cut)}" if cut else "")


def _is_there(client: Client, title: str) -> bool:
    if "recall" not in client.open().tools:
        return False
    found = client.call("recall", {"query": title, "project": DEFAULT_PROJECT, "limit": 50})
    return not found.wrong and f"**{title}**" in found.text


def _shown(text: str) -> str:
    """What a server says, on one line: it is hostile, and may be long."""
    return "".join(char if char.isprintable() else " " for char in text[:WHY_CHARS]).strip()
