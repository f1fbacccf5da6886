"""The clusters that ``--engine dask=...`` names: one on this machine, one that runs already, or one of Slurm jobs."""

from __future__ import annotations

import logging
import math
import os
import re
import signal
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import yaml

from koderz_core.errors import InfrastructureError, UsageError

try:
    import dask
    from distributed import Client, LocalCluster
except ModuleNotFoundError as error:
    raise UsageError(
        f"The Dask engine needs the package {error.name}, which is not installed. To install it: "
        "pip install 'koderz[dask]'"
    ) from error

FORMS = "dask, dask=local:N, dask=ADDRESS or dask=slurm:FILE"
SPARE = 4  # threads of a local worker beyond its share: a thread may still be busy when the next experiment comes
CONNECT_SECONDS = 30.0
_QUIET = {
    "distributed.worker.profile.enabled": False,  # it takes a sample of all threads every 10 ms
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "1s",  # how often each process measures its event loops, by default every 20 ms
    "distributed.admin.large-graph-warning-threshold": "1GB",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where workers come from. ``kind``: ``local`` (``name``: their number), ``slurm`` (a file) or ``address``.

    ``options``: the content of the file.
    """

    kind: str
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)  # Any: options of dask-jobqueue

    @classmethod
    def of(cls, text: str) -> Place:
        """The place that the part after ``dask`` names. Raises UsageError."""
        if text in ("", "="):
            return cls("local", str(os.cpu_count() or 1))
        kind, found, name = text.removeprefix("=").partition(":")
        if found and kind == "local":
            if not re.fullmatch(r"[1-9]\d{0,3}", name):
                raise UsageError(f"--engine dask=local:{name} needs a valid number of workers. Example: dask=local:4")
            return cls(kind, name)
        if found and kind == "slurm" and name:
            _import_jobqueue()
            return cls(kind, name, slurm_options(Path(name)))
        if re.fullmatch(r"(\w+://)?[^\s/:]+:\d+", text.removeprefix("=")):
            return cls("address", text.removeprefix("="))
        raise UsageError(f"--engine dask{text} names no cluster. Possible values: {FORMS}.")

    @property
    def ours(self) -> bool:
        """Whether koderz starts the workers, and ends them with the benchmark."""
        return self.kind != "address"

    @property
    def threads(self) -> int | None:
        """The number of experiments that Slurm's jobs can run at the same time; None for other places."""
        return int(self.options["jobs"] * self.options.get("cores", 1)) if self.kind == "slurm" else None


@dataclass(slots=True)
class Cluster:
    """A client of a cluster, and the cluster itself if koderz has started it."""

    client: Client
    cluster: Any = None  # Any: Dask's clusters have no types

    def close(self) -> None:
        """End the workers that koderz has started, and disconnect."""
        self.client.close()
        if self.cluster:
            self.cluster.close()


def opened(place: Place, folder: Path, concurrency: int) -> Cluster:
    """The cluster at a place, with room for this number of experiments. Files of Dask are in ``folder``.

    Raises UsageError, InfrastructureError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    dask.config.set({"temporary-directory": str(folder), **_QUIET})
    for part in ("", ".nanny", ".worker", ".scheduler", ".client", ".core"):
        logging.getLogger(f"distributed{part}").setLevel(logging.CRITICAL)  # koderz says itself what a user must know
    try:
        if place.kind == "address":
            return Cluster(Client(place.name, timeout=CONNECT_SECONDS, set_as_default=False))
        made = _local(int(place.name), folder, concurrency) if place.kind == "local" else _slurm(place)
    except (OSError, RuntimeError, ValueError) as error:
        cure = {
            "address": "Check that the address is correct and that the scheduler is running.",
            "slurm": f"Check that the options in {place.name} are correct and that Slurm is running.",
        }
        raise InfrastructureError(
            f"The Dask cluster {place.name} could not be reached or started: {str(error).rstrip('.')}. "
            f"{cure.get(place.kind, 'Start fewer workers, or use --engine local.')}"
        ) from error
    return Cluster(Client(made, set_as_default=False), made)


def _local(workers: int, folder: Path, concurrency: int) -> Any:  # Any: as above
    """Workers on this machine, which only this machine can reach."""
    with _spared_by_ctrl_c():
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=math.ceil(concurrency / workers) + SPARE,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            local_directory=str(folder),
            memory_limit=None,  # koderz watches the memory of the machine itself
            silence_logs=logging.CRITICAL,
        )


@contextmanager
def _spared_by_ctrl_c() -> Iterator[None]:
    """Start processes inside that Ctrl-C does not reach, although a terminal sends it to all of them: koderz stops."""
    resource_tracker.ensure_running()  # Python starts it before the first process, and then allows the signal again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # threads and processes inherit it
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _import_jobqueue() -> None:
    """Import dask-jobqueue, which only the main thread can do: it replaces the handler of Ctrl-C, restored here."""
    handler = signal.getsignal(signal.SIGINT)
    try:
        import dask_jobqueue  # noqa: F401, PLC0415 (only this place needs it)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"--engine dask=slurm:FILE needs the package {error.name}, which is not installed. To install it: "
            "pip install 'koderz[dask]'"
        ) from error
    finally:
        signal.signal(signal.SIGINT, handler)


def _slurm(place: Place) -> Any:  # Any: as above
    """Jobs of Slurm, as the file describes them."""
    from dask_jobqueue import SLURMCluster  # noqa: PLC0415 (only this place needs it)

    cluster = SLURMCluster(**{name: value for name, value in place.options.items() if name != "jobs"})
    cluster.scale(jobs=place.options["jobs"])
    return cluster


def slurm_options(file: Path) -> dict[str, Any]:  # Any: as in ``Place``
    """The options in a file: those of ``dask_jobqueue.SLURMCluster``, and ``jobs``. Raises UsageError."""
    example = "Example: cores = 8, memory = '16GB', walltime = '02:00:00', jobs = 4"
    try:
        text = file.read_text()
        options = tomllib.loads(text) if file.suffix == ".toml" else yaml.safe_load(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"{file} cannot be read as TOML or YAML: {error}. {example}") from error
    if not isinstance(options, Mapping) or not _is_number(options.get("jobs")):
        raise UsageError(f"{file} must set jobs (the number of Slurm jobs) to a whole number. {example}")
    if not _is_number(options.get("cores", 1)):
        raise UsageError(f"{file} must set cores to a whole number. {example}")
    return dict(options)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
