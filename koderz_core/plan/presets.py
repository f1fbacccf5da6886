"""Presets: ready-made benchmarks, for the page New run and for ``koderz benchmark --preset``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from koderz_core.errors import UnknownNameError
from koderz_core.models.availability import FOR_CODING, Availability
from koderz_core.plan.order import Wanted
from koderz_core.records import Scalar
from koderz_core.records.plans import scripted
from koderz_core.strategies import MODES


@dataclass(frozen=True, slots=True)
class Preset:
    """A ready-made benchmark. ``name``: for commands and addresses; ``problems`` as in an order."""

    name: str
    title: str
    description: str
    configurations: tuple[Wanted, ...]
    problems: str


# Placeholders for models of this machine, which are filled in by ``presets``; no model has such a name.
LOCAL, FAST, ANY = "local", "fast local", "local, else scripted"

BEST_EMBEDDED = ("embedded/qwen2.5-coder-1.5b", "embedded/qwen2.5-coder-0.5b")
SMALL = BEST_EMBEDDED[-1]
SCRIPTED = "scripted/weak"
OPUS, SONNET = "anthropic/claude-opus-4-5", "anthropic/claude-sonnet-5-5"

MODE_DESCRIPTIONS: Mapping[str, str] = {
    "zero-shot": "One answer per problem, submitted without testing.",
    "iterative": "A spec, up to 50 iterations and a review every 5 iterations. By default, one model takes every role.",
    "comparative": "The modes zero-shot and iterative on the same problems.",
}


AIDER: Mapping[str, Scalar] = {"max_iterations": 2, "retry_temperature": 0.0, "max_tokens": 2048}
"""Two tries at temperature 0, and room for whole files; aider limits no reply (Aider-AI/aider 5dc9490, ``tries`` in
benchmark/benchmark.py and ``use_temperature`` in aider/models.py)."""


def _of_mode(mode: str) -> Preset:
    """The strategies of a mode with their defaults."""
    wanted = tuple(Wanted(strategy, {"coder": ANY}) for strategy in MODES[mode])
    return Preset(mode, mode.capitalize(), MODE_DESCRIPTIONS[mode], wanted, "0:10")


_CATALOGUE = (
    Preset(
        "quick-look",
        "Quick look",
        "Runs the strategies direct and supervised (at most 3 iterations) on the same 3 problems. Takes a few minutes.",
        (
            Wanted("direct", {"coder": ANY}),
            Wanted("supervised", {"coder": ANY}, {"max_iterations": 3, "checkpoint_interval": 2}),
        ),
        "0:3",
    ),
    Preset(
        "default",
        "Default",
        "gpt-oss:20b writes the spec, a local model writes the code, and Claude Sonnet 5.5 writes a review every 5 "
        "iterations.",
        (Wanted("supervised", {"spec": "ollama/gpt-oss:20b", "coder": LOCAL, "reviewer": SONNET}),),
        "0:10",
    ),
    Preset(
        "all-free",
        "All free",
        "The best local model in every role. The only cost is electricity.",
        (Wanted("supervised", {"coder": LOCAL}),),
        "0:10",
    ),
    Preset(
        "maximum-quality",
        "Maximum quality",
        "Claude Opus 4.5 writes the spec and the reviews, and a local model writes the code.",
        (Wanted("supervised", {"spec": OPUS, "coder": LOCAL, "reviewer": OPUS}),),
        "0:10",
    ),
    Preset(
        "maximum-speed",
        "Maximum speed",
        "Small models, no spec and at most 4 iterations. gpt-4o-mini writes one review after the second iteration.",
        (
            Wanted(
                "supervised",
                {"coder": FAST, "reviewer": "openai/gpt-4o-mini"},
                {"max_iterations": 4, "checkpoint_interval": 2, "spec": False},
            ),
        ),
        "0:10",
    ),
    *map(_of_mode, MODES),
    Preset(
        "aider",
        "Aider's protocol",
        "Two attempts per problem, as in aider's benchmark: for the second attempt, the model receives the tests that "
        "failed in the first attempt. Both attempts use temperature 0.",
        (Wanted("repair", {"coder": ANY}, AIDER),),
        "0:10",
    ),
)
CATALOGUE: Mapping[str, Preset] = {preset.name: preset for preset in _CATALOGUE}
"""All presets by name, with placeholders for models of this machine."""


def preset_named(text: str) -> str:
    """Return the name of a preset, which may also be typed with spaces or capitals. Raises UnknownNameError."""
    name = text.strip().lower().replace(" ", "-")
    if name not in CATALOGUE:
        raise UnknownNameError("preset", text, CATALOGUE, "`koderz benchmark --help` lists all presets.")
    return name


def presets(surveyed: Sequence[Availability]) -> tuple[Preset, ...]:
    """Return all presets, filled with the local models that ``surveyed`` reports as ready."""
    best = _best_local(surveyed)
    small = any(row.id == SMALL and row.ready for row in surveyed)
    names = {LOCAL: best or SMALL, FAST: SMALL if small else best or SMALL, ANY: best or SCRIPTED}
    return tuple(_filled(preset, names) for preset in CATALOGUE.values())


def _filled(preset: Preset, names: Mapping[str, str]) -> Preset:
    configurations = tuple(
        replace(wanted, models={role: names.get(str(model), str(model)) for role, model in wanted.models.items()})
        for wanted in preset.configurations
    )
    used = {model for wanted in configurations for model in wanted.models.values()}
    mark = " SCRIPTED: the answers come from a script, because no local model is ready." if SCRIPTED in used else ""
    return replace(preset, description=preset.description + mark, configurations=configurations)


def _best_local(surveyed: Sequence[Availability]) -> str | None:
    """The best local model: served for coding, then embedded for coding, then other served models; never a script."""
    ready = [row.id for row in surveyed if row.ready and row.tier == "local" and not scripted([row.id])]
    return min(ready, key=_rank, default=None)


def _rank(model: str) -> int:
    if model in BEST_EMBEDDED:
        return 1 + BEST_EMBEDDED.index(model)
    if model.startswith("embedded/"):
        return 4
    return 0 if any(word in model.lower() for word in FOR_CODING) else 3
