"""The answers of a canonical solution, which runs once, in a fresh process, under the same limits as programs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import msgspec

from koderz_core.errors import DataError, SandboxError
from koderz_core.records import Problem
from koderz_core.sandbox import box

SECONDS = 300.0
"""Wall time for all calls of one problem. The slowest of EvalPlus take a few seconds on an idle machine."""
MEMORY_BYTES = 4 << 30
_SCRIPT = box.INSIDE / "reference.py"


@dataclass(frozen=True, slots=True)
class Answers:
    """One line of ``records.Cases`` per call, None for an answer that is too large or not plain data.

    ``seconds``: processor time of each call, with writing its line.
    """

    outputs: tuple[str | None, ...]
    seconds: tuple[float, ...]


def answers(problem: Problem, calls: Sequence[str], *, boxed: bool = True) -> Answers:
    """The canonical solution's answers to ``calls``, each a line of ``records.Cases``.

    ``boxed``: with Landlock and seccomp. Without them there are only rlimits, for machines without tier ``strong``.
    Raises DataError if the solution fails, SandboxError if it could not be run.
    """
    order = {
        "code": problem.canonical_solution,
        "entry_point": problem.public.entry_point,
        "calls": calls,
        "seconds": SECONDS,
        "memory_bytes": MEMORY_BYTES,
    }
    output = _run(problem, json.dumps(order).encode("ascii"), boxed=boxed)
    try:
        return msgspec.json.decode(output, type=Answers)
    except msgspec.DecodeError:
        fault = msgspec.json.decode(output).get("fault", "no answer") if output.startswith(b'{"fault"') else "no answer"
    raise DataError(
        f"The canonical solution of {problem.id} fails the plus tests of that problem: {fault}. Omit that problem."
    )


def _run(problem: Problem, order: bytes, *, boxed: bool) -> bytes:
    setup = json.dumps({"boxed": boxed, "readable": asdict(box.readable())})
    try:
        done = subprocess.run(
            [*box.command("strong" if boxed else "limited", None), str(_SCRIPT), setup],
            input=order,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
            cwd="/",
            env=box.ENVIRONMENT,
        )
    except subprocess.TimeoutExpired as error:
        raise DataError(
            f"The canonical solution of {problem.id} takes more than {SECONDS:g} s. Omit that problem."
        ) from error
    except OSError as error:
        raise SandboxError(
            f"A Python interpreter could not be started: {error}. Free some memory, or end other processes."
        ) from error
    return done.stdout
