"""Values of labels: text from outside, made printable and limited in number, because every value costs memory.

A server names its models itself, and a provider may answer any status. Beyond ``MOST`` values of one label, all further
values are ``OTHER``. The library escapes the values in its output.
"""

from __future__ import annotations

import threading

MOST = 50
OTHER = "other"
LONGEST = 100  # characters


class Labels:
    """The known values of each label. May be used from any thread."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, str]] = {}
        self._guard = threading.Lock()  # guards _known

    def bounded(self, label: str, text: str) -> str:
        """The value for a text: always the same one while the process runs."""
        with self._guard:
            known = self._known.setdefault(label, {})
            if text in known:
                return known[text]
            if len(known) >= MOST:
                return OTHER
            known[text] = printable(text)
            return known[text]


def printable(text: str) -> str:
    """A text of at most ``LONGEST`` characters; a question mark replaces each character that cannot be printed."""
    cut = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return "".join(character if character.isprintable() else "?" for character in cut)
