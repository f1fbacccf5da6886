"""The memories of a journal: specs, iterations, checkpoints, results and summaries, each from one event.

Titles, categories, importance and the first tags are those of the original koderz. The metadata contain the fields to
search, filter and count by. Models and programs wrote the content: hostile text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from msgspec import UNSET

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
from koderz_core.memory.memory_text import JournalMemory, benchmark_summary
from koderz_core.records import Configuration, Experiment, Plan
from koderz_core.records.plans import scripted
from koderz_core.strategies import MODES, name_of
from koderz_core.times import iso

MAX_TAGS = 10  # claude-cortex-core drops further tags


class MemoryExtractor:
    """Receives the events of a journal in order and returns the memory of each."""

    def __init__(self, text: Callable[[str], str], *, scripted: bool = False) -> None:
        """``text``: returns the stored text of a hash; ``scripted``: include configurations with scripted models."""
        self._text = text
        self._scripted = scripted
        self._opened: BenchmarkOpened | None = None
        self._configurations: dict[str, Configuration] = {}
        self._tally = Tally()
        self._titles = Counter[str]()

    def add(self, entry: Entry) -> JournalMemory | None:
        """Process the next event. Returns its memory, if it has one."""
        event = entry.event
        self._tally.add(entry)
        if isinstance(event, BenchmarkOpened):
            plan = event.plan if self._scripted else _without_scripts(event.plan)
            self._opened = replace(event, plan=plan)
            self._configurations = {configuration.id: configuration for configuration in plan.configurations}
        elif isinstance(event, BenchmarkClosed):
            return self._benchmark(event, entry.at)
        elif build := BUILDERS.get(type(event)):
            tally = self._tally.experiments.get(entry.experiment or "")
            if tally and (known := self._configurations.get(tally.experiment.configuration)):
                return self._complete(build(event, tally, self._text), tally.experiment, known, entry.at)
        return None

    def _complete(
        self, memory: JournalMemory, experiment: Experiment, known: Configuration, at: float
    ) -> JournalMemory:
        """Add the time, and the tags and metadata that all memories of an experiment share."""
        tags = (*memory.tags[:1], experiment.id, *memory.tags[1:], experiment.problem, *self._tags(known))
        about = {
            "experiment_id": experiment.id,
            "problem_id": experiment.problem,
            "repeat": experiment.repeat,
            "experiment_seed": experiment.seed,
        }
        return replace(
            memory,
            title=self._unique(memory.title),
            tags=tuple(dict.fromkeys(tags))[:MAX_TAGS],
            metadata={**about, **memory.metadata, **_of_configuration(known), **self._of_benchmark(at)},
            at=iso(at),
        )

    def _benchmark(self, event: BenchmarkClosed, at: float) -> JournalMemory | None:
        if not self._configurations:
            return None
        summary = benchmark_summary(self._tally.experiments.values(), self._configurations)
        opened, benchmark = self._header, self._header.benchmark
        planned = len(opened.plan.experiments())
        metadata = {"reason": event.reason, "planned": planned, "configurations": summary}
        strategies = dict.fromkeys(name_of(configuration) for configuration in self._configurations.values())
        tags = ("benchmark_run", benchmark, *strategies, *opened.plan.models())
        return JournalMemory(
            "benchmark",
            self._unique(f"Benchmark {benchmark}"),
            memory_text.of_benchmark(benchmark, event.reason, planned, summary),
            "architecture",
            "critical",
            tags[:MAX_TAGS],
            {**metadata, **self._of_benchmark(at)},
            iso(at),
        )

    @property
    def _header(self) -> BenchmarkOpened:
        assert self._opened is not None, "the configurations are from it"
        return self._opened

    def _of_benchmark(self, at: float) -> dict[str, object]:
        opened, plan = self._header, self._header.plan
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

    def _tags(self, known: Configuration) -> Iterable[str]:
        """The names that people search for, the most specific first, because only ten tags fit."""
        yield from (self._header.benchmark, self._header.plan.dataset.name, name_of(known))
        for models in known.models.values():
            yield from models

    def _unique(self, title: str) -> str:
        """Number a repeated title: some servers take a memory with a known title for the same one."""
        self._titles[title] += 1
        times = self._titles[title]
        return title if times == 1 else f"{title} ({times})"


def _of_configuration(known: Configuration) -> dict[str, object]:
    modes = (name for name, strategies in MODES.items() if strategies == (known.strategy,))
    mode = next(modes, known.strategy)
    return {"configuration_id": known.id, "called": name_of(known), "mode": mode, **asdict(known)}


def _without_scripts(plan: Plan) -> Plan:
    """The plan without the configurations that have a scripted model in some role.

    Without its registration too, which names configurations by their places.
    """
    unscripted = (
        configuration
        for configuration in plan.configurations
        if not scripted(name for names in configuration.models.values() for name in names)
    )
    return replace(plan, configurations=tuple(unscripted), registration=UNSET)


Builder = Callable[
    [Any, ExperimentTally, Callable[[str], str]], JournalMemory
]  # Any: the type of the event in BUILDERS
BUILDERS: Mapping[type[Event], Builder] = {
    SpecWritten: memory_text.of_spec,
    CodeTested: memory_text.of_iteration,
    CheckpointReviewed: memory_text.of_checkpoint,
    ExperimentFinished: memory_text.of_result,
}
