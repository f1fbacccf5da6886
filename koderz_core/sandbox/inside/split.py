"""The worker of one check or probe: forks the candidate's process, then becomes the judge.

From the host: one JSON object on standard input, to its end. To the host: one line of JSON on standard output that
bears the host's nonce. Exit code and printed text mean nothing.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from . import candidate, confine
from .excerpt import excerpt
from .faults import TestsBrokenError
from .probing import observe
from .program import Program
from .trial import Order, judge
from .wire import Channel


def main() -> None:
    """Fork before anything of the problem is read, so that neither tests nor answers are in the candidate's memory."""
    confine.guard_judge()
    program = _fork_candidate()
    answer_fd = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what tests print goes nowhere
    received = json.load(sys.stdin.buffer)
    order = Order(**received["order"])
    confine.restrict_memory(2 * order.memory_bytes)  # room for the answers that a program may inflate
    calls = received["calls"]
    work = _judged(order, program) if calls is None else {"observed": _observed(order, calls, program)}
    answer = {"nonce": received["nonce"], **work}
    program.close()
    confine.kill_children()
    with os.fdopen(answer_fd, "wb") as host:
        host.write(json.dumps(answer).encode("ascii") + b"\n")


def _judged(order: Order, program: Program) -> dict[str, Any]:  # Any: JSON
    try:
        report = judge(order, program)
    except TestsBrokenError as error:
        return {"broken": excerpt(str(error))}
    failures = [{"index": failure.place, **failure._asdict()} for failure in report.failures]
    return {"report": {**report._asdict(), "failures": failures}}


def _observed(order: Order, calls: list[str], program: Program) -> list[dict[str, Any]]:  # Any: JSON
    return [sight._asdict() for sight in observe(order, calls, program)]


def _fork_candidate() -> Program:
    calls, answers = os.pipe(), os.pipe()
    judge_pid = os.getpid()
    pid = os.fork()
    if pid == 0:
        _live(judge_pid, calls[0], answers[1])
    os.close(calls[0])
    os.close(answers[1])
    return Program(pid, Channel(answers[0], calls[1]))


def _live(judge_pid: int, read_fd: int, write_fd: int) -> None:
    """The candidate's whole life. Whatever ends it, it never returns into the judge's code."""
    try:
        confine.die_with_parent(judge_pid)
        candidate.serve(Channel(*confine.keep_only(read_fd, write_fd)))
    finally:
        os._exit(0)
