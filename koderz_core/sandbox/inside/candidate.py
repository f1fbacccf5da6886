"""The candidate's process: runs one program and answers questions about it.

It never holds a test that can be told apart from it. Whatever a program does here, it only changes its own answers.
"""

from __future__ import annotations

import operator
import random
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

from . import changes, confine, seccomp, shared
from .excerpt import shown
from .literals import brief_digest
from .values import Crossed, Known, Names, decode, encode, name_of
from .wire import Channel, FrameTooLargeError

NAME = "candidate"
MAX_KEPT = 10_000
_PROGRAM = "<candidate>"
_MAX_TEXT = 500
_MAX_ARGUMENTS = 10_000


def serve(channel: Channel, system_calls: seccomp.Filter | None) -> None:
    """Load one program, then answer questions until the other end is closed (EOFError)."""
    program = channel.receive()
    confine.restrict(confine.Limits(*program["limits"]), system_calls)
    random.seed(0)  # the same program on the same tests has the same verdict
    answer_questions(channel, program)


def answer_questions(channel: Channel, program: dict[str, Any]) -> None:  # Any: JSON
    """As ``serve``, with nothing restricted."""
    served = _Served(program)
    _answer(channel.send, program["number"], served.load)
    while True:
        asked = channel.receive()
        if asked["ask"] == "calls":
            for number, question in served.calls(asked):  # a line each, so that none is lost with the process
                _answer(channel.send_line, number, question)
        else:
            _answer(channel.send, asked["number"], served.question(asked))


Reply = dict[str, Any]  # Any: JSON


class _Served:
    """A program, and what it returned that is not plain data, by the number that the judge asks for it by."""

    def __init__(self, program: dict[str, Any]) -> None:  # Any: JSON
        self._program = program
        self._module = ModuleType(NAME)
        self._kept: list[object] = []
        self._numbers: dict[int, int] = {}  # id of an object -> its number
        self._names = Names(self._keep)
        self._known = Known(lambda number, _kind: self._kept[number])
        self._failed: dict[int, BaseException] = {}  # what an iterator raised after the items that were taken
        sys.modules[NAME] = self._module  # dataclasses, enums and get_type_hints look their module up

    def load(self) -> Reply:
        """Preamble and code are compiled apart, so that lines are counted in the code."""
        names = self._module.__dict__
        if preamble := self._program["preamble"]:
            exec(compile(preamble, "<preamble>", "exec", dont_inherit=True), names)  # noqa: S102 (the point)
        exec(_compiled(self._program["code"], _PROGRAM, "exec"), names)  # noqa: S102 (the point)
        if not callable(names.get(self._program["entry_point"])):
            raise NameError(f"the program defines no function {self._program['entry_point']!r}")
        for name in self._program["names"]:
            if name not in names:
                raise NameError(f"the program does not define {name!r}")
        return {"value": encode({name: names[name] for name in self._program["names"]}, self._names)}

    def question(self, asked: dict[str, Any]) -> Callable[[], Reply]:  # Any: JSON
        """How to answer: the judge is trusted."""
        answers: dict[str, Callable[[dict[str, Any]], Reply]] = {  # Any: JSON
            "do": self._do,
            "next": self._next,
            "evaluate": self._evaluate,
            "tests": self._run_tests,
        }
        return lambda: answers[asked["ask"]](asked)

    def calls(self, asked: dict[str, Any]) -> Iterator[tuple[int, Callable[[], Reply]]]:  # Any: JSON
        """How to answer many calls of one function, each when it is its turn; without anything to ask them by."""
        function = self._kept[asked["target"]]
        for number, arguments in enumerate(asked["calls"], asked["first"]):
            given: Any = arguments if asked["plain"] else decode(arguments)
            yield number, partial(_called, function, given, asked["digests"])

    def _do(self, asked: dict[str, Any]) -> Reply:  # Any: JSON
        """Do something with a kept object; arguments that the program has changed in place go back too."""
        crossed = Crossed()
        known = Known(self._known.kept, crossed, numbers=True)
        arguments: Any = decode(asked["arguments"], known)  # a tuple and a dict: the judge is trusted
        named: Any = decode(asked["named"], known) if asked["named"] else {}
        before = changes.Snapshot(crossed)
        value = _DOINGS[asked["do"]](self._kept[asked["target"]], *arguments, **named)
        names = Names(self._keep, crossed)
        return {"value": encode(value, names), "changes": before.changes(names)}

    def _next(self, asked: dict[str, Any]) -> Reply:  # Any: JSON
        """The next few items of a kept iterator. An error comes after the items before it."""
        target = asked["target"]
        if error := self._failed.pop(target, None):
            raise error
        items: list[object] = []
        iterator: Iterator[object] = self._kept[target]
        try:
            while len(items) < asked["count"]:
                items.append(next(iterator))
        except StopIteration:
            return {"value": encode(items, self._names), "ended": True}
        except BaseException as error:
            if not items:
                raise
            self._failed[target] = error
        return {"value": encode(items, self._names)}

    def _evaluate(self, asked: dict[str, Any]) -> Reply:  # Any: JSON
        expression = _compiled(asked["expression"].strip(), "<call>", "eval")
        return {"value": encode(eval(expression, self._module.__dict__))}  # noqa: S307 (the point)

    def _run_tests(self, asked: dict[str, Any]) -> Reply:  # Any: JSON
        return {"report": shared.report(self._module, asked)}

    def _keep(self, value: object) -> int | None:
        number = self._numbers.get(id(value))
        if number is None and len(self._kept) < MAX_KEPT:
            number = self._numbers[id(value)] = len(self._kept)
            self._kept.append(value)
        return number


