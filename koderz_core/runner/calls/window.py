"""How many calls a provider is asked at the same time: fewer when it says that it is too much, slowly more again.

Additive increase, multiplicative decrease (Chiu and Jain 1989), as TCP does.
"""

from __future__ import annotations

from dataclasses import dataclass

DEBOUNCE_SECONDS = 15.0
"""What comes in after a refusal for so long was sent before it, and says nothing new."""


@dataclass(slots=True)
class Window:
    """Of one provider. All times are of the same monotonic clock; whoever uses it guards it."""

    most: int
    size: float = 0.0
    under_way: int = 0
    _shrunk_at: float = float("-inf")
    _steady_until: float = float("-inf")

    def __post_init__(self) -> None:
        self.size = float(self.most)

    @property
    def has_room(self) -> bool:
        return self.under_way < int(self.size)

    def succeed(self, now: float) -> None:
        """A call was answered. When a whole window of them was, and it was full, it is one larger."""
        if now >= self._steady_until and not self.has_room:
            self.size = min(float(self.most), self.size + 1.0 / self.size)

    def shrink(self, now: float) -> None:
        """The provider said that it is too much: half of what was under way."""
        self._steady_until = now + DEBOUNCE_SECONDS
        if now - self._shrunk_at >= DEBOUNCE_SECONDS:
            self._shrunk_at = now
            self.size = max(1.0, min(self.size, self.under_way) / 2)

    def hold(self, now: float) -> None:
        """The provider has trouble of its own, which asking less would not mend; asking more would not either."""
        self._steady_until = now + DEBOUNCE_SECONDS
