"""Sends a call to a model and retries it until it succeeds or a retry is pointless; every attempt is an event."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from koderz_core.egress import BENCHMARK
from koderz_core.errors import ContextError, KoderzError, ModelError
from koderz_core.events import CallFailed, CallFinished, CallStarted
from koderz_core.models.answer_cache import Draw
from koderz_core.records import Completion, MessageRef, Request, Usage
from koderz_core.runner.budget import Reservation
from koderz_core.runner.dependencies import Dependencies
from koderz_core.runner.provider_limits import Admission
from koderz_core.runner.recorder import Voice, storable
from koderz_core.runner.scheduler import Slot

MOST_BYTES_PER_TOKEN = 8
"""More bytes per token than any tokenizer reaches for a prompt of prose and code, with runs of white space counted as
one: tokenizers reach 3 to 5. So a prompt that koderz refuses would not fit; the provider refuses the borderline cases.
"""


def check_fits(model: str, request: Request, context_tokens: int | None) -> None:
    """Raise ContextError if a prompt is certainly longer than the context of ``model``; None: unknown context."""
    least = least_tokens(request)
    if context_tokens is not None and least > context_tokens:
        raise ContextError(
            f"The prompt for {model} has at least {least} tokens, more than the model's context of {context_tokens} "
            "tokens, so it was not sent. Use a strategy with shorter prompts or a model with a larger context. If "
            "--num-ctx sets the context of the model, increase the value of --num-ctx."
        )


def least_tokens(request: Request) -> int:
    """A lower bound of the tokens of a prompt, for any tokenizer."""
    return sum(len(" ".join(message.content.split()).encode()) for message in request.messages) // MOST_BYTES_PER_TOKEN


class Calls:
    """The calls of one experiment; several may run at the same time, each in a thread of its own."""

    def __init__(self, dependencies: Dependencies, voice: Voice, slot: Slot, place: Draw = ()) -> None:
        """``place``: names the experiment in all benchmarks."""
        self._dependencies = dependencies
        self._voice = voice
        self._slot = slot
        self._place = place

    def ask(self, started: CallStarted, request: Request, ordinal: int) -> Completion:
        """The answer to ``request``; ``started`` is the event of its first attempt, which later ones count up from.

        Raises ModelError after the last attempt, ContextError, OverBudget, Cancelled.
        """
        check_fits(started.model, request, self._dependencies.context_tokens(started.model))
        reuse = self._dependencies.reuse
        key = reuse.served.key(started.model, request, (*self._place, ordinal)) if reuse else None
        if reuse and (kept := reuse.answer(key, started, self._voice, ordinal)):
            return kept
        failures: list[ModelError] = []
        while isinstance(answer := self._attempt(started, request, ordinal, failures), float):
            self._slot.wait(answer)
        if reuse:
            cost = self._dependencies.price(started.model, answer.usage, answer.seconds)
            reuse.keep(key, answer, cost, self._voice.experiment)
        return answer

    def _attempt(
        self, started: CallStarted, request: Request, ordinal: int, failures: list[ModelError]
    ) -> Completion | float:
        """An answer, or the seconds to wait before the next attempt; ``failures``: of all attempts so far."""
        started = replace(started, attempt=started.attempt + len(failures))
        with self._admitted(started, request, ordinal, failures) as (admission, held):
            begin = time.monotonic()
            if admission.address:
                request = replace(request, address=admission.address)
            try:
                admission.answer = completion = self._complete(started, request, failures)
            except ModelError as error:
                closed = self._dependencies.endpoints.of(started.model).fail(admission, error, failures)
                failures.append(error)
                failed = self._failed(started.model, failures, time.monotonic() - begin, closed)
                held.settle_failure(failed)
                self._voice.say(failed, ordinal)
                if failed.wait_seconds is None:
                    raise
                return failed.wait_seconds
            finished = self._finished(started.model, completion)
            held.settle_answer(finished.cost)
            self._voice.say(finished, ordinal)
            return completion

    @contextmanager
    def _admitted(
        self, started: CallStarted, request: Request, ordinal: int, failures: Sequence[ModelError]
    ) -> Iterator[tuple[Admission, Reservation]]:
        """Make an attempt inside: its provider accepts calls, its cost is reserved, and its start is journalled."""
        most = self._dependencies.worst_case(started.model, request)
        endpoint = self._dependencies.endpoints.of(started.model).admitted(request, self._slot, failures)
        with (
            endpoint as admission,
            self._dependencies.ledger.reserved(self._voice.experiment, most, self._slot.check) as held,
        ):
            try:
                self._voice.say(replace(started, reserved_usd=most), ordinal)
            except KoderzError:
                held.counts = 0  # it is not sent
                raise
            yield admission, held

    def _complete(self, started: CallStarted, request: Request, failures: Sequence[ModelError]) -> Completion:
        completion = self._answer(started, request)
        if completion.finish == "empty" and _is_fault_of_provider(completion, failures):
            error = _EmptyAnswerError(
                f"The answer of {started.model} is empty: the server generated no text.", retryable=True
            )
            error.machine_seconds = completion.usage.machine_seconds
            error.gpu_joules, error.cpu_joules = completion.usage.gpu_joules, completion.usage.cpu_joules
            raise error
        return replace(completion, text=storable(completion.text))

    def _answer(self, started: CallStarted, request: Request) -> Completion:
        """Stream answers of local models: this measures the first token, can be watched and can be stopped at once."""
        BENCHMARK.set(self._dependencies.benchmark)
        model, live = self._dependencies.models[started.model], self._dependencies.live
        if started.model not in self._dependencies.local:
            return model.complete(request)
        with live.showing(self._voice.experiment, started.role, started.model) as append:

            def on_text(piece: str) -> None:
                self._slot.check()
                append(piece)

            return model.complete(request, on_text)

    def _finished(self, model: str, completion: Completion) -> CallFinished:
        return CallFinished(
            text=self._voice.text(completion.text),
            finish=completion.finish,
            usage=completion.usage,
            cost=self._dependencies.price(model, completion.usage, completion.seconds),
            seconds=completion.seconds,
            first_token_seconds=completion.first_token_seconds,
            honoured=completion.honoured,
        )

    def _failed(
        self, model: str, failures: Sequence[ModelError], seconds: float, closed_seconds: float | None
    ) -> CallFailed:
        error, policy, cost = failures[-1], self._dependencies.policy, None
        if error.machine_seconds is not None:
            used = Usage(
                machine_seconds=error.machine_seconds, gpu_joules=error.gpu_joules, cpu_joules=error.cpu_joules
            )
            cost = self._dependencies.price(model, used, seconds)
        return CallFailed(
            message=str(error),
            seconds=seconds,
            retryable=error.retryable,
            status=error.status,
            retry_after_seconds=error.retry_after_seconds,
            wait_seconds=self._wait_seconds(model, failures),
            arrived=error.arrived,
            cost=cost,
            retries=policy.retries_after(failures),
            closed_seconds=closed_seconds,
        )

    def _wait_seconds(self, model: str, failures: Sequence[ModelError]) -> float | None:
        """As ``Policy.wait``; a call that can be made at another address does not wait."""
        seconds = self._dependencies.policy.wait(failures)
        return 0.0 if seconds and self._dependencies.endpoints.of(model).has_another(failures) else seconds


def announce(voice: Voice, role: str, member: int, model: str, request: Request, fingerprint: str) -> CallStarted:
    """The event that a request is about to be sent; stores its messages."""
    messages = tuple(MessageRef(message.role, voice.text(message.content)) for message in request.messages)
    return CallStarted(role, member, model, fingerprint, messages, request.sampling, request.seed, attempt=1)


class _EmptyAnswerError(ModelError):
    """The provider reports success, but its answer is empty."""


def _is_fault_of_provider(empty: Completion, failures: Sequence[ModelError]) -> bool:
    """Whether an empty answer is the provider's fault because it generated nothing.

    If the provider reports no token count, the call is retried once; a second empty answer is the model's.
    """
    tokens = empty.usage.output_tokens
    return tokens == 0 or (tokens is None and not any(isinstance(failure, _EmptyAnswerError) for failure in failures))
