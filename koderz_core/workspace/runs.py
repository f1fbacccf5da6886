"""Runs of benchmarks: start, control and resume them, and send a notice when one has ended."""

from __future__ import annotations

import logging
import platform
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from koderz_core import __version__
from koderz_core.bundles.creation import require_own
from koderz_core.config import Settings
from koderz_core.errors import ConfigError, KoderzError, StoreError, UsageError
from koderz_core.journal import Journal
from koderz_core.models.answer_cache import Served, answer_cache
from koderz_core.models.catalogue import resolve
from koderz_core.models.pricing import price
from koderz_core.models.providers import capabilities_of
from koderz_core.models.worst_case import WorstCases
from koderz_core.notices.delivery import Notices
from koderz_core.notices.messages import benchmark_ended
from koderz_core.plan.clone import dataset_of, forked
from koderz_core.plan.requirements import check_efforts
from koderz_core.plan.selection import choices
from koderz_core.plan.strategy_files import require_strategies
from koderz_core.records import Cost, Plan, Usage
from koderz_core.records.plans import default_concurrency
from koderz_core.records.progress import Forecast, SummaryRow
from koderz_core.report.registration import deviation_announced
from koderz_core.runner.background import Running
from koderz_core.runner.control import MOST_AT_ONCE
from koderz_core.runner.dependencies import Dependencies, Recollection
from koderz_core.runner.engine import LOCAL, Engine
from koderz_core.runner.header import (
    extended,
    header,
    last_concurrency,
    recorded_plan,
    stated_budgets,
    under_newest_budget,
)
from koderz_core.runner.history import FINAL
from koderz_core.runner.live_text import LiveText
from koderz_core.runner.provider_limits import Policy
from koderz_core.runner.recorder import Watch
from koderz_core.runner.reuse import Reuse
from koderz_core.runner.runner import Assignment, Runner
from koderz_core.runner.scheduler import Boundless
from koderz_core.runner.shards import require_separate
from koderz_core.store.results import Results
from koderz_core.workspace.benchmark_result import BenchmarkResult
from koderz_core.workspace.engines import Engines, experiments_by_worker
from koderz_core.workspace.grading import Grading
from koderz_core.workspace.models import Models
from koderz_core.workspace.monitoring import Monitoring
from koderz_core.workspace.registrations import stopping_rule
from koderz_core.workspace.web_search import require_search

if TYPE_CHECKING:
    from koderz_core.metrics.benchmark_watch import BenchmarkWatch

__all__ = ["MOST_AT_ONCE", "Runner", "Runs"]
_LOG = logging.getLogger("koderz")


