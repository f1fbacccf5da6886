"""The composition root: joins datasets, models, sandbox, runner and store.

CLI and pages hold a workspace and nothing else.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from koderz_core import __version__
from koderz_core.config import Settings, load_settings
from koderz_core.datasets import load
from koderz_core.errors import DataError, UnknownNameError
from koderz_core.events import SCHEMA_VERSION, BenchmarkOpened
from koderz_core.grading.typed import problem_of
from koderz_core.journal import Journal
from koderz_core.models.availability import Availability, first_ready_local, require, survey
from koderz_core.models.catalogue import resolve
from koderz_core.models.pricing import price, price_version
from koderz_core.models.providers import create
from koderz_core.models.weights import fetch
from koderz_core.models.weights_download import Report
from koderz_core.prompts import VERSIONS
from koderz_core.protocols import Model
from koderz_core.records import Completion, Cost, Dataset, Message, Plan, Problem, Request, Sampling, Usage, Verdict
from koderz_core.runner.parts import Parts
from koderz_core.runner.planning import Order, draft
from koderz_core.runner.recorder import Watch
from koderz_core.runner.redaction import Redactor
from koderz_core.runner.runner import Assignment, Runner
from koderz_core.sandbox.judge import ProcessJudge
from koderz_core.store.results import Results
from koderz_core.store.store import Store


class Workspace:
    """The open parts of one process. Close it, or use it as a context manager: models hold child processes."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.results = Results(Store(settings.store_path, settings.journals_dir))
        self.judge = ProcessJudge(settings.test_timeout)
        self._redactor = Redactor(settings.secrets())
        self._models: dict[str, Model] = {}
        self._guard = threading.Lock()  # guards _models: two threads must not load the same weights twice

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of every model. Idempotent."""
        with self._guard:
            for model in self._models.values():
                model.close()
            self._models.clear()

    # What there is to solve

    def dataset(self, name: str = "humaneval") -> Dataset:
        """The problems of a dataset. Raises UnknownNameError, DataError."""
        return load(name, self.settings)

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
        problem = problem_of(tests) if isinstance(tests, str) else tests
        return self._redactor.verdict(self.judge.check(problem, code, problem.tests))

    # Benchmarks

    def plan(self, order: Order, dataset: str = "humaneval") -> Plan:
        """What an order comes to. Raises UsageError if it cannot be done."""
        return draft(order, self.dataset(dataset), self.settings)

    def run(self, plan: Plan, concurrency: int | None = None) -> None:
        """Run a plan to its end; what it did before is not done again. Raises as ``runner``."""
        with self.runner(plan) as runner:
            runner.start(concurrency or default_concurrency(plan))
            runner.wait()

    def runner(self, plan: Plan, watches: Iterable[Watch] = ()) -> Runner:
        """A runner for a plan, ready to start; it goes on with a benchmark that has a journal already.

        Raises PlanError, DataError, JournalError, ModelError; nothing has been asked of a model then.
        """
        dataset = self.dataset(plan.dataset.name)
        if dataset.origin != plan.dataset:
            raise DataError(f"{plan.dataset.name} is another file now than when {plan.id} was planned. Plan it anew.")
        assignment = Assignment(self._header(plan), {problem.id: problem for problem in dataset.problems})
        journal = Journal(self.settings.journals_dir / f"{plan.id}.jsonl")
        try:
            return Runner(assignment, journal, lambda names: self._parts(names, plan.dataset.name), watches)
        except BaseException:
            journal.close()
            raise

    def _header(self, plan: Plan) -> BenchmarkOpened:
        settings = self.settings
        return BenchmarkOpened(
            schema_version=SCHEMA_VERSION,
            koderz_version=__version__,
            benchmark=plan.id,
            plan=plan,
            prompt_versions=VERSIONS,
            price_version=price_version(),
            isolation=self.judge.isolation,
            tiers={name: resolve(name, settings).tier for name in plan.models()},
            energy={name: getattr(settings, name) for name in ("local_watts", "usd_per_kwh", "local_usd_per_hour")},
        )

    def _parts(self, names: Iterable[str], dataset: str) -> Parts:
        """The parts with these models, each of which can be asked now as far as one can tell."""
        for name in sorted(names):
            require(name, self.settings)
        return Parts(
            models={name: self.model(name, dataset) for name in names},
            local=frozenset(name for name in names if resolve(name, self.settings).tier == "local"),
            judge=self.judge,
            price=self._price,
            redact=self._redactor,
            clock=time.time,
        )

    def _price(self, name: str, usage: Usage, seconds: float) -> Cost:
        return price(resolve(name, self.settings), usage, seconds, self.settings)

    # Models

    def model(self, name: str, dataset: str = "humaneval") -> Model:
        """The model of that name, kept open until the workspace is closed. Raises UnknownNameError, ModelError.

        ``dataset``: whose problems a scripted model knows.
        """
        card = resolve(name, self.settings)
        with self._guard:
            if card.id not in self._models:
                self._models[card.id] = create(card, self.settings, lambda: self._programs(dataset))
            return self._models[card.id]

    def _programs(self, dataset: str) -> dict[str, str]:
        return {one.public.prompt.rstrip(): one.canonical_solution for one in self.dataset(dataset).problems}

    def ask(self, name: str, prompt: str, max_tokens: int = 256) -> Completion:
        """Ask a model one question outside any experiment. Raises ModelError."""
        request = Request((Message("user", prompt),), Sampling(max_tokens=max_tokens), seed=0)
        return self.model(name).complete(request, lambda _text: None)

    def available_models(self) -> list[Availability]:
        """Which models can be asked now, and what the others lack."""
        return survey(self.settings)

    def served_model(self) -> str | None:
        """A model that Ollama or LM Studio serves here now, if one answers."""
        return first_ready_local(self.settings)

    def fetch_weights(self, name: str, report: Report) -> Path:
        """The file of an embedded model's weights, downloaded if need be. Raises WeightsError, UnknownNameError."""
        return fetch(name, self.settings, report)


def default_concurrency(plan: Plan) -> int:
    """One at a time where a model is embedded, since its calls queue and would wait on the clock of others; else 4."""
    return 1 if any(name.startswith("embedded/") for name in plan.models()) else 4


def open_workspace(**settings: Any) -> Workspace:  # Any: settings by field name, validated
    """A workspace under the user's settings, with these on top. Raises ConfigError."""
    return Workspace(load_settings(**settings))
