"""An answer as it comes in, whatever protocol brings it: pieces of text, the time of the first, how it ended."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from koderz_core.errors import LateError
from koderz_core.records import Completion, Finish, Sampling, Usage

MOST_TOKENS = 1 << 31
"""A count of tokens beyond this is a server's mistake: no context holds as many."""
MOST_LETTERS = 40
"""A provider's word for how it processed a request is no longer than this."""
CUT_OFF = frozenset({"length", "max_tokens", "model_context_window_exceeded"})
REFUSED = frozenset({"content_filter", "refusal"})
FAILED = frozenset({"error", "abort", "aborted", "cancelled", "canceled", "failed", "timeout"})
"""The server gave up, which is not the model's doing."""


@dataclass(slots=True)
class Answer:
    """What has come so far. ``reason``: the protocol's word for how it ended, None as long as it has not."""

    started: float = field(default_factory=time.monotonic)
    usage: Usage = field(default_factory=Usage)
    reason: str | None = None
    refused: bool = False
    first_token_seconds: float | None = None
    pieces: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether the server gave up in the middle."""
        return (self.reason or "").lower() in FAILED

    @contextmanager
    def in_time(self) -> Iterator[None]:
        """A model that was still thinking when the time of its answer was over has given one: it is cut off, and empty.

        Raises LateError where anything else takes too long: that may be the provider's doing.
        """
        try:
            yield
        except LateError:
            if self.first_token_seconds is None or any(piece.strip() for piece in self.pieces):
                raise
            self.reason = "length"

    def take(self, piece: str, thought: str = "") -> None:
        """Keep a piece of text; a thought shows that the answer has begun, and is left out."""
        self.pieces.append(piece)
        if self.first_token_seconds is None and (piece or thought):
            self.first_token_seconds = time.monotonic() - self.started

    def completion(self, honoured: Sampling, *, streamed: bool, waited_seconds: float = 0.0) -> Completion:
        """The whole answer; ``waited_seconds``: how long the model was loaded before, which counts for nothing."""
        first = self.first_token_seconds if streamed else None
        return Completion(
            text="".join(self.pieces),
            finish=self._finish(),
            usage=self.usage,
            seconds=max(0.0, time.monotonic() - self.started - waited_seconds),
            honoured=honoured,
            first_token_seconds=None if first is None else max(0.0, first - waited_seconds),
        )

    def _finish(self) -> Finish:
        if self.refused or self.reason in REFUSED:
            return "refused"
        if self.reason in CUT_OFF:
            return "length"
        return "stop" if any(piece.strip() for piece in self.pieces) else "empty"


def held(record: object, name: str) -> object:
    """A field of what a server sent, be it JSON or a client's record of it; None if it is missing."""
    return record.get(name) if isinstance(record, dict) else getattr(record, name, None)


def count_of(record: object, name: str, below: int = MOST_TOKENS) -> int | None:
    """A count in what a server sent, None if it is missing or senseless, as nobody has checked it.

    ``below``: what no true count reaches; that of tokens unless it is said otherwise.
    """
    value = held(record, name)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < below else None


def tier_of(record: object) -> str | None:
    """A server's word for how it processed a request, None if it says none: what is longer is no word, and not cut."""
    word = text_of(record, "service_tier")
    return word if 0 < len(word) <= MOST_LETTERS else None


def text_of(record: object, name: str) -> str:
    """A text in what a server sent, "" if it is missing; lone surrogates, which no file can hold, become "?"."""
    value = held(record, name)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""
