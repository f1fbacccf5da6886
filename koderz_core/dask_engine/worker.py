"""A worker's side: the plugin that Dask starts on it, and the task that runs experiments."""

from __future__ import annotations

import asyncio
import importlib
import logging
import platform
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing import AuthenticationError
from typing import Any

import msgspec
from distributed import Worker, WorkerPlugin, get_worker

from koderz_core.dask_engine.door import Equipment
from koderz_core.dask_engine.link import Link, connect
from koderz_core.dask_engine.messages import (
    TO_WORKER,
    Answered,
    Begin,
    Complete,
    Drop,
    End,
    Fetch,
    Flag,
    FromOwner,
    Gone,
    Hello,
    Ready,
    Refused,
    Run,
    Terms,
    fault_of,
)
from koderz_core.dask_engine.proxies import Asking, Ledger, LinkReceiver, RemoteCalls, RemoteSlot
from koderz_core.errors import InfrastructureError, KoderzError
from koderz_core.grading.problem_tests import Divide
from koderz_core.grading.testsets import Split, TestPolicy
from koderz_core.records import Problem, fingerprint
from koderz_core.runner.dependencies import Dependencies
from koderz_core.runner.experiment import perform
from koderz_core.runner.recorder import Voice, storable

_LOG = logging.getLogger("koderz")
MOST_SPLITS = 64  # divided tests that stay in memory; a worker divides the tests of older problems itself
TASK_SECONDS = 20.0
"""After this time, a task ends with its current experiment: so workers that join later get their share."""


@dataclass(frozen=True)
class Joining:
    """How a worker joins a benchmark. ``equip``: ``module:function``, called with ``Terms``; returns ``Equipment``.

    ``resource``: the name of the Dask resource that an accepted worker gets. ``ours``: koderz has started the worker.
    """

    benchmark: str
    address: tuple[str, int]
    key: bytes
    equip: str
    resource: str
    ours: bool


class Participation(WorkerPlugin):  # type: ignore[misc]  # distributed is typed in parts
    """Joins a benchmark when a worker starts or when the benchmark does, and leaves it at the end."""

    def __init__(self, joining: Joining) -> None:
        self.joining = joining
        self.name = joining.resource
        self.site: WorkerSite | None = None

    async def setup(self, worker: Worker) -> None:
        """Accepted workers get the resource that every experiment needs; others get no experiments."""
        if self.joining.ours:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the terminal reaches all processes in it
        self.site = WorkerSite(self.joining, str(worker.name), worker.address)
        if await asyncio.to_thread(self.site.join):
            await worker.set_resources(**{self.joining.resource: worker.state.nthreads})
            self.site.report_ready()  # not earlier: Dask would find no worker for the experiments

    async def teardown(self, worker: Worker) -> None:  # noqa: ARG002 (as Dask calls it)
        """End the models and the sandbox of this benchmark."""
        if self.site:
            await asyncio.to_thread(self.site.leave)


def serve(resource: str) -> None:
    """The Dask task: one experiment, or several short ones, because each task costs more than a short experiment."""
    plugin = get_worker().plugins[resource]
    assert isinstance(plugin, Participation)
    assert plugin.site
    plugin.site.serve()


