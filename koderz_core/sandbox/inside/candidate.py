"""The candidate's process: runs the program, answers calls of its function and evaluates expressions.

It never holds a test. Whatever a program does to this process, it can only change its own answers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from . import confine
from .wire import Channel, FrameTooLargeError, decode, encode

NAME = "candidate"
_PROGRAM = "<candidate>"
_MAX_TEXT = 500
_MAX_ARGUMENTS = 10_000


def serve(channel: Channel) -> None:
    """Load one program, then answer calls until the other end is closed (EOFError)."""
    program = channel.receive()
    confine.restrict(confine.Limits(*program["limits"]))
    module = ModuleType(NAME)
    sys.modules[NAME] = module  # dataclasses, enums and get_type_hints look their module up
    work: Callable[[], object] = partial(_load, module, program)
    number = program["number"]
    while True:
        _answer(channel, number, work)
        call = channel.receive()
        number = call["number"]
        if "expression" in call:
            work = partial(_evaluate, module, call["expression"])
        else:
            work = partial(_call, module, program["entry_point"], call)


def _load(module: ModuleType, program: dict[str, Any]) -> None:  # Any: JSON
    """Preamble and code are compiled apart, so that lines are counted in the code."""
    exec(compile(program["preamble"], "<preamble>", "exec", dont_inherit=True), module.__dict__)  # noqa: S102 (the point)
    exec(_compiled(program["code"], _PROGRAM, "exec"), module.__dict__)  # noqa: S102 (the point)
    if not callable(getattr(module, program["entry_point"], None)):
        raise NameError(f"the program defines no function {program['entry_point']!r}")


def _compiled(code: str, name: str, mode: str) -> Any:  # Any: a code object
    try:
        return compile(code, name, mode, dont_inherit=True)
    except ValueError as error:  # null bytes, lone surrogates
        raise SyntaxError(str(error)) from None


def _call(module: ModuleType, name: str, call: dict[str, Any]) -> object:  # Any: JSON
    arguments: Any = decode(call["arguments"])  # a tuple: the judge is trusted
    named: Any = decode(call["named"])  # a dict
    return getattr(module, name)(*arguments, **named)


def _evaluate(module: ModuleType, expression: str) -> object:
    return eval(_compiled(expression.strip(), "<call>", "eval"), module.__dict__)  # noqa: S307 (the point)


def _answer(channel: Channel, number: str, work: Callable[[], object]) -> None:
    try:
        channel.send({"number": number, "value": encode(work())})
    except FrameTooLargeError as error:
        channel.send({"number": number, "too_large": str(error)})
    except BaseException as error:  # noqa: BLE001 (a program may raise anything; what it raised is its answer)
        channel.send({"number": number, **_raised(error)})


def _raised(error: BaseException) -> dict[str, Any]:  # Any: JSON
    """The nearest builtin type, what to build it from, and a line that describes the error to people."""
    kind = next(known.__name__ for known in type(error).__mro__ if known.__module__ == "builtins")
    text = _text(error)
    line = _line(error)
    place = "" if line is None else f"line {line}: "
    note = place + type(error).__name__[:100] + (f": {text}" if text else "")
    return {"raised": kind, "arguments": _arguments(error, text), "note": note}


def _text(error: BaseException) -> str:
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
    except BaseException:  # noqa: BLE001 (its __str__ is part of the program)
        return ""
    return str.__str__(text)[:_MAX_TEXT]


def _arguments(error: BaseException, text: str) -> Any:  # Any: JSON
    try:
        encoded = encode(tuple(error.args))
    except BaseException:  # noqa: BLE001 (as above)
        return encode((text,))
    return encoded if len(repr(encoded)) <= _MAX_ARGUMENTS else encode((text,))


def _line(error: BaseException) -> int | None:
    """The line of the program that was executed last, or that cannot be compiled."""
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == _PROGRAM else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _PROGRAM:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
