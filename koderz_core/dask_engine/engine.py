"""The engine: a Dask cluster, the owner of its links, and the Dask tasks that run experiments."""

from __future__ import annotations

import logging
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from distributed import Future
from distributed.protocol.pickle import dumps

from koderz_core.dask_engine.clusters import Cluster, Place, opened
from koderz_core.dask_engine.messages import Terms
from koderz_core.dask_engine.owner import Owner
from koderz_core.dask_engine.performance import Performance
from koderz_core.dask_engine.worker import Joining, Participation, serve
from koderz_core.errors import Cancelled, InfrastructureError
from koderz_core.events import BenchmarkOpened, ExperimentFinished
from koderz_core.runner.dependencies import Dependencies
from koderz_core.runner.engine import Perform
from koderz_core.runner.experiment import Task, without_result
from koderz_core.runner.recorder import Voice
from koderz_core.runner.scheduler import Scheduler, Slot

_LOG = logging.getLogger("koderz")
LOOPBACK = "127.0.0.1"
RETRIES = 3  # of a task whose link broke, although its worker lives
ALONE_SECONDS = 60.0  # how long a benchmark waits for a worker after the last one is gone
REMIND_SECONDS = 60.0
REPORT_SECONDS = 1.0

Watch = Callable[[Mapping[str, tuple[str, ...]]], None]
"""Receives the ids of the experiments that each worker runs."""


@dataclass(frozen=True, slots=True)
class Outfit:
    """What workers are given. ``equip``: as in ``Joining``; ``settings``: in place of their own; ``folder``: of Dask.

    ``watch``: called about once a second with the experiments of each worker.
    """

    equip: str
    settings: Mapping[str, Any]  # Any: values of settings
    folder: Path
    watch: Callable[[str, Mapping[str, tuple[str, ...]]], None] = lambda _benchmark, _workers: None


@dataclass
class DaskEngine:
    """Runs experiments in the workers of a cluster. It implements ``Engine``."""

    place: Place
    outfit: Outfit
    wanted: int | None  # the concurrency that the user has chosen
    default: int  # that of the plan
    has_models: bool = True
    _cluster: Cluster | None = field(default=None, repr=False)

    @property
    def concurrency(self) -> int:
        """The threads of all workers, unless the user has chosen a number."""
        if self.wanted:
            return self.wanted
        if self.place.kind == "local":
            return max(self.default, int(self.place.name))
        return self.place.threads or sum(self.cluster().client.nthreads().values()) or self.default

    def cluster(self) -> Cluster:
        """The cluster, started at the first call. Raises UsageError, InfrastructureError."""
        if self._cluster is None:
            self._cluster = opened(self.place, self.outfit.folder, self.concurrency if self.place.ours else 1)
        return self._cluster

    def close(self) -> None:
        """As ``Engine``."""
        cluster, self._cluster = self._cluster, None
        if cluster:
            cluster.close()

    @contextmanager
    def running(self, header: BenchmarkOpened, models: frozenset[str], scheduler: Scheduler) -> Iterator[Perform]:
        """As ``Engine``."""
        cluster, key = self.cluster(), secrets.token_bytes(32)
        terms = Terms(header, sorted(models), dict(self.outfit.settings))
        owner = Owner(terms, scheduler, _own_address(self.place, cluster), key)
        name = f"koderz-{header.benchmark}-{secrets.token_hex(4)}"
        joining = Joining(header.benchmark, owner.address, key, self.outfit.equip, name, self.place.ours)
        try:
            try:
                _invite(cluster, owner, joining)
                _await_workers(cluster, owner, scheduler)
            except OSError as error:
                raise _scheduler_lost(header.benchmark) from error
            tasks = _Tasks(cluster, owner, name)
            with _attended(owner, tasks, partial(self.outfit.watch, header.benchmark)):
                yield tasks.perform
        finally:
            owner.close()
            _dismiss(cluster, name)


