"""The workspace of a process: its settings, and the services that the command line and the pages use.

Parts of the core are joined here and nowhere else. A service is created, and its modules are imported, on first use, so
that a command pays only for what it needs.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, cast

from koderz_core import lazy
from koderz_core.analysis.timing import seconds_left
from koderz_core.config import Settings, load_settings
from koderz_core.lazy import part
from koderz_core.store.results import Results
from koderz_core.store.store import Store
from koderz_core.workspace.names import Names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pandas import DataFrame  # type: ignore[import-untyped]  # pandas ships no types

    from koderz_core.plan.costs import Costs
    from koderz_core.plan.evidence import Evidence
    from koderz_core.plan.planner import Planner
    from koderz_core.records import Asker, Memory, Query
    from koderz_core.runner.background import Running
    from koderz_core.workspace.benchmark_result import BenchmarkResult
    from koderz_core.workspace.bundles import Bundles
    from koderz_core.workspace.checks import Checks
    from koderz_core.workspace.comparisons import Awaiting, Comparisons
    from koderz_core.workspace.datasets import Datasets
    from koderz_core.workspace.drafts import Drafts
    from koderz_core.workspace.experiments import Experiments
    from koderz_core.workspace.exports import Exports
    from koderz_core.workspace.forging import Forging
    from koderz_core.workspace.grading import Grading
    from koderz_core.workspace.health import Health
    from koderz_core.workspace.imports import Imports
    from koderz_core.workspace.labels import Labels
    from koderz_core.workspace.memories import Memories
    from koderz_core.workspace.mirror_thread import MirrorThread
    from koderz_core.workspace.models import Models
    from koderz_core.workspace.monitoring import Monitoring
    from koderz_core.workspace.mutation import Mutation
    from koderz_core.workspace.network import Network
    from koderz_core.workspace.regrading import Regrading
    from koderz_core.workspace.repositories import Repositories
    from koderz_core.workspace.runs import Runs
    from koderz_core.workspace.selectors import Selectors
    from koderz_core.workspace.shards import Shards
    from koderz_core.workspace.swebench import SwebenchRows
    from koderz_core.workspace.trust import TrustChecks
    from koderz_core.workspace.uncertainty import Uncertainties
    from koderz_core.workspace.upkeep import Upkeep
    from koderz_core.workspace.web_search import WebSearch
    from koderz_core.workspace.what_if import WhatIfs
    from koderz_core.workspace.workbench import Workbench

Closable = TypeVar("Closable", "Running", "MirrorThread", "Grading", "Workbench", "Monitoring")


def open_workspace(**settings: Any) -> Workspace:  # Any: settings by field name, validated
    """Open a workspace with the user's settings, of which the arguments override some. Raises ConfigError."""
    return Workspace(load_settings(**settings))


def the_workspace() -> Workspace:
    """Return the workspace of this process, which is opened at the first call. Raises ConfigError."""
    return lazy.the_one("workspace", open_workspace)


def leave() -> None:
    """Close and forget the workspace of this process, if it is open."""
    workspace = cast(Workspace | None, lazy.forget("workspace"))  # its class may be from before a reload
    if workspace is not None:
        workspace.close()


