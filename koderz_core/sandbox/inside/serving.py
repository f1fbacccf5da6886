"""The worker: forks the zygote, then is the judge of one program after another.

The host speaks first, then both take turns: one frame with an order, one with the answer, which bears the order's
nonce. A byte on what was standard error says that the program has answered something: the host looks for it only where
no answer comes. Exit code and printed text mean nothing.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from typing import Any

from . import confine, landlock, warm
from .core import Core
from .excerpt import excerpt
from .faults import TestsBrokenError
from .probing import observe
from .trial import Answered, Order, judge
from .wire import Channel
from .zygote import Zygote


def main() -> None:
    """Everything is forked before anything of a problem is read, so that no test can be in a candidate's memory."""
    setup = json.loads(sys.argv.pop())
    readable = setup["readable"] and landlock.Readable(*map(tuple, setup["readable"]))
    if setup["parent"]:
        confine.die_with_parent(setup["parent"])
    confine.guard_judge()
    if readable:
        confine.enclose(readable)
    core = Core(setup["turn"]) if readable else None  # elsewhere programs may have threads of their own
    zygote = Zygote(readable)
    host, progress = Channel(os.dup(0), os.dup(1)), os.dup(2)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)  # what tests print goes nowhere
    confine.restrict_memory(setup["memory_bytes"])  # room for the answers that programs may inflate
    gc.freeze()
    host.send({"ready": warm.MODULES})
    try:
        while True:
            worked = _serve(host, zygote, lambda: os.write(progress, b"."))
            if core and core.left(worked, lambda: time.process_time() + zygote.spent()):
                zygote.move(core.number)
    except (EOFError, BrokenPipeError):
        zygote.close()


def _serve(host: Channel, zygote: Zygote, answered: Answered) -> float:
    """How many seconds the order took."""
    received, began = host.receive(), time.monotonic()
    order, calls = Order(**received["order"]), received["calls"]
    if calls is None:
        answer = _judged(order, zygote, answered)
    else:
        answer = {"observed": [sight._asdict() for sight in observe(order, calls, zygote, answered)]}
    host.send({"nonce": received["nonce"], **answer})
    if not order.cases:
        gc.collect()  # what asserts hold of a program's answers is all in circles, and may be large
    return time.monotonic() - began


def _judged(order: Order, zygote: Zygote, answered: Answered) -> dict[str, Any]:  # Any: JSON
    try:
        report = judge(order, zygote, answered)
    except TestsBrokenError as error:
        return {"broken": excerpt(str(error))}
    outcome = report.outcome._asdict()
    failures = [{"index": failure.place, **failure._asdict()} for failure in report.outcome.failures]
    return {"report": {**report._asdict(), "outcome": {**outcome, "failures": failures}}}