class _Tasks:
    """The Dask tasks, at most one per experiment that has not ended."""

    def __init__(self, cluster: Cluster, owner: Owner, resource: str) -> None:
        self._client, self._owner, self._resource = cluster.client, owner, resource
        self._futures: set[Future] = set()
        self._guard = threading.Lock()  # guards _futures

    def perform(self, task: Task, dependencies: Dependencies, voice: Voice, slot: Slot) -> ExperimentFinished:
        """As ``perform`` of the runner, on a worker."""
        performance = Performance(task, dependencies, voice, slot)
        self._owner.add(performance)
        try:
            self.submit()
            outcome = performance.outcome.get()
        finally:
            self._owner.remove(performance)
        if isinstance(outcome, Cancelled):
            return task.before or performance.ended(without_result("cancelled"))
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def submit(self) -> None:
        """Submit a task if an experiment waits and no task may come for it."""
        with self._guard:
            waiting, all_ = self._owner.demand()
            if not waiting or len(self._futures) >= all_:
                return
            future = self._client.submit(
                serve,
                self._resource,
                key=f"experiments-{secrets.token_hex(8)}",
                pure=False,
                retries=RETRIES,
                resources={self._resource: 1},
            )
            self._futures.add(future)
        future.add_done_callback(self._end)

    def schedule_again(self) -> None:
        """Let Dask schedule the tasks that had no worker: it does that only before a new worker is accepted."""

        def schedule(dask_scheduler: Any) -> None:  # Any: sent to the scheduler by value, which need not have koderz
            for worker in list(dask_scheduler.running):
                again = dask_scheduler.bulk_schedule_unrunnable_after_adding_worker(worker)
                dask_scheduler.transitions(again, "koderz")

        if self._client.status == "running":
            with suppress(OSError):  # a scheduler that is lost ends the benchmark through its tasks
                self._client.run_on_scheduler(schedule)

    def _end(self, future: Future) -> None:
        """A task has ended; called in a thread of Dask's client."""
        with self._guard:
            self._futures.discard(future)
        if future.status in ("cancelled", "lost"):
            self._owner.give_up(_scheduler_lost(self._owner.header.benchmark))
            return
        if future.status == "error":
            _LOG.warning("A Dask task of %s failed: %s", self._owner.header.benchmark, future.exception())
        self.submit()


def _scheduler_lost(benchmark: str) -> InfrastructureError:
    return InfrastructureError(
        "The connection to Dask's scheduler was lost, so the benchmark was stopped. Start the cluster again, then run: "
        f"koderz resume {benchmark} --engine dask=..."
    )


def _invite(cluster: Cluster, owner: Owner, joining: Joining) -> None:
    """Let all workers join, those that start later too. A worker that cannot load koderz counts as refused."""
    register = cluster.client.scheduler.register_worker_plugin
    plugin = dumps(Participation(joining))
    answers = cluster.client.sync(register, plugin=plugin, name=joining.resource, idempotent=False)
    for worker, answer in answers.items():
        if answer["status"] == "error":
            owner.refuse(
                worker,
                f"it cannot load koderz ({answer['exception_text']}). On the worker, run: pip install "
                f"'koderz[dask]=={owner.header.koderz_version}', then start the worker again.",
            )


def _dismiss(cluster: Cluster, name: str) -> None:
    """Let workers that live on end the models and the sandbox of this benchmark."""
    if cluster.cluster is None and cluster.client.status == "running":
        with suppress(Exception):  # they end them anyway, because their links are closed
            cluster.client.sync(cluster.client.scheduler.unregister_worker_plugin, name=name)


def _await_workers(cluster: Cluster, owner: Owner, scheduler: Scheduler) -> None:
    """Return when a worker is ready, or the benchmark is stopped. Raises InfrastructureError if all were refused."""
    reminded = time.monotonic()
    while not owner.wait_for_worker(1.0) and not scheduler.stopped:
        refusals, present = owner.refusals, cluster.client.nthreads()
        if refusals and len(refusals) >= len(present):
            raise InfrastructureError(f"No worker can run {owner.header.benchmark}. {_refused(refusals)}")
        if time.monotonic() - reminded > REMIND_SECONDS:
            reminded = time.monotonic()
            _LOG.warning(
                "%s waits for a worker. Workers of the cluster: %d. Each worker must reach this machine at %s:%d.",
                owner.header.benchmark,
                len(present),
                *owner.address,
            )


def _refused(refusals: Mapping[str, str]) -> str:
    listed = "; ".join(f"{worker}: {reason}" for worker, reason in refusals.items())
    return f"Refused workers: {listed or 'none'}"


def _alone(benchmark: str, refusals: Mapping[str, str]) -> str:
    return (
        f"All workers were lost or refused, and no worker has joined for {ALONE_SECONDS:g} s, so the benchmark was "
        f"stopped. {_refused(refusals).rstrip('.')}. Start workers, then run: koderz resume {benchmark} --engine "
        "dask=..."
    )


@contextmanager
def _attended(owner: Owner, tasks: _Tasks, watch: Watch) -> Iterator[None]:
    """Report the experiments of each worker, submit missing tasks, and end the benchmark after long without workers."""
    over = threading.Event()

    def attend() -> None:
        alone_since: float | None = None
        known: frozenset[str] = frozenset()
        while not over.wait(REPORT_SECONDS):
            workers, now = owner.workers(), time.monotonic()
            watch(workers)
            tasks.submit()
            if workers.keys() - known:
                tasks.schedule_again()
            known = frozenset(workers)
            alone_since = None if workers else alone_since or now
            if alone_since and now - alone_since > ALONE_SECONDS:
                owner.give_up(InfrastructureError(_alone(owner.header.benchmark, owner.refusals)))

    thread = threading.Thread(target=attend, name="attend", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        watch({})


def _own_address(place: Place, cluster: Cluster) -> str:
    """The address of this machine at which workers reach it: that of the interface towards Dask's scheduler."""
    if place.kind == "local":
        return LOOPBACK
    there = urlsplit(cluster.client.scheduler.address)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((there.hostname or LOOPBACK, there.port or 1))  # sends nothing
        return str(probe.getsockname()[0])
