"""What the calls of a program give: each an expression that only the candidate's process reads and evaluates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .deadline import Deadline
from .excerpt import MAX_CHARACTERS, excerpt
from .faults import Fault, ProgramEndedError, fault_of
from .program import Program
from .trial import Answered, Order, for_candidate
from .zygote import Zygote


class Sight(NamedTuple):
    """What one call gave: ``koderz_core.records.Observed`` without the call."""

    value: str | None
    error: str | None = None
    message: str = ""


def observe(order: Order, calls: Sequence[str], zygote: Zygote, answered: Answered) -> list[Sight]:
    """One for each call, in order. What ends the program, such as the time limit of them all, answers the rest."""
    program, seen = Program(zygote), list[Sight]()
    end = Fault("exception", "it was not reached")
    try:
        with Deadline(order.seconds, order.most_seconds, program):
            program.load(for_candidate(order), answered)
            for call in calls:
                seen.append(_sight(program, call))
    except (Exception, SystemExit, ProgramEndedError) as error:  # noqa: BLE001 (whatever it was is the answer)
        end = fault_of(error)
    finally:
        program.close()
    return seen + [_blind(end)] * (len(calls) - len(seen))


def _sight(program: Program, call: str) -> Sight:
    try:
        return Sight(_bounded(text_of(program.evaluate(call))))
    except Exception as error:  # noqa: BLE001 (as above)
        return _blind(fault_of(error))


def _blind(fault: Fault) -> Sight:
    return Sight(None, fault.error, excerpt(fault.message))


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
    return hex(value) if isinstance(value, int) and value.bit_length() > 2000 else repr(value)  # decimals cost squares


def _listed(values: Sequence[object]) -> str:
    return ", ".join(text_of(value) for value in values)


def _set(value: set[object] | frozenset[object]) -> str:
    members = ", ".join(text for *_, text in sorted(map(_ranked, value)))
    shown = f"{{{members}}}" if members else "set()"
    return shown if isinstance(value, set) else f"frozenset({shown if members else ''})"


def _ranked(value: object) -> tuple[bool, float, str]:
    """A text behind its place: numbers by size, then the others by their texts."""
    text = text_of(value)
    if isinstance(value, int | float) and abs(value) < 1e300:  # not so: nan, and what no float can hold
        return (False, float(value), text)
    return (True, 0.0, text)


def _bounded(text: str) -> str:
    """Two long texts that differ anywhere differ in their hashes."""
    if len(text) <= MAX_CHARACTERS:
        return excerpt(text)
    import hashlib  # noqa: PLC0415 (a tenth of a worker's start, and most have no need of it)

    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{excerpt(text)} ({len(text)} characters, SHA-256 {digest})"