_DOINGS: dict[str, Callable[..., object]] = {
    "call": lambda function, *arguments, **named: function(*arguments, **named),
    "attribute": getattr,
    "set attribute": setattr,
    "item": operator.getitem,
    "set item": operator.setitem,
    "text": str,
    "iterate": iter,
    "length": len,
    "truth": bool,
}


def _compiled(code: str, name: str, mode: str) -> Any:  # Any: a code object
    try:
        return compile(code, name, mode, dont_inherit=True)
    except ValueError as error:  # null bytes, lone surrogates
        raise SyntaxError(str(error)) from None


def _called(function: Any, arguments: list[Any], digests: bool) -> Reply:  # Any: the program's
    began = time.perf_counter()
    try:
        value = function(*arguments)
    except BaseException as error:  # noqa: BLE001 (a program may raise anything; what it raised is its answer)
        return {**_raised(error), "seconds": round(time.perf_counter() - began, 4)}
    seconds = round(time.perf_counter() - began, 4)
    if digests and (digest := brief_digest(value)):
        return {"digest": digest, "shown": shown(value), "seconds": seconds}
    return {"value": encode(value), "seconds": seconds}


def _answer(send: Callable[[Reply], None], number: str | int, question: Callable[[], Reply]) -> None:
    try:
        send({"number": number, **question()})
    except FrameTooLargeError as error:
        send({"number": number, "too_large": str(error)})
    except BaseException as error:  # noqa: BLE001 (as above)
        send({"number": number, **_raised(error)})


def _raised(error: BaseException) -> Reply:
    """The nearest builtin type, what to build it from, and a line that describes the error to people."""
    kind = next(known.__name__ for known in type.mro(type(error)) if known.__module__ == "builtins")
    text = _text(error)
    line = _line(error)
    place = "" if line is None else f"line {line}: "
    note = place + name_of(type(error)) + (f": {text}" if text else "")
    return {"raised": kind, "arguments": _arguments(error, text), "note": note}


def _text(error: Any) -> str:  # Any: an exception, perhaps a SyntaxError
    try:
        text = error.msg if issubclass(type(error), SyntaxError) else str(error)
    except BaseException:  # noqa: BLE001 (its __str__ is part of the program)
        return ""
    return str.__str__(text)[:_MAX_TEXT]


def _arguments(error: BaseException, text: str) -> Any:  # Any: JSON
    try:
        encoded = encode(tuple(error.args))
    except BaseException:  # noqa: BLE001 (as above)
        return encode((text,))
    return encoded if len(repr(encoded)) <= _MAX_ARGUMENTS else encode((text,))


def _line(error: Any) -> int | None:  # Any: as above
    """The line of the program that was executed last, or that cannot be compiled."""
    line = error.lineno if issubclass(type(error), SyntaxError) and error.filename == _PROGRAM else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _PROGRAM:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
