"""The worker: forks the zygote, then judges one program after another, or evaluates calls of a program.

Host and worker take turns, the host first: one frame with an order, one with the answer, which has the order's nonce. A
byte on the original standard error means that the program has answered something. The host reads it only if no answer
arrives. Exit code and printed text have no meaning.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from . import confine, landlock, warm
from .core import Core
from .deadline import Deadline
from .faults import Fault, ProgramEndedError, TestsBrokenError, excerpt, fault_of
from .program import Program
from .trial import OnAnswer, Order, for_candidate, judge
from .wire import Channel, Message
from .zygote import Zygote


def main() -> None:
    """Serve orders. The zygote is forked before any problem is read, so that no test is in a candidate's memory."""
    setup = json.loads(sys.argv.pop())
    readable = setup["readable"] and landlock.Readable(*map(tuple, setup["readable"]))
    if setup["parent"]:
        confine.die_with_parent(setup["parent"])
    confine.guard_judge()
    if readable:
        confine.enclose(readable)
    core = Core(setup["turn"]) if readable else None  # at tier limited programs may have their own threads
    zygote = Zygote(readable)
    host, progress = Channel(os.dup(0), os.dup(1)), os.dup(2)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)  # discards the prints of tests
    confine.restrict_memory(setup["memory_bytes"])  # enough for the answers that programs may inflate
    gc.freeze()
    host.send({"ready": warm.MODULES})
    try:
        while True:
            worked = _serve(host, zygote, lambda: os.write(progress, b"."))
            if core and core.left(worked, lambda: time.process_time() + zygote.spent()):
                zygote.move(core.number)
    except (EOFError, BrokenPipeError):
        zygote.close()


def _serve(host: Channel, zygote: Zygote, on_answer: OnAnswer) -> float:
    """Serve one order; return the seconds that it took."""
    received, began = host.receive(), time.monotonic()
    order, calls = Order(**received["order"]), received["calls"]
    if calls is None:
        answer = _verdict(order, zygote, on_answer)
    else:
        values = observe(order, calls, zygote, on_answer, received["most_characters"])
        answer = {"observed": [value._asdict() for value in values]}
    host.send({"nonce": received["nonce"], **answer})
    if not order.cases:
        gc.collect()  # asserts leave reference cycles with the program's answers, which may be large
    return time.monotonic() - began


def _verdict(order: Order, zygote: Zygote, on_answer: OnAnswer) -> Message:
    try:
        report = judge(order, zygote, on_answer)
    except TestsBrokenError as error:
        return {"broken": excerpt(str(error))}
    failures = [{"index": failure.place, **failure._asdict()} for failure in report.outcome.failures]
    fields = report._asdict()
    return {"report": {**fields.pop("outcome")._asdict(), **fields, "failures": failures}}


class Evaluation(NamedTuple):
    """The value of one call: ``koderz_core.records.Observed`` without the call."""

    value: str | None
    error: str | None = None
    message: str = ""


def observe(
    order: Order, calls: Sequence[str], zygote: Zygote, on_answer: OnAnswer, most_characters: int
) -> list[Evaluation]:
    """One for each call, in order. If the program ends, for example at the time limit, the reason answers the rest.

    ``most_characters``: the length of a value above which only an excerpt is sent.
    """
    program, values = Program(zygote), list[Evaluation]()
    end = Fault("exception", "it was not reached")
    try:
        with Deadline(order.seconds, order.most_seconds, program):
            program.load(for_candidate(order), on_answer)
            for call in calls:
                values.append(_evaluation(program, call, most_characters))
    except (Exception, SystemExit, ProgramEndedError) as error:  # noqa: BLE001 (every error is an answer)
        end = fault_of(error)
    finally:
        program.close()
    return values + [_failure(end)] * (len(calls) - len(values))


def _evaluation(program: Program, call: str, most_characters: int) -> Evaluation:
    try:
        return Evaluation(_bounded(text_of(program.evaluate(call)), most_characters))
    except Exception as error:  # noqa: BLE001 (as above)
        return _failure(fault_of(error))


def _failure(fault: Fault) -> Evaluation:
    return Evaluation(None, fault.error, excerpt(fault.message))


def text_of(value: Any) -> str:  # Any: plain data that came over the wire
    """The ``repr`` of plain data, the members of sets and the keys of dictionaries in sorted order."""
    if isinstance(value, list):
        return f"[{_listed(value)}]"
    if isinstance(value, tuple):
        return f"({_listed(value)},)" if len(value) == 1 else f"({_listed(value)})"
    if isinstance(value, dict):
        pairs = sorted((_ranked(key), text_of(item)) for key, item in value.items())
        return f"{{{', '.join(f'{key[-1]}: {item}' for key, item in pairs)}}}"
    if isinstance(value, set | frozenset):
        return _set(value)
    return hex(value) if isinstance(value, int) and value.bit_length() > 2000 else repr(value)  # decimals are slow


def _listed(values: Sequence[object]) -> str:
    return ", ".join(text_of(value) for value in values)


def _set(value: set[object] | frozenset[object]) -> str:
    members = ", ".join(text for *_, text in sorted(map(_ranked, value)))
    shown = f"{{{members}}}" if members else "set()"
    return shown if isinstance(value, set) else f"frozenset({shown if members else ''})"


def _ranked(value: object) -> tuple[bool, float, str]:
    """A sort key that ends with the text: numbers by size, then other values by their texts."""
    text = text_of(value)
    if isinstance(value, int | float) and abs(value) < 1e300:  # not nan, and not an int that no float can represent
        return (False, float(value), text)
    return (True, 0.0, text)


def _bounded(text: str, most_characters: int) -> str:
    """An excerpt of a long text, with a hash that distinguishes it from others with the same excerpt."""
    if len(text) <= most_characters:
        return excerpt(text, most_characters)
    import hashlib  # noqa: PLC0415 (a tenth of a worker's start, and most workers do not need it)

    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{excerpt(text)} ({len(text)} characters, SHA-256 {digest})"
