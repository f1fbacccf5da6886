"""How much of a benchmark a bundle lets others see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast

Level = Literal["public_safe", "team_safe", "full_internal"]
SAFEST: Level = "public_safe"
ABOUT: Mapping[Level, str] = {
    "public_safe": "for anybody: every figure, but nothing that a model, a problem or a test says; no keys, paths, "
    "hosts or user names",
    "team_safe": "for people you work with: programs, prompts and replies too; keys, paths, hosts and user "
    "names masked",
    "full_internal": "for yourself: everything but keys",
}
REDACTIONS: Mapping[Level, tuple[str, ...]] = {
    "public_safe": ("texts", "messages", "keys", "paths", "hosts", "users"),
    "team_safe": ("keys", "paths", "hosts", "users"),
    "full_internal": ("keys",),
}
"""What was taken out or masked at each level."""


def level_of(word: str) -> tuple[Level, str]:
    """The level of that name, and "" or a warning: what nobody knows is treated as the safest."""
    if word in ABOUT:
        return cast(Level, word), ""  # one of its names
    return SAFEST, f"There is no privacy level {word!r}, so {SAFEST} is taken. Known: {', '.join(ABOUT)}."
