"""Answers from the response cache in place of calls, each for exactly the call of an earlier benchmark."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from koderz_core.events import CallFinished, CallStarted
from koderz_core.models.answer_cache import AnswerCache, Kept, Served
from koderz_core.records import Completion, Cost
from koderz_core.records.completions import Reused, cost_again
from koderz_core.runner.recorder import Voice


@dataclass(frozen=True, slots=True)
class Reuse:
    """The cache as one benchmark uses it. ``clock``: seconds since 1970."""

    cache: AnswerCache
    served: Served
    clock: Callable[[], float]

    def answer(self, key: str | None, started: CallStarted, voice: Voice, ordinal: int) -> Completion | None:
        """A kept answer, recorded as that of this call; None if there is none.

        The strategy receives the duration that the journal records, so a resumed experiment receives it too.
        """
        begin = time.monotonic()
        if key is None or (kept := self.cache.find(key)) is None:
            return None
        completion = _again(kept, time.monotonic() - begin)
        origin = Reused(kept.experiment, kept.at, kept.cost, kept.completion.seconds)
        voice.say(replace(started, reserved_usd=0.0), ordinal)
        voice.say(_finished(completion, voice.text(completion.text), cost_again(kept.cost), origin), ordinal)
        return completion

    def keep(self, key: str | None, completion: Completion, cost: Cost, experiment: str) -> None:
        """Keep the complete answer of a call that was made."""
        if key is not None:
            self.cache.keep(key, Kept(completion, cost, experiment, self.clock()))


def _again(kept: Kept, seconds: float) -> Completion:
    """The answer without the times and the energy of the original call."""
    usage = replace(kept.completion.usage, machine_seconds=None, gpu_joules=None, cpu_joules=None)
    return replace(kept.completion, usage=usage, seconds=seconds, first_token_seconds=None)


def _finished(completion: Completion, text: str, cost: Cost, origin: Reused) -> CallFinished:
    return CallFinished(
        text, completion.finish, completion.usage, cost, completion.seconds, None, completion.honoured, origin
    )
