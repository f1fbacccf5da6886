"""The memories that a journal leaves: specs, iterations, checkpoints, results and summaries, each from one event.

Titles, categories, importance and the first tags are those of the original koderz. The metadata hold everything that
one may want to find, filter or count by. Content was written by models and programs: hostile text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from koderz_core.events import (
    BenchmarkClosed,
    BenchmarkOpened,
    CheckpointReviewed,
    CodeTested,
    Entry,
    Event,
    ExperimentFinished,
    SpecWritten,
)
from koderz_core.events.tally import ExperimentTally, Tally
from koderz_core.memory import memory_text
from koderz_core.memory.memory_text import Told, benchmark_summary, known_as
from koderz_core.records import Configuration, Experiment, Plan
from koderz_core.records.plans import scripted
from koderz_core.strategies import MODES
from koderz_core.times import iso

MAX_TAGS = 10  # claude-cortex-core drops what is beyond


class Story:
    """Told a journal from its beginning, event by event, it says what each leaves behind."""

    def __init__(self, text: Callable[[str], str], *, scripted: bool = False) -> None:
        """``text``: the stored text of that hash; ``scripted``: also what configurations with scripted models did."""
        self._text = text
        self._scripted = scripted
        self._opened: BenchmarkOpened | None = None
        self._configurations: dict[str, Configuration] = {}
        self._tally = Tally()
        self._titles = Counter[str]()

    def tell(self, entry: Entry) -> Told | None:
        """What this event leaves behind, None if nothing. Events behind it must not have been told yet."""
        event = entry.event
        self._tally.add(entry)
        if isinstance(event, BenchmarkOpened):
            plan = event.plan if self._scripted else _without_scripts(event.plan)
            self._opened = replace(event, plan=plan)
            self._configurations = {configuration.id: configuration for configuration in plan.configurations}
        elif isinstance(event, BenchmarkClosed):
            return self._benchmark(event, entry.at)
        elif tell := TELLING.get(type(event)):
            tally = self._tally.experiments.get(entry.experiment or "")
            if tally and tally.experiment.configuration in self._configurations:
                return self._remembered(tell(event, tally, self._text), tally, entry.at)
        return None

    def _remembered(self, found: Told, tally: ExperimentTally, at: float) -> Told:
        one = tally.experiment
        head = (*found.tags[:1], one.id, *found.tags[1:], one.problem)
        shared, tags = self._shared(at), (*head, *self._tags(one))
        about = {"experiment_id": one.id, "problem_id": one.problem, "repeat": one.repeat, "experiment_seed": one.seed}
        return replace(
            found,
            title=self._unique(found.title),
            tags=tuple(dict.fromkeys(tags))[:MAX_TAGS],
            metadata={**about, **found.metadata, **self._configured(one), **shared},
            at=iso(at),
        )

    def _benchmark(self, event: BenchmarkClosed, at: float) -> Told | None:
        opened = self._opened
        if opened is None or not self._configurations:
            return None
        summary = benchmark_summary(self._tally.experiments.values(), self._configurations)
        benchmark = opened.benchmark
        planned = len(opened.plan.experiments())
        metadata = {"reason": event.reason, "planned": planned, "configurations": summary}
        strategies = dict.fromkeys(known_as(configuration) for configuration in self._configurations.values())
        tags = ("benchmark_run", benchmark, *strategies, *opened.plan.models())
        return Told(
            "benchmark",
            self._unique(f"Benchmark {benchmark}"),
            memory_text.of_benchmark(benchmark, event.reason, planned, summary),
            "architecture",
            "critical",
            tags[:MAX_TAGS],
            {**metadata, **self._shared(at)},
            iso(at),
        )

    def _shared(self, at: float) -> dict[str, object]:
        opened = self._opened
        if opened is None:
            return {"timestamp": iso(at)}
        plan = opened.plan
        return {
            "benchmark_id": opened.benchmark,
            "benchmark_name": plan.name,
            "dataset": plan.dataset.name,
            "dataset_sha256": plan.dataset.sha256,
            "seed": plan.seed,
            "prompt_versions": opened.prompt_versions,
            "price_version": opened.price_version,
            "koderz_version": opened.koderz_version,
            "timestamp": iso(at),
        }

    def _configured(self, experiment: Experiment) -> dict[str, object]:
        known = self._configurations.get(experiment.configuration)
        if known is None:
            return {"configuration_id": experiment.configuration}
        modes = (name for name, strategies in MODES.items() if strategies == (known.strategy,))
        configured = {"configuration_id": known.id, "called": known_as(known), "mode": next(modes, known.strategy)}
        return {**configured, **asdict(known)}

    def _tags(self, experiment: Experiment) -> Iterable[str]:
        """What people look for; the most telling first, since there is room for ten."""
        if self._opened is not None:
            yield self._opened.benchmark
            yield self._opened.plan.dataset.name
        if known := self._configurations.get(experiment.configuration):
            yield known_as(known)
            for models in known.models.values():
                yield from models

    def _unique(self, title: str) -> str:
        """Some servers take a title that they know for the same memory."""
        self._titles[title] += 1
        times = self._titles[title]
        return title if times == 1 else f"{title} ({times})"


def _without_scripts(plan: Plan) -> Plan:
    """The plan without the configurations that have a scripted model in some role."""
    kept = (
        configuration
        for configuration in plan.configurations
        if not scripted(name for names in configuration.models.values() for name in names)
    )
    return replace(plan, configurations=tuple(kept))


Telling = Callable[[Any, ExperimentTally, Callable[[str], str]], Told]  # Any: the event of its kind
TELLING: Mapping[type[Event], Telling] = {
    SpecWritten: memory_text.of_spec,
    CodeTested: memory_text.of_iteration,
    CheckpointReviewed: memory_text.of_checkpoint,
    ExperimentFinished: memory_text.of_result,
}
