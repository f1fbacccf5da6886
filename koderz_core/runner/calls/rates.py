"""So many requests or tokens a minute: a bucket that fills steadily and is drawn from."""

from __future__ import annotations

from dataclasses import dataclass

from koderz_core.records import Completion, Request

BURST = 0.1  # the part of a minute's allowance that may be used at once; the rest flows in, so no minute has more
DEFAULT_ANSWER_TOKENS = 2048  # reserved for an answer without a limit
BYTES_PER_TOKEN = 3.0  # of prose and code: rather too many tokens than too few


@dataclass(slots=True)
class Bucket:
    """Of one provider. All times are of the same monotonic clock; whoever uses it guards it."""

    per_minute: float
    level: float = 0.0
    _at: float | None = None

    def seconds_left(self, weight: float, now: float) -> float:
        """How long until so much may be drawn. What is more than a whole burst waits for a full bucket."""
        self._fill(now)
        return max(0.0, min(weight, self._burst) - self.level) / self._per_second

    def draw(self, weight: float, now: float) -> None:
        """Take so much; with less than nothing, what was too much is given back."""
        self._fill(now)
        self.level = min(self._burst, self.level - weight)

    def _fill(self, now: float) -> None:
        passed = 60.0 if self._at is None else now - self._at
        self.level = min(self._burst, self.level + passed * self._per_second)
        self._at = now

    @property
    def _burst(self) -> float:
        return self.per_minute * BURST

    @property
    def _per_second(self) -> float:
        return self.per_minute * (1.0 - BURST) / 60.0


def reserved_tokens(request: Request) -> float:
    """About what a call takes, rather more."""
    prompt = sum(len(message.content) for message in request.messages) / BYTES_PER_TOKEN
    return prompt + (request.sampling.max_tokens or DEFAULT_ANSWER_TOKENS)


def used_tokens(completion: Completion, reserved: float) -> float:
    """What a call took; all that was reserved where the provider does not say."""
    usage = completion.usage
    if usage.input_tokens is None or usage.output_tokens is None:
        return reserved
    return usage.input_tokens + usage.output_tokens
