"""Engines: where the experiments of a benchmark run. Today's threads are the engine ``local``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from koderz_core.events import BenchmarkOpened, ExperimentFinished
from koderz_core.runner.dependencies import Dependencies
from koderz_core.runner.experiment import Task, perform
from koderz_core.runner.recorder import Voice
from koderz_core.runner.scheduler import Scheduler, Slot

Perform = Callable[[Task, Dependencies, Voice, Slot], ExperimentFinished]
"""Runs one experiment, as ``koderz_core.runner.experiment.perform``. Called from one thread per experiment."""


class Engine(Protocol):
    """Runs experiments, in this process or elsewhere. Journal, budget and limits stay in this process."""

    @property
    def has_models(self) -> bool:
        """Whether the engine opens the models, so that this process need not."""

    @property
    def concurrency(self) -> int | None:
        """The number of experiments that can run at the same time; None: the engine sets no limit."""

    def running(
        self, header: BenchmarkOpened, models: frozenset[str], scheduler: Scheduler
    ) -> AbstractContextManager[Perform]:
        """Run the experiments of a benchmark inside; ``models``: the ids that they need.

        The plan in the ``header`` has only the configurations that still run: the strategies of others may not be
        installed here.
        Raises KoderzError if no experiment can run.
        """

    def close(self) -> None:
        """End everything that the engine has started. Idempotent."""


class LocalEngine:
    """Experiments run in threads of this process."""

    has_models = False
    concurrency = None

    def running(
        self,
        header: BenchmarkOpened,  # noqa: ARG002 (as ``Engine``)
        models: frozenset[str],  # noqa: ARG002 (as ``Engine``)
        scheduler: Scheduler,  # noqa: ARG002 (as ``Engine``)
    ) -> AbstractContextManager[Perform]:
        """As ``Engine``."""
        return nullcontext(perform)

    def close(self) -> None:
        """Do nothing: the threads end with their experiments."""


LOCAL = LocalEngine()
