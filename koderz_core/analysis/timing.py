"""Where the time of experiments went, by phase."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from koderz_core.records.timing import Phase, Span

PARTS: tuple[Phase, ...] = ("waiting", "calls", "tests", "scoring")
PHASES: tuple[Phase, ...] = (*PARTS, "journal")


@dataclass(frozen=True, slots=True)
class Timing:
    """The seconds that the ended experiments of one configuration took, added up, and how much each phase had of them.

    Calls made at the same time count once. ``journal`` is all that is left: writing it, prompts, reading answers, and
    waiting for a place among tests.
    """

    label: str
    experiments: int
    seconds: float
    phases: Mapping[Phase, float]


def timings(spans: Iterable[Span]) -> tuple[Timing, ...]:
    """One line per configuration, by label."""
    by_label: defaultdict[str, list[Span]] = defaultdict(list)
    for span in spans:
        by_label[span.label].append(span)
    return tuple(_timing(label, by_label[label]) for label in sorted(by_label))


def _timing(label: str, spans: Sequence[Span]) -> Timing:
    by_experiment: defaultdict[str, list[Span]] = defaultdict(list)
    for span in spans:
        by_experiment[span.experiment].append(span)
    whole = [span.seconds for span in spans if span.phase is None]
    phases = {
        phase: sum(_covered(one for one in held if one.phase == phase) for held in by_experiment.values())
        for phase in PARTS
    }
    rest = max(0.0, sum(whole) - sum(phases.values()))  # clocks may differ by a little
    return Timing(label, len(whole), sum(whole), {**phases, "journal": rest})


def _covered(spans: Iterable[Span]) -> float:
    """The seconds that lie in at least one of the spans."""
    edges = sorted(chain.from_iterable(((one.at, 1), (one.at + one.seconds, -1)) for one in spans))
    covered, depth, began = 0.0, 0, 0.0
    for at, step in edges:
        if depth == 0:
            began = at
        depth += step
        if depth == 0:
            covered += at - began
    return covered
