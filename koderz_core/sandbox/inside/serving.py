"""The worker: forks the zygote, then is the judge of one program after another.

The host speaks first, then both take turns: one frame with an order, one with the answer, which bears the order's
nonce; before it one that only says that the program has answered something. Exit code and printed text mean nothing.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from typing import Any

from . import confine, landlock, warm
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
    zygote = Zygote(readable)
    host = Channel(os.dup(0), os.dup(1))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)  # what tests print goes nowhere
    confine.restrict_memory(setup["memory_bytes"])  # room for the answers that programs may inflate
    gc.freeze()
    host.send({"ready": warm.MODULES})
    try:
        while True:
            _serve(host, zygote)
    except (EOFError, BrokenPipeError):
        zygote.close()


def _serve(host: Channel, zygote: Zygote) -> None:
    received = host.receive()
    order, calls = Order(**received["order"]), received["calls"]

    def answered() -> None:
        host.send({"answered": True})

    if calls is None:
        answer = _judged(order, zygote, answered)
    else:
        answer = {"observed": [sight._asdict() for sight in observe(order, calls, zygote, answered)]}
    host.send({"nonce": received["nonce"], **answer})
    gc.collect()  # what tests hold of a program's answers is all in circles, and may be large


def _judged(order: Order, zygote: Zygote, answered: Answered) -> dict[str, Any]:  # Any: JSON
    try:
        report = judge(order, zygote, answered)
    except TestsBrokenError as error:
        return {"broken": excerpt(str(error))}
    outcome = report.outcome._asdict()
    failures = [{"index": failure.place, **failure._asdict()} for failure in report.outcome.failures]
    return {"report": {**report._asdict(), "outcome": {**outcome, "failures": failures}}}
