"""Grading of programs through an executor, such as that of a Dask cluster: for repositories and files of samples."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Executor
from functools import cache
from typing import Any

import msgspec

from koderz_core.dask_engine.door import differing_isolation
from koderz_core.errors import KoderzError, SandboxError
from koderz_core.protocols import Judge
from koderz_core.records import Observed, Problem, PublicProblem, TestSet, Verdict


class Bench(msgspec.Struct, frozen=True):
    """What a worker needs to judge. ``make``: ``module:function``, called with ``settings``; returns a judge.

    ``version``, ``isolation``: those of the process that asks, which the worker must have too.
    """

    make: str
    settings: str  # JSON, so that it can be hashed
    version: str
    isolation: str


class ExecutorJudge:
    """A judge whose programs run wherever an executor runs them. Calls of a program are evaluated here."""

    def __init__(self, executor: Executor, bench: Bench, probing: Judge) -> None:
        self._executor, self._bench, self._probing = executor, bench, probing

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        """As ``Judge``."""
        future = self._executor.submit(judge, self._bench, problem, code, tests)
        try:
            found: Verdict = future.result()
        except CancelledError:
            raise SandboxError("Grading was stopped before this program was judged.") from None
        except KoderzError:
            raise
        except Exception as error:
            raise SandboxError(
                f"A worker could not judge a program for {problem.id}: {type(error).__name__}: {error}. Check that the "
                "worker runs and has the same version of koderz as the process that uses the worker."
            ) from error
        return found

    def probe(self, problem: PublicProblem, code: str, calls: Sequence[str]) -> tuple[Observed, ...]:
        """As ``Judge``."""
        return self._probing.probe(problem, code, calls)


def judge(bench: Bench, problem: Problem, code: str, tests: TestSet) -> Verdict:
    """The verdict on a program, on a worker. Raises SandboxError, also if the worker differs from the owner."""
    own = str(importlib.import_module("koderz_core").__version__)  # a layer above this one
    if own != bench.version:
        raise SandboxError(
            f"A worker has koderz {own}, but the process that uses the worker has {bench.version}. On the worker, run: "
            f"pip install koderz=={bench.version}, then start the worker again."
        )
    with _GUARD:
        found, isolation = _judge_of(bench)
    if reason := differing_isolation(isolation, bench.isolation):
        raise SandboxError(f"A worker cannot grade: {reason}")
    return found.check(problem, code, tests)


_GUARD = threading.Lock()  # two threads of a worker must not open two sandboxes


@cache
def _judge_of(bench: Bench) -> tuple[Judge, str]:
    """The judge of this process, and the tier of its sandbox; it ends with the process."""
    module, _, function = bench.make.partition(":")
    make: Callable[[Mapping[str, Any]], tuple[Judge, str]] = getattr(importlib.import_module(module), function)
    return make(msgspec.json.decode(bench.settings))
