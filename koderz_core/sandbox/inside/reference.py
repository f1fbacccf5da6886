"""What the host starts by its path, in a bare interpreter, to learn what a canonical solution answers.

From the host: how to enclose itself as its argument, then one JSON object on standard input, to its end. To the host:
one JSON object on standard output. The solution could forge it: it comes with the tests, from the same publisher.
"""

from __future__ import annotations

import io
import json
import math
import os
import sys
import time
from importlib import import_module
from typing import Any

_SCOPE = {"inf": math.inf, "nan": math.nan}


def main() -> None:
    """Answer the order; a call that raises ends it with ``fault``."""
    sys.path.insert(0, __file__.rsplit("/", 2)[0])
    confine, landlock, seccomp, literals = (
        import_module(f"inside.{name}") for name in ("confine", "landlock", "seccomp", "literals")
    )
    sys.path.pop(0)  # solutions have no business there
    setup = json.loads(sys.argv[1])
    system_calls = None
    if setup["boxed"]:
        confine.enclose(landlock.Readable(**setup["readable"]))
        system_calls = seccomp.Filter("program")
    order = json.load(sys.stdin.buffer)
    host, sys.stdout = sys.stdout, io.StringIO()  # what a solution prints goes nowhere
    confine.restrict(confine.Limits(order["seconds"], order["memory_bytes"]), system_calls)
    json.dump(_answers(order, literals.short_literal, literals.NotPlainError), host)
    host.flush()
    os._exit(0)


def _answers(order: dict[str, Any], literal: Any, not_plain: Any) -> dict[str, Any]:  # Any: JSON; see literals
    """Answers as literals, None for one that is not plain data; to write one takes time as to send one does."""
    outputs: list[str | None] = []
    seconds = 0.0
    try:
        scope: dict[str, Any] = {"__name__": "reference"}  # Any: a module's names
        exec(compile(order["code"], "<canonical>", "exec", dont_inherit=True), scope)  # noqa: S102 (the point)
        function = scope[order["entry_point"]]
        for text in order["calls"]:
            arguments = eval(text, dict(_SCOPE))  # noqa: S307 (the host wrote it)
            started = time.perf_counter()
            answer = function(*arguments)
            try:
                outputs.append(literal(answer))
            except (not_plain, RecursionError):
                outputs.append(None)
            seconds += time.perf_counter() - started
    except BaseException as error:  # noqa: BLE001 (whatever a solution raises is told)
        return {"fault": f"{type(error).__name__}: {str(error)[:300]} (call {len(outputs)})"}
    return {"outputs": outputs, "seconds": seconds}


if __name__ == "__main__":
    main()
