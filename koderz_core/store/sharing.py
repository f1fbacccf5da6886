"""Answers that many ask for at about the same time, as open pages do: asked once, for all of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

Answer = TypeVar("Answer")
KEPT_SECONDS = 5.0  # older answers are forgotten when something is asked: they may be large


@dataclass(frozen=True, slots=True)
class _Asked:
    at: float
    answer: Future[Any] = field(default_factory=Future)  # Any: what was asked says of which type


class Shared:
    """Safe to use from several threads: whoever asks what is being asked just now waits for that answer."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """``clock``: seconds since 1970."""
        self._clock = clock
        self._guard = threading.Lock()  # guards all below
        self._asked: dict[Hashable, _Asked] = {}
        self._anew = 0.0

    def of(self, question: Hashable, since: float, ask: Callable[[], Answer], age_seconds: float) -> Answer:
        """What ``ask`` answers, or has answered somebody who asked no earlier than ``since`` (seconds since 1970).

        ``age_seconds``: how long ago that may have been asked if nobody is waiting for it any more. Raises what ``ask``
        does, to all who waited for it.
        """
        asked, ours = self._joined(question, since, age_seconds)
        if ours:
            try:
                asked.answer.set_result(ask())
            except BaseException as error:
                asked.answer.set_exception(error)
                raise
        answer: Answer = asked.answer.result()
        return answer

    def forget(self) -> None:
        """What was asked before now serves nobody any more: somebody has done something."""
        with self._guard:
            self._anew = self._clock()

    def tell(self, question: Hashable, at: float, answer: object) -> None:
        """What is known besides since ``at``, for those who ask next; nothing if somebody has asked later than that."""
        with self._guard:
            if (last := self._asked.get(question)) is None or last.at < at:
                self._put(question, at).answer.set_result(answer)

    def _joined(self, question: Hashable, since: float, age_seconds: float) -> tuple[_Asked, bool]:
        """Whose answer will do, and whether it is ours to get."""
        with self._guard:
            now, last = self._clock(), self._asked.get(question)
            if last is None or not max(since, self._anew) <= last.at <= now:  # later: the clock was set back
                return self._put(question, now), True
            if last.answer.done() and now - last.at > age_seconds:
                return self._put(question, now), True
            return last, False

    def _put(self, question: Hashable, at: float) -> _Asked:
        self._asked = {
            one: it for one, it in self._asked.items() if not it.answer.done() or 0 <= at - it.at <= KEPT_SECONDS
        }
        self._asked[question] = _Asked(at)
        return self._asked[question]
