"""What a canonical solution answers: run once, in a fresh process, under the same limits as programs."""

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
"""Wall time for all calls of one problem: the slowest of EvalPlus' take a few seconds on an idle machine."""
MEMORY_BYTES = 4 << 30
_SCRIPT = box.INSIDE / "reference.py"


@dataclass(frozen=True, slots=True)
class Answers:
    """One line of ``records.Cases`` per call, None for an answer that is too large or no plain data.

    ``seconds``: processor time that calls and lines took together.
    """

    outputs: tuple[str | None, ...]
    seconds: float


def answers(problem: Problem, calls: Sequence[str], *, boxed: bool = True) -> Answers:
    """What the canonical solution answers to ``calls``, each a line of ``records.Cases``.

    ``boxed``: with Landlock and seccomp; with rlimits only is for where tier ``strong`` does not hold. Raises DataError
    if it fails, SandboxError if it could not be run.
    """
    order = {
        "code": problem.canonical_solution,
        "entry_point": problem.public.entry_point,
        "calls": calls,
        "seconds": SECONDS,
        "memory_bytes": MEMORY_BYTES,
    }
    said = _ask(problem, json.dumps(order).encode("ascii"), boxed=boxed)
    try:
        return msgspec.json.decode(said, type=Answers)
    except msgspec.DecodeError:
        fault = msgspec.json.decode(said).get("fault", "no answer") if said.startswith(b'{"fault"') else "no answer"
    raise DataError(
        f"The canonical solution of {problem.id} fails its own plus tests: {fault}. Leave out that problem."
    )


def _ask(problem: Problem, order: bytes, *, boxed: bool) -> bytes:
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
            f"The canonical solution of {problem.id} takes more than {SECONDS:g} s. Leave it out."
        ) from error
    except OSError as error:
        raise SandboxError(f"An interpreter could not be started: {error}. Free memory or processes.") from error
    return done.stdout
