"""The composition root: joins datasets, models, sandbox, runner and store. CLI and pages hold nothing else.

A process opens a workspace of its own, or shares one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, cast

from koderz_core import __version__, process
from koderz_core.analysis.timing import seconds_left
from koderz_core.config import Settings, load_settings
from koderz_core.errors import UnknownNameError
from koderz_core.lazy import part
from koderz_core.records import Completion, Dataset, Plan, Problem, Verdict
from koderz_core.records.forecasts import Forecast
from koderz_core.store.results import Results
from koderz_core.store.store import Store
from koderz_core.workspace import parts

if TYPE_CHECKING:
    from koderz_core.models.availability import Availability
    from koderz_core.models.weights_download import Report
    from koderz_core.plan.order import Order
    from koderz_core.protocols import Model
    from koderz_core.runner.live_text import LiveAnswer
    from koderz_core.runner.recorder import Watch
    from koderz_core.sandbox.judge import BoxedJudge

Closable = TypeVar("Closable", "parts.Running", "parts.Remembering", "parts.Sandbox")


def open_workspace(**settings: Any) -> Workspace:  # Any: settings by field name, validated
    """A workspace under the user's settings, with these on top. Raises ConfigError."""
    return Workspace(load_settings(**settings))


def the_workspace() -> Workspace:
    """The one workspace of this process, opened under the user's settings at first use. Raises ConfigError."""
    return process.the_one("workspace", open_workspace)


def leave() -> None:
    """Close and forget the process's workspace, if there is one."""
    left = cast(Workspace | None, process.forget("workspace"))  # its class may be from before a reload
    if left is not None:
        left.close()


