"""A script for a bare interpreter that computes the answers of a canonical solution.

Its argument is a JSON object that says how to enclose itself. It reads one JSON object from standard input, up to its
end, and writes one to standard output. The solution could forge the output, but it has the same publisher as the tests.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any

_MOST_SLOW = 5  # calls that exceed their limit, before all others count as slow


def main() -> None:
    """Answer the order. If a call raises, the answer is only ``fault``, unless the order limits each call."""
    sys.path.insert(0, __file__.rsplit("/", 2)[0])
    names = ("confine", "landlock", "seccomp", "literals", "values")
    inside = SimpleNamespace(**{name: import_module(f"inside.{name}") for name in names})
    confine = inside.confine
    sys.path.pop(0)  # solutions must not import these modules
    setup = json.loads(sys.argv[1])
    system_calls = None
    if setup["boxed"]:
        confine.enclose(inside.landlock.Readable(**setup["readable"]))
        system_calls = inside.seccomp.Filter("program")
    order = json.load(sys.stdin.buffer)
    host, sys.stdout = sys.stdout, io.StringIO()  # discards the prints of a solution
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, _stop)
    confine.restrict(confine.Limits(order["seconds"], order["memory_bytes"]), system_calls)
    json.dump(_answers(order, inside), host)
    host.flush()
    os._exit(0)


def _answers(order: dict[str, Any], inside: Any) -> dict[str, Any]:  # Any: JSON; modules
    """Answers as lines of JSON, None for an answer that is not plain data, and the processor time of each call."""
    outputs: list[str | None] = []
    seconds: list[float] = []
    slow = 0
    try:
        scope: dict[str, Any] = {"__name__": "reference"}  # Any: a module's names
        exec(compile(order["code"], "<canonical>", "exec", dont_inherit=True), scope)  # noqa: S102 (the point)
        function = scope[order["entry_point"]]
        for line in order["calls"]:
            arguments = inside.values.decode(json.loads(line))
            started = time.process_time()
            if each := order.get("each_seconds"):
                began = time.monotonic()
                quick = slow < _MOST_SLOW
                outputs.append(_limited(lambda: _line(function(*arguments), inside), each) if quick else None)  # noqa: B023
                slow += time.monotonic() - began >= each
            else:
                outputs.append(_line(function(*arguments), inside))
            seconds.append(round(time.process_time() - started, 6))  # with _line, as programs write answers too
    except BaseException as error:  # noqa: BLE001 (every error of a solution is reported)
        return {"fault": f"{type(error).__name__}: {str(error)[:300]} (call {len(outputs)})"}
    return {"outputs": outputs, "seconds": seconds}


def _limited(answer: Callable[[], str | None], seconds: float) -> str | None:
    """The answer; None if the call raises or exceeds its processor time, or five times as much wall time.

    A program that catches the exception of the timer exceeds only the limit of the whole order.
    """
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, 5 * seconds)
        return answer()
    except BaseException:  # noqa: BLE001 (every error means that the solution does not take these arguments)
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def _stop(_number: int, _frame: object) -> None:
    raise TimeoutError


def _line(answer: object, inside: Any) -> str | None:  # Any: modules
    literals, values = inside.literals, inside.values
    try:
        flat = literals.flattened(answer)
    except (literals.NotPlainError, RecursionError):
        return None
    encoded = {"large": flat.digest} if isinstance(flat, literals.Large) else values.encode(flat)
    return None if values.holds(encoded, "beyond") else json.dumps(encoded, separators=(",", ":"))


if __name__ == "__main__":
    main()
