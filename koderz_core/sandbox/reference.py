"""The answers of a canonical solution, which runs once, in a fresh process, under the same limits as programs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import msgspec

from koderz_core.errors import DataError, SandboxError
from koderz_core.records import Problem
from koderz_core.sandbox import box

SECONDS = 300.0
"""Wall time for all calls of one problem. The slowest of EvalPlus take a few seconds on an idle machine."""
MEMORY_BYTES = 4 << 30
TRIAL_SECONDS = 60.0
"""As ``SECONDS``, for calls that the solution may fail."""
TRIAL_CALL_SECONDS = 1.0
"""Processor time of each of these calls."""
_CURE = "Omit that problem."
_SCRIPT = box.INSIDE / "reference.py"


@dataclass(frozen=True, slots=True)
class Answers:
    """One line of ``records.Cases`` per call, None for an answer that is too large or not plain data.

    ``seconds``: processor time of each call, with writing its line. ``fault``: the only content of the script's output
    if the solution fails, which is then raised.
    """

    outputs: tuple[str | None, ...] = ()
    seconds: tuple[float, ...] = ()
    fault: str = ""


_OUTPUT = msgspec.json.Decoder(Answers)  # made here: two threads that make it at once may crash


def answers(problem: Problem, calls: Sequence[str], *, boxed: bool = True) -> Answers:
    """The canonical solution's answers to ``calls``, each a line of ``records.Cases``.

    ``boxed``: with Landlock and seccomp. Without them there are only rlimits, for machines without tier ``strong``.
    Raises DataError if the solution fails, SandboxError if it could not be run.
    """
    output = _run(problem, calls, {"seconds": SECONDS, "memory_bytes": MEMORY_BYTES}, boxed=boxed)
    found = _read(output, len(calls))
    if isinstance(found, Answers):
        return found
    raise DataError(f"The canonical solution of {problem.id} fails the plus tests of that problem: {found}. {_CURE}")


def trial_answers(problem: Problem, calls: Sequence[str], hash_seed: int, *, boxed: bool = True) -> Answers:
    """As ``answers``, for calls that the solution may fail: None also for a call that raises or is slow.

    With another ``hash_seed``, sets of strings have another order. Raises DataError if the solution ends its process or
    all calls together take too long, SandboxError.
    """
    limits = {"seconds": TRIAL_SECONDS, "memory_bytes": MEMORY_BYTES, "each_seconds": TRIAL_CALL_SECONDS}
    found = _read(_run(problem, calls, limits, boxed=boxed, hash_seed=hash_seed), len(calls))
    if isinstance(found, Answers):
        return found
    raise DataError(f"The canonical solution of {problem.id} cannot be run on new inputs: {found}.")


def _read(output: bytes, calls: int) -> Answers | str:
    """The answers, or the fault of the solution. A solution that forges its answers has given none."""
    try:
        found = _OUTPUT.decode(output)
    except msgspec.DecodeError:
        return "no answer"
    sound = len(found.outputs) == len(found.seconds) == calls and "\n" not in "".join(filter(None, found.outputs))
    return found.fault or (found if sound else "no answer")


def _run(
    problem: Problem, calls: Sequence[str], limits: Mapping[str, float], *, boxed: bool, hash_seed: int = 0
) -> bytes:
    texts = {"code": problem.canonical_solution, "entry_point": problem.public.entry_point, "calls": calls}
    setup = json.dumps({"boxed": boxed, "readable": asdict(box.readable())})
    try:
        done = subprocess.run(
            [*box.command("strong" if boxed else "limited", None), str(_SCRIPT), setup],
            input=json.dumps({**texts, **limits}).encode("ascii"),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=limits["seconds"],
            check=False,
            cwd="/",
            env={**box.ENVIRONMENT, "PYTHONHASHSEED": str(hash_seed)},
            start_new_session=True,  # otherwise Ctrl-C ends it, and the solution would seem to fail
        )
    except subprocess.TimeoutExpired as error:
        raise DataError(
            f"The canonical solution of {problem.id} takes more than {limits['seconds']:g} s. {_CURE}"
        ) from error
    except OSError as error:
        raise SandboxError(
            f"A Python interpreter could not be started: {error}. Free some memory, or end other processes."
        ) from error
    return done.stdout
