"""A call as it is sent and its answer as it arrives, in any protocol: text in pieces, their time, how it ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from koderz_core.errors import LateError, TurnTimeoutError
from koderz_core.protocols import OnText
from koderz_core.records import Completion, Finish, Message, Sampling, Usage

MOST_TOKENS = 1 << 31
"""No context is this long, so a higher count of tokens is a mistake of the server."""
MOST_LETTERS = 40
"""The maximum length of a provider's word for how it processed a request."""
CUT_OFF = frozenset({"length", "max_tokens", "model_length", "model_context_window_exceeded"})
REFUSED = frozenset({"content_filter", "refusal", "sensitive"})
TURN_OVER = "koderz: the turn is over"
"""The reason of an answer that the time limit of its turn ended. No server sends this word."""
_OVERLOADED = ("insufficient_system_resource", "network_error")  # words of DeepSeek's and Zhipu's servers
FAILED = frozenset({"error", "abort", "aborted", "cancelled", "canceled", "failed", "timeout", *_OVERLOADED})
"""The server gave up, which is not a failure of the model."""


@dataclass(frozen=True, slots=True)
class Call:
    """What a server is sent. ``limit``: the protocol's name of the limit of the answer's tokens."""

    messages: tuple[Message, ...]
    sampling: Sampling
    limit: str

    def chat(self) -> list[dict[str, str]]:
        """The messages in the form that all protocols share."""
        return [{"role": message.role, "content": message.content} for message in self.messages]


@dataclass(slots=True)
class Answer:
    """The part of an answer that has arrived.

    ``reason``: the protocol's word for how it ended, None until then. ``waited_seconds``: the time in which the server
    loaded the model, which does not count.
    """

    started: float = field(default_factory=time.monotonic)
    usage: Usage = field(default_factory=Usage)
    reason: str | None = None
    refused: bool = False
    first_token_seconds: float | None = None
    waited_seconds: float = 0.0
    pieces: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether the server gave up before the end."""
        return self._word in FAILED

    @contextmanager
    def in_time(self) -> Iterator[None]:
        """Counts a model that was still thinking at its timeout as one that answered: cut off and empty.

        At the time limit of a turn, what has arrived is dropped, so that the result does not depend on streaming.
        Raises LateError for any other timeout, which may be the provider's fault.
        """
        try:
            yield
        except TurnTimeoutError:
            self.reason, self.pieces = TURN_OVER, []
        except LateError:
            if self.first_token_seconds is None or any(piece.strip() for piece in self.pieces):
                raise
            self.reason = "length"

    def take(self, piece: str, thought: str | bool = False) -> None:
        """Keep a piece of text. ``thought``: its text, or whether one has arrived.

        A thought shows that the answer has started, and is left out.
        """
        self.pieces.append(piece)
        if self.first_token_seconds is None and (piece or thought):
            self.first_token_seconds = time.monotonic() - self.started

    def completion(self, sampling: Sampling, *, streamed: bool) -> Completion:
        """The complete answer; ``sampling``: what the request was sent with."""
        first = self.first_token_seconds if streamed else None
        return Completion(
            text="".join(self.pieces),
            finish=self._finish(),
            usage=self.usage,
            seconds=max(0.0, time.monotonic() - self.started - self.waited_seconds),
            honoured=sampling,
            first_token_seconds=None if first is None else max(0.0, first - self.waited_seconds),
        )

    def _finish(self) -> Finish:
        if self.reason == TURN_OVER:
            return "timeout"
        if self.refused or self._word in REFUSED:
            return "refused"
        if self._word in CUT_OFF:
            return "length"
        return "stop" if any(piece.strip() for piece in self.pieces) else "empty"

    @property
    def _word(self) -> str:
        """The reason without the details that Google's server adds, as in ``content_filter: RECITATION``."""
        return (self.reason or "").partition(":")[0].lower()


Send = Callable[[Call, Answer, OnText | None], None]
"""Sends a call and fills in its answer, streamed if there is a listener. Raises ModelError."""


def member(record: object, name: str) -> object:
    """A field of what a server sent, as JSON or as a client's record; None if it is missing."""
    return record.get(name) if isinstance(record, dict) else getattr(record, name, None)


def count_of(record: object, name: str, below: int = MOST_TOKENS) -> int | None:
    """A count in what a server sent, None if it is missing or impossible. No client has checked it.

    ``below``: a limit that no true count reaches.
    """
    value = member(record, name)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < below else None


def tier_of(record: object) -> str | None:
    """A server's word for how it processed a request, None if there is none; a longer text is not such a word."""
    word = text_of(record, "service_tier")
    return word if 0 < len(word) <= MOST_LETTERS else None


def text_of(record: object, name: str) -> str:
    """A text in what a server sent, "" if it is missing; lone surrogates, which no file can hold, become "?"."""
    value = member(record, name)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""
