"""The door of a worker: what must be equal to the owner's before it runs an experiment, and what it then brings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from koderz_core.dask_engine.messages import Hello
from koderz_core.grading.problem_tests import Divide
from koderz_core.protocols import Judge, Model
from koderz_core.runner.recorder import Redactor


@dataclass(frozen=True, slots=True)
class Equipment:
    """The parts of a worker that experiments use. ``own``: ids of the models that only this worker reaches."""

    models: Mapping[str, Model]
    own: frozenset[str]
    judge: Judge
    divide: Divide
    redact: Redactor
    close: Callable[[], None]


def differing_versions(hello: Hello, koderz: str, python: str) -> str:
    """Why a worker with these versions is refused, and what to do; empty if it is not."""
    if hello.koderz != koderz:
        return (
            f"it has koderz {hello.koderz}, but the process that runs the benchmark has {koderz}. On the worker, run: "
            f"pip install koderz=={koderz}, then start the worker again."
        )
    if _minor(hello.python) != _minor(python):
        return (
            f"it has Python {hello.python}, but the process that runs the benchmark has {python}. Start the worker "
            f"with Python {_minor(python)}."
        )
    return ""


def differing_isolation(worker: str, owner: str) -> str:
    """Why a worker with this tier of the sandbox is refused, and what to do; empty if it is not."""
    if worker == owner:
        return ""
    return (
        f"its sandbox has the tier {worker}, but the benchmark was started with the tier {owner}. Run `koderz "
        f"doctor` on the worker, or set KODERZ_SANDBOX={owner} on the worker if that tier works there."
    )


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])