class Workspace:
    """The open parts of one process. Close it, or use it as a context manager: models hold child processes.

    A part is made, and its modules are imported, when it is first asked for.
    """

    def __init__(self, settings: Settings) -> None:
        self.guard = RLock()  # guards the making of parts, and _closed
        self._closed = False
        self.settings = settings
        self.results = Results(Store(settings.store_path, settings.journals_dir), seconds_left)

    @part
    def costs(self) -> parts.Costs:
        return parts.Costs(self.settings, self._evidence)

    @part
    def planner(self) -> parts.Planner:
        return parts.Planner(self.settings, self._evidence, self.costs, self.dataset, self.judging.gate)

    @part
    def baselines(self) -> parts.Baselines:
        return parts.Baselines(self.settings, self.results, self.costs, self.dataset)

    @part
    def comparing(self) -> parts.Comparing:
        return parts.Comparing(self.results, self.baselines)

    @part
    def awaiting(self) -> parts.Awaiting:
        return parts.Awaiting(self.results, self.comparing)

    @part
    def exporting(self) -> parts.Exporting:
        return parts.Exporting(self.results, self.comparing, self.settings.home)

    @part
    def bundling(self) -> parts.Bundling:
        return parts.Bundling(self.settings, self.results, self.exporting)

    @part
    def sandbox(self) -> parts.Sandbox:
        return self._closed_too(parts.Sandbox(self.settings.sandbox, self.settings.bwrap, self.settings.test_timeout))

    @part
    def judging(self) -> parts.Judging:
        return parts.Judging(self.settings, self.sandbox, self._redactor)

    @part
    def allowing(self) -> parts.Allowances:
        return parts.Allowances(self.settings.journals_dir, self._running, self.costs.check)

    @part
    def memories(self) -> parts.Memories:
        return parts.Memories(self.settings, self.results, self.dataset, self.judging.may_solve)

    @part
    def upkeep(self) -> parts.Upkeep:
        return parts.Upkeep(self.settings, self.results)

    @part
    def _evidence(self) -> parts.Evidence:
        return parts.Evidence(
            measurements=partial(parts.measurements, self.results.store),
            baselines=self.results.measured,
            experiments=self.results.experiments,
            summaries=self.results.summaries,
            past=self.results.past,
            plan=self.recorded,
        )

    @part
    def _redactor(self) -> parts.Redactor:
        return parts.Redactor(self.settings.secrets())

    @part
    def _remembering(self) -> parts.Remembering:
        return self._closed_too(parts.Remembering(self.settings))

    @part
    def _announcing(self) -> parts.Announcing:
        return parts.Announcing(self.settings, self.results, self._remembering.follow)

    @part
    def _running(self) -> parts.Running:
        return self._closed_too(parts.Running(self.settings.journals_dir))

    @part
    def _asking(self) -> parts.Asking:
        return parts.Asking(self.settings, self.results, self.memories)

    @part
    def _models(self) -> parts.OpenModels:
        return parts.OpenModels(self.settings, lambda dataset: self.dataset(dataset).solutions())

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        self.close(patient=failure is None)

    def close(self, *, patient: bool = False) -> None:
        """Stop what runs here, wait until it has ended, and let go of every model. Idempotent.

        ``patient``: wait some seconds for what the memory lacks; else it is left to the next start.
        """
        with self.guard:
            self._closed = True
        if running := Workspace._running.made(self):
            running.close()
        if remembering := Workspace._remembering.made(self):
            remembering.close(patient=patient)
        if models := Workspace._models.made(self):
            models.close()
        if sandbox := Workspace.sandbox.made(self):
            sandbox.close()

    def abandon(self) -> None:
        """End every child process now, also those of calls that hang: for a process that is about to end itself."""
        if sandbox := Workspace.sandbox.made(self):
            sandbox.close()
        if remembering := Workspace._remembering.made(self):
            remembering.abandon()
        if models := Workspace._models.made(self):
            models.abandon()

    def _closed_too(self, made: Closable) -> Closable:
        """A part that is first asked for after the workspace was closed is a closed one."""
        if self._closed:
            made.close()
        return made

    @property
    def judge(self) -> BoxedJudge:
        """What programs are judged by. Raises SandboxError if none can be had here."""
        return self.sandbox.judge()

    def dataset(self, name: str = "humaneval") -> Dataset:
        """The problems of a dataset. Raises UnknownNameError, DataError."""
        return parts.load(name, self.settings)

    def problem(self, name: str, dataset: str = "humaneval") -> Problem:
        """One problem by its id. Raises UnknownNameError."""
        problems = {problem.id: problem for problem in self.dataset(dataset).problems}
        if name not in problems:
            raise UnknownNameError("problem", name, problems)
        return problems[name]

    def grade(self, code: str, tests: Problem | str) -> Verdict:
        """Run a program on a problem's tests, or on asserts given as text.

        Raises DataError for tests that are none, SandboxError if the program could not be judged.
        """
        problem = parts.problem_of(tests) if isinstance(tests, str) else tests
        return self._redactor.verdict(self.judge.check(problem, code, problem.tests))

    def require_gradable(self, problems: Iterable[Problem]) -> None:
        """Raise DataError if some of these no program could pass here, and SandboxError."""
        parts.require_gradable(problems, lambda one: self.judge.check(one, one.canonical_solution, one.tests))

    def datasets(self) -> tuple[str, ...]:
        """The names of all datasets: those that are published, then the problems that somebody typed."""
        return parts.dataset_names(self.settings)

    def keep_problem(self, prompt: str, tests: str, solution: str = "") -> str:
        """Keep a problem that somebody typed; it is a dataset of its own, whose name this is: ``typed-...``.

        The same text gives the same name. Raises DataError, also for a solution that fails the tests; SandboxError.
        """
        return parts.keep(
            parts.require_solved(parts.typed_row(prompt, tests, solution), self.grade), self.settings
        ).origin.name

    def command(
        self, order: Order, dataset: str = "humaneval", concurrency: int | None = None, *, baselines: bool = False
    ) -> str:
        """The command line that makes the same benchmark. Raises UsageError for an unknown strategy or parameter."""
        return parts.command_of(order, dataset, concurrency, baselines=baselines)

    def plan(self, order: Order, dataset: str = "humaneval") -> Plan:
        """What an order comes to. Raises UsageError if it cannot be done."""
        return self.planner.plan(order, dataset)

    def run(self, plan: Plan, concurrency: int | None = None) -> None:
        """Run a plan to its end; what it did before is not done again. Raises as ``runner``."""
        with self.runner(plan) as runner:
            runner.start(concurrency or parts.default_concurrency(plan))
            runner.wait()

    def start(
        self,
        plan: Plan,
        concurrency: int | None = None,
        forecast: Forecast | None = None,
        *,
        retry_errors: bool = False,
    ) -> str:
        """Run a plan in threads that outlive the caller; its id. What runs here already is left running.

        ``forecast``: what somebody was told of it, for its receipt. ``retry_errors`` and errors as ``runner``, and
        UsageError while the same benchmark is still being stopped.
        """
        kept = self.allowing.kept(plan)
        self._running.start(
            kept, lambda: self.runner(kept, retry_errors=retry_errors).with_forecast(forecast), concurrency
        )
        return plan.id

    def resume(self, benchmark: str, concurrency: int | None = None, *, retry_errors: bool = False) -> str:
        """Go on in the background with a benchmark (by id) as it was planned; its id. As ``start``.

        Without a ``concurrency`` it keeps the one that it was last allowed.
        """
        at_once = concurrency or self.allowing.concurrency(benchmark)
        return self.start(self.recorded(benchmark), at_once, retry_errors=retry_errors)

    def recorded(self, benchmark: str) -> Plan:
        """The plan that the journal of a benchmark (by id) holds. Raises JournalError."""
        return parts.recorded_plan(self.settings.journals_dir / f"{benchmark}.jsonl")

    def fork(self, plan: Plan) -> Plan:
        """The same anew, under today's dataset and conditions and a name that nothing has. Raises DataError."""
        return parts.forked(plan, self.settings, {row.name for row in self.results.benchmarks()})

    def pause(self, benchmark: str, target: str | None = None) -> int:
        """Let it, or only its configuration or experiment ``target``, wait. Gives and raises as ``Running.control``."""
        return self._running.control(benchmark, "pause", target)

    def go_on(self, benchmark: str, target: str | None = None) -> int:
        """End a pause; that of the whole benchmark ends every pause in it. As ``pause``."""
        return self._running.control(benchmark, "resume", target)

    def stop(self, benchmark: str, target: str | None = None) -> int:
        """End its experiments, or those of ``target``, at their next step. As ``pause``."""
        return self._running.control(benchmark, "stop", target)

    def runs_here(self, benchmark: str) -> bool:
        """Whether this process is running it now."""
        return self._running.runs(benchmark)

    def trouble(self, benchmark: str) -> str | None:
        """What broke a benchmark that ``start`` began, None if nothing did."""
        return self._running.trouble(benchmark)

    def live_text(self, experiment: str) -> LiveAnswer | None:
        """What a model says in an experiment right now, as far as this process hears it. Hostile text."""
        return self._asking.live.of(experiment)

    def heard_at(self, experiments: Iterable[str]) -> float | None:
        """When a model last wrote something in one of these experiments, in seconds since 1970; None: none is writing.

        Known only of what this process runs.
        """
        return self._asking.live.heard_at(experiments)

    def runner(
        self,
        plan: Plan,
        watches: Iterable[Watch] = (),
        *,
        retry_errors: bool = False,
        forked_from: str | None = None,
        pilot: int | None = None,
    ) -> parts.Runner:
        """A runner for a plan, ready to start; it goes on with a benchmark that has a journal already, or extends it.

        ``retry_errors``: also what ended as an error is run again. ``pilot``: only so many of its problems.
        Raises PlanError, DataError, JournalError, ModelError; nothing has been asked of a model then.
        """
        self.bundling.require_own()
        parts.require_strategies(plan, self.settings)
        self.costs.check(plan)
        problems = {problem.id: problem for problem in parts.dataset_of(plan, self.settings).problems}
        tested = self.sandbox.self_test()
        self.require_gradable(problems[name] for name in plan.problems if name in problems)
        opened = parts.header(plan, self.settings, tested.isolation, __version__, forked_from, tested.score)
        assignment = parts.Assignment(opened, problems, retry_errors, pilot)
        return self._announcing.runner(assignment, lambda names: self._parts(names, plan.dataset.name), watches)

    def _parts(self, names: Iterable[str], dataset: str) -> parts.Dependencies:
        return self._asking.parts(self._models.ready(names, dataset), self.judge, self._redactor, self.judging.divide)

    def model(self, name: str, dataset: str = "humaneval") -> Model:
        """The model of that name, kept open until the workspace is closed. Raises UnknownNameError, ModelError.

        ``dataset``: whose problems a scripted model knows.
        """
        return self._models.get(name, dataset)

    def ask(self, name: str, prompt: str, max_tokens: int = 256) -> Completion:
        """Ask a model outside any experiment, within its provider's limits. Raises ModelError."""
        return self._asking.ask(self.model(name), prompt, max_tokens)

    def available_models(self) -> list[Availability]:
        """Which models can be asked now, and what the others lack."""
        return parts.survey(self.settings)

    def lacking(self, plan: Plan, surveyed: Iterable[Availability]) -> list[Availability]:
        """The models of a plan that cannot be asked now, going by what ``available_models`` found."""
        return parts.lacking(plan.models(), surveyed)

    def fetch_weights(self, name: str, report: Report) -> Path:
        """The file of an embedded model's weights, downloaded if need be. Raises WeightsError, UnknownNameError."""
        return parts.fetch(name, self.settings, report)
