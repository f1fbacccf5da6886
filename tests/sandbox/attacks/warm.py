"""A grader that defends nothing: runs programs and their tests one after the other in its own process.

From standard input: JSON with ``programs``, ``tests`` and ``entry_point``; to standard output: a JSON list of verdicts.
"""

from __future__ import annotations

import ast
import json
import signal
import sys

SECONDS = 1.0


def stop(_signal, _frame):
    raise TimeoutError


def passes(program, tests, entry_point):
    space = {"__name__": "program"}
    try:
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        exec(compile(program, "<program>", "exec"), space)
        exec(compile(ast.parse(tests), "<tests>", "exec"), space)
        space["check"](space[entry_point])
        return True
    except Exception:  # noqa: BLE001 (whatever it is, the program failed)
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    order = json.load(sys.stdin)
    verdicts = list[bool]()  # what it has so far is in reach of the programs
    for program in order["programs"]:
        verdicts += [passes(program, order["tests"], order["entry_point"])]
    print(json.dumps(verdicts))  # noqa: T201 (its answer)