class WorkerSite:
    """The link of a worker, its models and its sandbox, for one benchmark."""

    def __init__(self, joining: Joining, name: str, address: str) -> None:
        self._joining = joining
        self._name = f"{name} ({address})" if name != address else name
        self._guard = threading.RLock()  # guards joining, and all of these
        self._equipment: Equipment | None = None
        self._terms: Terms | None = None
        self._link: Link | None = None
        self._problems: dict[str, tuple[Problem, str]] = {}  # with their fingerprints
        self._splits: dict[tuple[str, TestPolicy], Split] = {}
        self._asking: dict[Run, Asking] = {}
        self._runs = 0
        self._left = False

    def join(self) -> bool:
        """Connect to the owner and pass the door; whether the owner accepts this worker."""
        with self._guard:
            if self._left:
                return False
            try:
                link = connect(self._joining.address, self._joining.key)
            except (OSError, EOFError, AuthenticationError):
                if not self._joining.ours:  # ours ends with its owner
                    _LOG.warning("%s cannot reach the process that runs %s.", self._name, self._joining.benchmark)
                return False
            version = str(importlib.import_module("koderz_core").__version__)  # a layer above this one
            hello = Hello(version, platform.python_version(), self._name, platform.node())
            link.send_raw(msgspec.json.encode(hello))
            return self._pass_door(link)

    def _pass_door(self, link: Link) -> bool:
        frame = link.receive()
        terms = TO_WORKER.decode(frame)[0] if frame else None
        if not isinstance(terms, Terms):
            link.close()
            return False
        try:
            self._equipment = self._equipment or _equip(self._joining.equip)(terms)
        except Exception as error:  # noqa: BLE001 (the edge of this thread: the owner shows it)
            link.send(Refused(str(error) if isinstance(error, KoderzError) else f"{type(error).__name__}: {error}"))
            return False
        self._terms, self._link = terms, link
        self._problems, self._splits, self._asking = {}, {}, {}
        threading.Thread(target=self._receive, args=(link,), name="owner", daemon=True).start()
        return True

    def report_ready(self) -> None:
        """Tell the owner that this worker takes experiments."""
        with self._guard:
            if self._link and self._equipment:
                self._link.send(Ready(sorted(self._equipment.own)))

    def leave(self) -> None:
        """Close the link, the models and the sandbox. Idempotent."""
        self._left = True
        with self._guard:
            link, equipment = self._link, self._equipment
            self._link = self._equipment = None
        if link:
            link.close()
        if equipment:
            equipment.close()

    def serve(self) -> None:
        """Run experiments of the owner for some time, or until there are none.

        Raises InfrastructureError if the link is lost, so that Dask tries again.
        """
        end = time.monotonic() + TASK_SECONDS
        while self._run_next() and time.monotonic() < end:
            pass

    def _run_next(self) -> bool:
        asking, equipment = self._asking_of_new_run()
        try:
            asking.link.send(Fetch(asking.run))
            start = asking.start()
            if isinstance(start, Begin):
                self._perform(asking, start, equipment)
        finally:
            self._asking.pop(asking.run, None)
        if asking.link.lost.is_set():
            raise InfrastructureError(f"The connection to the process that runs {self._joining.benchmark} was lost.")
        return isinstance(start, Begin)

    def _asking_of_new_run(self) -> tuple[Asking, Equipment]:
        with self._guard:
            rejoined = self._link is None or self._link.lost.is_set()
            if rejoined and not self.join():
                time.sleep(1.0)  # the owner may be about to come back, or to end the benchmark
                raise InfrastructureError(f"The process that runs {self._joining.benchmark} cannot be reached.")
            assert self._link
            assert self._equipment
            if rejoined:
                self.report_ready()
            self._runs += 1
            asking = Asking(self._link, self._runs, self._joining.benchmark, self._equipment.models)
            self._asking[asking.run] = asking
            return asking, self._equipment

    def _perform(self, asking: Asking, start: Begin, equipment: Equipment) -> None:
        try:
            task = start.task(self._problem(start))
            receiver = LinkReceiver(asking)
            slot = RemoteSlot(asking, start.configuration.id, start.experiment.id, start.paused)
            parts = _dependencies(asking, equipment, self._divide(equipment))
            finished = perform(task, parts, Voice(receiver, start.experiment.id), slot)
        except Exception as error:  # noqa: BLE001 (the edge of this task: the owner raises it again)
            if not isinstance(error, KoderzError):
                _LOG.exception("A bug in koderz or in the strategy ended the experiment %s", start.experiment.id)
            asking.link.post(End(asking.run, fault=fault_of(error)))
        else:
            before = finished is task.before
            if finished.error:
                finished = replace(finished, error=storable(finished.error))  # a message that cannot be sent is lost
            asking.link.post(End(asking.run, None if before else finished, before))  # with the next Fetch

    def _problem(self, start: Begin) -> Problem:
        """The problem of an experiment, which the owner sends once. Raises InfrastructureError if it is not right."""
        problem, sha256 = self._problems[start.problem_id]
        if sha256 != start.sha256:
            raise InfrastructureError(
                f"The worker {self._name} received a problem {start.problem_id} that differs from the problem that was "
                "sent. Install the same versions of koderz and msgspec on the worker and on the machine that runs the "
                "benchmark."
            )
        return problem

    def _divide(self, equipment: Equipment) -> Divide:
        """Divides tests as the owner has done, or here."""
        return lambda problem, policy: self._splits.get((problem.id, policy)) or equipment.divide(problem, policy)

    def _receive(self, link: Link) -> None:
        """Pass messages of the owner on to the runs that wait for them, until the link is lost."""
        try:
            while (frame := link.receive()) is not None:
                for message in TO_WORKER.decode(frame):
                    self._take(link, message)
        except msgspec.MsgspecError:
            _LOG.exception("The process that runs %s sent a message that koderz cannot read", self._joining.benchmark)
            link.close()
        for asking in list(self._asking.values()):
            if asking.link is link:
                asking.lose()
        if self._joining.ours and not self._left:
            self.leave()  # the owner is gone, and this worker with it

    def _take(self, link: Link, message: FromOwner) -> None:
        match message:
            case Flag():
                link.halting = message.halting
            case Begin() | Gone() | Answered() | Complete() | Drop():
                if isinstance(message, Begin):
                    self._keep(message)
                if asking := self._asking.get(message.run):
                    asking.take(message)

    def _keep(self, start: Begin) -> None:
        if start.problem:
            self._problems[start.problem_id] = (start.problem, fingerprint(start.problem))
        if start.split:
            self._splits[start.problem_id, start.policy] = start.split
            if len(self._splits) > MOST_SPLITS:
                self._splits.pop(next(iter(self._splits)))


def _equip(name: str) -> Callable[[Terms], Equipment]:
    module, _, function = name.partition(":")
    found: Callable[[Terms], Equipment] = getattr(importlib.import_module(module), function)
    return found


def _dependencies(asking: Asking, equipment: Equipment, divide: Divide) -> Dependencies:
    """The parts of an experiment: tests run here, and everything that is shared is asked of the owner."""
    return Dependencies(
        models={},
        local=frozenset(),
        judge=equipment.judge,
        price=_made_by_owner,
        clock=time.time,
        redact=equipment.redact,
        recall=asking.recall,
        divide=divide,
        ledger=Ledger(asking),
        benchmark=asking.benchmark,
        calls=lambda _dependencies, _voice, _slot, place: RemoteCalls(asking, place),
    )


def _made_by_owner(*_: object) -> Any:  # Any: it returns nothing
    raise AssertionError("the process that runs the benchmark computes all costs, so a worker never does")