class Workspace:
    """Gives access to all services. Close it, or use it as a context manager: it may have started child processes."""

    def __init__(self, settings: Settings) -> None:
        self.guard = RLock()  # guards the creation of services, and _closed
        self._closed = False
        self.settings = settings
        store = Store(settings.store_path, settings.journals_dir)
        self.results = Results(store, seconds_left, compared=self._compared)
        self.names = Names(self.results)

    @part
    def datasets(self) -> Datasets:
        from koderz_core.workspace.datasets import Datasets

        return Datasets(self.settings)

    @part
    def grading(self) -> Grading:
        from koderz_core.workspace.grading import Grading

        return self._closed_too(Grading(self.settings, self.datasets))

    @part
    def checks(self) -> Checks:
        from koderz_core.workspace.checks import Checks

        return Checks(self.datasets, self.grading)

    @part
    def mutation(self) -> Mutation:
        from koderz_core.workspace.mutation import Mutation

        return Mutation(self.settings, self.grading)

    @part
    def forging(self) -> Forging:
        from koderz_core.workspace.forging import Forging

        return Forging(self.settings, self.grading, lambda: self.models)

    @part
    def swebench(self) -> SwebenchRows:
        from koderz_core.workspace.swebench import SwebenchRows

        return SwebenchRows(self.settings, self.grading)

    @part
    def models(self) -> Models:
        from koderz_core.workspace.models import Models

        return Models(self.settings, lambda dataset: self.datasets.load(dataset).solutions())

    @part
    def costs(self) -> Costs:
        from koderz_core.plan.costs import Costs

        return Costs(self.settings, self._evidence)

    @part
    def plans(self) -> Planner:
        from koderz_core.plan.planner import Planner

        return Planner(self.settings, self._evidence, self.costs, self.datasets.load, self.grading.gate)

    @part
    def drafts(self) -> Drafts:
        from koderz_core.workspace.drafts import Drafts

        return Drafts(self.settings.home / "drafts")

    @part
    def runs(self) -> Runs:
        from koderz_core.workspace.benchmark_result import BenchmarkResult
        from koderz_core.workspace.runs import Runs

        return Runs(
            settings=self.settings,
            results=self.results,
            models=self.models,
            grading=self.grading,
            recall=self._recall,
            check_budget=self.costs.check,
            follow=self._mirror.follow,
            background=self._running,
            result=lambda plan: BenchmarkResult(plan, self.results, lambda: self.exports),
            monitoring=self.monitoring,
        )

    @part
    def experiments(self) -> Experiments:
        from koderz_core.workspace.experiments import Experiments

        return Experiments(self.settings, self.results, self.datasets)

    @part
    def labels(self) -> Labels:
        from koderz_core.workspace.labels import Labels

        return Labels(self.settings, self.results)

    @part
    def comparisons(self) -> Comparisons:
        from koderz_core.workspace.comparisons import Comparisons

        return Comparisons(self.settings, self.results, self.costs, self.datasets)

    @part
    def trust(self) -> TrustChecks:
        from koderz_core.workspace.trust import TrustChecks

        return TrustChecks(self.results, self.datasets)

    @part
    def uncertainty(self) -> Uncertainties:
        from koderz_core.workspace.uncertainty import Uncertainties

        return Uncertainties(self.comparisons, self.datasets)

    @part
    def what_if(self) -> WhatIfs:
        from koderz_core.workspace.what_if import WhatIfs

        return WhatIfs(self.comparisons)

    @part
    def background(self) -> Awaiting:
        from koderz_core.workspace.comparisons import Awaiting

        return Awaiting(self.results, self.comparisons)

    @part
    def exports(self) -> Exports:
        from koderz_core.workspace.exports import Exports

        return Exports(
            self.settings.home,
            self.results,
            self.names,
            lambda: self.comparisons,
            lambda: self.uncertainty,
            lambda: self.trust,
            lambda: self.experiments,
        )

    @part
    def bundles(self) -> Bundles:
        from koderz_core.workspace.bundles import Bundles

        return Bundles(self.settings, self.results, self.exports)

    @part
    def regrading(self) -> Regrading:
        from koderz_core.workspace.regrading import Regrading

        return Regrading(self.settings, self.grading)

    @part
    def imports(self) -> Imports:
        from koderz_core.workspace.imports import Imports

        return Imports(self.settings, self.datasets, lambda: self.grading)

    @part
    def memories(self) -> Memories:
        from koderz_core.workspace.memories import Memories

        return Memories(self.settings, self.results, self.datasets.load, self.grading.may_solve)

    @part
    def repositories(self) -> Repositories:
        from koderz_core.workspace.repositories import Repositories

        return Repositories(self.settings, lambda: self.models)

    @part
    def selectors(self) -> Selectors:
        from koderz_core.workspace.selectors import Selectors

        return Selectors(self.settings, lambda: self.comparisons, self.memories.problem)

    @part
    def upkeep(self) -> Upkeep:
        from koderz_core.workspace.upkeep import Upkeep

        return Upkeep(self.settings, self.results)

    @part
    def health(self) -> Health:
        from koderz_core.workspace.health import Health

        return Health(self.settings, self.models, self.upkeep)

    @part
    def monitoring(self) -> Monitoring:
        from koderz_core.workspace.monitoring import Monitoring

        return self._closed_too(Monitoring(self.settings))

    @part
    def network(self) -> Network:
        from koderz_core.workspace.network import Network

        return Network(self.settings)

    @part
    def shards(self) -> Shards:
        from koderz_core.workspace.shards import Shards

        return Shards(self.settings)

    @part
    def workbench(self) -> Workbench:
        from koderz_core.workspace.workbench import Workbench, within

        inside = Workspace(within(self.settings))
        own = {name: getattr(inside.results, name) for name in ("experiments", "summaries", "known_spending")}
        shared = {"models": self.models, "grading": self.grading, "_evidence": replace(self._evidence, **own)}
        shared["monitoring"] = self.monitoring
        vars(inside).update(shared)  # parts that are already made: no model is loaded twice
        return self._closed_too(Workbench(inside))

    @part
    def _evidence(self) -> Evidence:
        from koderz_core.plan.evidence import Evidence
        from koderz_core.runner.header import recorded_plan
        from koderz_core.store.measurements import measurements

        return Evidence(
            measurements=partial(measurements, self.results.store),
            baselines=self.results.measured,
            experiments=self.results.experiments,
            summaries=self.results.summaries,
            past=self.results.past,
            known_spending=self.results.known_spending,
            plan=lambda benchmark: recorded_plan(self.settings.journals_dir / f"{benchmark}.jsonl"),
            selector=self.selectors.load,
            check_selector=self.selectors.check,
        )

    @part
    def _mirror(self) -> MirrorThread:
        from koderz_core.workspace.mirror_thread import MirrorThread

        return self._closed_too(MirrorThread(self.settings))

    @part
    def _running(self) -> Running:
        from koderz_core.runner.background import Running

        return self._closed_too(Running(self.settings.journals_dir))

    def result(self, benchmark: str) -> BenchmarkResult:
        """Return the result of a recorded benchmark, by its name, its id or the start of its id.

        Raises UnknownNameError, JournalError.
        """
        return self.runs.result(self.runs.recorded(self.names.benchmark(benchmark)))

    def _compared(self, table: str, benchmark: str | None) -> DataFrame:
        return self.exports.frame(table, benchmark)

    @part
    def _web_search(self) -> WebSearch:
        from koderz_core.workspace.web_search import WebSearch

        return WebSearch(self.settings, self.memories.problem)

    def _recall(self, query: Query, asker: Asker) -> Sequence[Memory]:
        """Raises InfrastructureError."""
        if query.kind == "selector":
            return self.selectors.recall(query, asker)
        return (self._web_search if query.kind == "web" else self.memories).recall(query, asker)

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        self.close(patient=failure is None)

    def close(self, *, patient: bool = False) -> None:
        """Stop the benchmarks of this process, wait until they have ended, and close every model. Idempotent.

        ``patient``: wait some seconds until the memory is complete; otherwise the next start completes it.
        """
        with self.guard:
            self._closed = True
        if running := Workspace._running.made(self):
            running.close()
        if workbench := Workspace.workbench.made(self):
            workbench.close()
        if mirror := Workspace._mirror.made(self):
            mirror.close(patient=patient)
        if models := Workspace.models.made(self):
            models.close()
        if grading := Workspace.grading.made(self):
            grading.close()
        if monitoring := Workspace.monitoring.made(self):
            monitoring.close()

    def abandon(self) -> None:
        """Kill every child process, even during a call, because this process is about to exit."""
        if grading := Workspace.grading.made(self):
            grading.close()
        if mirror := Workspace._mirror.made(self):
            mirror.abandon()
        if models := Workspace.models.made(self):
            models.abandon()

    def _closed_too(self, service: Closable) -> Closable:
        """Close a service that is first used after the workspace was closed."""
        if self._closed:
            service.close()
        return service
