"""Answers that many ask for at about the same time, as open pages do: asked once, for all of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

Answer = TypeVar("Answer")
AGE_SECONDS = 0.25  # of an answer that somebody else got, at most


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

    def of(self, question: Hashable, since: float, ask: Callable[[], Answer]) -> Answer:
        """What ``ask`` answers, or just answered somebody who asked no earlier than ``since`` (seconds since 1970).

        Raises what ``ask`` does, to all who waited for it.
        """
        with self._guard:
            now = self._clock()
            last = self._asked.get(question)
            if last is not None and last.at >= since and (not last.answer.done() or _young(last, now)):
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
        self._asked = {one: asked for one, asked in self._asked.items() if not asked.answer.done() or _young(asked, at)}
        self._asked[question] = _Asked(at)
        return self._asked[question]


def _young(asked: _Asked, now: float) -> bool:
    return now - asked.at <= AGE_SECONDS
