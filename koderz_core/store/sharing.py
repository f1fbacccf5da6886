"""Answers that many ask for at about the same time, as open pages do: asked once, for all of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

Answer = TypeVar("Answer")
KEPT_SECONDS = 5.0  # what nobody asked for so long is forgotten: an answer may be large


@dataclass(frozen=True, slots=True)
class _Asked:
    at: float
    answer: Future[Any] = field(default_factory=Future)  # Any: what was asked says of which type


class Shared:
    """Safe to use from several threads: whoever asks what is being asked just now waits for that answer."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """``clock``: seconds since 1970."""
        self._clock = clock
        self._guard = threading.Lock()  # guards _asked
        self._asked: dict[Hashable, _Asked] = {}

    def of(self, question: Hashable, since: float, ask: Callable[[], Answer], age_seconds: float) -> Answer:
        """What ``ask`` answers, or has answered somebody who asked no earlier than ``since`` (seconds since 1970).

        ``age_seconds``: how long ago that may have been asked if nobody is waiting for it any more. Raises what ``ask``
        does, to all who waited for it.
        """
        with self._guard:
            now = self._clock()
            last = self._asked.get(question)
            if last is not None and last.at >= since and (not last.answer.done() or now - last.at <= age_seconds):
                mine = None
            else:
                mine = last = self._put(question, now)
        if mine is not None:
            try:
                mine.answer.set_result(ask())
            except BaseException as error:
                mine.answer.set_exception(error)
                raise
        answer: Answer = last.answer.result()
        return answer

    def tell(self, question: Hashable, at: float, answer: object) -> None:
        """What is known besides since ``at``, for those who ask next."""
        with self._guard:
            self._put(question, at).answer.set_result(answer)

    def _put(self, question: Hashable, at: float) -> _Asked:
        self._asked = {one: it for one, it in self._asked.items() if not it.answer.done() or at - it.at <= KEPT_SECONDS}
        self._asked[question] = _Asked(at)
        return self._asked[question]
