"""The cost of local calls without an answer, from the times of a journal, as docs/models.md defines it.

Time is counted in entries of experiments: a span extends from one such entry to another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]  # Any: JSON
Name: TypeAlias = tuple[str, int, int]
"""A call: experiment, ordinal, attempt."""


@dataclass
class Span:
    """A call of a local model from its start to its end; ``told``: the cost that its failure states."""

    name: Name
    model: str
    start: int
    end: int
    answered: bool
    reserved: float | None
    told: float | None = None

    @property
    def in_turn(self) -> bool:
        """Whether its model answers one call at a time."""
        return self.model.startswith("embedded/")


def unanswered(lines: Sequence[Json]) -> dict[Name, float]:
    """The dollars of each call without an answer, as far as they are known."""
    energy = lines[0]["event"]["energy"]
    reader = _Reader()
    for line in lines:
        reader.add(line)
    seconds = machine_seconds(reader.moments, reader.spans)
    found: dict[Name, float] = {}
    for span, busy in zip(reader.spans, seconds, strict=True):
        if span.answered or (span.told is None and (span.reserved is None or not energy)):
            continue
        kwh = busy * energy["local_watts"] / 3.6e6
        usd = kwh * energy["usd_per_kwh"] + busy / 3600 * energy["local_usd_per_hour"]
        found[span.name] = span.told if span.told is not None else min(usd, span.reserved or 0.0)
    return found


def machine_seconds(moments: Sequence[float], spans: Sequence[Span]) -> list[float]:
    """The machine time of each call: concurrent calls have equal shares. ``spans``: in order of end."""
    so_far = [0.0]
    for place, (before, after) in enumerate(pairwise(moments), start=1):
        here = [span for span in spans if span.start < place <= span.end]
        working = len({span.model for span in here if span.in_turn}) + sum(not span.in_turn for span in here)
        so_far.append(so_far[-1] + (max(0.0, after - before) / working if working else 0.0))
    free: dict[str, int] = {}  # the place at which a model's latest call ended
    found = []
    for ended in spans:
        found.append(so_far[ended.end] - so_far[max(ended.start, free.get(ended.model, 0))])
        if ended.in_turn:
            free[ended.model] = ended.end
    return found


class _Reader:
    def __init__(self) -> None:
        self.moments: list[float] = []
        self.spans: list[Span] = []
        self._open: dict[tuple[str, int], Span] = {}
        self._tiers: Json = {}

    def add(self, line: Json) -> None:
        event, kind, experiment = line["event"], line["kind"], line["experiment"]
        if kind == "benchmark_opened":
            self._tiers = event["tiers"]
        again = kind == "experiment_started" and any(of == experiment for of, _ in self._open)
        continued = kind == "allowance_set" and event["before"] is None
        if again or continued or kind in ("benchmark_opened", "benchmark_closed"):
            self._close(list(self._open))  # no call goes on beyond this
        if experiment is None:
            return
        self.moments.append(line["at"])
        if kind == "experiment_finished":
            self._close([place for place in self._open if place[0] == experiment])
        elif kind in ("call_started", "call_finished", "call_failed"):
            answered, cost = kind == "call_finished", event.get("cost") or {}
            self._close([(experiment, line["ordinal"])], answered=answered, told=cost.get("usd"))
            if kind == "call_started" and self._is_local(event["model"]):
                name, here = (experiment, line["ordinal"], event["attempt"]), len(self.moments) - 1
                span = Span(name, event["model"], here, here, False, event.get("reserved_usd"))
                self._open[name[:2]] = span

    def _is_local(self, model: str) -> bool:
        return self._tiers.get(model) == "local" and not model.startswith("scripted/")

    def _close(self, places: Sequence[tuple[str, int]], *, answered: bool = False, told: float | None = None) -> None:
        for place in places:
            if span := self._open.pop(place, None):
                span.end, span.answered, span.told = len(self.moments) - 1, answered, told
                self.spans.append(span)
