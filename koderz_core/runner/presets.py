"""Benchmarks to start from: a quick look, and the presets and modes of the original koderz, with the models here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from koderz_core.models.availability import FOR_CODING, Availability
from koderz_core.records.summaries import scripted
from koderz_core.runner.planning import Wanted
from koderz_core.strategies import MODES


@dataclass(frozen=True, slots=True)
class Preset:
    """A benchmark to start from; ``problems`` as in an order."""

    name: str
    title: str
    description: str
    configurations: tuple[Wanted, ...]
    problems: str


# These stand for models until it is known which are here; no model has such a name.
LOCAL, FAST, ANY = "local", "fast local", "local, else scripted"

BEST_EMBEDDED = ("embedded/qwen2.5-coder-1.5b", "embedded/qwen2.5-coder-0.5b")
SMALL = BEST_EMBEDDED[-1]
SCRIPTED = "scripted/weak"
OPUS, SONNET = "anthropic/claude-opus-4-5", "anthropic/claude-sonnet-5-5"

MODE_DESCRIPTIONS: Mapping[str, str] = {
    "zero-shot": "Each problem is answered once, untested.",
    "iterative": "A spec, up to 50 iterations, a review every 5: one model in every role, until you choose others.",
    "comparative": "Zero-shot and iterative on the same problems, side by side.",
}


def _of_mode(mode: str) -> Preset:
    """The strategies of a mode as they are by default."""
    wanted = tuple(Wanted(strategy, {"coder": ANY}) for strategy in MODES[mode])
    return Preset(mode, mode.capitalize(), MODE_DESCRIPTIONS[mode], wanted, "0:10")


_CATALOGUE = (
    Preset(
        "quick look",
        "Quick look",
        "3 problems, each answered once and solved in at most 3 iterations with a review after the second: minutes.",
        (
            Wanted("direct", {"coder": ANY}),
            Wanted(
                "supervised",
                {"spec": ANY, "coder": ANY, "reviewer": ANY},
                {"max_iterations": 3, "checkpoint_interval": 2},
            ),
        ),
        "0:3",
    ),
    Preset(
        "default",
        "Default",
        "gpt-oss:20b writes the spec, a local model the code, Claude Sonnet 5.5 reviews every 5 iterations.",
        (
            Wanted(
                "supervised",
                {"spec": "ollama/gpt-oss:20b", "coder": LOCAL, "reviewer": SONNET},
                {"max_iterations": 50, "checkpoint_interval": 5},
            ),
        ),
        "0:10",
    ),
    Preset(
        "all free",
        "All free",
        "The best local model in every role: nothing is paid but electricity.",
        (Wanted("supervised", {"spec": LOCAL, "coder": LOCAL, "reviewer": LOCAL}, {"max_iterations": 50}),),
        "0:10",
    ),
    Preset(
        "maximum quality",
        "Maximum quality",
        "Claude Opus 4.5 writes the spec and reviews, a local model writes the code.",
        (Wanted("supervised", {"spec": OPUS, "coder": LOCAL, "reviewer": OPUS}, {"max_iterations": 50}),),
        "0:10",
    ),
    Preset(
        "maximum speed",
        "Maximum speed",
        "Small models, no spec, at most 4 iterations with one review by gpt-4o-mini in the middle.",
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
)
PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in _CATALOGUE}
"""All presets by name; some of their models are still to be filled in."""


def presets(surveyed: Sequence[Availability]) -> tuple[Preset, ...]:
    """All presets with the local models that are ready, given what ``survey`` found."""
    best = _best_local(surveyed)
    small = any(row.id == SMALL and row.ready for row in surveyed)
    names = {LOCAL: best or SMALL, FAST: SMALL if small else best or SMALL, ANY: best or SCRIPTED}
    return tuple(_filled(preset, names) for preset in PRESETS.values())


def _filled(preset: Preset, names: Mapping[str, str]) -> Preset:
    configurations = tuple(
        replace(wanted, models={role: names.get(str(model), str(model)) for role, model in wanted.models.items()})
        for wanted in preset.configurations
    )
    used = {model for wanted in configurations for model in wanted.models.values()}
    mark = " SCRIPTED: no local model is ready, so a script answers." if SCRIPTED in used else ""
    return replace(preset, description=preset.description + mark, configurations=configurations)


def _best_local(surveyed: Sequence[Availability]) -> str | None:
    """Served for coding, then embedded for coding, then what else is served; a scripted model is none."""
    ready = [row.id for row in surveyed if row.ready and row.tier == "local" and not scripted([row.id])]
    return min(ready, key=_rank, default=None)


def _rank(model: str) -> int:
    if model in BEST_EMBEDDED:
        return 1 + BEST_EMBEDDED.index(model)
    if model.startswith("embedded/"):
        return 4
    return 0 if any(word in model.lower() for word in FOR_CODING) else 3
