"""One process per verdict that runs tests of a repository in a private copy of its tree.

The copy is made inside the sandbox, from files that the host sends: in a file system in memory (tier ``hardened``) or
in a temporary folder. ``inside/pytest_run.py`` is the process.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any, Literal

from koderz_core.errors import SandboxError
from koderz_core.records import Isolation
from koderz_core.sandbox import box
from koderz_core.sandbox.folders import Folder
from koderz_core.sandbox.inside.deadline import Clock
from koderz_core.sandbox.inside.pytest_run import READY
from koderz_core.sandbox.repository.channel import Channel, FloodError
from koderz_core.sandbox.repository.toolbox import toolbox
from koderz_core.sandbox.requests import CROWDED_TIMES
from koderz_core.sandbox.workers import START_SECONDS, wait_for_group

MEMORY_BYTES = 4 << 30
"""The address space of the process: threads and their memory take much of it without using it."""
COPY_BYTES = 512 << 20
"""The size of the file system in memory."""
FILE_BYTES = 128 << 20
PROCESSES = 256  # with threads; at tier hardened, where they can be counted apart from those of the user
_TRIES = 2
_WORK, _TOOLBOX = "/koderz/work", "/koderz/toolbox"  # in the sandbox
_START = "import sys; sys.path.insert(0, {!r}); import inside.pytest_run as run; sys.path.pop(0); run.main()"

Record = list[Any]  # Any: JSON from the process, which may be forged


@dataclass(frozen=True, slots=True)
class Job:
    """Tests to run, in the files of a tree: those with the ``ids``, None for all of the files ``paths``.

    Without paths, pytest searches the tree. ``seconds``: the limit, which is extended on a busy machine. ``roots`` and
    ``needs`` as in ``records.Repository``. ``explains``: whether messages of failed assertions show values.
    """

    files: Mapping[str, bytes]
    ids: Sequence[str] | None
    paths: Sequence[str]
    seconds: float
    roots: Sequence[str] = ("",)
    needs: Sequence[str] = ()
    explains: bool = True


@dataclass(frozen=True, slots=True)
class Run:
    """The records of a process, and why the host stopped it, "" if it ended by itself. ``finished``: as it says."""

    records: tuple[Record, ...]
    finished: bool
    stopped: Literal["", "timeout", "flood"]
    seconds: float


@dataclass(slots=True)
class Workspace:
    """Starts the processes, at most ``limit`` at a time. May be used from any thread."""

    isolation: Isolation
    bwrap: str | None
    limit: int
    _places: threading.Semaphore = field(init=False)
    _guard: threading.Lock = field(default_factory=threading.Lock)  # guards those below
    _running: set[subprocess.Popen[bytes]] = field(default_factory=set)
    _closed: bool = False

    def __post_init__(self) -> None:
        self._places = threading.Semaphore(self.limit)

    def run(self, job: Job) -> Run:
        """Run the tests; nothing that the tree does is an error. Raises SandboxError if no process starts."""
        with self._places:
            reasons: list[str] = []
            while len(reasons) < _TRIES:
                self._refuse_if_closed()
                try:
                    return self._run(job)
                except _NotStartedError as error:
                    reasons.append(str(error))
            self._refuse_if_closed()
            raise SandboxError(
                f"The tests of a repository could not be started: {reasons[-1]}. Run `koderz doctor --grader`."
            )

    def close(self) -> None:
        """End all processes; waiting and later calls raise SandboxError. Idempotent."""
        with self._guard:
            self._closed = True
            for process in self._running:
                _kill(process)

    def _refuse_if_closed(self) -> None:
        with self._guard:
            if self._closed:
                raise SandboxError("The judge for repository tasks is closed, so it cannot run tests.")

    def _run(self, job: Job) -> Run:
        nonce, began = secrets.token_hex(16), time.monotonic()
        with self._started(job) as process:
            channel = Channel(process, nonce)
            stopped = _converse(process, channel, _order(job, nonce), job.seconds)
            self._refuse_if_closed()
            records = channel.records
            if not records or records[0][:1] != [READY]:
                raise _NotStartedError(channel.errors() or "the process ended without a message")
        finished = records[-1][:1] == ["finish"]
        return Run(tuple(records[1 : len(records) - finished]), finished, stopped, time.monotonic() - began)

    @contextmanager
    def _started(self, job: Job) -> Iterator[subprocess.Popen[bytes]]:
        """A process that waits for its order; it and its folder are gone afterwards."""
        folder = None if self.isolation == "hardened" else Folder()
        try:
            process = self._start(job, folder)
            try:
                with self._guard:
                    self._running.add(process)
                yield process
            finally:
                with self._guard:
                    self._running.discard(process)
                _kill(process)
                _close_pipes(process)
        except OSError as error:
            raise _NotStartedError(str(error)) from error
        finally:
            if folder:
                folder.remove()

    def _start(self, job: Job, folder: Folder | None) -> subprocess.Popen[bytes]:
        modules = toolbox(tuple(job.needs))
        if folder is None:
            work, tools = _WORK, _TOOLBOX
            binds = [word for path in modules for word in ("--ro-bind", str(path), f"{_TOOLBOX}/{path.name}")]
            mounts = ["--size", str(COPY_BYTES), "--tmpfs", _WORK, *binds]
        else:
            work, tools, mounts = str(folder.path / "work"), str(folder.path / "toolbox"), []
            for place in (work, tools):
                Path(place).mkdir()
            for path in modules:
                (Path(tools) / path.name).symlink_to(path)
        environment = _environment(work)
        command = box.command(self.isolation, self.bwrap, mounts, environment)
        setup = json.dumps(self._setup(job, work, tools, [str(path) for path in modules]))
        return subprocess.Popen(
            [*command, "-c", _START.format(str(box.INSIDE.parent)), setup],
            cwd=folder.path if folder else "/",
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def _setup(self, job: Job, work: str, tools: str, modules: list[str]) -> dict[str, object]:
        """``inside.pytest_run.Setup``."""
        paths, listed = astuple(box.readable())
        readable = [[*paths, *modules, tools], listed, [work]]
        hardened = self.isolation == "hardened"
        return {
            "work": work,
            "toolbox": tools,
            "memory_bytes": MEMORY_BYTES,
            "file_bytes": FILE_BYTES,
            "cpu_seconds": int(CROWDED_TIMES * job.seconds) + 1,  # the kernel's limit, behind that of the host
            "readable": None if self.isolation == "limited" else readable,
            "filter": {"hardened": "tests-alone", "strong": "tests", "limited": None}[self.isolation],
            "parent": 0 if hardened else os.getpid(),
            "processes": PROCESSES if hardened else 0,
        }


class _NotStartedError(Exception):
    """The process did not get to the tree's own code, so the tree is not the cause."""


