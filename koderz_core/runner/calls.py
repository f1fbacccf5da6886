"""Asks a model until it answers or there is no point in asking again; every attempt is an event."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

from koderz_core.errors import ModelError
from koderz_core.events import CallFailed, CallFinished, CallStarted
from koderz_core.records import Completion, MessageRef, Request
from koderz_core.runner.gate import Passage
from koderz_core.runner.parts import Parts
from koderz_core.runner.recorder import Voice, storable


class Calls:
    """The calls of one experiment; several may be made at the same time, from as many threads."""

    def __init__(self, parts: Parts, voice: Voice, passage: Passage) -> None:
        self._parts = parts
        self._voice = voice
        self._passage = passage

    def ask(self, started: CallStarted, request: Request, ordinal: int) -> Completion:
        """The answer to ``request``, announced as ``started``; attempts are counted on from there.

        Raises ModelError after the last attempt, Cancelled.
        """
        for attempt, wait in enumerate((*self._parts.retry_seconds, None), started.attempt):
            try:
                return self._attempt(replace(started, attempt=attempt), request, ordinal)
            except ModelError as error:
                if wait is None or not error.retryable:
                    raise
                self._passage.wait(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _attempt(self, started: CallStarted, request: Request, ordinal: int) -> Completion:
        self._voice.say(started, ordinal)
        begin = time.monotonic()
        try:
            completion = self._complete(started, request, ordinal)
            completion = replace(completion, text=storable(completion.text))
        except ModelError as error:
            self._voice.say(CallFailed(str(error), time.monotonic() - begin, error.retryable), ordinal)
            raise
        self._voice.say(self._finished(started.model, completion), ordinal)
        return completion

    def _complete(self, started: CallStarted, request: Request, ordinal: int) -> Completion:
        """Local answers are streamed: it gives the time to the first token, can be watched, and stops at once."""
        model, live = self._parts.models[started.model], self._parts.live
        if started.model not in self._parts.local:
            return model.complete(request)
        live.begin(self._voice.experiment, ordinal, started.role, started.model)
        try:
            return model.complete(request, partial(self._hear, ordinal))
        finally:
            live.end(self._voice.experiment, ordinal)

    def _hear(self, ordinal: int, piece: str) -> None:
        self._passage.check()
        self._parts.live.hear(self._voice.experiment, ordinal, piece)

    def _finished(self, model: str, completion: Completion) -> CallFinished:
        return CallFinished(
            text=self._voice.text(completion.text),
            finish=completion.finish,
            usage=completion.usage,
            cost=self._parts.price(model, completion.usage, completion.seconds),
            seconds=completion.seconds,
            first_token_seconds=completion.first_token_seconds,
            honoured=completion.honoured,
        )


def announce(voice: Voice, role: str, member: int, model: str, request: Request, fingerprint: str) -> CallStarted:
    """The event that a request is about to be sent, its messages stored."""
    messages = tuple(MessageRef(message.role, voice.text(message.content)) for message in request.messages)
    return CallStarted(role, member, model, fingerprint, messages, request.sampling, request.seed, attempt=1)
