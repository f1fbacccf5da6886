"""The candidate's process: runs one program and answers questions about it.

This process never has a test, except tests that must run in the program's own process. Whatever a program does here, it
can only change its own answers.
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

from . import confine, seccomp, shared
from .faults import shown
from .handles import Snapshot
from .literals import brief_digest
from .objects import USES, lineage, nearest
from .values import Crossed, Known, Names, decode, encode, name_of
from .whole_program import KIND, TRANSCRIPT, WholeProgram, prepare_streams
from .wire import Channel, FrameTooLargeError, Json, Message

NAME = "candidate"
MAX_KEPT = 10_000
_PROGRAM = "<candidate>"
_MAX_TEXT = 500
_MAX_ARGUMENTS = 10_000


def serve(channel: Channel, system_calls: seccomp.Filter | None) -> None:
    """Load one program, then answer questions until the other end closes (EOFError)."""
    program = channel.receive()
    if program.get("kind") == KIND:
        prepare_streams()
    confine.restrict(confine.Limits(*program["limits"]), system_calls)
    random.seed(0)  # so that a program always has the same verdict on the same tests
    answer_questions(channel, program)


def answer_questions(channel: Channel, program: Message) -> None:
    """As ``serve``, without restrictions."""
    loaded = _LoadedProgram(program)
    _answer(channel.send, program["number"], loaded.load, loaded.raised)
    while True:
        question = channel.receive()
        if question["ask"] == "calls":
            for number, call in loaded.calls(question):  # one line each, so that the end of the process loses none
                _answer(channel.send_line, number, call)
        else:
            _answer(channel.send, question["number"], loaded.answer(question), loaded.raised)


class _LoadedProgram:
    """A program, and the values that it returned that are not plain data, by the numbers that the judge uses."""

    def __init__(self, program: Message) -> None:
        self._program = program
        self._has_objects = program.get("kind") == "module"
        self._module = ModuleType(NAME)
        self._kept: list[object] = []
        self._numbers: dict[int, int] = {}  # id of an object -> its number
        self._names = Names(self._keep)
        self._known = Known(lambda number, _kind: self._kept[number])
        self._failed: dict[int, BaseException] = {}  # the error of an iterator after the items that were taken
        sys.modules[NAME] = self._module  # dataclasses, enums and get_type_hints look it up

    def load(self) -> Message:
        """Execute preamble and code. They are compiled separately, so that line numbers are those of the code."""
        names = self._module.__dict__
        if preamble := self._program["preamble"]:
            exec(compile(preamble, "<preamble>", "exec", dont_inherit=True), names)  # noqa: S102 (the point)
        code = _compiled(self._program["code"], _PROGRAM + self._program.get("file", ""), "exec")
        if self._program.get("kind") == KIND:
            whole = WholeProgram(code)
            names[self._program["entry_point"]] = whole.run
            names[TRANSCRIPT] = partial(whole.transcript, describe=lambda error: str(_raised(error)["note"]))
        else:
            exec(code, names)  # noqa: S102 (the point)
        if not callable(names.get(self._program["entry_point"])):
            sort = "function or class" if self._has_objects else "function"
            raise NameError(f"the program defines no {sort} {self._program['entry_point']!r}")
        for name in self._program["names"]:
            if name not in names:
                raise NameError(f"the program does not define {name!r}")
        values = {name: names[name] for name in self._program["names"]}
        answer = {"value": encode(values, self._names)}
        if self._has_objects:
            kinds = {name: kind for name, kind in values.items() if isinstance(kind, type)}
            errors = {name: kind for name, kind in kinds.items() if issubclass(kind, Exception)}
            answer["errors"] = {name: lineage(kind, self._keep) or nearest(kind) for name, kind in errors.items()}
        return answer

    def raised(self, error: BaseException) -> Message:
        """An answer that says which error the program raised, for a module also its own class and the error itself."""
        answer = _raised(error)
        if self._has_objects and (line := lineage(type(error), self._keep)):
            answer |= {"lineage": line, "error": self._keep(error), "text": _text(error)}
        return answer

    def answer(self, question: Message) -> Callable[[], Message]:
        """The call that answers a question. The judge is trusted, so the question is not checked."""
        answers: dict[str, Callable[[Message], Message]] = {
            "do": self._do,
            "next": self._next,
            "evaluate": self._evaluate,
            "tests": lambda question: {"report": shared.report(self._module, question)},
        }
        return lambda: answers[question["ask"]](question)

    def calls(self, question: Message) -> Iterator[tuple[int, Callable[[], Message]]]:
        """The calls that answer many calls of one function, one by one. They keep no values for later questions."""
        function = self._kept[question["target"]]
        for number, encoded in enumerate(question["calls"], question["first"]):
            arguments: Any = encoded if question["plain"] else decode(encoded)
            yield number, partial(_called, function, arguments, question["digests"])

    def _do(self, question: Message) -> Message:
        """Use a kept object. The answer includes arguments that the program changed in place."""
        crossed = Crossed()
        known = Known(self._known.kept, crossed, numbers=True)
        arguments: Any = decode(question["arguments"], known)  # a tuple and a dict: the judge is trusted
        named: Any = decode(question["named"], known) if question["named"] else {}
        before = Snapshot(crossed)
        value = _USES[question["do"]](self._kept[question["target"]], *arguments, **named)
        names = Names(self._keep, crossed)
        return {"value": encode(value, names), "changes": before.changes(names)}

    def _next(self, question: Message) -> Message:
        """The next few items of a kept iterator. An error is reported after the items before it."""
        target = question["target"]
        if error := self._failed.pop(target, None):
            raise error
        items: list[object] = []
        iterator: Any = self._kept[target]  # Any: an iterator of the program
        try:
            while len(items) < question["count"]:
                items.append(next(iterator))
        except StopIteration:
            return {"value": encode(items, self._names), "ended": True}
        except BaseException as error:
            if not items:
                raise
            self._failed[target] = error
        return {"value": encode(items, self._names)}

    def _evaluate(self, question: Message) -> Message:
        expression = _compiled(question["expression"].strip(), "<call>", "eval")
        return {"value": encode(eval(expression, self._module.__dict__))}  # noqa: S307 (the point)

    def _keep(self, value: object) -> int | None:
        number = self._numbers.get(id(value))
        if number is None and len(self._kept) < MAX_KEPT:
            number = self._numbers[id(value)] = len(self._kept)
            self._kept.append(value)
        return number


_USES: dict[str, Callable[..., object]] = {
    "call": lambda function, /, *arguments, **named: function(*arguments, **named),
    "attribute": getattr,
    "set attribute": setattr,
    "item": operator.getitem,
    "set item": operator.setitem,
    "text": str,
    "iterate": iter,
    "length": len,
    "truth": bool,
    **USES,
}


def _compiled(code: str, name: str, mode: str) -> Any:  # Any: a code object
    try:
        return compile(code, name, mode, dont_inherit=True)
    except ValueError as error:  # null bytes, lone surrogates
        raise SyntaxError(str(error)) from None


def _called(function: Any, arguments: list[Any], digests: bool) -> Message:  # Any: the program's
    began = time.perf_counter()
    try:
        value = function(*arguments)
    except BaseException as error:  # noqa: BLE001 (a program may raise anything; the error is its answer)
        return {**_raised(error), "seconds": round(time.perf_counter() - began, 4)}
    seconds = round(time.perf_counter() - began, 4)
    if digests and (digest := brief_digest(value)):
        return {"digest": digest, "shown": shown(value), "seconds": seconds}
    return {"value": encode(value), "seconds": seconds}


def _answer(
    send: Callable[[Message], None],
    number: str | int,
    answer: Callable[[], Message],
    raised: Callable[[BaseException], Message] | None = None,
) -> None:
    try:
        send({"number": number, **answer()})
    except FrameTooLargeError as error:
        send({"number": number, "too_large": str(error)})
    except BaseException as error:  # noqa: BLE001 (as above)
        send({"number": number, **(raised or _raised)(error)})


def _raised(error: BaseException) -> Message:
    """The nearest builtin type of an error, its arguments, and a line that describes the error to people."""
    text = _text(error)
    line = _line(error)
    place = "" if line is None else f"line {line}: "
    note = place + name_of(type(error)) + (f": {text}" if text else "")
    return {"raised": nearest(type(error)), "arguments": _arguments(error, text), "note": note}


def _text(error: Any) -> str:  # Any: an exception, perhaps a SyntaxError
    try:
        text = error.msg if issubclass(type(error), SyntaxError) else str(error)
    except BaseException:  # noqa: BLE001 (its __str__ is part of the program)
        return ""
    return str.__str__(text)[:_MAX_TEXT]


def _arguments(error: BaseException, text: str) -> Json:
    try:
        encoded = encode(tuple(error.args))
    except BaseException:  # noqa: BLE001 (as above)
        return encode((text,))
    return encoded if len(repr(encoded)) <= _MAX_ARGUMENTS else encode((text,))


def _line(error: Any) -> int | None:  # Any: as above
    """The line of the program that was executed last or cannot be compiled."""
    line = error.lineno if issubclass(type(error), SyntaxError) and _is_of_program(error.filename) else None
    trace = error.__traceback__
    while trace is not None:
        if _is_of_program(trace.tb_frame.f_code.co_filename):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _is_of_program(file: object) -> bool:
    return isinstance(file, str) and file.startswith(_PROGRAM)