@dataclass(frozen=True)
class Runs:
    """Runs benchmarks, which are named by their ids. May be used from any thread.

    ``recall``: returns memories for experiments. ``check_budget``: raises PlanError if the budget of a plan cannot be
    enforced. ``follow``: receives the id of every benchmark whose journal has been opened. ``result``: returns the
    result of a plan. ``live``: the texts that models are generating in experiments of this process.
    """

    settings: Settings
    results: Results
    models: Models
    grading: Grading
    recall: Recollection
    check_budget: Callable[[Plan], None]
    follow: Callable[[str], None]
    background: Running
    result: Callable[[Plan], BenchmarkResult]
    monitoring: Monitoring
    live: LiveText = field(default_factory=LiveText)

    def run(self, plan: Plan, concurrency: int | None = None) -> BenchmarkResult:
        """Run a plan to its end, and return its result. Finished experiments do not run again. Raises as ``runner``.

        An experiment that a provider or a budget ended raises nothing: its outcome is ``error`` or ``cancelled``. The
        budget is that of ``under_last_budget``.
        """
        plan = self.under_last_budget(plan)
        with self.runner(plan) as runner:
            runner.start(concurrency or default_concurrency(plan))
            runner.wait()
        return self.result(plan)

    def start(
        self,
        plan: Plan,
        concurrency: int | None = None,
        forecast: Forecast | None = None,
        *,
        retry_errors: bool = False,
    ) -> str:
        """Run a plan in background threads, unless it is already running, and return the id of the benchmark.

        ``forecast``: the estimate that the user has seen, for the receipt. ``retry_errors`` as in ``runner``. Raises as
        ``runner``, and UsageError while the same benchmark is still stopping.
        """
        plan = self.under_last_budget(plan)
        self.background.start(
            plan, lambda: self.runner(plan, retry_errors=retry_errors).with_forecast(forecast), concurrency
        )
        return plan.id

    def resume(self, benchmark: str, concurrency: int | None = None, *, retry_errors: bool = False) -> str:
        """Resume a benchmark in the background with its recorded plan, and return its id. Raises as ``start``.

        ``concurrency`` None: the last concurrency of the benchmark.
        """
        concurrency = concurrency or self.last_concurrency(benchmark)
        return self.start(self.recorded(benchmark), concurrency, retry_errors=retry_errors)

    def pause(self, benchmark: str, target: str | None = None) -> int:
        """Pause a benchmark, or only its configuration or experiment ``target``.

        Returns and raises the same as ``Running.control``.
        """
        return self.background.control(benchmark, "pause", target)

    def unpause(self, benchmark: str, target: str | None = None) -> int:
        """Resume a paused ``target``; None: every paused part of the benchmark. Otherwise the same as ``pause``."""
        return self.background.control(benchmark, "resume", target)

    def stop(self, benchmark: str, target: str | None = None) -> int:
        """Stop all experiments, or those of ``target``, before their next step. Otherwise the same as ``pause``."""
        return self.background.control(benchmark, "stop", target)

    def change(self, benchmark: str, max_cost_usd: float | None = None, concurrency: int | None = None) -> int:
        """Change the budget or the concurrency of a running benchmark; None leaves a value unchanged.

        Returns and raises the same as ``Running.control``, and raises PlanError for a budget that cannot be enforced.
        Experiments that the old budget has stopped continue only after ``resume``.
        """
        if max_cost_usd is not None:
            plan = self.recorded(benchmark)
            self.check_budget(replace(plan, budget=replace(plan.budget, usd=max_cost_usd)))
        return self.background.change(benchmark, max_cost_usd, concurrency)

    def is_here(self, benchmark: str) -> bool:
        """Whether this process is running the benchmark."""
        return self.background.runs(benchmark)

    def trouble(self, benchmark: str) -> str | None:
        """Return the error that ended a benchmark of ``start``, None if there was no error."""
        return self.background.trouble(benchmark)

    @property
    def engines(self) -> Engines:
        """The places where benchmarks can run."""
        return Engines(self.settings)

    def experiments_by_worker(self, benchmark: str) -> Mapping[str, tuple[str, ...]]:
        """Return the ids of the experiments that each worker runs now; empty if the benchmark has no workers."""
        return experiments_by_worker(self.settings, benchmark)

    def recorded(self, benchmark: str) -> Plan:
        """Return the plan in the journal of a benchmark. Raises JournalError, UsageError (the file was renamed)."""
        return recorded_plan(self._journal(benchmark))

    def under_last_budget(self, plan: Plan) -> Plan:
        """Return the plan with the budget that was last set during its run, unless the plan has a new budget.

        Raises JournalError.
        """
        return under_newest_budget(plan, self.settings.journals_dir / f"{plan.id}.jsonl")

    def stated_budgets(self, benchmark: str) -> frozenset[float | None]:
        """Return the total budgets with which a benchmark was started or resumed. Raises JournalError."""
        return stated_budgets(self.settings.journals_dir / f"{benchmark}.jsonl")

    def last_concurrency(self, benchmark: str) -> int | None:
        """Return the concurrency that was last set for a benchmark, None if unknown. Raises as ``recorded``."""
        return last_concurrency(self._journal(benchmark))

    def fork(self, plan: Plan) -> Plan:
        """Return a copy of a plan with the current dataset and conditions and an unused name.

        Raises DataError, and PlanError and UnknownNameError for a strategy that cannot be loaded.
        """
        require_strategies(plan.id, plan.configurations, self.settings)  # it states some of the conditions
        return forked(plan, self.settings, {row.name for row in self.results.benchmarks()})

    def deviation(self, plan: Plan) -> str:
        """Describe in a sentence how running a plan changes a registered benchmark; "" if it changes none.

        ``plan``: with the budget of ``under_last_budget``.
        """
        recorded = self.results.recorded_plans([plan.id])
        return deviation_announced(recorded[-1].plan, extended(plan, recorded[-1].plan)) if recorded else ""

    def remarks(self, plan: Plan) -> Iterator[str]:
        """Yield remarks on a plan before it runs: selected models and omitted tests. Raises as ``Grading.remarks``."""
        yield from choices(plan)
        yield from self.grading.remarks(plan)

    def runner(
        self,
        plan: Plan,
        watches: Iterable[Watch] = (),
        *,
        retry_errors: bool = False,
        forked_from: str | None = None,
        pilot: int | None = None,
        engine: Engine = LOCAL,
    ) -> Runner:
        """Return a runner for a plan. If the benchmark already has a journal, the runner resumes or extends it.

        ``retry_errors``: run experiments that ended with an error again. ``pilot``: run only this number of problems.
        ``engine``: where the experiments run, as ``engines.open`` returns it; the caller closes it.
        Raises PlanError, DataError, JournalError, ModelError, UsageError before any model is called.
        """
        self._check(plan, retry_errors=retry_errors)
        path = self._journal(plan.id)
        problems = {problem.id: problem for problem in dataset_of(plan, self.settings).problems}
        tested = self.grading.sandbox.self_test()
        self.grading.require_gradable(problems[name] for name in plan.problems if name in problems)
        opened = header(plan, self.settings, tested.isolation, __version__, forked_from, tested.score)
        journal = Journal(path)
        metrics = self.monitoring.watch()
        try:
            runner = Runner(
                Assignment(opened, problems, retry_errors, pilot, stopping_rule, engine),
                journal,
                lambda names: self._parts(names, plan, opened.benchmark, engine),
                (*watches, *([metrics] if metrics else [])),
                partial(self._at_end, metrics, time.monotonic()),
            )
            if metrics:
                metrics.begin(runner.header, runner.remaining)
            self.follow(runner.benchmark)
            return runner
        except BaseException:
            journal.close()
            raise

    def _journal(self, benchmark: str) -> Path:
        """The journal of a benchmark. Raises UsageError if its file was renamed: a run would repeat all calls."""
        path = self.settings.journals_dir / f"{benchmark}.jsonl"
        with suppress(StoreError):
            if not path.exists() and (file := self.results.renamed_journals().get(benchmark)):
                raise UsageError(
                    f"The journal of {benchmark} is in the file {file}, but the name of this file must be {path.name}. "
                    f"Rename the file in {path.parent}, then repeat the command. To start the benchmark from the "
                    "beginning instead, move the file to another folder."
                )
        return path

    def _check(self, plan: Plan, *, retry_errors: bool) -> None:
        """Raise PlanError, ModelError or DataError if a plan cannot run here at all."""
        require_own(self.settings.home)
        ended: Container[str] = FINAL if retry_errors else {*FINAL, "error"}
        require_strategies(plan.id, plan.configurations, self.settings, partial(self._needs, plan, ended))
        require_search(plan.configurations, self.settings)
        check_efforts(plan.configurations, self.settings)
        self.check_budget(plan)
        require_separate(plan, self.settings.journals_dir)

    def _needs(self, plan: Plan, ended: Container[str], strategy: str) -> bool:
        """Whether an experiment of a strategy has none of the outcomes ``ended``; yes if that is unknown."""
        try:
            rows = self.results.experiments(plan.id)
        except StoreError:
            return True
        made = {configuration.id for configuration in plan.configurations if configuration.strategy == strategy}
        done = {row.id for row in rows if row.shown in ended}
        return any(each.configuration in made and each.id not in done for each in plan.experiments())

    def _parts(self, names: frozenset[str], plan: Plan, benchmark: str, engine: Engine = LOCAL) -> Dependencies:
        models = {} if engine.has_models else self.models.ready(names, plan.dataset.name)
        return Dependencies(
            models=models,
            local=frozenset(name for name in names if resolve(name, self.settings).tier == "local"),
            judge=self.grading.judge,
            worst_case=WorstCases(self.settings).of,
            price=self._price,
            redact=self.grading.redactor,
            divide=self.grading.divide,
            clock=time.time,
            live=self.live,
            policy=Policy(self.settings.retries),
            endpoints=self.models.endpoints,
            context_tokens=cache(lambda model: capabilities_of(model, self.settings).context_tokens),
            recall=self.recall,
            benchmark=benchmark,
            reuse=Reuse(answer_cache(self.settings), Served(self.settings), time.time) if plan.cached else None,
            room=Boundless() if engine.has_models else self.models.residency,
            memory=self.models.memory,
        )

    def _price(self, name: str, usage: Usage, seconds: float) -> Cost:
        try:
            return price(resolve(name, self.settings), usage, seconds, self.settings)
        except ConfigError as error:  # models.toml was changed while the call ran, whose answer must not be lost
            return Cost(None, f"unpriced: {error}")

    def _at_end(self, metrics: BenchmarkWatch | None, started: float, runner: Runner) -> None:
        if metrics:
            metrics.end()
        self._send_notice(started, runner)

    def _send_notice(self, started: float, runner: Runner) -> None:
        """A notice that does not arrive is a warning in the log, and delays the end by seconds at most."""
        notices, is_task = Notices(self.settings), bool(self.settings.records)  # tasks of the workbench have none
        if is_task or not (notices.configured and runner.remaining):
            return
        name = f"{runner.asked.name} ({runner.benchmark})" if runner.asked.name else runner.benchmark
        seconds = time.monotonic() - started
        notice = benchmark_ended(name, _ending(runner), seconds, platform.node(), self._rows(runner.benchmark))
        if troubles := notices.send(notice):
            _LOG.warning(
                "The notification about the end of %s could not be delivered: %s.",
                runner.benchmark,
                "; ".join(troubles),
            )

    def _rows(self, benchmark: str) -> Sequence[SummaryRow]:
        try:
            return self.results.reached(self.results.summaries(benchmark))
        except KoderzError as error:
            _LOG.warning(
                "The notification about the end of %s contains no results, because they could not be read: %s",
                benchmark,
                error,
            )
            return ()


def _ending(runner: Runner) -> str:
    """How a benchmark ended. Of an error only its class is named: its text may quote anything."""
    if runner.fault is not None:
        return f"failed ({type(runner.fault).__name__})"
    if runner.bugs:
        return f"failed because of a bug in koderz ({type(runner.bugs[0]).__name__})"
    if runner.used_up:
        return "used up its budget"
    return "was stopped" if runner.stopping else "finished"