def _environment(work: str) -> dict[str, str]:
    """All environment variables of the process."""
    return {
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "MALLOC_ARENA_MAX": "2",  # each arena takes 64 MB of the address space
        "LC_ALL": "C.UTF-8",
        "HOME": f"{work}/home",
        "TMPDIR": f"{work}/tmp",  # noqa: S108 (a folder of its own)
    }


def _order(job: Job, nonce: str) -> bytes:
    """The head of ``inside.pytest_run.Order``, with its length, and the contents of the files."""
    sizes = [(path, len(content)) for path, content in job.files.items()]
    ids = None if job.ids is None else list(job.ids)
    said = {"nonce": nonce, "files": sizes, "ids": ids, "paths": list(job.paths), "roots": list(job.roots)}
    head = json.dumps({**said, "explains": job.explains}).encode()
    return b"".join([len(head).to_bytes(8, "big"), head, *job.files.values()])


def _converse(
    process: subprocess.Popen[bytes], channel: Channel, order: bytes, seconds: float
) -> Literal["", "timeout", "flood"]:
    """Send the order and read records until the process ends or must be stopped."""
    clock, due = None, time.monotonic() + START_SECONDS
    rest = memoryview(order)
    while not channel.ended:
        rest = channel.exchange(rest, max(0.0, due - time.monotonic()))
        try:
            channel.parse()
        except FloodError:
            return "flood"
        if clock is None and channel.records:
            clock = Clock(seconds, CROWDED_TIMES * seconds, _spent(process.pid))
            due = clock.due
        now = time.monotonic()
        if now >= due:
            extension = clock.delay(now, _spent(process.pid)) if clock else 0.0
            if not extension:
                return "timeout"
            due = now + extension
    return ""


def _spent(pid: int) -> float:
    """Processor time in seconds of a process and its descendants, 0 where there is no ``/proc``."""
    total, pids, tick = 0.0, [str(pid)], os.sysconf("SC_CLK_TCK")
    while pids:
        at = Path("/proc", pids.pop())
        with suppress(OSError):
            fields = (at / "stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, fields[11:15])) / tick
            pids += (at / "task" / at.name / "children").read_text().split()
    return total


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the process and its group. Idempotent."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    wait_for_group(process.pid)


def _close_pipes(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout, process.stderr):
        with suppress(OSError):
            if pipe:
                pipe.close()
