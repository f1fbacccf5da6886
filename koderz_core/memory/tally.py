"""What has been counted of an experiment, and of a benchmark, by the place that has been read in its journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from koderz_core.events import CallFinished, CandidateScored, ExperimentFinished
from koderz_core.records import Configuration, Cost, Experiment, Outcome
from koderz_core.strategies import called


@dataclass(slots=True)
class Spent:
    """What calls took. ``unpriced`` of them have no price, ``uncounted`` did not report their tokens."""

    calls: int = 0
    usd: float = 0.0
    unpriced: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0

    def add(self, call: CallFinished) -> None:
        self.calls += 1
        self.usd += call.cost.usd or 0.0
        self.unpriced += call.cost.usd is None
        self.input_tokens += call.usage.input_tokens or 0
        self.output_tokens += call.usage.output_tokens or 0
        self.uncounted += None in (call.usage.input_tokens, call.usage.output_tokens)

    def add_unanswered(self, cost: Cost | None) -> None:
        """A call without an answer cost that, as far as is known."""
        self.usd += 0.0 if cost is None else cost.usd or 0.0

    def told(self) -> dict[str, object]:
        """For metadata: unknown is null, never zero."""
        return {
            "cost": None if self.unpriced else self.usd,
            "calls": self.calls,
            "unpriced": self.unpriced,
            "input_tokens": None if self.uncounted else self.input_tokens,
            "output_tokens": None if self.uncounted else self.output_tokens,
        }


@dataclass(slots=True)
class Tally:
    """One experiment so far: who was asked, at what cost, and what came of it."""

    experiment: Experiment
    asked: dict[int | None, tuple[str, str]] = field(default_factory=dict)  # ordinal -> role and model, until answered
    models: dict[str, str] = field(default_factory=dict)  # role -> the model that answered last
    costs: dict[str, float | None] = field(default_factory=dict)  # role -> what its last answer cost
    by_model: dict[str, Spent] = field(default_factory=dict)
    iterations: int = 0
    scored: CandidateScored | None = None  # the program that was handed in
    ended: ExperimentFinished | None = None

    def add(self, ordinal: int | None, call: CallFinished) -> None:
        role, model = self.asked.pop(ordinal, ("unknown", "unknown"))
        self.models[role], self.costs[role] = model, call.cost.usd
        self.by_model.setdefault(model, Spent()).add(call)

    @property
    def spent(self) -> Spent:
        return total(self.by_model.values())


def total(parts: Iterable[Spent]) -> Spent:
    """All of them together."""
    summed = Spent()
    for one in parts:
        for name in Spent.__slots__:
            setattr(summed, name, getattr(summed, name) + getattr(one, name))
    return summed


def benchmark_summary(tallies: Iterable[Tally], configurations: Mapping[str, Configuration]) -> list[dict[str, object]]:
    """Each configuration with its outcomes and costs so far."""
    by_configuration: dict[str, list[Tally]] = {name: [] for name in configurations}
    for tally in tallies:
        by_configuration.setdefault(tally.experiment.configuration, []).append(tally)
    return [_summary(name, found, configurations.get(name)) for name, found in by_configuration.items()]


def _summary(name: str, tallies: list[Tally], known: Configuration | None) -> dict[str, object]:
    outcomes: dict[Outcome, int] = {"solved": 0, "unsolved": 0, "cancelled": 0, "error": 0}
    for tally in tallies:
        if tally.ended:
            outcomes[tally.ended.outcome] += 1
    about: dict[str, object] = {"configuration_id": name, "called": known_as(known) if known else name}
    about |= {"models": known.models, "parameters": known.parameters} if known else {}
    return (
        about
        | outcomes
        | {"iterations": sum(one.iterations for one in tallies)}
        | total(one.spent for one in tallies).told()
    )


def known_as(configuration: Configuration) -> str:
    """The name of its strategy under its parameters."""
    return called(configuration.strategy, configuration.parameters)
