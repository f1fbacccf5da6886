"""The program from the judge's view: a process that answers questions with plain data, or not at all."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from .faults import CannotCrossError, Fault, ProgramEndedError, TestsBrokenError, excerpt, revive, shown
from .handles import Handle, apply_changes
from .literals import Digested
from .objects import OPINIONS, ErrorClasses, Object
from .values import PLAIN, Crossed, Known, Names, Opaque, decode, encode, holds
from .wire import FrameTooLargeError, Json, Message, WireError
from .zygote import Zygote

_FEW = 32  # answers that are awaited one by one
_NAP_SECONDS = 0.001  # pause before reading more answers, which saves waking up for each of them


class Calls(NamedTuple):
    """Calls that are sent together: their arguments as JSON lists, separated by commas.

    ``digests``: the digest of a large answer is sufficient.
    """

    text: str
    number: int
    digests: bool

    def question(self, target: int, first: int) -> str:
        plain = int("{" not in self.text)  # all values are plain JSON
        how = f'"target":{target},"first":{first},"plain":{plain},"digests":{int(self.digests)}'
        return f'{{"ask":"calls",{how},"calls":[{self.text}]}}'


class Program:
    """Loads a program in a fresh candidate's process and sends it questions.

    ``mirrors``: changes of arguments in place are applied to the caller's objects as well. ``objects``: the caller gets
    handles with operators, and the exception classes of the program. ``calls`` counts questions; ``changed``: whether
    the program has changed arguments; ``opined``: whether it has answered one of ``objects.OPINIONS``.
    """

    def __init__(self, zygote: Zygote, *, mirrors: bool = True, objects: bool = False) -> None:
        self.calls = 0
        self.changed = self.opined = False
        self._handles_as: type[Handle] = Object if objects else Handle
        self._errors = ErrorClasses()
        self._mirrors = mirrors
        self._zygote = zygote
        self._channel = zygote.fork()
        self._handles: dict[int, Handle] = {}
        self._known = Known(self._handle)
        self._ended: Fault | None = None

    def load(self, program: Message, on_answer: Callable[[], object]) -> dict[str, object]:
        """The program's values of ``program["names"]``. Raises the exceptions of the program.

        ``on_answer`` is called as soon as the program has sent something.
        """
        reply = self._exchange(program)
        on_answer()
        values = self._value(reply)
        names = program["names"]
        if not isinstance(values, dict) or not values.keys() >= set(names):
            raise self.end(Fault("exception", "the program's process did not say what it defines"))
        found = {name: values[name] for name in names}  # so that no other name enters the namespace of the tests
        errors = reply.get("errors", {})
        return found | {name: self._read(self._errors.class_of, errors[name]) for name in names if name in errors}

    def do(self, what: str, target: int, /, *arguments: object, **named: object) -> object:
        """Use an object that the candidate's process keeps, for example call it."""
        crossed = Crossed()
        names = Names(crossed=crossed, numbers=True)
        message = {"arguments": encode(arguments, names), "named": named and encode(named, names)}
        self._check_can_cross(arguments, list(message.values()))
        self.calls += 1
        self.opined = self.opined or what in OPINIONS
        try:
            reply = self._exchange({"ask": "do", "do": what, "target": target, **message})
        except FrameTooLargeError as error:
            if self.calls == 1:  # later calls may pass values that the program returned
                raise TestsBrokenError(f"they call the program with {error}") from None
            raise
        known = Known(self._handle, crossed if self._mirrors else _copied(message, self._known))
        if reply.get("changes"):
            self.changed = True
            self._read(apply_changes, reply["changes"], known)
        return self._read(decode, reply.get("value"), known)

    def answers(self, target: int, calls: Calls, wait: Callable[[], AbstractContextManager[None]]) -> Iterator[Message]:
        """The answer to each call, in order, as soon as it arrives; ``value`` reads it. Raises ProgramEndedError.

        ``wait``: the context of each wait for the program.
        """
        self.calls += calls.number
        first = int.from_bytes(os.urandom(6), "big")  # random, so that no answer can be sent before its question
        due, end, began = first, first + calls.number, time.monotonic()
        try:
            self.check_alive()
            with wait():
                self._channel.send_text(calls.question(target, first))
            self._zygote.prepare()
            while due < end:
                with wait():
                    replies = self._channel.lines()
                for reply in replies:
                    if due == end or reply.get("number") != due:
                        raise WireError("an answer that nobody asked for")
                    yield reply
                    due += 1
                if end - due > _FEW:
                    time.sleep(min(_NAP_SECONDS, (end - due) * (time.monotonic() - began) / (due - first)))
        except WireError as error:
            raise self._sent(error) from None
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise self.end(_fault_of_exit(self._zygote.wait())) from None

    def value(self, reply: Message) -> object:
        """The value that a call returned: plain data, or a handle or digest. Raises the exception of the call."""
        if type(value := reply.get("value")) in PLAIN and "value" in reply:
            return value
        try:
            returned = _returned(reply)
        except ProgramEndedError as error:
            raise self.end(error.fault) from None
        except WireError as error:
            raise self._sent(error) from None
        if "digest" in returned:
            return Digested(str(returned["digest"]), excerpt(str(returned.get("shown"))))
        return self._read(decode, returned.get("value"))

    def items(self, target: int, count: int) -> tuple[list[object], bool]:
        reply = self._exchange({"ask": "next", "target": target, "count": count})
        items = self._value(reply)
        if not isinstance(items, list) or not (items or reply.get("ended")):
            raise self.end(Fault("exception", "the program's process sent no items"))
        return items, bool(reply.get("ended"))

    def report(self, tests: Message) -> Json:
        """The candidate's own report on tests that run in its process. It may be forged."""
        return self._exchange({"ask": "tests", **tests}).get("report")

    def evaluate(self, expression: str) -> object:
        """The value of an expression in the program's process. Raises as a call of its function."""
        return self._value(self._exchange({"ask": "evaluate", "expression": expression}))

    def end(self, fault: Fault) -> ProgramEndedError:
        """Kill the process; return the exception to raise now, which every later question raises as well."""
        self._ended = self._ended or fault
        self._zygote.kill()
        return ProgramEndedError(self._ended)

    def check_alive(self) -> None:
        """Raise ProgramEndedError if the program ended, even if a test swallowed that."""
        if self._ended:
            raise ProgramEndedError(self._ended)

    def spent(self) -> float:
        """Processor time of the program's process in seconds; 0 if it is unknown."""
        return self._zygote.spent_by_candidate()

    def close(self) -> None:
        """Kill the process and wait for its end."""
        self._zygote.end()
        self._channel.close()

    def _check_can_cross(self, arguments: tuple[object, ...], encoded: list[Json]) -> None:
        if holds(encoded, "opaque"):
            raise CannotCrossError(f"the tests call the program with {shown(arguments)}")
        if holds(encoded, "beyond"):
            raise TypeError(f"the program is called with its own {shown(arguments)}, which is not plain data")

    def _exchange(self, message: Message) -> Message:
        self.check_alive()
        try:
            reply = self._reply_to(message)
        except WireError as error:
            raise self._sent(error) from None
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise self.end(_fault_of_exit(self._zygote.wait())) from None
        try:
            return self._result(reply)  # it raises what the program raised, which may be an EOFError as well
        except ProgramEndedError as error:  # SystemExit and its like
            raise self.end(error.fault) from None
        except WireError as error:
            raise self._sent(error) from None

    def _reply_to(self, message: Message) -> Message:
        number = os.urandom(8).hex()  # random, so that no answer can be sent before its question
        self._channel.send({**message, "number": number})
        self._zygote.prepare()
        reply = self._channel.receive()
        if reply.get("number") != number:
            raise WireError("an answer that nobody asked for")
        return reply

    def _result(self, reply: Message) -> Message:
        """The reply. Raises what the program raised, with its own class where values of such classes are known."""
        try:
            return _returned(reply)
        except Exception as error:
            if "lineage" in reply and self._handles_as is Object:
                raise self._own_error(error, reply) from None
            raise

    def _own_error(self, error: Exception, reply: Message) -> Exception:
        """The error with its own class."""
        own = self._handle(int(reply["error"]), "error") if isinstance(reply.get("error"), int) else None
        found = self._read(self._errors.error, error, reply["lineage"], str(reply.get("text"))[:700], own)
        assert isinstance(found, Exception)
        return found

    def _value(self, reply: Message) -> object:
        return self._read(decode, reply.get("value"), self._known)

    def _read(self, read: Callable[..., object], *arguments: Any) -> object:  # Any: JSON, mostly
        """The result of ``read``. A program that sends invalid data is ended."""
        try:
            return read(*arguments)
        except (WireError, ValueError, TypeError, LookupError, AttributeError) as error:
            raise self._sent(error) from None

    def _sent(self, what: object) -> ProgramEndedError:
        return self.end(Fault("exception", f"the program's process sent {what}"))

    def _handle(self, number: int, kind: str) -> Opaque:
        return self._handles.setdefault(number, self._handles_as(number, kind, self))


def _returned(reply: Message) -> Message:
    if "raised" in reply:
        raise revive(reply["raised"], decode(reply.get("arguments")), str(reply.get("note"))[:700])
    if "too_large" in reply:
        raise OverflowError(f"the program returned {str(reply['too_large'])[:100]}")
    return reply


def _copied(message: Message, known: Known) -> Crossed:
    """Copies of the containers in a message, which are changed instead of the caller's."""
    crossed = Crossed()
    for part in filter(None, message.values()):
        decode(part, Known(known.kept, crossed, numbers=True))
    return crossed


def _fault_of_exit(code: int | None) -> Fault:
    if code is None:
        return Fault("exception", "the program's process stopped answering")
    if code == -signal.SIGXCPU:
        return Fault("timeout", "the program used up its processor time")
    if code == -signal.SIGKILL:
        return Fault("memory", "the program's process was killed by the system, as it is for too much memory")
    if code == -signal.SIGSYS:
        return Fault("forbidden", "the program made a system call that no program may make here")
    if code < 0:
        return Fault("exception", f"the program's process died of {signal.Signals(-code).name}")
    return Fault("exception", f"the program ended its own process (exit code {code})")
