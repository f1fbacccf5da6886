"""Asks a model until it answers or there is no point in asking again; every attempt is an event."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from koderz_core.errors import ContextError, ModelError
from koderz_core.events import CallFailed, CallFinished, CallStarted
from koderz_core.records import Completion, MessageRef, Request, Usage
from koderz_core.runner.budget import Reservation
from koderz_core.runner.calls.provider_limits import Entry
from koderz_core.runner.dependencies import Parts
from koderz_core.runner.pause import Passage
from koderz_core.runner.recorder import Voice, storable

MOST_BYTES_PER_TOKEN = 8
"""No tokenizer gets more out of a whole prompt of prose and code, its runs of white space counted as one: they get 3
to 5. So what is refused surely would not fit; what is only nearly too long is the provider's to refuse."""


def check_fits(model: str, request: Request, context_tokens: int | None) -> None:
    """Raise ContextError if a prompt is surely longer than the context of ``model``; None: that is not known."""
    least = least_tokens(request)
    if context_tokens is not None and least > context_tokens:
        raise ContextError(
            f"The prompt for {model} has at least {least} tokens and its context {context_tokens}, so it was not sent. "
            "Use a strategy with shorter prompts, a model with more context, or raise --num-ctx where that sets it."
        )


def least_tokens(request: Request) -> int:
    """Fewer tokens than a prompt has, whatever the tokenizer."""
    return sum(len(" ".join(message.content.split()).encode()) for message in request.messages) // MOST_BYTES_PER_TOKEN


class Calls:
    """The calls of one experiment; several may be made at the same time, from as many threads."""

    def __init__(self, parts: Parts, voice: Voice, passage: Passage) -> None:
        self._parts = parts
        self._voice = voice
        self._passage = passage

    def ask(self, started: CallStarted, request: Request, ordinal: int) -> Completion:
        """The answer to ``request``, announced as ``started``; attempts are counted on from there.

        Raises ModelError after the last attempt, ContextError, OverBudget, Cancelled.
        """
        check_fits(started.model, request, self._parts.context_tokens(started.model))
        failures: list[ModelError] = []
        while isinstance(answer := self._attempt(started, request, ordinal, failures), float):
            self._passage.wait(answer)
        return answer

    def _attempt(
        self, started: CallStarted, request: Request, ordinal: int, failures: list[ModelError]
    ) -> Completion | float:
        """An answer, or the seconds to wait before the next attempt; ``failures`` are those of the attempts so far."""
        started = replace(started, attempt=started.attempt + len(failures))
        with self._admitted(started, request, ordinal) as (entry, held):
            begin = time.monotonic()
            try:
                entry.answer = completion = self._complete(started, request, ordinal, failures)
            except ModelError as error:
                failures.append(error)
                closed = self._parts.lanes.of(started.model).failed(entry, error)
                failed = self._failed(started.model, failures, time.monotonic() - begin, closed)
                held.failed(failed)
                self._voice.say(failed, ordinal)
                if failed.wait_seconds is None:
                    raise
                return failed.wait_seconds
            finished = self._finished(started.model, completion)
            held.answered(finished.cost)
            self._voice.say(finished, ordinal)
            return completion

    @contextmanager
    def _admitted(self, started: CallStarted, request: Request, ordinal: int) -> Iterator[tuple[Entry, Reservation]]:
        """The attempt is made inside: its provider can be asked, its budget holds it, and the journal knows of it."""
        most = self._parts.worst_case(started.model, request)
        lane = self._parts.lanes.of(started.model).entered(request, self._passage)
        with lane as entry, self._parts.ledger.reserved(self._voice.experiment, most, self._passage.check) as held:
            self._voice.say(replace(started, reserved_usd=most), ordinal)
            yield entry, held

    def _complete(
        self, started: CallStarted, request: Request, ordinal: int, failures: Sequence[ModelError]
    ) -> Completion:
        completion = self._said(started, request, ordinal)
        if completion.finish == "empty" and _is_providers(completion, failures):
            what = f"The answer of {started.model} is empty: its server generated nothing."
            error = _EmptyAnswerError(what, retryable=True)
            error.machine_seconds = completion.usage.machine_seconds
            error.gpu_joules = completion.usage.gpu_joules
            raise error
        return replace(completion, text=storable(completion.text))

    def _said(self, started: CallStarted, request: Request, ordinal: int) -> Completion:
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

    def _failed(
        self, model: str, failures: Sequence[ModelError], seconds: float, closed_seconds: float | None
    ) -> CallFailed:
        error, policy, cost = failures[-1], self._parts.policy, None
        if error.machine_seconds is not None:
            used = Usage(machine_seconds=error.machine_seconds, gpu_joules=error.gpu_joules)
            cost = self._parts.price(model, used, seconds)
        return CallFailed(
            message=str(error),
            seconds=seconds,
            retryable=error.retryable,
            status=error.status,
            retry_after_seconds=error.retry_after_seconds,
            wait_seconds=policy.wait(failures),
            arrived=error.arrived,
            cost=cost,
            retries=policy.retries_after(failures),
            closed_seconds=closed_seconds,
        )


def announce(voice: Voice, role: str, member: int, model: str, request: Request, fingerprint: str) -> CallStarted:
    """The event that a request is about to be sent, its messages stored."""
    messages = tuple(MessageRef(message.role, voice.text(message.content)) for message in request.messages)
    return CallStarted(role, member, model, fingerprint, messages, request.sampling, request.seed, attempt=1)


class _EmptyAnswerError(ModelError):
    """The provider says that it has answered, and sent nothing."""


def _is_providers(empty: Completion, failures: Sequence[ModelError]) -> bool:
    """Whether an empty answer is the provider's fault, since it generated nothing.

    Where it does not say it is asked once more; what is empty again is the model's answer.
    """
    tokens = empty.usage.output_tokens
    return tokens == 0 or (tokens is None and not any(isinstance(failure, _EmptyAnswerError) for failure in failures))
